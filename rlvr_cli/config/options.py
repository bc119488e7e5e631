"""The option files of each group, found by looking at folders: no Hydra, so that ``rlvr ls`` and completion answer at once.

The user's own ``./conf`` comes first, then the shipped files: a user overrides an option by placing a file of its name::

    options("model")  ->  {"tiny": Option("model", "tiny", .../conf/model/tiny.yaml, "A from-scratch Llama ..."), ...}
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

GROUPS = {
    "algorithm": "the objective: which loss, which advantage, which clip",
    "curriculum": "which prompts are drawn, and when",
    "dataset": "where prompts and gold answers come from",
    "environment": "single turn, or tools and several turns",
    "generation": "who writes the completions, and how they are sampled",
    "guard": "what stops a run or warns",
    "hardware": "who computes where",
    "model": "which policy is trained, and what its family needs",
    "optimizer": "the optimizer and its schedule",
    "peft": "adapters instead of full weights",
    "pipeline": "a chain of runs",
    "recipe": "a set of choices that make one run",
    "reward": "what is paid for",
    "stage": "what kind of training",
    "tracker": "where metrics go beside the run folder",
    "trainer": "how long, how much at once, when to save and to judge",
}


@dataclass(frozen=True)
class Option:
    """One file of a group: its name, where it is, and the first sentence of its header."""

    group: str
    name: str
    path: Path

    @property
    def header(self) -> list[str]:
        """The comment lines at the head of the file, without ``#`` and without Hydra's ``@package``."""
        lines = []
        for line in self.path.read_text(encoding="utf-8").splitlines():
            if not line.startswith("#"):
                break
            text = line[1:].strip()
            if not text.startswith("@"):
                lines.append(text)
        return lines

    @property
    def summary(self) -> str:
        """What the option is: its header up to ``Needs:``, in one line."""
        words: list[str] = []
        for line in self.header:
            if not line or line.startswith(("Needs:", "Command:")):
                break
            words.append(line)
        return " ".join(words)


def shipped() -> Path:
    """The folder of the shipped files: ``conf/`` of a checkout, or ``rlvr_cli/_conf`` of an installed wheel."""
    package = Path(__file__).resolve().parents[1]
    inside = package / "_conf"
    return inside if inside.is_dir() else package.parent / "conf"


def search_dirs(cwd: Path | None = None) -> list[Path]:
    """Folders that are searched, first wins: the user's ``./conf``, then the shipped one (once where they are the same)."""
    own = (cwd or Path.cwd()).resolve() / "conf"
    found = [own] if own.is_dir() else []
    return found + [d for d in [shipped()] if d.resolve() not in found]


def groups(cwd: Path | None = None) -> list[str]:
    """Names of the groups, sorted."""
    return sorted({p.name for d in search_dirs(cwd) for p in d.iterdir() if p.is_dir() and any(p.glob("*.yaml"))})


def options(group: str, cwd: Path | None = None) -> dict[str, Option]:
    """The options of a group by name; a file of the user hides a shipped one of the same name."""
    found: dict[str, Option] = {}
    for folder in search_dirs(cwd):
        for path in sorted((folder / group).rglob("*.yaml")):
            name = path.relative_to(folder / group).with_suffix("").as_posix()
            found.setdefault(name, Option(group, name, path))
    return dict(sorted(found.items()))
