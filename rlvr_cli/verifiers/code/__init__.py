"""Judge Python programs by running them: tests by stdin and stdout, or by assert statements.

The row's ``tests`` (see :mod:`cases`), the program found in the completion (:mod:`extract`), the run in the sandbox
(:mod:`rlvr_cli.verifiers.sandbox`). A program that is wrong gets 0, a part of the tests its share; a task whose own tests
are broken and a machine that fails give None. One whole example::

    >>> row = {"tests": {"type": "assert", "code": "assert add(1, 2) == 3\\nassert add(0, 0) == 0", "entry_point": "add"}}
    >>> judge("```python\\ndef add(a, b):\\n    return a * b\\n```", row)
    Verdict(score=0.5, reason='1 of 2 passed; line 1: assert add(1, 2) == 3', extracted='def add(a, b):\\n    return a * b')
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from rlvr_cli.errors import RewardError
from rlvr_cli.verifiers import cache, pool, sandbox
from rlvr_cli.verifiers.code import asserts, cases, stdio
from rlvr_cli.verifiers.sandbox import Limits
from rlvr_cli.verifiers.verdict import Completion, Verdict, text_of

__all__ = ["gold_completion", "in_parallel", "judge", "judge_all"]


def judge(completion: Completion, row: dict[str, Any], *, mode: str = "fraction", unsafe: bool = False, **limits: float) -> Verdict:
    """Run one completion against its row's tests.

    mode: ``fraction`` pays the share of tests passed, ``all`` pays 1.0 for all of them and 0.0 otherwise.
    unsafe: run although no confinement works on this machine. limits: fields of :class:`Limits` (cpu_s, wall_s, memory_mb ...).
    """
    return _judged(completion, row, mode=mode, unsafe=unsafe, **limits)[0]


def _judged(completion: Completion, row: dict[str, Any], *, mode: str, unsafe: bool, **limits: float) -> tuple[Verdict, bool]:
    """The verdict, and whether it may be kept: not where a time limit decided, another moment might have been quicker."""
    if mode not in ("fraction", "all"):
        raise RewardError(f"mode is 'fraction' or 'all', not {mode!r}", fix="reward.terms.correct.options.mode=all")
    try:
        result = run_tests(completion, row, every=mode == "fraction", unsafe=unsafe, limits=Limits(**limits))
    except cases.BrokenTests as error:
        return Verdict(None, f"the task is broken: {error}"), False
    except sandbox.SandboxFailure as error:
        return Verdict(None, f"the sandbox failed: {error}"), False
    return Verdict(_score(result, mode), _reason(result), result.extracted), not result.timed_out


def run_tests(completion: Completion, row: dict[str, Any], *, every: bool, unsafe: bool, limits: Limits) -> stdio.Result:
    """The result behind a verdict, with the CPU time used. Raises BrokenTests and SandboxFailure."""
    tests = cases.read(row.get("tests"), row.get("entry_point"))
    text = text_of(completion)
    if isinstance(tests, cases.Stdio):
        return stdio.judge(text, tests, limits, every=every, unsafe=unsafe)
    return asserts.judge(text, tests, limits, unsafe=unsafe)


def _score(result: stdio.Result, mode: str) -> float:
    return float(result.passed == result.total) if mode == "all" else result.passed / result.total


def _reason(result: stdio.Result) -> str:
    parts = [f"{result.passed} of {result.total} passed", result.why, *result.notes]
    return "; ".join(part for part in parts if part)


def judge_all(completions: Sequence[Completion], rows: Sequence[dict[str, Any]], *, workers: int | None = None, mode: str = "fraction",
              unsafe: bool = False, **limits: float) -> list[Verdict]:  # fmt: skip
    """Judge a batch in order, ``workers`` at a time (see :func:`in_parallel`).

    Verdicts that no time limit decided are kept by content and not judged twice (:mod:`rlvr_cli.verifiers.cache`).
    """
    options = {"mode": mode, "unsafe": unsafe, **limits}
    settings = {**options, "tier": sandbox.probe().name}
    looked_at = [{k: row.get(k) for k in ("tests", "entry_point")} for row in rows]
    keys = [cache.key(f"{__name__}:judge", c, row, settings) for c, row in zip(completions, looked_at, strict=True)]
    verdicts = cache.lookup(keys)
    todo = [i for i, verdict in enumerate(verdicts) if verdict is None]
    fresh = in_parallel(lambda i: _judged(completions[i], rows[i], **options), todo, workers)
    for i, (verdict, _) in zip(todo, fresh, strict=True):
        verdicts[i] = verdict
    cache.store({keys[i]: verdict for i, (verdict, keep) in zip(todo, fresh, strict=True) if keep})
    return verdicts


def in_parallel(work: Callable[[Any], Any], items: Sequence[Any], workers: int | None) -> list[Any]:
    """``work`` of every item in order, in as many threads as there may be sandboxes at once: ``workers``, else
    ``reward.pool.workers``, else the cores left to this rank; more than the cores would make time limits untrue."""
    threads = min(workers or pool.at_once(), pool.cores(), len(items))
    with ThreadPoolExecutor(max(1, threads), thread_name_prefix="rlvr-code") as executor:
        return list(executor.map(work, items))


def gold_completion(row: dict[str, Any]) -> str | None:
    """The row's own solution as a perfect answer: ``solution``, ``canonical_solution`` (after its prompt), ``code`` or ``answer``."""
    if row.get("canonical_solution") is not None:
        return f"```python\n{row.get('prompt') or ''}{row['canonical_solution']}\n```"
    for name in ("solution", "code", "answer"):
        if isinstance(row.get(name), str) and row[name].strip():
            return row[name] if "```" in row[name] else f"```python\n{row[name]}\n```"
    return None
