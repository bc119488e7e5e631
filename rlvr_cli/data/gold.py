"""The gold check of a loaded set, in rows' own names: which golds their own reward does not accept, and which cannot be tried.

:mod:`rlvr_cli.rewards_api.gold` does the scoring; here its report becomes lines that name rows, for ``rlvr check``,
``rlvr data`` and the log of a run.

>>> from rlvr_cli.rewards_api import bind
>>> terms = bind({"terms": {"tag": {"fn": "rewards.format.answer_tag"}}})
>>> checked = check_golds([{"row_id": "a1", "prompt": "2+2", "answer": "4"}, {"row_id": "b2", "prompt": "?", "answer": None}], terms)
>>> checked.lines()
['gold check: 1 of 2 rows tried, 0 without full marks, 1 not checkable', 'gold not checkable: row b2']
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

Row = dict[str, Any]


@dataclass
class Golds:
    """rows: how many were looked at; bad: (row_id, term, reason); not_checkable: row ids."""

    rows: int = 0
    bad: list[tuple[str, str, str]] = field(default_factory=list)
    not_checkable: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether every gold that could be tried got full marks."""
        return not self.bad

    def lines(self, most: int = 10) -> list[str]:
        """One line a row without full marks, at most ``most``, then the rows that could not be tried."""
        tried, bad_rows = self.rows - len(self.not_checkable), len({row for row, _, _ in self.bad})
        lines = [f"gold check: {tried} of {self.rows} rows tried, {bad_rows} without full marks, {len(self.not_checkable)} not checkable"]
        lines += [f"gold without full marks: row {row}, term {term}: {reason}" for row, term, reason in self.bad[:most]]
        if len(self.bad) > most:
            lines.append(f"... and {len(self.bad) - most} more")
        if self.not_checkable:
            more = f" and {len(self.not_checkable) - 3} more" if len(self.not_checkable) > 3 else ""
            lines.append(f"gold not checkable: row {', '.join(self.not_checkable[:3])}{more}")
        return lines


def check_golds(rows: Sequence[Row], terms: Sequence[Any]) -> Golds:
    """Score every row's gold completion by its own reward. ``terms``: of :func:`rlvr_cli.rewards_api.bind`."""
    from rlvr_cli.rewards_api import check_gold

    report = check_gold(terms, rows)
    names = [str(row.get("row_id", index)) for index, row in enumerate(rows)]
    bad = [(names[b.row], b.term, b.reason) for b in report.bad]
    return Golds(len(rows), bad, [names[index] for index, _ in report.not_checkable])
