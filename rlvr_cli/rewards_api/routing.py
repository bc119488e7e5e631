"""``when``: which rows a term applies to. One run mixes maths, code and SQL, each row judged by its own term.

Three forms, of which the mapping is the one for YAML::

    when: {kind: math}                 the column equals the value (numbers and booleans also as text: 3 is "3")
    when: {kind: [math, gsm8k], level: 3}      any of the values, and every column
    when: kind=math|gsm8k              the same as text, for the command line
    when: tests                        the column is there and not empty

>>> rows_for({"kind": ["math"]}, {"kind": ["math", "sql", None]}, 3)
[True, False, False]
>>> rows_for("tests", {"tests": ["assert f()", None, ""]}, 3)
[True, False, False]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

When = Mapping[str, Any] | str | None


def columns_of(when: When) -> list[str]:
    """The columns that routing reads."""
    if not when:
        return []
    return list(when) if isinstance(when, Mapping) else [when.partition("=")[0].strip()]


def rows_for(when: When, columns: Mapping[str, Sequence[Any]], n: int) -> list[bool]:
    """For each of ``n`` rows: does the term apply? A column that is missing is None on every row."""
    if not when:
        return [True] * n
    tests = _tests(when)
    return [all(_matches(columns[name][i] if name in columns else None, wanted) for name, wanted in tests) for i in range(n)]


def _tests(when: Mapping[str, Any] | str) -> list[tuple[str, list[Any] | None]]:
    """Pairs of column and wanted values; None wants any value that is not empty."""
    if isinstance(when, Mapping):
        return [(name, list(value) if isinstance(value, (list, tuple, set)) else [value]) for name, value in when.items()]
    name, equals, value = when.partition("=")
    return [(name.strip(), [v.strip() for v in value.split("|")] if equals else None)]


def _matches(value: Any, wanted: list[Any] | None) -> bool:
    if wanted is None:
        return value is not None and value != "" and value != []
    return any(value == w or (value is not None and w is not None and _text(value) == _text(w)) for w in wanted)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
