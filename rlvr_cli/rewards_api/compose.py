"""Adding terms up: weights, gates, caps, and the one rule that keeps a run honest.

**If any applicable term could not judge a row, the whole row is left out**: total None, every cell of the matrix NaN,
so the row is outside its group's mean and deviation and gets advantage 0. A term that is routed away (``when``), or
whose gate is, is no failure: it adds nothing.

>>> from types import SimpleNamespace as Term
>>> terms = [Term(name="correct", weight=1.0, gate=None, cap=None), Term(name="tag", weight=0.2, gate="correct", cap=None)]
>>> both = lambda *scores: TermResult(list(scores), [""] * 3, [None] * 3, [True] * 3)
>>> compose({"correct": both(1.0, 0.0, None), "tag": both(1.0, 1.0, 1.0)}, terms).total
[1.2, 0.0, None]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rlvr_cli.rewards_api.call import TermResult

FULL_MARKS = 1.0 - 1e-9
NO_TERM = "no term applies to this row"


@dataclass
class Composed:
    """The sum and what it is made of.

    total: reward of each row; None leaves the row out.
    per_term: the raw score of each term, None where it could not judge or does not apply.
    applicable: whether each term counts on each row.
    unjudged: reason -> number of rows left out for it.
    """

    total: list[float | None]
    per_term: dict[str, list[float | None]]
    applicable: dict[str, list[bool]] = field(default_factory=dict)
    unjudged: dict[str, int] = field(default_factory=dict)


def is_right(score: float | None) -> bool:
    """Full marks."""
    return score is not None and score >= FULL_MARKS


def applicability(results: Mapping[str, TermResult], terms: Sequence[Any]) -> dict[str, list[bool]]:
    """For each term and row: does it count? Not where it, or its gate, is routed away."""
    by_name, known = {term.name: term for term in terms}, {}

    def of(name: str) -> list[bool]:
        if name not in known:
            own, gate = results[name].applicable, by_name[name].gate
            known[name] = list(own) if gate is None else [a and g for a, g in zip(own, of(gate), strict=True)]
        return known[name]

    return {term.name: of(term.name) for term in terms}


def contribution(term: Any, row: int, results: Mapping[str, TermResult], gates: Mapping[str, str | None]) -> float:
    """What a judged, applicable term adds on one row: weighted, shut out by its gates, at most ``cap``."""
    gate = term.gate
    while gate is not None:
        if not is_right(results[gate].scores[row]):
            return 0.0
        gate = gates[gate]
    value = term.weight * results[term.name].scores[row]
    return value if term.cap is None else min(value, term.cap)


def left_out(row: int, results: Mapping[str, TermResult], terms: Sequence[Any], applies: Mapping[str, list[bool]]) -> list[str]:
    """Why the row never trains; empty when it does."""
    mine = [term.name for term in terms if applies[term.name][row]]
    if not mine:
        return [NO_TERM]
    return [f"{name}: {results[name].reasons[row]}" for name in mine if results[name].scores[row] is None]


def compose(results: Mapping[str, TermResult], terms: Sequence[Any]) -> Composed:
    """Total and parts of every row."""
    applies, gates = applicability(results, terms), {term.name: term.gate for term in terms}
    n, total, why = len(results[terms[0].name]), [], Counter()
    for row in range(n):
        reasons = left_out(row, results, terms, applies)
        why.update(reasons)
        counted = [term for term in terms if applies[term.name][row]]
        total.append(None if reasons else float(sum(contribution(term, row, results, gates) for term in counted)))
    return Composed(total, {term.name: list(results[term.name].scores) for term in terms}, applies, dict(why))


def as_matrix(results: Mapping[str, TermResult], terms: Sequence[Any], *, not_applicable: float = 0.0) -> Any:
    """``(values, mask)``, both [rows, terms]: what each term adds, so that TRL with ``reward_weights`` of 1 sums to our total.

    A row that is left out is NaN in every cell. A term that does not apply is ``not_applicable`` (0 or NaN: TRL's sum
    skips NaN, and with NaN its mean of that term counts only its own rows); ``mask`` says where each term applies.
    """
    import numpy as np

    applies, gates = applicability(results, terms), {term.name: term.gate for term in terms}
    mask = np.array([applies[term.name] for term in terms], dtype=bool).T  # [rows, terms]
    values = np.full(mask.shape, not_applicable, dtype=np.float64)
    for row in range(mask.shape[0]):
        if left_out(row, results, terms, applies):
            values[row, :] = np.nan
            continue
        for column, term in enumerate(terms):
            if mask[row, column]:
                values[row, column] = contribution(term, row, results, gates)
    return values, mask
