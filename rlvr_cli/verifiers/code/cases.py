"""Read the tests column: JSON text or an object, in the forms that public sets use, into one of two shapes.

    Stdio(cases=[("3 4\\n", "7\\n"), ...])      Assert(code="assert add(1, 2) == 3", entry_point="add")

Accepted: ``{"type": "stdio", "cases": [[in, out], ...]}``, ``{"inputs": [...], "outputs": [...]}``, a list of
``{"input": ..., "output": ...}``; ``{"type": "assert", "code": ..., "entry_point": ...}`` where ``code`` may be a list of
lines or hold HumanEval's ``check(candidate)``, ``{"test": ..., "entry_point": ...}``, a list of assert strings (MBPP), plain text.
Keys that a trip through ``datasets`` filled with None count as missing.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Stdio:
    """Standard input and the output it must give, case by case."""

    cases: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Assert:
    """Test code that calls the solution."""

    code: str
    entry_point: str | None


class BrokenTests(ValueError):
    """The task cannot be judged; the message says why."""


def read(tests: Any, entry_point: str | None = None) -> Stdio | Assert:
    """The tests of one row. Raises BrokenTests when there are none or they make no sense."""
    value = _parsed(tests)
    if isinstance(value, str):
        return _assert(value, entry_point)
    if isinstance(value, list):
        return _from_list(value, entry_point)
    if not isinstance(value, dict):
        raise BrokenTests(f"tests are a {type(value).__name__}, not JSON text or an object")
    given = {k: v for k, v in value.items() if v is not None}
    if given.get("type") == "stdio" or "cases" in given:
        return _stdio(given.get("cases"))
    if "inputs" in given and "outputs" in given:
        if len(given["inputs"]) != len(given["outputs"]):
            raise BrokenTests("tests have more inputs than outputs, or fewer")
        return _stdio(list(zip(given["inputs"], given["outputs"], strict=True)))
    code = given.get("code", given.get("test", given.get("test_list")))
    setup = given.get("setup", given.get("test_setup_code", ""))
    lines = [setup, *code] if isinstance(code, list) else [setup, code]
    if code is None or not all(isinstance(line, str) for line in lines):
        raise BrokenTests("tests have neither cases nor code")
    return _assert("\n".join(line for line in lines if line), given.get("entry_point", entry_point))


def _parsed(tests: Any) -> Any:
    if not isinstance(tests, str):
        return tests
    if tests.lstrip()[:1] not in ("{", "["):
        return tests
    try:
        return json.loads(tests)
    except ValueError as error:
        raise BrokenTests(f"tests are not JSON: {error}") from None


def _from_list(items: list, entry_point: str | None) -> Stdio | Assert:
    if items and all(isinstance(i, str) for i in items):
        return _assert("\n".join(items), entry_point)
    if items and all(isinstance(i, dict) and "input" in i and "output" in i for i in items):
        return _stdio([(i["input"], i["output"]) for i in items])
    return _stdio(items)


def _assert(code: str, entry_point: Any) -> Assert:
    if not code.strip():
        raise BrokenTests("there are no tests")
    return Assert(code.replace("\r\n", "\n"), entry_point if isinstance(entry_point, str) and entry_point.isidentifier() else None)


def _stdio(cases: Any) -> Stdio:
    if not isinstance(cases, (list, tuple)) or not cases:
        raise BrokenTests("there are no test cases")
    read_cases = []
    for case in cases:
        pair = [case.get("input"), case.get("output")] if isinstance(case, dict) else case
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            raise BrokenTests("a test case is not a pair of input and output")
        texts = ["\n".join(map(str, side)) if isinstance(side, list) else side for side in pair]
        if not all(isinstance(side, str) for side in texts):
            raise BrokenTests("a test case is not a pair of texts")
        read_cases.append((texts[0], texts[1]))
    return Stdio(tuple(read_cases))
