"""What ``checkpoint=`` points at: a run folder, a model folder inside or outside a run, or a hub id.

A model that came out of a run brings its run's configuration with it, so that it is judged with the template, stop ids,
system prompt, data, reward and sampling that it was trained with::

    checkpoint=outputs/RUN                       the run's final/, else last/, else its latest checkpoint
    checkpoint=outputs/RUN/checkpoints/step_50   that checkpoint, with RUN's configuration
    checkpoint=RUN                               the same as outputs/RUN
    checkpoint=some/folder                       a plain model folder; dataset= and reward= must be named
    checkpoint=Qwen/Qwen2.5-0.5B-Instruct        a hub id
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rlvr_cli.errors import RunDirError

HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[\w.-]+)?")
MODEL_FILES = ("config.json", "adapter_config.json")
UNTRAINED = ("untrained", "base")


@dataclass(frozen=True)
class Target:
    """A model to judge. ``path`` is a folder or a hub id; ``run`` the run folder that made it, if one did."""

    path: str
    label: str
    run: Path | None = None

    def run_config(self) -> dict[str, Any]:
        """The frozen configuration of the run, as a plain mapping; empty without a run."""
        return {} if self.run is None else read_yaml(self.run / "config.yaml")

    @property
    def said(self) -> str:
        """The model in words: ``RUN/final``, or its label where no run made it."""
        return self.label if self.run is None else f"{self.run.resolve().name}/{self.label}"

    def home(self, outputs: Path) -> Path:
        """The folder whose ``eval/`` takes the results: the run's own, or one named after the model."""
        return self.run or outputs / self.label


def read_yaml(path: Path) -> dict[str, Any]:
    """A configuration file as a plain mapping."""
    from rlvr_cli.run_dir import read_config

    return read_config(path.parent)


def slug(text: str) -> str:
    """A name fit for a folder.

    >>> slug("Qwen/Qwen2.5-0.5B"), slug("../a b")
    ('Qwen-Qwen2.5-0.5B', 'a-b')
    """
    return re.sub(r"[^\w.-]+", "-", text).strip("-.") or "model"


def find_target(checkpoint: str, outputs: Path) -> Target:
    """Resolve ``checkpoint``; a wrong path is one line with the nearest run."""
    if not checkpoint:
        raise RunDirError("no checkpoint is named", fix="checkpoint=outputs/RUN")
    for place in (Path(checkpoint), outputs / checkpoint):
        if place.is_dir():
            return of_folder(place)
    if HUB_ID.fullmatch(checkpoint) and not looks_like_path(checkpoint, outputs):
        return Target(checkpoint, slug(checkpoint))
    near = nearest_run(checkpoint, outputs)
    hint = f"checkpoint={outputs / near}" if near else "rlvr runs"
    raise RunDirError(f"there is no run or model at {checkpoint!r}", where="checkpoint", fix=hint)


def looks_like_path(checkpoint: str, outputs: Path) -> bool:
    """Whether a person surely meant a folder: its first part exists here, or a run has nearly this name."""
    first = checkpoint.split("/")[0]
    if "/" in checkpoint:
        return Path(first).is_dir()
    return nearest_run(checkpoint, outputs) is not None


def nearest_run(name: str, outputs: Path) -> str | None:
    """The run whose name is most like the last part of ``name``."""
    runs = [p.name for p in outputs.iterdir() if (p / "config.yaml").is_file()] if outputs.is_dir() else []
    close = difflib.get_close_matches(Path(name).name, runs, n=1, cutoff=0.6)
    return close[0] if close else None


def of_folder(place: Path) -> Target:
    """A folder that exists: a run, or a model, which may lie inside a run."""
    if (place / "config.yaml").is_file():
        chosen = model_of_run(place)
        return Target(str(chosen), chosen.name, place)
    if not any((place / name).is_file() for name in MODEL_FILES):
        raise RunDirError(f"{place} holds neither a run (config.yaml) nor a model (config.json)", where="checkpoint", fix="rlvr runs")
    run = next((up for up in list(place.resolve().parents)[:2] if (up / "config.yaml").is_file()), None)
    return Target(str(place), slug(place.name), run)


def model_of_run(run: Path) -> Path:
    """``final/`` (the best by held-out accuracy), else ``last/``, else the latest checkpoint."""
    steps = sorted((run / "checkpoints").glob("step_*"), key=lambda p: int(p.name.removeprefix("step_")) if p.name[5:].isdigit() else -1)
    for place in (run / "final", run / "last", *reversed(steps)):
        if any((place / name).is_file() for name in MODEL_FILES):
            return place
    raise RunDirError(
        f"{run} has no model yet: no final/, last/ or checkpoints/step_N", where="checkpoint", fix=f"rlvr train --resume {run}"
    )
