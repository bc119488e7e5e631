"""One reward function on one batch: under a deadline, and every way it can break becomes one line with its sample.

The call runs in a daemon thread, so that a hang ends in an error instead of a stopped cluster; a function that needs
the main thread (``signal.alarm``) says so in its own error. ``async def`` functions get an event loop of their own.

>>> checked([1, 0.0, None], ["a", "b", "c"], "correct")
[1.0, 0.0, None]
>>> checked([1, float("nan")], ["a", "b"], "correct")
Traceback (most recent call last):
...
rlvr_cli.errors.RewardError: reward 'correct' gave nan for completion 1: 'b'
"""

from __future__ import annotations

import asyncio
import inspect
import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rlvr_cli.errors import RewardError, RlvrError, place_of
from rlvr_cli.verifiers.verdict import Completion, text_of

NOT_APPLICABLE = "not applicable"
SAMPLE_CHARS = 120


@dataclass
class TermResult:
    """What one term says of each row of a batch; lists of equal length, plain values, so ranks can gather it.

    scores: raw (not weighted) scores; None is "could not judge" where the row is applicable, else no score at all.
    """

    scores: list[float | None]
    reasons: list[str]
    extracted: list[str | None]
    applicable: list[bool]

    def __len__(self) -> int:
        return len(self.scores)

    @classmethod
    def empty(cls, n: int) -> TermResult:
        """Not applicable on all of ``n`` rows."""
        return cls([None] * n, [NOT_APPLICABLE] * n, [None] * n, [False] * n)

    def rows(self, start: int, stop: int) -> TermResult:
        """The slice of one rank."""
        return TermResult(*(values[start:stop] for values in (self.scores, self.reasons, self.extracted, self.applicable)))

    def put(self, index: int, score: float | None, reason: str, extracted: str | None) -> None:
        """Set row ``index``, which makes it applicable."""
        self.scores[index], self.reasons[index], self.extracted[index], self.applicable[index] = score, reason, extracted, True


def sample_of(completion: Completion) -> str:
    """A completion short enough for one line."""
    try:
        text = text_of(completion)
    except Exception:  # not even a completion: show what it is
        text = repr(completion)
    return repr(text if len(text) <= SAMPLE_CHARS else text[:SAMPLE_CHARS] + "...")


class DeadlinePassed(Exception):
    """Our own deadline; a TimeoutError is the function's (a judge's server that did not answer)."""


def run(call: Callable[[], Any], timeout_s: float) -> Any:
    """The value of ``call()``, awaited if need be. Raises DeadlinePassed after ``timeout_s`` seconds, or what it raised."""
    box: dict[str, Any] = {}

    def work() -> None:
        try:
            value = call()
            box["value"] = asyncio.run(_awaited(value)) if inspect.isawaitable(value) else value
        except BaseException as error:
            box["error"] = error

    thread = threading.Thread(target=work, daemon=True, name="rlvr-reward")
    thread.start()
    thread.join(timeout_s)
    if thread.is_alive():
        raise DeadlinePassed
    if "error" in box:
        raise box["error"]
    return box["value"]


async def _awaited(value: Any) -> Any:
    return await value


def scores_of(name: str, call: Callable[[Sequence[int]], Any], completions: Sequence[Completion], timeout_s: float) -> Any:
    """What ``call(range(n))`` returns, with its exception or hang named. ``call`` takes indexes, so that one row can be tried alone."""
    n = len(completions)
    try:
        return run(lambda: call(range(n)), timeout_s)
    except DeadlinePassed as error:
        what = f"reward {name!r} did not answer within {timeout_s:g} s on {n} completions; the first: {sample_of(completions[0])}"
        raise RewardError(what, fix="reward.pool.batch_timeout_s=...") from error
    except RlvrError:
        raise
    except (Exception, SystemExit) as error:  # sys.exit(0) in a reward would end a rank as if the run were done
        at = _culprit(call, n, timeout_s)
        which = f"{n} rows, the first: {sample_of(completions[0])}" if at is None else f"completion {at}: {sample_of(completions[at])}"
        raise RewardError(f"reward {name!r} raised {type(error).__name__}: {_one_line(error)} on {which}, at {place_of(error)}") from error


def _culprit(call: Callable[[Sequence[int]], Any], n: int, timeout_s: float) -> int | None:
    """Index of the first row that raises when judged alone; None when each alone is fine."""
    for i in range(min(n, 256)):
        try:
            run(lambda i=i: call([i]), min(timeout_s, 10.0))
        except (Exception, SystemExit):
            return i
    return None


def _one_line(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return text if len(text) <= 300 else text[:300] + "..."


def checked(values: Any, completions: Sequence[Completion], name: str) -> list[float | None]:
    """The scores as a plain list, or one line that names the term, the row and its completion."""
    if hasattr(values, "tolist"):  # a NumPy array or a tensor
        values = values.tolist()
    if not isinstance(values, (list, tuple)):
        raise RewardError(f"reward {name!r} returned a {type(values).__name__}, not a list of {len(completions)} numbers")
    if len(values) != len(completions):
        what = f"reward {name!r} returned {len(values)} scores for {len(completions)} completions"
        raise RewardError(f"{what}; the first: {sample_of(completions[0])}")
    return [_number(value, i, completions, name) for i, value in enumerate(values)]


def _number(value: Any, i: int, completions: Sequence[Completion], name: str) -> float | None:
    if value is None:
        return None
    if hasattr(value, "item"):  # NumPy scalar, zero-dimensional tensor
        value = value.item()
    if not isinstance(value, (int, float)):
        raise RewardError(f"reward {name!r} gave a {type(value).__name__} ({value!r:.60}) for completion {i}: {sample_of(completions[i])}")
    if not math.isfinite(value):
        raise RewardError(f"reward {name!r} gave {value} for completion {i}: {sample_of(completions[i])}")
    return float(value)
