"""A reward against labels: a confusion matrix with intervals, by kind, and the worst rows with the reward's own reasons.

A labelled row is a row that the reward can score, with ``expect`` (or ``label``): 1 or "right", 0 or "wrong", a fraction for
partial credit, null or "broken" where the task itself is broken. "Could not judge" is an error on every row but the broken
ones, and there it is the only right outcome.

>>> rows = [Labelled(1.0, 1.0), Labelled(1.0, 0.0), Labelled(0.0, 0.0), Labelled(None, None)]
>>> table = Matrix.of(rows)
>>> table.errors, table.n, table.false_refusals, table.broken_caught
(1, 4, 1, 1)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from rlvr_cli.errors import DataError
from rlvr_cli.evaluation.intervals import wilson

RIGHT = {"right", "correct", "true", "yes", "1", "1.0", "accept", "pass"}
WRONG = {"wrong", "incorrect", "false", "no", "0", "0.0", "reject", "fail"}
BROKEN = {"broken", "null", "none", ""}
LABELS = ("expect", "label", "human_label")
KINDS = ("kind", "category", "type")
SAME = 0.01  # how far a partial score may be from a partial label
FULL = 1.0 - 1e-9


@dataclass
class Labelled:
    """One row: what a person said, what the reward said."""

    expect: float | None
    score: float | None
    kind: str = ""
    place: str = ""
    reason: str = ""
    extracted: str | None = None
    completion: str = ""

    @property
    def graded(self) -> bool:
        """Is the label partial credit?"""
        return self.expect is not None and 0.0 < self.expect < FULL

    @property
    def agrees(self) -> bool:
        """Is the reward right about this row?"""
        if self.expect is None or self.score is None:
            return self.expect is None and self.score is None
        if self.graded:
            return abs(self.score - self.expect) <= SAME
        return (self.score >= FULL) == (self.expect >= FULL)

    @property
    def error(self) -> str:
        """Name of the error; empty when there is none."""
        if self.agrees:
            return ""
        if self.expect is None:
            return "broken task scored"
        if self.score is None:
            return "not judged"
        if self.graded:
            return "other partial credit"
        return "false accept" if self.score >= FULL else "false refusal"


@dataclass
class Matrix:
    """Counts over labelled rows. ``right``, ``wrong``, ``broken`` and ``graded`` are labels; the rest is what the reward did."""

    n: int = 0
    right: int = 0
    wrong: int = 0
    broken: int = 0
    graded: int = 0
    accepted_right: int = 0
    refused_wrong: int = 0
    broken_caught: int = 0
    graded_met: int = 0
    false_accepts: int = 0
    false_refusals: int = 0
    not_judged_right: int = 0
    not_judged_wrong: int = 0
    not_judged_graded: int = 0

    @classmethod
    def of(cls, rows: Iterable[Labelled]) -> Matrix:
        """Count."""
        matrix = cls()
        for row in rows:
            matrix._add(row)
        return matrix

    def _add(self, row: Labelled) -> None:
        label = "broken" if row.expect is None else "graded" if row.graded else "right" if row.expect >= FULL else "wrong"
        self.n += 1
        setattr(self, label, getattr(self, label) + 1)
        met = {"broken": "broken_caught", "graded": "graded_met", "right": "accepted_right", "wrong": "refused_wrong"}
        missed = {"right": "false_refusals", "wrong": "false_accepts"}
        if row.agrees:
            name = met[label]
        elif row.score is None:
            name = f"not_judged_{label}"
        elif label in missed:
            name = missed[label]
        else:
            return
        setattr(self, name, getattr(self, name) + 1)

    @property
    def agreed(self) -> int:
        """Rows on which the reward is right."""
        return self.accepted_right + self.refused_wrong + self.broken_caught + self.graded_met

    @property
    def errors(self) -> int:
        """Rows on which it is not."""
        return self.n - self.agreed

    @property
    def not_judged(self) -> int:
        """Rows with a sound task that it could not judge."""
        return self.not_judged_right + self.not_judged_wrong + self.not_judged_graded

    def shares(self) -> dict[str, dict[str, Any]]:
        """The rates that matter, each ``{share, count, of, ci95}``."""
        pairs = {
            "accuracy": (self.agreed, self.n),
            "error": (self.errors, self.n),
            "false_accept": (self.false_accepts, self.wrong),
            "false_refusal": (self.false_refusals, self.right),
            "not_judged": (self.not_judged, self.n - self.broken),
        }
        return {name: share_of(count, of) for name, (count, of) in pairs.items()}


def share_of(count: int, of: int) -> dict[str, Any]:
    """A share with its Wilson interval; None of nothing."""
    low, high = wilson(count, of)
    return {"share": count / of if of else None, "count": count, "of": of, "ci95": [round(low, 4), round(high, 4)]}


@dataclass
class TestReport:
    """What ``rlvr reward test`` found."""

    __test__ = False  # not a test of pytest's

    name: str
    data: str
    matrix: Matrix
    kinds: dict[str, Matrix]
    worst: list[Labelled]
    seconds: float = 0.0
    broken_lines: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """For ``--json``."""
        return {
            "reward": self.name,
            "data": self.data,
            "n": self.matrix.n,
            "matrix": asdict(self.matrix),
            "shares": self.matrix.shares(),
            "kinds": {kind: {"n": m.n, **m.shares()} for kind, m in self.kinds.items()},
            "worst": [{**asdict(row), "error": row.error} for row in self.worst],
            "seconds": round(self.seconds, 3),
            "broken_lines": self.broken_lines,
        }


def label_of(value: Any) -> float | None:
    """A label as a number, or None for a broken task. Raises DataError when it is neither.

    >>> label_of("right"), label_of(False), label_of(0.5), label_of(None)
    (1.0, 0.0, 0.5, None)
    """
    if isinstance(value, (bool, int, float)) and 0 <= value <= 1:
        return float(value)
    word = "null" if value is None else str(value).strip().lower()
    if word in BROKEN:
        return None
    if word in RIGHT | WRONG:
        return float(word in RIGHT)
    raise DataError(f"{value!r} is no label: right, wrong, broken, or a number from 0 to 1")


def column_for(names: Sequence[str], columns: Iterable[str], chosen: str | None, key: str) -> str | None:
    """The column of labels or kinds: the chosen one, or the first usual one there is. Raises DataError for one that is not there."""
    have = list(columns)
    if chosen is not None and chosen not in have:
        raise DataError(f"no column {chosen!r}; the data has: {', '.join(have)}", where=f"{key}={chosen}")
    return chosen or next((name for name in names if name in have), None)


def report_of(name: str, data: str, rows: Sequence[Labelled], *, worst: int, seconds: float, broken_lines: Sequence[str]) -> TestReport:
    """The report: false accepts come first among the worst rows, they are what a policy learns to do."""
    kinds = {kind: Matrix.of(r for r in rows if r.kind == kind) for kind in sorted({row.kind for row in rows if row.kind})}
    order = ("false accept", "broken task scored", "false refusal", "other partial credit", "not judged")
    bad = sorted((row for row in rows if row.error), key=lambda row: order.index(row.error))
    return TestReport(name, data, Matrix.of(rows), kinds, bad[:worst], seconds, list(broken_lines))
