"""Is a program's output the expected one?

Line ends and trailing space are free, everything else counts; numbers where a number is expected::

    expected "0.3333333\\n"   got "0.33333330001"   same   (non-integer: within 1e-6, absolute or relative)
    expected "100000000000000001"   got "1e17"      differs (integer: exact)
    expected "1.5"   got "nan"                       differs
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")
_INTEGER = re.compile(r"[+-]?[0-9]+")
TOLERANCE = Decimal("1e-6")


def same_output(got: str, expected: str) -> bool:
    """True when ``got`` is ``expected`` by the rules above."""
    ours, theirs = _lines(got), _lines(expected)
    return len(ours) == len(theirs) and all(a == b or _same_line(a, b) for a, b in zip(ours, theirs, strict=True))


def difference(got: str, expected: str) -> str:
    """Where the two part, for a person."""
    ours, theirs = _lines(got), _lines(expected)
    for i, (a, b) in enumerate(zip(ours, theirs, strict=False)):
        if a != b and not _same_line(a, b):
            return f"line {i + 1}: expected {b[:60]!r}, got {a[:60]!r}"
    return f"expected {len(theirs)} lines, got {len(ours)}"


def _lines(text: str) -> list[str]:
    lines = [line.rstrip() for line in text.replace("\r\n", "\n").split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _same_line(got: str, expected: str) -> bool:
    ours, theirs = got.split(), expected.split()
    return len(ours) == len(theirs) and all(a == b or _same_number(a, b) for a, b in zip(ours, theirs, strict=True))


def _same_number(got: str, expected: str) -> bool:
    if not (_NUMBER.fullmatch(got) and _NUMBER.fullmatch(expected)):
        return False
    try:
        a, b = Decimal(got), Decimal(expected)
        if _INTEGER.fullmatch(expected):
            return a == b
        return abs(a - b) <= TOLERANCE * max(Decimal(1), abs(b))
    except (InvalidOperation, ArithmeticError):
        return False
