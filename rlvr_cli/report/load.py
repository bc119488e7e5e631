"""A run folder as data for the page. Everything in it may be missing, half-written or hostile; nothing here trusts it.

run = load_run(Path("outputs/RUN"))
run.series("eval/accuracy")     [(0, 0.415), (50, 0.96), ...]
run.held_out                    [HeldOutPoint(step=0, accuracy=0.415, low=0.349, high=0.484, n=200), ...]
"""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rlvr_cli.errors import RunDirError
from rlvr_cli.evaluation.intervals import wilson

TAIL_BYTES = 8 * 2**20  # the newest completions; a long run's samples.jsonl holds gigabytes
SCAN_BYTES = 256 * 2**20


@dataclass(frozen=True)
class HeldOutPoint:
    """One held-out evaluation of a run."""

    step: int
    accuracy: float
    low: float
    high: float
    n: int | None


@dataclass
class RunData:
    """What the page needs of one run."""

    path: Path
    config: dict[str, Any] = field(default_factory=dict)
    metrics: list[dict[str, Any]] = field(default_factory=list)
    samples: list[dict[str, Any]] = field(default_factory=list)
    unjudged: Counter[str] = field(default_factory=Counter)
    status: dict[str, Any] = field(default_factory=dict)
    env: dict[str, Any] = field(default_factory=dict)
    final: dict[str, Any] = field(default_factory=dict)
    evals: dict[str, dict[str, Any]] = field(default_factory=dict)
    choices: dict[str, str] = field(default_factory=dict)
    command: str = ""

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.path.resolve().name

    def series(self, key: str) -> list[tuple[int, float]]:
        """(step, value) of a metric wherever it is a finite number."""
        return [(m["step"], float(m[key])) for m in self.metrics if is_number(m.get(key)) and is_number(m.get("step"))]

    @property
    def held_out(self) -> list[HeldOutPoint]:
        """Every held-out evaluation during training, with its interval."""
        return [point for m in self.metrics if (point := point_of(m)) is not None]

    @property
    def kept(self) -> HeldOutPoint | None:
        """The evaluation of the model in ``final/``, as the model's own ``metrics.json`` says; the last one where there is none yet."""
        return point_of(self.final) or (self.held_out[-1] if self.held_out else None)

    @property
    def terms(self) -> list[str]:
        """Names of the reward terms that were logged."""
        names = dict.fromkeys(k.split("/")[1] for m in self.metrics for k in m if k.startswith("rewards/") and k.endswith("/mean"))
        return list(names)


def point_of(told: dict[str, Any]) -> HeldOutPoint | None:
    """The held-out evaluation in a line of metrics or in a model's ``metrics.json``."""
    step, accuracy = told.get("step"), told.get("eval/accuracy")
    if not is_number(accuracy) or not is_number(step):
        return None
    n = int(told["eval/n"]) if is_number(told.get("eval/n")) else None
    low, high = wilson(round(accuracy * n), n) if n else (told.get("eval/ci95_low"), told.get("eval/ci95_high"))
    known = is_number(low) and is_number(high)
    return HeldOutPoint(step, accuracy, low if known else 0.0, high if known else 1.0, n)


def is_number(value: Any) -> bool:
    """A finite int or float, and no bool."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def load_run(path: Path) -> RunData:
    """Read a run folder. Raises RunDirError when it is none."""
    if not (path / "config.yaml").is_file() and not (path / "metrics.jsonl").is_file():
        raise RunDirError(f"{path} is no run: it has neither config.yaml nor metrics.jsonl", fix="rlvr runs")
    evals = {p.parent.name: read_object(p) for p in sorted(path.glob("eval/*/summary.json"))}
    return RunData(
        path=path,
        config=read_config(path / "config.yaml"),
        metrics=[line for line in read_lines(path / "metrics.jsonl")],
        samples=list(read_lines(path / "samples.jsonl", last_bytes=TAIL_BYTES)),
        unjudged=count_unjudged(path / "samples.jsonl"),
        status=status_of(path),
        env=read_object(path / "env.json"),
        final=read_object(path / "final" / "metrics.json"),
        evals={name: summary for name, summary in evals.items() if summary},
        choices=read_object(path / "fingerprint.json").get("choices") or {},
        command=read_text(path / "command.txt").strip(),
    )


def status_of(path: Path) -> dict[str, Any]:
    """How the run ended, or that it runs or died."""
    from rlvr_cli import run_dir

    return run_dir.status_of(path)


def read_text(path: Path) -> str:
    """A file's text, empty where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def read_object(path: Path) -> dict[str, Any]:
    """A JSON object, empty where there is none."""
    try:
        loaded = json.loads(read_text(path) or "{}")
    except ValueError:
        return {}
    return loaded if isinstance(loaded, dict) else {}


def read_config(path: Path) -> dict[str, Any]:
    """The frozen configuration, empty where it cannot be read."""
    import yaml

    try:
        loaded = yaml.safe_load(read_text(path))
    except yaml.YAMLError:
        return {}
    return loaded if isinstance(loaded, dict) else {}


def read_lines(path: Path, last_bytes: int | None = None) -> Iterator[dict[str, Any]]:
    """The objects of a JSONL file, or of its end; lines that cannot be read are left out."""
    try:
        with path.open("rb") as file:
            if last_bytes and (size := os.fstat(file.fileno()).st_size) > last_bytes:
                file.seek(size - last_bytes)
                file.readline()
            for line in file:
                record = parsed(line)
                if record is not None:
                    yield record
    except OSError:
        return


def parsed(line: bytes) -> dict[str, Any] | None:
    """One line as an object, or None."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def count_unjudged(path: Path) -> Counter[str]:
    """Reasons of the rows that could not be judged, over at most the last 256 MiB of completions."""
    reasons: Counter[str] = Counter()
    for record in read_lines(path, last_bytes=SCAN_BYTES):
        scores, why = record.get("scores"), record.get("reasons")
        if isinstance(scores, dict) and None in scores.values():
            name = next(name for name, score in scores.items() if score is None)
            reasons[f"{name}: {why.get(name, 'no reason given') if isinstance(why, dict) else 'no reason given'}"] += 1
    return reasons
