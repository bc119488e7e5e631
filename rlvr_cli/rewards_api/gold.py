"""Every row's own gold, scored by its own reward: a gold that does not get full marks can never be learnt from.

>>> from rlvr_cli.rewards_api.bind import bind
>>> terms = bind({"terms": {"tag": {"fn": "rewards.format.answer_tag"}}})
>>> report = check_gold(terms, [{"answer": "4"}, {"answer": None}])
>>> report.checked, report.bad, [index for index, _ in report.not_checkable]
(1, [], [1])
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from rlvr_cli.rewards_api.bind import BoundTerm
from rlvr_cli.rewards_api.compose import is_right
from rlvr_cli.rewards_api.group_terms import local_terms


@dataclass(frozen=True)
class BadGold:
    """A row whose gold did not get full marks from a term."""

    row: int
    term: str
    score: float | None
    reason: str
    completion: str


@dataclass
class GoldReport:
    """checked: verdicts with full marks and without; bad: the latter; not_checkable: (row, why)."""

    checked: int = 0
    bad: list[BadGold] = field(default_factory=list)
    not_checkable: list[tuple[int, str]] = field(default_factory=list)


def check_gold(terms: Sequence[BoundTerm], rows: Sequence[dict[str, Any]]) -> GoldReport:
    """Score the gold completion of every row by each local term that applies to it and can say what a perfect answer is."""
    report = GoldReport()
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: [row.get(name) for row in rows] for name in names}
    covered = [False] * len(rows)
    for term in local_terms(terms):
        make = term.gold_completion
        applies = term.applies(columns, len(rows))
        golds = [make(row) if make and applies[i] else None for i, row in enumerate(rows)]
        chosen = [i for i, gold in enumerate(golds) if gold is not None]
        for i in chosen:
            covered[i] = True
        _judge(term, chosen, golds, columns, report)
    report.not_checkable = [(i, "no term can say what a perfect answer looks like") for i, done in enumerate(covered) if not done]
    return report


def _judge(term: BoundTerm, chosen: Sequence[int], golds: Sequence[str | None], columns: dict[str, list], report: GoldReport) -> None:
    if not chosen:
        return
    completions = [golds[i] for i in chosen]
    mine = {name: [values[i] for i in chosen] for name, values in columns.items()}
    result = term.call(mine.get("prompt"), completions, mine)
    report.checked += len(chosen)
    for i, completion, score, reason in zip(chosen, completions, result.scores, result.reasons, strict=True):
        if not is_right(score):
            report.bad.append(BadGold(i, term.name, score, reason, completion))
