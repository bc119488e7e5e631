"""One job of a sweep: what it would learn, where it lies, and how it ended, read from its run folder.

A job is found again by its fingerprint, not by its name alone: the same words with another package default, or another
data file, are another job, and get a folder of their own. Accuracy is that of the model the run keeps (``final/``)::

    Job(words=..., path=outputs/sweep-reward+seed/reward-math+seed-1, status="finished", accuracy=0.98, n=500, seconds=131.0)
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from rlvr_cli import run_dir
from rlvr_cli.errors import RlvrError
from rlvr_cli.evaluation.intervals import wilson
from rlvr_cli.sweep.expand import Words

WAITING, RUNNING, FINISHED, FAILED, REFUSED, INTERRUPTED = "waiting", "running", "finished", "failed", "refused", "interrupted"


@dataclass
class Job:
    """A job and its state. ``accuracy`` is a share of ``n`` held-out prompts; ``seconds`` is wall time of its last attempt."""

    words: Words
    parent: Path
    path: Path
    status: str = WAITING
    accuracy: float | None = None
    n: int | None = None
    seconds: float | None = None
    error: str = ""
    skipped: bool = False

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.path.name

    @property
    def shown(self) -> str:
        """The folder as a person types it here."""
        return os.path.relpath(self.path)

    @property
    def ci95(self) -> tuple[float, float] | None:
        """Wilson's interval of the accuracy."""
        return None if self.accuracy is None or not self.n else wilson(round(self.accuracy * self.n), self.n)

    def read(self) -> None:
        """Take accuracy, time and state from the run folder."""
        told = run_dir.status_of(self.path)
        kept = run_dir.read_json(self.path / "final" / "metrics.json")
        self.accuracy = kept.get("eval/accuracy", told.get("accuracy"))
        self.n = kept.get("eval/n")
        self.seconds = told.get("seconds", self.seconds)
        if told.get("state") == "finished":
            self.status = FINISHED
        elif told.get("sentence"):
            self.error = str(told["sentence"])

    def command(self, *, resume: bool) -> list[str]:
        """The words after ``rlvr train``."""
        if resume:
            return ["--resume", str(self.path)]
        kept = [w for w in self.words.words if key_of(w) not in ("run.dir", "run.name")]
        clean = ["--clean"] if self.path.exists() else []
        return [*kept, f"run.dir='{self.parent}'", f"run.name='{self.path.name}'", *clean]


def key_of(word: str) -> str:
    """The key that a word sets."""
    return word.split("=", 1)[0].lstrip("+~")


def make_job(words: Words, parent: Path, cwd: Path) -> Job:
    """Compose the job, find its folder, and read how far it is. Raises ConfigError for words that are wrong by themselves."""
    from rlvr_cli.config.compose import compose

    config = compose(words.words, cwd=cwd).config
    job = Job(words, parent, parent / words.name)
    try:
        wanted = print_of(config)
    except RlvrError as error:  # the combination does not work out: the other jobs still can
        job.status, job.error = REFUSED, str(error)
        return job
    place_job(job, wanted)
    return job


def print_of(config: object) -> dict[str, object]:
    """The fingerprint that the run will have: of the configuration that the plan makes of this one."""
    from rlvr_cli.launch.freeze import freeze
    from rlvr_cli.launch.machine import read_machine
    from rlvr_cli.launch.plan import solve

    return run_dir.fingerprint(freeze(config, solve(config, read_machine())))


def place_job(job: Job, wanted: dict[str, object]) -> None:
    """The folder whose fingerprint is the job's own, or the first free one of its name."""
    base = job.path
    for suffix in ["", *[f"-{i}" for i in range(2, 1000)]]:
        path = base.with_name(base.name + suffix)
        if not path.exists():
            job.path = path
            return
        found = run_dir.read_json(path / "fingerprint.json")
        if all(found.get(key) == wanted[key] for key in ("config", "data")):
            job.path = path
            job.read()
            job.skipped = job.status == FINISHED
            return


def can_resume(job: Job) -> bool:
    """Whether an attempt left a checkpoint to go on from."""
    return run_dir.is_run(job.path) and run_dir.latest_checkpoint(job.path)[0] is not None
