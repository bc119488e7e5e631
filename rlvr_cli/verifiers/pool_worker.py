"""One judge process of the pool: ``python -m rlvr_cli.verifiers.pool_worker IN OUT PARENT MEMORY``, started by ``pool.py``.

Reads a job a frame from descriptor IN, imports the judge it names, says "started" (the deadline runs from there), judges and
writes the verdict to OUT::

    <- {"judge": "rlvr_cli.verifiers.math:judge", "completion": "...", "row": {...}, "options": {}, "cpu_s": 10}
    -> {"started": true}
    -> {"score": 1.0, "reason": "gold 12, answer 12", "extracted": "12", "cache": true}

It dies with its parent, also when that is killed with SIGKILL: the kernel signals it, and the pipe ends.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import importlib
import math
import os
import resource
import signal
import sys
from collections.abc import Callable
from typing import Any

from rlvr_cli.verifiers import frames
from rlvr_cli.verifiers.verdict import Verdict

PR_SET_PDEATHSIG = 1
LONGEST_TEXT = 100_000  # characters of a reason or an extracted answer that travel back


def main() -> None:
    """Serve jobs until the parent closes the pipe."""
    inp, out, parent, memory = (int(word) for word in sys.argv[1:5])
    die_with(parent)
    inp, out = _out_of_reach(inp), _out_of_reach(out)
    _limit(memory)
    with contextlib.suppress(frames.Closed):
        extend_path(frames.receive(inp)["path"])
        frames.send(out, {"ready": True})
        while True:
            _serve(frames.receive(inp), out)
    os._exit(0)  # a judge's stray threads do not hold the process


def die_with(parent: int) -> None:
    """Ask the kernel for SIGKILL when the thread that started us ends; leave at once if it already has."""
    if sys.platform.startswith("linux"):
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(0)


def _out_of_reach(fd: int) -> int:
    """Move a protocol pipe away from the low numbers that a chatty judge or its children may write to."""
    high = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 200)
    os.close(fd)
    return high


def _limit(memory: int) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if memory and (hard == resource.RLIM_INFINITY or memory < hard):
        with contextlib.suppress(ValueError, OSError):  # not every kernel has it
            resource.setrlimit(resource.RLIMIT_AS, (memory, hard))


def extend_path(path: list[str]) -> None:
    """Find a user's own judges where the parent finds them."""
    known = set(sys.path)
    sys.path.extend(entry for entry in path if entry not in known)


def _serve(job: dict[str, Any], out: int) -> None:
    try:
        judge = load(job["judge"])
    except Exception as error:
        frames.send(out, {"started": True})
        frames.send(out, _reply(Verdict(None, f"judge {job['judge']} cannot be loaded: {type(error).__name__}: {error}"), False))
        return
    frames.send(out, {"started": True})
    # CPU seconds, not wall time; inherited by no child; the default action of SIGPROF ends the process.
    signal.setitimer(signal.ITIMER_PROF, job["cpu_s"])
    verdict = judged(judge, job["completion"], job["row"], job["options"])
    signal.setitimer(signal.ITIMER_PROF, 0)
    frames.send(out, _reply(verdict, _cacheable(judge, job)))


@functools.lru_cache(maxsize=64)
def load(path: str) -> Callable[..., Verdict]:
    """The function that ``package.module:name`` stands for. Its module's ``warm_up()``, where it has one, does its slow imports
    here: on a busy machine they can take longer than a sample's whole deadline, which starts only afterwards."""
    name, _, function = path.partition(":")
    module = importlib.import_module(name)
    getattr(module, "warm_up", lambda: None)()
    return getattr(module, function or "judge")


def judged(judge: Callable[..., Verdict], completion: Any, row: dict[str, Any], options: dict[str, Any]) -> Verdict:
    """The judge's verdict; one that raises, or gives a score that is no finite number, could not judge."""
    try:
        verdict = judge(completion, row, **options)
        score = None if verdict.score is None else float(verdict.score)
    except (Exception, SystemExit) as error:
        return Verdict(None, f"judge raised {type(error).__name__}: {error}"[:500])
    if score is not None and not math.isfinite(score):
        return Verdict(None, f"judge gave a score that is not finite: {score}", verdict.extracted)
    return Verdict(score, verdict.reason, verdict.extracted)


def _cacheable(judge: Callable[..., Verdict], job: dict[str, Any]) -> bool:
    """A judge's module may say with ``cacheable(completion, row)`` that a verdict holds only now (a query about today)."""
    ask = getattr(sys.modules.get(judge.__module__), "cacheable", None)
    try:
        return bool(ask(job["completion"], job["row"])) if ask else True
    except Exception:
        return False


def _reply(verdict: Verdict, cache: bool) -> dict[str, Any]:
    extracted = None if verdict.extracted is None else str(verdict.extracted)[:LONGEST_TEXT]
    return {"score": verdict.score, "reason": str(verdict.reason)[:LONGEST_TEXT], "extracted": extracted, "cache": cache}


if __name__ == "__main__":
    main()
