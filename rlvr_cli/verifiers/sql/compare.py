"""Are two results the same? Typed values, multisets of rows, order where it is asked for, ties where they are free.

NULL equals NULL only; 7 equals 7.0; a float may differ by 1e-9 + 1e-6 of the gold; text is exact, and '1' is not 1.

>>> gold = [["Ann", 2], ["Bob", 0.1 + 0.2]]
>>> difference([["Bob", 0.3], ["Ann", 2.0]], gold)
>>> difference([["Bob", 0.3], ["Ann", 3]], gold)
"gold row ('Ann', 2) is missing, answer has ('Ann', 3)"
>>> difference([["Bob", 0.3], ["Ann", 2]], gold, ordered=True)
"row 1: gold ('Ann', 2), answer ('Bob', 0.3)"
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

Row = Sequence[Any]
MATCH_WITHIN = 400  # rows of one group that are matched exactly; more are compared in sorted order


def difference(answer: Sequence[Row], gold: Sequence[Row], *, ordered: bool = False, keys: Sequence[int] | None = None) -> str | None:
    """None when the results are the same, else the first difference in words.

    ordered: positions count. keys: columns that form the sort key; then only the sequence of keys counts, ties are free.
    """
    if (wrong := _shape(answer, gold)) is not None:
        return wrong
    if ordered and not keys:
        return _first_unequal(answer, gold, "row")
    if ordered and (wrong := _first_unequal(_columns(answer, keys), _columns(gold, keys), "sort key of row")):
        return wrong
    return _missing(answer, gold)


def part_of(answer: Sequence[Row], allowed: Sequence[Row], limit: int) -> str | None:
    """None when ``answer`` is any ``limit`` rows out of ``allowed`` (all of them, when there are fewer)."""
    wanted = min(limit, len(allowed))
    if len(answer) != wanted:
        return f"gold has {wanted} rows, answer {len(answer)}"
    if answer and len(answer[0]) != len(allowed[0]):
        return f"gold has {len(allowed[0])} columns, answer {len(answer[0])}"
    left, _ = _unmatched(allowed, answer)
    return f"answer row {_show(left[0])} is none of the {len(allowed)} right ones" if left else None


def same_value(answer: Any, gold: Any) -> bool:
    """Equality of two values of a result."""
    if _number(answer) and _number(gold):
        if answer == gold or (answer != answer and gold != gold):
            return True
        if isinstance(answer, int) and isinstance(gold, int):
            return False
        return math.isfinite(answer) and math.isfinite(gold) and abs(answer - gold) <= 1e-9 + 1e-6 * abs(gold)
    if isinstance(answer, list) and isinstance(gold, list):
        return len(answer) == len(gold) and all(map(same_value, answer, gold))
    if isinstance(answer, dict) and isinstance(gold, dict):
        return answer.keys() == gold.keys() and all(same_value(answer[k], gold[k]) for k in gold)
    return type(answer) is type(gold) and answer == gold


def _number(value: Any) -> bool:
    return isinstance(value, (int, float))


def _shape(answer: Sequence[Row], gold: Sequence[Row]) -> str | None:
    if answer and gold and len(answer[0]) != len(gold[0]):
        return f"gold has {len(gold[0])} columns, answer {len(answer[0])}"  # for rows of another origin than Result
    if len(answer) != len(gold):
        return f"gold has {len(gold)} rows, answer {len(answer)}"
    return None


def _columns(rows: Sequence[Row], columns: Sequence[int]) -> list[Row]:
    return [[row[c] for c in columns] for row in rows]


def _first_unequal(answer: Sequence[Row], gold: Sequence[Row], what: str) -> str | None:
    for i, (a, g) in enumerate(zip(answer, gold, strict=True)):
        if not _same_row(a, g):
            return f"{what} {i + 1}: gold {_show(g)}, answer {_show(a)}"
    return None


def _same_row(answer: Row, gold: Row) -> bool:
    return all(map(same_value, answer, gold))


def _missing(answer: Sequence[Row], gold: Sequence[Row]) -> str | None:
    extra, missing = _unmatched(gold, answer)
    if not missing:
        return None
    return f"gold row {_show(missing[0])} is missing, answer has {_show(extra[0])}"


def _unmatched(gold: Sequence[Row], answer: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """Rows of the answer and of the gold that find no partner: equal ones first, then those within the tolerance."""
    spare = Counter(map(_exact, gold))
    rest = []
    for row in answer:
        key = _exact(row)
        if spare[key] > 0:
            spare[key] -= 1
        else:
            rest.append(row)
    left = []
    for row in reversed(gold):  # of equal rows the last ones are left over
        key = _exact(row)
        if spare[key] > 0:
            spare[key] -= 1
            left.append(row)
    if not rest:
        return [], left[::-1]
    return _unmatched_near(left[::-1], rest)


def _unmatched_near(gold: Sequence[Row], answer: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    groups: dict[Any, tuple[list[Row], list[Row]]] = defaultdict(lambda: ([], []))
    for side, rows in enumerate((gold, answer)):
        for row in rows:
            groups[_without_numbers(row)][side].append(row)
    extra, missing = [], []
    for golds, answers in groups.values():
        matched = _matching(golds, answers) if max(len(golds), len(answers)) <= MATCH_WITHIN else _in_order(golds, answers)
        taken = set(matched.values())
        missing += [g for i, g in enumerate(golds) if i not in matched]
        extra += [a for i, a in enumerate(answers) if i not in taken]
    return extra, missing


def _matching(golds: Sequence[Row], answers: Sequence[Row]) -> dict[int, int]:
    """A largest matching of gold rows to answer rows within the tolerance (augmenting paths, iterative)."""
    near = [[j for j, a in enumerate(answers) if _same_row(a, g)] for g in golds]
    owner: dict[int, int] = {}
    for start in range(len(golds)):
        came: dict[int, int] = {}  # answer -> gold that reached it
        queue, free = [start], None
        while queue and free is None:
            gold = queue.pop()
            for j in near[gold]:
                if j not in came:
                    came[j] = gold
                    if j not in owner:
                        free = j
                        break
                    queue.append(owner[j])
        while free is not None:  # walk back, handing each answer to the gold that reached it
            gold = came[free]
            previous = next((j for j, g in owner.items() if g == gold), None)
            owner[free] = gold
            free = previous if gold != start else None
    return {gold: j for j, gold in owner.items()}


def _in_order(golds: Sequence[Row], answers: Sequence[Row]) -> dict[int, int]:
    left = sorted(range(len(golds)), key=lambda i: _sort_key(golds[i]))
    right = sorted(range(len(answers)), key=lambda i: _sort_key(answers[i]))
    return {i: j for i, j in zip(left, right, strict=False) if _same_row(answers[j], golds[i])}


def _sort_key(row: Row) -> tuple:
    return tuple(float(value) for value in row if _number(value))


def _exact(value: Any) -> Any:
    """A hashable form: equal numbers alike whatever their type, all else with its type."""
    if isinstance(value, float) and value != value:
        return ("nan",)
    if _number(value) or value is None:
        return value
    if isinstance(value, dict):
        return ("dict", *((k, _exact(v)) for k, v in sorted(value.items())))
    if isinstance(value, (list, tuple)):
        return tuple(map(_exact, value))
    return (type(value).__name__, value)


def _without_numbers(row: Row) -> tuple:
    return tuple("number" if _number(value) else "nested" if isinstance(value, dict) else _exact(value) for value in row)


def _show(row: Row) -> str:
    text = repr(tuple(row))
    return text if len(text) <= 120 else text[:117] + "..."
