"""What a person sees while a sweep runs: a live table in a terminal, one line a change elsewhere."""

from __future__ import annotations

import os
import sys
from typing import Any

from rlvr_cli.evaluation.intervals import points
from rlvr_cli.launch.follow import Follow
from rlvr_cli.sweep.jobs import FINISHED, REFUSED, RUNNING, Job
from rlvr_cli.sweep.table import rich_table


class Watch:
    """Follows the jobs' ``metrics.jsonl`` and shows them."""

    def __init__(self, jobs: list[Job]):
        self.jobs = jobs
        self.follows: dict[str, Follow] = {}
        self.latest: dict[str, dict[str, Any]] = {}
        self.screen: Any = None

    def start(self) -> None:
        """Say what is about to happen; jobs that finished before are named as such."""
        skipped = sum(job.skipped for job in self.jobs)
        to_do = sum(job.status not in (FINISHED, REFUSED) for job in self.jobs)
        place = os.path.relpath(self.jobs[0].parent)
        print(f"sweep of {len(self.jobs)} jobs in {place}: {to_do} to run, {skipped} finished before", flush=True)
        for job in self.jobs:
            if job.status == REFUSED:
                print(f"refused  {job.name}: {job.error}", flush=True)
        if sys.stdout.isatty() and to_do:
            from rich.live import Live

            self.screen = Live(self.picture(), refresh_per_second=4, transient=True)
            self.screen.start()

    def changed(self, job: Job) -> None:
        """A job started or ended."""
        if self.screen:
            self.screen.update(self.picture())
            return
        place = f"[{self.jobs.index(job) + 1}/{len(self.jobs)}]"
        if job.status == RUNNING:
            print(f"{place} {job.name} started", flush=True)
            return
        share = f", held-out accuracy {points(job.accuracy, job.ci95, job.n)}" if job.ci95 else ""
        print(f"{place} {job.name} {job.status}{share}, {job.seconds or 0:.0f} s{': ' + job.error if job.error else ''}", flush=True)

    def look(self) -> None:
        """Read what the running jobs wrote since the last look."""
        for job in self.jobs:
            if job.status == RUNNING:
                follow = self.follows.setdefault(job.name, Follow(job.path / "metrics.jsonl"))
                for line in follow.new():
                    self.latest[job.name] = {**self.latest.get(job.name, {}), **line}
        if self.screen:
            self.screen.update(self.picture())

    def picture(self) -> Any:
        """The live table: every job, and the step and reward of those that run."""
        running = {job.name for job in self.jobs if job.status == RUNNING}
        return rich_table(self.jobs, {name: said(line) for name, line in self.latest.items() if name in running})

    def close(self) -> None:
        """Give the terminal back."""
        if self.screen:
            self.screen.stop()
            self.screen = None


def said(line: dict[str, Any]) -> str:
    """Step, reward and the latest accuracy of a running job.

    >>> said({"step": 40, "reward": 0.61, "eval/accuracy": 0.8})
    'step 40  reward 0.610  accuracy 0.800'
    """
    parts = [f"step {line['step']}"]
    parts += [f"{name} {line[key]:.3f}" for name, key in (("reward", "reward"), ("accuracy", "eval/accuracy")) if line.get(key) is not None]
    return "  ".join(parts)
