"""Judge by test code: the tests in one sandbox, the solution in another, a socket with plain data between them.

The tests' sandbox holds the expected values and reports line by line; the solution's can only answer calls. Neither is
this process. See :mod:`rpc` for what travels, :mod:`rpc_tests` for what is believed.
"""

from __future__ import annotations

import json
import socket
from contextlib import ExitStack

from rlvr_cli.verifiers import sandbox
from rlvr_cli.verifiers.code.cases import Assert, BrokenTests
from rlvr_cli.verifiers.code.stdio import TIME, Result, ending

SOLUTION, TESTS = "rlvr_cli.verifiers.code.inside:module", "rlvr_cli.verifiers.code.inside:tests"


def judge(completion: str, tests: Assert, limits: sandbox.Limits, *, unsafe: bool) -> Result:
    """One run of all tests. Raises BrokenTests for the task's faults and SandboxFailure for the machine's."""
    for attempt in range(sandbox.ATTEMPTS):
        try:
            solution, checks = _run(completion, tests, limits, unsafe)
            return _result(solution, checks, limits)
        except sandbox.SandboxFailure:
            if attempt == sandbox.ATTEMPTS - 1:
                raise
    raise AssertionError("unreachable")


def _run(completion: str, tests: Assert, limits: sandbox.Limits, unsafe: bool) -> tuple[sandbox.Outcome, sandbox.Outcome]:
    """Start both sides and wait until both have ended."""
    with ExitStack() as stack:
        solving = stack.enter_context(sandbox.borrow("solution", unsafe=unsafe))
        testing = stack.enter_context(sandbox.borrow("tests", unsafe=unsafe))
        near, far = socket.socketpair()
        spec = {"completion": completion, "entry_point": tests.entry_point, "stdio": False}
        first = solving.start(SOLUTION, spec=spec, stdin=b"", limits=limits, peer=near.detach())
        checks = {"tests": tests.code, "entry_point": tests.entry_point}
        second = testing.start(TESTS, spec=checks, stdin=b"", limits=limits, peer=far.detach())
        solved, checked = sandbox.finish(first, second)
        return solved, checked


def _result(solution: sandbox.Outcome, checks: sandbox.Outcome, limits: sandbox.Limits) -> Result:
    """Put the report of the tests and the end of the solution together."""
    lines = _lines(checks.report)
    for line in lines:
        if "broken" in line:
            raise BrokenTests(line["broken"])
    found = (_lines(solution.report) or [{"extracted": None, "problem": "the program could not be looked at within the limits"}])[0]
    result = Result(0, next((line["plan"] for line in lines if "plan" in line), 1), "", found["extracted"], solution.cpu_s)
    result.timed_out = solution.reason in TIME or checks.reason in TIME
    if found["problem"]:
        result.why = found["problem"]
        return result
    verdicts = [line for line in lines if "i" in line]
    result.passed = sum(line["ok"] for line in verdicts)
    result.why = next((line["why"] for line in verdicts if not line["ok"]), "")
    if not lines or "end" not in lines[-1]:
        result.why = result.why or _early_end(solution, checks, lines, limits)
    trusted = lines[-1].get("trusted", 0) if lines else 0
    result.notes = [f"{trusted} comparisons rest on the solution's own __eq__"] if trusted else []
    return result


def _early_end(solution: sandbox.Outcome, checks: sandbox.Outcome, lines: list[dict], limits: sandbox.Limits) -> str:
    if solution.reason or solution.signal or solution.code:
        return f"the solution {ending(solution, limits)}"
    if lines and "dead" in lines[-1]:
        return lines[-1]["dead"]
    return f"the tests {ending(checks, limits)} before they were through"


def _lines(report: bytes) -> list[dict]:
    """Whole lines of a report; the last may have been cut by the end of its process."""
    lines = []
    for line in report.splitlines():
        try:
            lines.append(json.loads(line))
        except ValueError:
            break
    return lines
