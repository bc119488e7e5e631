"""Judge by standard input and output: a fresh process and a fresh folder for every case, the comparison out here.

The program gets a case's input on a pipe and nothing else; what it should print never leaves this process.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace

from rlvr_cli.verifiers import sandbox
from rlvr_cli.verifiers.code.cases import Stdio
from rlvr_cli.verifiers.code.compare import difference, same_output

ENTRY = "rlvr_cli.verifiers.code.inside:script"
IDLE_S = 6.0  # a program with its input in the pipe has nothing to wait for
TIME = ("cpu", "wall")
HUNG_CASES = 4  # after so many cases that ran into the time limit the others are not tried


@dataclass
class Result:
    """What the tests said: ``passed`` of ``total``, why the first failure failed, the code, CPU seconds of the solution."""

    passed: int
    total: int
    why: str = ""
    extracted: str | None = None
    cpu_s: float = 0.0
    timed_out: bool = False
    notes: list[str] = field(default_factory=list)


def judge(completion: str, tests: Stdio, limits: sandbox.Limits, *, every: bool, unsafe: bool) -> Result:
    """Run the cases in order. ``every``: go on after a failure, for partial credit."""
    result = Result(0, len(tests.cases))
    spec: dict = {"completion": completion, "stdio": True}
    limits = replace(limits, idle_s=min(IDLE_S, limits.wall_s))
    hung = 0
    for i, (given, expected) in enumerate(tests.cases):
        outcome = sandbox.run(ENTRY, spec, stdin=_bytes(given), limits=limits, unsafe=unsafe)
        if "completion" in spec:
            found = json.loads(outcome.report or b'{"extracted": null, "problem": "the program could not be looked at within the limits"}')
            result.extracted = found["extracted"]
            if found["problem"]:
                result.why = found["problem"]
                return result
            spec = {"code": found["extracted"], "stdio": True}
        result.cpu_s += outcome.cpu_s
        why = _failure(outcome, expected, limits)
        result.passed += not why
        result.why = result.why or (f"case {i + 1}: {why}" if why else "")
        hung += outcome.reason in TIME
        result.timed_out = hung > 0
        if (why and not every) or hung >= HUNG_CASES:
            break
    return result


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _failure(outcome: sandbox.Outcome, expected: str, limits: sandbox.Limits) -> str:
    """Why a case failed; nothing when it passed."""
    if outcome.reason or outcome.signal or outcome.code:
        return ending(outcome, limits)
    got = outcome.stdout.decode("utf-8", "replace")
    return "" if same_output(got, expected) else difference(got, expected)


def ending(outcome: sandbox.Outcome, limits: sandbox.Limits) -> str:
    """How a program ended that did not end well."""
    over = {
        "cpu": f"used more than {limits.cpu_s:g} s of CPU", "wall": f"ran or slept longer than {limits.idle_s or limits.wall_s:g} s",
        "memory": f"used more than {limits.memory_mb} MB", "disk": f"wrote more than {limits.disk_mb} MB",
        "output": f"printed more than {limits.output_mb:g} MB, or without end on stderr", "stopped": "was stopped",
    }  # fmt: skip
    if outcome.reason:
        return over[outcome.reason]
    if outcome.signal:
        return f"was killed by signal {outcome.signal}"
    last = [line for line in outcome.stderr.decode("utf-8", "replace").splitlines() if line.strip()][-1:]
    return f"exit code {outcome.code}" + (f": {last[0][:160]}" if last else "")
