"""The life of one attempt at a run: weights, server, ranks, and taking everything down on any end.

Three things end a run here: the ranks end, a child that must live dies, or a wait passes its deadline. Whatever happens,
``stop`` has run before this returns, and the outcome says in one sentence what happened::

    outcome = Attempt(config, plan, run_dir, attempt=1, view=View()).run()
    outcome.ok, outcome.sentence
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rlvr_cli.checkpoints import latest_checkpoint, remove_torn
from rlvr_cli.config.schema import Config
from rlvr_cli.errors import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK, EXIT_USAGE, LaunchError, RlvrError
from rlvr_cli.launch import builder as builder_of
from rlvr_cli.launch import ranks as ranks_of
from rlvr_cli.launch import server as server_of
from rlvr_cli.launch.follow import Follow, read_json
from rlvr_cli.launch.freeze import freeze, plan_file
from rlvr_cli.launch.plan import Plan
from rlvr_cli.launch.processes import Kept, tail
from rlvr_cli.launch.view import View

POLL_S = 0.25
QUICK_S = 15.0  # a model found in the cache takes less
START_TIMEOUT_S = 900.0  # loading a large model from a cold disk; a step has its own deadline, trainer.timeout_s
FULL = 2**20  # bytes free on a disk that has no room for a record
LOST_PEER = {"RuntimeError", "DistBackendError", "DistNetworkError", "DistStoreError", "ConnectionError", "ConnectionResetError"}
USAGE_KINDS = {"ConfigError", "DataError", "RewardError", "RunDirError", "MissingDependency"}


@dataclass(frozen=True)
class Outcome:
    """How an attempt ended: exit code, one sentence, and where to read more."""

    code: int
    sentence: str
    log: str | None = None

    @property
    def ok(self) -> bool:
        """Whether the run is done."""
        return self.code == EXIT_OK

    @property
    def state(self) -> str:
        """The word for ``status.json``."""
        return {EXIT_OK: "finished", EXIT_INTERRUPTED: "interrupted"}.get(self.code, "failed")


class Interrupted(Exception):
    """Ctrl-C or SIGTERM arrived."""


class Attempt:
    """One attempt: owns the server and the ranks from :meth:`run`'s first line to its last."""

    def __init__(self, config: Config, plan: Plan, run_dir: Path, *, attempt: int, view: View):
        self.config, self.plan, self.run_dir, self.attempt, self.view = config, plan, run_dir, attempt, view
        self.server: server_of.Server | None = None
        self.ranks: Kept | None = None
        self.builder: Kept | None = None

    def log(self, who: str) -> Path:
        """``logs/<who>.<attempt>.log``."""
        return self.run_dir / "logs" / f"{who}.{self.attempt}.log"

    def run(self) -> Outcome:
        """Run to the end, whatever the end is. Never raises for what can happen to a run."""
        try:
            with interruptible():
                outcome = self._run()
        except (Interrupted, KeyboardInterrupt):
            outcome = Outcome(EXIT_INTERRUPTED, f"interrupted; {kept_words(self.run_dir)}")
        except RlvrError as error:
            outcome = Outcome(error.exit_code, str(error), error.where)
        except OSError as error:  # a full disk, a folder that was moved away
            outcome = Outcome(EXIT_FAILED, f"{error.strerror or error}: {error.filename or self.run_dir}")
        finally:
            self.stop()
            self.view.close()
            remove_torn(self.run_dir)
        return outcome

    def stop(self) -> None:
        """Take the ranks and the server down, in that order, even when asked again meanwhile."""
        with uninterrupted():
            for child in (self.ranks, self.server, self.builder):
                if child:
                    child.stop()

    def _run(self) -> Outcome:
        model_path = self._prepare_model()
        self._start_server(model_path)
        described = self.server.describe() if self.server else None
        plan = plan_file(self.plan, model_path, described, self.attempt)
        (self.run_dir / "plan.json").write_text(json.dumps(plan, indent=2) + "\n")
        (self.run_dir / "failure.json").unlink(missing_ok=True)
        self.ranks = ranks_of.start(freeze(self.config, self.plan), self.plan, self.run_dir, self.log("torchrun"), self.attempt)
        return self._watch()

    def _prepare_model(self) -> Path:
        """The folder or hub id of the weights; a builder makes them first, in a child, and its time is counted apart."""
        if not self.config.model.builder:
            return Path(self.config.model.path)
        self.view.status({"phase": "preparing the model"})
        started = time.monotonic()
        self.builder = builder_of.start(self.run_dir, self.log("model"))
        told = builder_of.wait(self.builder, self.run_dir, self.view.say)
        seconds = time.monotonic() - started
        fresh = f"built and cold-started in {seconds:.0f} s" if seconds > QUICK_S else "from the cache"
        self.view.say(f"model {fresh}: {told['path']}")
        return Path(told["path"])

    def _start_server(self, model_path: Path) -> None:
        if not self.plan.has_server or self.config.hardware.node_rank != 0:
            return
        self.view.say("starting the vLLM server")
        self.server = server_of.start(self.config, self.plan, model_path, self.log("server"), attempt=self.attempt)
        waited = server_of.wait_ready(self.server, self.config.generation.startup_timeout_s, self.view.say)
        self.view.say(f"the vLLM server answers after {waited:.0f} s at {self.server.base_url}")

    def _watch(self) -> Outcome:
        """Follow the ranks until they end; raise LaunchError when the server dies or progress stops."""
        assert self.ranks
        metrics = Follow(self.run_dir / "metrics.jsonl", from_end=True)
        progress = Progress(self.config.trainer.timeout_s)
        while True:
            code = self.ranks.poll()
            status = read_json(self.run_dir / "progress.json") or {}
            self.view.status(status)
            records = metrics.new()
            for record in records:
                self.view.metrics(record)
            progress.seen(status, len(records))
            if code is not None:
                return self._ended(code)
            self._check_server()
            progress.check(self.log("rank0"))
            time.sleep(POLL_S)

    def _check_server(self) -> None:
        if self.server and self.server.kept.poll() is not None:
            why = server_of.last_error(self.server.kept.log)
            raise LaunchError(
                f"the vLLM server died with code {self.server.kept.poll()}: {why}",
                where=str(self.server.kept.log),
                fix=f"rlvr train --resume {self.run_dir}",
            )

    def _ended(self, code: int) -> Outcome:
        """The ranks' end, in the words of the rank that failed first where there are any."""
        if code == 0:
            phase = (read_json(self.run_dir / "progress.json") or {}).get("phase", "starting")
            if phase == "done" or self.config.hardware.node_rank != 0:
                return Outcome(EXIT_OK, f"done: {self.run_dir}")
            why = f"a rank ended with code 0 before the run was done (phase {phase}): something in it, a reward perhaps, ends the process"
            return Outcome(EXIT_FAILED, why, str(self.log("rank0")))
        failure = read_json(self.run_dir / "failure.json")
        killed = was_killed(self.run_dir, self.attempt)
        if failure and not (killed and failure.get("kind") in LOST_PEER):
            line = RlvrError(failure["what"], where=failure.get("where"), fix=failure.get("fix"))
            step = f" at step {failure['step']}" if failure.get("step") is not None else ""
            usage = failure.get("kind") in USAGE_KINDS and not failure.get("step")
            return Outcome(EXIT_USAGE if usage else EXIT_FAILED, f"rank {failure.get('rank', 0)}{step}: {line}", str(self.log("rank0")))
        words = killed or full_words(self.run_dir) or last_words(self.run_dir, self.attempt)
        return Outcome(EXIT_FAILED, f"a rank ended with code {code}: {words}", str(self.log("rank0")))


class Progress:
    """Has anything moved lately? A hang on a cluster costs a night, so every wait has a deadline."""

    def __init__(self, step_timeout_s: float):
        self.limit = max(START_TIMEOUT_S, step_timeout_s)
        self.step_timeout_s = step_timeout_s
        self.last: dict[str, object] = {}
        self.since = time.monotonic()

    def seen(self, status: dict[str, object], records: int) -> None:
        """Note what was read; a new record or a changed status is progress."""
        if records or status != self.last:
            self.last, self.since = dict(status), time.monotonic()
        if records:
            self.limit = self.step_timeout_s

    def check(self, log: Path) -> None:
        """Raise LaunchError when nothing moved for longer than the deadline."""
        idle = time.monotonic() - self.since
        if idle > self.limit:
            phase = self.last.get("phase", "starting")
            raise LaunchError(
                f"nothing moved for {idle:.0f} s (phase {phase}, step {self.last.get('step', 0)}): {last_line(log)}",
                where=str(log),
                fix=f"trainer.timeout_s={self.step_timeout_s * 2:.0f}",
            )


def last_line(log: Path) -> str:
    """The last line of a log that is not blank."""
    return next((line.strip()[:300] for line in reversed(tail(log, 20).splitlines()) if line.strip()), "no word in the log")


def last_words(run_dir: Path, attempt: int) -> str:
    """The last error line of a rank's log; failing that, the last line."""
    logs = sorted((run_dir / "logs").glob(f"rank*.{attempt}.log"))
    for log in logs:
        line = last_line(log)
        if "Error" in line or "Exception" in line:
            return line
    return last_line(logs[0] if logs else run_dir / "logs" / f"torchrun.{attempt}.log")


def was_killed(run_dir: Path, attempt: int) -> str | None:
    """What to say where torchrun saw SIGKILL end a rank before all others, which then only tell that they lost it."""
    told = tail(run_dir / "logs" / f"torchrun.{attempt}.log", 60).rpartition("Root Cause")[2]
    first = re.search(r"exitcode\s*:\s*(-?\d+)", told)
    if first is None or first[1] != "-9":
        return None
    return "a rank was killed with SIGKILL, most often for want of memory: a smaller trainer.per_device_train_batch_size"


def full_words(run_dir: Path) -> str | None:
    """What to say where the disk of the run is full, which leaves no room for a rank's own word on it."""
    free = shutil.disk_usage(run_dir).free
    return f"No space left on device: {run_dir} (a disk with room: run.dir=FOLDER)" if free < FULL else None


def kept_words(run_dir: Path) -> str:
    """What an attempt leaves to go on from."""
    checkpoint, _ = latest_checkpoint(run_dir)
    return f"{checkpoint.name} is the last whole checkpoint" if checkpoint else "no checkpoint was written yet"


@contextmanager
def interruptible() -> Iterator[None]:
    """SIGTERM and SIGHUP raise :class:`Interrupted`, as Ctrl-C raises KeyboardInterrupt."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def raise_interrupted(*_: object) -> None:
        raise Interrupted

    numbers = (signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(number, raise_interrupted) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Ignore further signals while children are taken down: an impatient second Ctrl-C must not leave orphans."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(number, signal.SIG_IGN) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def pids_of(attempt: Attempt) -> list[int]:
    """Process ids of the keepers, for messages and tests."""
    kept = [attempt.ranks, attempt.server.kept if attempt.server else None]
    return [child.process.pid for child in kept if child and child.process.pid != os.getpid()]
