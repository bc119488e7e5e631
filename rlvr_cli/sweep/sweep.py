"""The sweep itself: make the jobs, run those that are not finished, keep the table, take everything down on any end.

Each job is ``python -m rlvr_cli.main train ...`` under a keeper: a process tree with its own ports, server and logs,
which ends when this process ends, however it ends. A failed job is a row of the table, not the end of the sweep::

    outputs/sweep-reward+seed/sweep.csv
    outputs/sweep-reward+seed/reward-math+seed-1/          a run like any other: rlvr report, rlvr eval
    outputs/sweep-reward+seed/logs/reward-math+seed-1.log  what that job printed
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Sequence
from pathlib import Path

from rlvr_cli.errors import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK, ConfigError, LaunchError
from rlvr_cli.interpreter import python
from rlvr_cli.launch.processes import Kept
from rlvr_cli.launch.supervise import Interrupted, interruptible, uninterrupted
from rlvr_cli.outputs import need_writable
from rlvr_cli.sweep.expand import Words, expand, folder_name
from rlvr_cli.sweep.jobs import FAILED, FINISHED, INTERRUPTED, REFUSED, RUNNING, WAITING, Job, can_resume, key_of, make_job
from rlvr_cli.sweep.table import plain_table, ranked, write_csv
from rlvr_cli.sweep.watch import Watch

POLL_S = 0.5
TRAIN = python("-m", "rlvr_cli.main", "train")
OWN_KEYS = ("sweep.jobs", "sweep.trials")


def run(words: list[str], cwd: Path) -> int:
    """Expand, run, rank; the exit code of the whole."""
    own, words = own_words(words)
    if "sweep.trials" in own:
        from rlvr_cli.sweep.optimise import optimise

        return optimise(words, cwd, trials=own["sweep.trials"])
    expanded = expand(words, cwd)
    parent = folder_of(words, expanded, cwd)
    jobs = [make_job(job, parent, cwd) for job in expanded]
    refuse_hopeless(jobs)
    need_writable(parent, where="run.dir", fix="run.dir=FOLDER")
    parent.mkdir(parents=True, exist_ok=True)
    code = run_jobs(jobs, parent, cwd, at_once=own.get("sweep.jobs", 1))
    show_end(jobs, parent)
    return code


def own_words(words: list[str]) -> tuple[dict[str, int], list[str]]:
    """``sweep.jobs=2`` (jobs at once) and ``sweep.trials=20`` apart from the words of the runs.

    >>> own_words(["seed=1,2", "sweep.jobs=2"])
    ({'sweep.jobs': 2}, ['seed=1,2'])
    """
    own, rest = {}, []
    for word in words:
        key, _, value = word.partition("=")
        if not key.startswith("sweep."):
            rest.append(word)
        elif key not in OWN_KEYS or not value.isdigit() or int(value) < 1:
            raise ConfigError(
                f"{word}: a sweep takes {' and '.join(OWN_KEYS)}, whole numbers from 1", where="command line", fix="sweep.jobs=2"
            )
        else:
            own[key] = int(value)
    return own, rest


def folder_of(words: list[str], expanded: list[Words], cwd: Path) -> Path:
    """``<run.dir>/<run.name>``, or a name made of what varies and what does not, the same for the same sweep.

    Values are not part of it: ``seed=1,2,3`` after ``seed=1,2`` goes into the same folder and trains only ``seed=3``.
    """
    given = {key_of(w): w.split("=", 1)[1] for w in words if "=" in w}
    parent = cwd / given.get("run.dir", "outputs")
    if "run.name" in given:
        return parent / folder_name(given["run.name"])
    varied = sorted({key_of(w) for w in expanded[0].varied})
    fixed = sorted(w for w in words if key_of(w) not in (*varied, "run.dir"))
    mark = "-" + hashlib.sha256("\0".join(fixed).encode()).hexdigest()[:6] if fixed else ""
    return parent / (folder_name("sweep-" + "+".join(key.split(".")[-1] for key in varied or ["one"])) + mark)


def refuse_hopeless(jobs: list[Job]) -> None:
    """When no combination works out, the first one's fault is the sweep's."""
    if jobs and all(job.status == REFUSED for job in jobs):
        raise ConfigError(f"none of the {len(jobs)} jobs can run; the first: {jobs[0].error}")


def run_jobs(jobs: list[Job], parent: Path, cwd: Path, *, at_once: int, earlier: Sequence[Job] = ()) -> int:
    """Run what waits, ``at_once`` at a time, and keep ``sweep.csv`` true after every change; ``earlier`` jobs stand in it too."""
    watch = Watch(jobs)
    running: dict[str, tuple[Job, Kept, float]] = {}
    code = EXIT_OK
    try:
        with interruptible():
            watch.start()
            waiting = [job for job in jobs if job.status != FINISHED and job.status != REFUSED]
            while waiting or running:
                while waiting and len(running) < at_once:
                    job = waiting.pop(0)
                    running[job.name] = (job, start(job, parent, cwd), time.monotonic())
                    watch.changed(job)
                for name in [name for name, (_, kept, _) in running.items() if kept.poll() is not None]:
                    finish(*running.pop(name), parent)
                    watch.changed(next(job for job in jobs if job.name == name))
                    write_csv([*earlier, *jobs], parent / "sweep.csv")
                watch.look()
                time.sleep(POLL_S)
    except (Interrupted, KeyboardInterrupt):
        code = EXIT_INTERRUPTED
    finally:
        take_down(running)
        watch.close()
        write_csv([*earlier, *jobs], parent / "sweep.csv")
    return code or (EXIT_OK if all(job.status == FINISHED for job in jobs) else EXIT_FAILED)


def show_end(jobs: Sequence[Job], parent: Path) -> None:
    """The ranked table, each job that came to nothing with its folder and its whole sentence, and what to type next."""
    write_csv(jobs, parent / "sweep.csv")
    print(plain_table(jobs))
    broken = [job for job in jobs if job.error and job.status != FINISHED]
    for job in broken:
        print(f"{job.status}  {job.shown if job.path.exists() else job.name}: {job.error}")
    best = " ".join(job.shown for job in ranked(jobs)[:3] if job.status == FINISHED)
    looked = next((job.shown for job in broken if job.path.exists()), None)
    steps = [f"rlvr report {best}"] * bool(best) + [f"rlvr doctor {looked}"] * bool(looked)
    print("   ".join([f"written: {os.path.relpath(parent / 'sweep.csv')}", f"next: {steps[0]}" if steps else "", *steps[1:]]).rstrip())


def start(job: Job, parent: Path, cwd: Path) -> Kept:
    """Start a job's process tree; what it prints goes to ``logs/<job>.log``."""
    argv = [*TRAIN, *job.command(resume=can_resume(job))]
    job.status, job.error = RUNNING, ""
    return Kept.start(argv, parent / "logs" / f"{job.name}.log", env=dict(os.environ), cwd=cwd)


def finish(job: Job, kept: Kept, started: float, parent: Path) -> None:
    """Read how a job ended; its exit code has the last word."""
    job.seconds = round(time.monotonic() - started, 1)
    if job.path.is_dir():
        job.read()
    if kept.poll() == 0:
        job.status = FINISHED
        return
    job.status = FAILED
    lines = [line for line in kept.tail(6).splitlines() if line.startswith("rlvr train:")]
    job.error = lines[-1].removeprefix("rlvr train: ") if lines else job.error or f"exit code {kept.poll()}; see {kept.log}"


def take_down(running: dict[str, tuple[Job, Kept, float]]) -> None:
    """Stop what still runs; each keeper returns when its whole tree is gone."""
    with uninterrupted():
        for job, kept, started in running.values():
            kept.stop()
            job.status, job.seconds = INTERRUPTED, round(time.monotonic() - started, 1)


def task(words: list[str], cwd: Path) -> float:
    """Train one job, or read it where it is finished, and return its held-out accuracy."""
    if len(expand(words, cwd)) != 1:
        raise ConfigError("a task is one job, and these words are several", where="command line", fix="rlvr train -m ...")
    parent = next((cwd / w.split("=", 1)[1] for w in words if key_of(w) == "run.dir"), cwd / "outputs") / "sweep-tasks"
    parent.mkdir(parents=True, exist_ok=True)
    job = train_one(Words(words, words), parent, cwd)
    if job.accuracy is None:
        raise LaunchError(f"the job {job.name} gave no accuracy: {job.error or job.status}", where=job.shown)
    return job.accuracy


def train_one(words: Words, parent: Path, cwd: Path, *, earlier: Sequence[Job] = ()) -> Job:
    """One job by itself, trained where it is not finished."""
    job = make_job(words, parent, cwd)
    if job.status == WAITING and run_jobs([job], parent, cwd, at_once=1, earlier=earlier) == EXIT_INTERRUPTED:
        raise KeyboardInterrupt
    return job
