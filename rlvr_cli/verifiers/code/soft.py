"""Soft terms on request: does it compile, is it fast. Each says little alone; gate them behind the tests.

Run time is CPU seconds over all tests. Starting costs a few milliseconds, which is why both sides of the ratio have a floor:
two short programs are equally fast.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from rlvr_cli.verifiers import sandbox
from rlvr_cli.verifiers.code import cases
from rlvr_cli.verifiers.sandbox import Limits
from rlvr_cli.verifiers.verdict import Completion, Verdict, text_of

STATIC = "rlvr_cli.verifiers.code.inside:static"
_FLOOR_S = 0.01  # the clock is no finer: below this two programs are equally fast


def judge_compiles(completion: Completion, row: dict[str, Any], *, unsafe: bool = False) -> Verdict:
    """1.0 when a program is found and compiles. Nothing of it runs."""
    stdio = False
    try:
        stdio = isinstance(cases.read(row["tests"]), cases.Stdio) if row.get("tests") is not None else False
        outcome = sandbox.run(STATIC, {"completion": text_of(completion), "entry_point": None, "stdio": stdio}, unsafe=unsafe)
    except cases.BrokenTests as error:
        return Verdict(None, f"the task is broken: {error}")
    except sandbox.SandboxFailure as error:
        return Verdict(None, f"the sandbox failed: {error}")
    found = json.loads(outcome.report or b'{"extracted": null, "problem": "it could not be compiled within the limits"}')
    return Verdict(float(found["problem"] is None), found["problem"] or "compiles", found["extracted"])


def judge_run_time(completion: Completion, row: dict[str, Any], *, full_marks: float = 1.0, unsafe: bool = False) -> Verdict:
    """min(1, reference / own / full_marks) for a program that passes all tests."""
    from rlvr_cli.verifiers.code import run_tests

    try:
        result = run_tests(completion, row, every=False, unsafe=unsafe, limits=Limits())
        if result.passed < result.total:
            return Verdict(0.0, f"not right, so not timed: {result.why}", result.extracted)
        reference = _reference_s(row.get("reference"), json.dumps(row.get("tests")), row.get("entry_point"), unsafe)
    except cases.BrokenTests as error:
        return Verdict(None, f"the task is broken: {error}")
    except sandbox.SandboxFailure as error:
        return Verdict(None, f"the sandbox failed: {error}")
    if reference is None:
        return Verdict(None, "the reference is neither seconds nor a program that passes the tests", result.extracted)
    own = max(result.cpu_s, _FLOOR_S)
    score = min(1.0, max(reference, _FLOOR_S) / own / full_marks)
    return Verdict(score, f"{result.cpu_s:.3f} s of CPU, reference {reference:.3f} s", result.extracted)


@lru_cache(maxsize=1024)
def _reference_s(reference: Any, tests: str, entry_point: str | None, unsafe: bool) -> float | None:
    """Seconds of the reference, the better of two runs; None when it fails its own tests."""
    from rlvr_cli.verifiers.code import run_tests

    if isinstance(reference, (int, float)) and not isinstance(reference, bool):
        return float(reference)
    if not isinstance(reference, str):
        return None
    text = reference if "```" in reference else f"```python\n{reference}\n```"
    row = {"tests": json.loads(tests), "entry_point": entry_point}
    runs = [run_tests(text, row, every=False, unsafe=unsafe, limits=Limits()) for _ in range(2)]
    return min(r.cpu_s for r in runs) if all(r.passed == r.total for r in runs) else None
