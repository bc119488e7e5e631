"""Killable judges: heavy or hostile judging runs in worker processes that a deadline can end.

A thread owns each worker for life, sends it one job at a time and kills it when the job's deadline passes. Threads, because a
reward may be called from any thread, from asyncio or from Ray, where signals and forks are out of the question; one owner a
worker, because the kernel ties "die with the parent" to the thread that started the process. Workers are clean interpreters
(exec, never a fork of a trainer that holds CUDA and threads), started at first use and kept warm.

>>> scores = pay_pooled("rlvr_cli.verifiers.pool:example_judge", ["4", "5"], [{"answer": "4"}, {"answer": "4"}])
>>> scores, scores.verdicts[1].reason
([1.0, 0.0], 'gold 4, answer 5')
"""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from rlvr_cli.verifiers import cache, frames
from rlvr_cli.verifiers.child import Child
from rlvr_cli.verifiers.pool_worker import judged, load
from rlvr_cli.verifiers.verdict import Completion, Scores, Verdict

START_S = 60.0  # deadline for a worker to start and to import a judge; not part of a sample's own deadline
RECYCLE_AFTER = 2000  # jobs of one worker, so that what a library hoards stays bounded
MEMORY_BYTES = 4 * 2**30  # address space of a worker


@dataclass
class _Settings:
    workers: int | None = None
    timeout_s: float = 5.0
    backend: Literal["process", "inline"] = "process"


@dataclass
class _Counts:
    judged: int = 0
    timeouts: int = 0
    restarts: int = 0


_settings = _Settings()
_counts = _Counts()
_pool: _Pool | None = None
_guard = threading.Lock()


def example_judge(completion: Completion, row: dict[str, Any]) -> Verdict:
    """The smallest judge: the text equals the gold."""
    return Verdict(float(completion == row["answer"]), f"gold {row['answer']}, answer {completion}", str(completion))


def pay_pooled(
    judge_path: str,
    completions: Sequence[Completion],
    rows: Sequence[dict[str, Any]],
    *,
    timeout_s: float | None = None,
    workers: int | None = None,
    **options: Any,
) -> Scores:
    """Like ``pay``, with killable workers. ``judge_path`` is ``package.module:function``.

    timeout_s: deadline of one verdict in seconds, from when its judging starts; None takes ``configure``'s (5 s).
    workers: verdicts in flight at once; None takes ``configure``'s (the cores a rank has).
    options: keyword options of the judge, plain data.
    """
    return Scores(judge_many(judge_path, completions, rows, options=options, timeout_s=timeout_s, workers=workers))


def judge_many(
    judge_path: str,
    completions: Sequence[Completion],
    rows: Sequence[dict[str, Any]],
    *,
    options: dict[str, Any] | None = None,
    timeout_s: float | None = None,
    workers: int | None = None,
) -> list[Verdict]:
    """A verdict for each completion, in order. Never raises for what a judge does: that is ``Verdict(None, reason)``."""
    if len(completions) != len(rows):
        raise ValueError(f"{len(completions)} completions for {len(rows)} rows")
    options = options or {}
    keys = [cache.key(judge_path, completion, row, options) for completion, row in zip(completions, rows, strict=True)]
    verdicts = cache.lookup(keys)
    todo = [i for i, verdict in enumerate(verdicts) if verdict is None]
    if todo and _settings.backend == "inline":
        fresh = list(_inline(judge_path, [completions[i] for i in todo], [rows[i] for i in todo], options))
    else:
        jobs = [{"judge": judge_path, "completion": completions[i], "row": rows[i], "options": options} for i in todo]
        fresh = _in_processes(jobs, timeout_s or _settings.timeout_s, workers or at_once())
    for i, (verdict, _) in zip(todo, fresh, strict=True):
        verdicts[i] = verdict
    cache.store({keys[i]: verdict for i, (verdict, keep) in zip(todo, fresh, strict=True) if keep})
    return verdicts


def configure(
    *,
    workers: int | None = None,
    timeout_s: float | None = None,
    backend: Literal["process", "inline"] | None = None,
    cache: bool | None = None,
) -> None:
    """Set this process's defaults (``reward.pool`` of a run); None leaves a value as it is."""
    from rlvr_cli.verifiers import cache as verdict_cache

    _settings.workers = workers or _settings.workers
    _settings.timeout_s = timeout_s or _settings.timeout_s
    _settings.backend = backend or _settings.backend
    if cache is not None:
        verdict_cache.switch(cache)


def stats() -> dict[str, float]:
    """Counts of this process: verdicts judged, deadlines passed, workers replaced, and the cache's hits and misses."""
    return {"judged": _counts.judged, "timeouts": _counts.timeouts, "restarts": _counts.restarts, **cache.stats()}


def shutdown() -> None:
    """End all workers now. A later call starts new ones."""
    global _pool
    with _guard:
        pool, _pool = _pool, None
    if pool is not None and pool.pid == os.getpid():
        pool.close()


atexit.register(shutdown)


def at_once() -> int:
    """Verdicts in flight at once: ``configure``'s number, else the cores of this process over the ranks that share the machine."""
    ranks = os.environ.get("LOCAL_WORLD_SIZE", "1")
    return _settings.workers or max(1, min(32, cores() // max(1, int(ranks) if ranks.isdigit() else 1)))


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _inline(judge_path: str, completions: list, rows: list, options: dict[str, Any]) -> Iterator[tuple[Verdict, bool]]:
    judge = load(judge_path)
    for completion, row in zip(completions, rows, strict=True):
        _counts.judged += 1
        yield judged(judge, completion, row, options), False


def _in_processes(jobs: list[dict[str, Any]], timeout_s: float, workers: int) -> list[tuple[Verdict, bool]]:
    if not jobs:
        return []
    batch = _Batch(jobs, timeout_s, workers)
    _current_pool().run(batch, min(workers, len(jobs)))
    return batch.results


def _current_pool() -> _Pool:
    """The pool of this process. After a fork the parent's threads are not here: start anew."""
    global _pool
    with _guard:
        if _pool is None or _pool.pid != os.getpid():
            _pool = _Pool()
        return _pool


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: globals().update(_guard=threading.Lock(), _pool=None))


@dataclass
class _Batch:
    """One call's jobs. ``results[i]`` is the verdict and whether it may be cached."""

    jobs: list[dict[str, Any]]
    timeout_s: float
    limit: int  # in flight at once
    running: int = 0
    results: list[tuple[Verdict, bool]] = field(default_factory=list)
    left: int = 0
    pending: deque[int] = field(default_factory=deque)
    done: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.left = len(self.jobs)
        self.pending.extend(range(self.left))
        self.results = [(Verdict(None, "the pool was shut down"), False)] * self.left


class _Pool:
    """The threads, each with its worker, and the batches they serve in turn."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self.turn = threading.Condition()
        self.batches: deque[_Batch] = deque()
        self.slots: list[_Slot] = []
        self.closed = False

    def run(self, batch: _Batch, workers: int) -> None:
        """Judge a batch; an interrupted caller leaves no job behind."""
        with self.turn:
            while len(self.slots) < workers and not self.closed:
                self.slots.append(_Slot(self))
            self.batches.append(batch)
            self.turn.notify_all()
            if self.closed:
                return
        try:
            batch.done.wait()
        finally:
            with self.turn:
                batch.pending.clear()
                with contextlib.suppress(ValueError):
                    self.batches.remove(batch)

    def next_job(self) -> tuple[_Batch, int] | None:
        """Wait for a job, taking the batches in turn, so that a small one does not queue behind a large one."""
        with self.turn:
            while not self.closed:
                for _ in range(len(self.batches)):
                    batch = self.batches[0]
                    self.batches.rotate(-1)
                    if batch.pending and batch.running < batch.limit:
                        batch.running += 1
                        return batch, batch.pending.popleft()
                self.turn.wait()
        return None

    def finish(self, batch: _Batch, index: int, result: tuple[Verdict, bool]) -> None:
        """Record a result and wake whoever waits for it."""
        with self.turn:
            _counts.judged += 1
            batch.results[index] = result
            batch.running -= 1
            batch.left -= 1
            if batch.left == 0:
                batch.done.set()
            elif batch.pending:
                self.turn.notify()

    def count(self, timeouts: int = 0, restarts: int = 0) -> None:
        """Add to the counts that ``stats`` gives."""
        with self.turn:
            _counts.timeouts += timeouts
            _counts.restarts += restarts

    def close(self) -> None:
        """Stop the threads, kill the workers, release the callers."""
        with self.turn:
            self.closed = True
            batches = list(self.batches)
            self.turn.notify_all()
        for slot in self.slots:
            slot.kill()
        for slot in self.slots:
            slot.thread.join(5)
        for batch in batches:
            batch.done.set()


class _Slot:
    """A thread and the worker that it owns."""

    def __init__(self, pool: _Pool) -> None:
        self.pool = pool
        self.worker: _Worker | None = None
        self.thread = threading.Thread(target=self._serve, name="rlvr-judge", daemon=True)
        self.thread.start()

    def kill(self) -> None:
        worker = self.worker
        if worker is not None:
            worker.kill()

    def _serve(self) -> None:
        try:
            while (job := self.pool.next_job()) is not None:
                batch, index = job
                result = (Verdict(None, "the pool was shut down"), False)
                try:
                    result = self._judge(batch.jobs[index], batch.timeout_s)
                finally:  # whatever happens here, the caller must not wait for ever
                    self.pool.finish(batch, index, result)
        finally:
            self._drop()

    def _drop(self) -> None:
        worker, self.worker = self.worker, None
        if worker is not None:
            worker.close()

    def _judge(self, job: dict[str, Any], timeout_s: float) -> tuple[Verdict, bool]:
        """A verdict by hook or by crook: a worker that dies is replaced and the job tried once more."""
        try:
            frame = frames.encode({**job, "cpu_s": 2 * timeout_s + 1})
        except (TypeError, ValueError, RecursionError) as error:
            return Verdict(None, f"row cannot be sent to a judge: {error}"[:300]), False
        why = ""
        for _ in range(2):
            try:
                return self._ask(frame, timeout_s)
            except frames.Late:
                self.pool.count(timeouts=1, restarts=1)
                self._drop()
                return Verdict(None, f"judge timed out after {timeout_s:g} s"), False
            except (frames.Closed, OSError) as error:
                why = self._last_words(error)
                self.pool.count(restarts=1)
                self._drop()
            if self.pool.closed:
                return Verdict(None, "the pool was shut down"), False
        return Verdict(None, f"judge process died twice ({why})"), False

    def _ask(self, frame: bytes, timeout_s: float) -> tuple[Verdict, bool]:
        if self.worker is None:
            self.worker = _Worker()
            self.worker.hello()
        self.worker.start_job(frame)
        result = self.worker.verdict(time.monotonic() + timeout_s)
        if self.worker.jobs > RECYCLE_AFTER:  # the hello counts
            self._drop()
        return result

    def _last_words(self, error: Exception) -> str:
        code = self.worker.ended(1) if self.worker is not None else None
        if code is None:
            return str(error)
        return signal.Signals(-code).name if code < 0 else f"exit {code}"


class _Worker(Child):
    """A judge process."""

    def __init__(self) -> None:
        super().__init__("rlvr_cli.verifiers.pool_worker", os.getpid(), MEMORY_BYTES)
        self.jobs = 0

    def hello(self) -> None:
        """Tell a new worker where this process finds its modules, and wait until it is up."""
        self.start_job(frames.encode({"path": [os.path.abspath(entry) for entry in sys.path]}))

    def start_job(self, frame: bytes) -> None:
        """Hand over a job and wait until its judging starts."""
        self.jobs += 1
        until = time.monotonic() + START_S
        try:
            frames.send_bytes(self.down, frame, until)
            self.receive(until)
        except frames.Late:
            raise frames.Closed(f"no start within {START_S:g} s") from None

    def verdict(self, until: float) -> tuple[Verdict, bool]:
        """The verdict and whether it may be kept. Another shape comes from a worker that can no longer be trusted."""
        match self.receive(until):
            case {"score": float() | int() | None as score, "reason": str(reason), "extracted": str() | None as extracted, "cache": keep}:
                return Verdict(score, reason, extracted), bool(keep) and score is not None
        raise frames.Closed("reply of an unknown shape")
