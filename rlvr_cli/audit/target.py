"""The reward under audit, as an attacker meets it: completions in, pay out, and whatever breaks is caught and kept.

Pay is counted in full marks of the row: 1.0 is what the row's own perfect answer earns from all terms together.

>>> from rlvr_cli.scoring import choose
>>> target = Target.of("answer_tag", choose("rewards.format.answer_tag", []))
>>> [round(paid.share, 2) for paid in target.pay(["<answer>4</answer>", "4"], [{"prompt": "2+2"}] * 2)]
[1.0, 0.0]
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from rlvr_cli.errors import RlvrError
from rlvr_cli.rewards_api import BoundTerm
from rlvr_cli.scoring import Choice, score_rows
from rlvr_cli.verifiers.verdict import Completion

Row = dict[str, Any]
FULL = 0.99  # of full marks: from here on an attack has worked
BATCH_S = 60.0  # deadline of one call of an attack


@dataclass(frozen=True)
class Paid:
    """What one completion earned. ``share`` of full marks; None could not judge; ``error`` is an exception in one line."""

    share: float | None
    reason: str = ""
    error: str = ""

    @property
    def full(self) -> bool:
        """Did it earn what a perfect answer earns?"""
        return self.share is not None and self.share >= FULL


@dataclass
class Target:
    """A bound reward and its name."""

    name: str
    terms: list[BoundTerm]
    choice: Choice
    seconds: float = 0.0
    calls: int = 0
    full_marks: dict[int, float] = field(default_factory=dict)

    @classmethod
    def of(cls, name: str, choice: Choice) -> Target:
        """Bind the reward with a deadline of its own a batch, so that a hang is a finding."""
        reward = choice.reward
        if reward.pool.batch_timeout_s is None:
            reward = reward.model_copy(update={"pool": reward.pool.model_copy(update={"batch_timeout_s": BATCH_S})})
        limited = Choice(reward, choice.renames)
        return cls(name, limited.bound(), limited)

    @property
    def columns(self) -> set[str]:
        """Columns that the reward can not do without; a keyword-only parameter is an option that was not given."""
        return {column for term in self.terms for column in term.required_columns if not _is_option(term, column)}

    @property
    def optional_columns(self) -> set[str]:
        """Columns that it takes where there are any."""
        return {column for term in self.terms for column in term.needs.optional_columns}

    def golds(self, row: Row) -> list[str]:
        """Perfect answers to the row, as its terms have them."""
        return [gold for term in self.terms if term.gold_completion and (gold := _safely(term.gold_completion, row))]

    def raw(self, completions: Sequence[Completion], rows: Sequence[Row]) -> list[Row]:
        """Scored rows, not caught. Each row is a group of its own, and nobody is known to be right."""
        given = [{"group_id": i, "correct": 0.0, **row, "completion": c} for i, (row, c) in enumerate(zip(rows, completions, strict=True))]
        return score_rows(self.terms, given)

    def pay(self, completions: Sequence[Completion], rows: Sequence[Row]) -> list[Paid]:
        """What each completion earns. Where a batch breaks, each row is tried alone."""
        start = time.monotonic()
        try:
            scored = self.raw(completions, rows)
        except RlvrError as error:
            if len(completions) == 1:
                return [Paid(None, error=str(error))]
            return [self.pay([c], [row])[0] for c, row in zip(completions, rows, strict=True)]
        finally:
            self.seconds, self.calls = self.seconds + time.monotonic() - start, self.calls + len(completions)
        return [self._paid(out, row) for out, row in zip(scored, rows, strict=True)]

    def _paid(self, out: Row, row: Row) -> Paid:
        reasons = "; ".join(dict.fromkeys(reason for reason in out["reasons"].values() if reason))
        if out["total"] is None:
            return Paid(None, reasons)
        return Paid(out["total"] / self.full_marks.get(id(row), self._most()), reasons)

    def _most(self) -> float:
        """Full marks where no perfect answer is known: the sum of what the terms can add."""
        most = sum(term.weight if term.cap is None else min(term.weight, term.cap) for term in self.terms if term.weight > 0)
        return most or 1.0

    def measure(self, row: Row, gold: str) -> Paid:
        """Make ``gold`` the full marks of the row, if it earns anything; what it earned, of the most there is."""
        [paid] = self.pay([gold], [row])
        if paid.share is not None and paid.share > 0:
            self.full_marks[id(row)] = paid.share * self._most()
        return paid


def _is_option(term: BoundTerm, name: str) -> bool:
    parameter = inspect.signature(term.fn).parameters.get(name)
    return parameter is not None and parameter.kind is parameter.KEYWORD_ONLY


def _safely(make: Any, row: Row) -> str | None:
    try:
        return make(row)
    except Exception:  # a user's gold_completion that can not read this row has no gold for it
        return None
