"""What a run has measured of each training prompt: how often its completions were right, and when it was last drawn.

Numbers only, no policy: which prompts come next is decided by :mod:`.curriculum` and :mod:`.replay`, which read this table.
Every rank keeps the same table, because rewards are gathered before it is written; a checkpoint carries it::

    table = PromptTable(4000)
    table.observe([17], right=[3], drawn=[8], step=12)
    table.rates()[17]  -> 0.375       table.rates()[18] -> nan, never measured
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

MEMORY = 0.5  # what an older group still weighs when a new one is measured: the policy has moved on since
FIELDS = ("right", "drawn", "last", "replays")


class PromptTable:
    """right, drawn: counts of completions, the older ones fading; last: step of the last draw, -1 for never; replays: in a row."""

    def __init__(self, size: int, prior: Sequence[float | None] | None = None):
        self.right, self.drawn = np.zeros(size), np.zeros(size)
        self.last, self.replays = np.full(size, -1), np.zeros(size, dtype=int)
        if prior is not None:
            known = np.array([i for i, rate in enumerate(prior) if rate is not None], dtype=int)
            self.right[known], self.drawn[known] = [prior[i] for i in known], 1.0

    def observe(self, rows: Sequence[int], right: Sequence[int], drawn: Sequence[int], step: int) -> None:
        """A group of each of ``rows`` was judged: ``right`` of ``drawn`` completions. ``drawn`` 0 only notes that it was asked."""
        for row, good, count in zip(rows, right, drawn, strict=True):
            self.last[row] = step
            if count:
                self.right[row] = MEMORY * self.right[row] + good
                self.drawn[row] = MEMORY * self.drawn[row] + count

    def rates(self) -> np.ndarray:
        """(rows,) pass rate of each prompt in [0, 1]; NaN where none was measured."""
        with np.errstate(invalid="ignore"):
            return self.right / self.drawn

    def state(self) -> dict[str, Any]:
        """The rows that were touched, as JSON can hold them exactly."""
        touched = np.flatnonzero((self.drawn > 0) | (self.last >= 0))
        return {"rows": touched.tolist(), **{name: getattr(self, name)[touched].tolist() for name in FIELDS}}

    def load(self, state: dict[str, Any]) -> None:
        """Go on from :meth:`state`."""
        rows = np.array(state["rows"], dtype=int)
        for name in FIELDS:
            getattr(self, name)[rows] = state[name]
