"""Which prompts a generation asks: the sampler's, unless a curriculum or replay says otherwise, and those that refill it.

The choice is made when a generation starts, not in the sampler: a sampler is read ahead (transformers and accelerate
prefetch batches) and replayed on resume, so one that looks at pass rates would see them late, and other ones after a
resume. So the sampler keeps counting steps and epochs, ``len()`` stays exact, and the rows it hands over are replaced. A
choice depends on the seed, the step and the table alone; every rank makes the same one, and so does a resumed run::

    choice = PromptChoice(4000, Curriculum(kind="pass_rate"), seed=0)
    choice.choose(proposed, step=12, max_steps=150)   -> as many rows as were proposed
    choice.further(5, step=12, max_steps=150)         -> 5 rows that this step has not asked yet
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rlvr_cli.config.schema import Curriculum
from rlvr_cli.training import curriculum, replay
from rlvr_cli.training.prompt_table import PromptTable


class PromptChoice:
    """size: training rows; levels: difficulty of each (``kind=difficulty``); prior: pass rates known before the run, None where not."""

    def __init__(
        self,
        size: int,
        settings: Curriculum,
        *,
        seed: int,
        levels: np.ndarray | None = None,
        prior: Sequence[float | None] | None = None,
    ):
        self.settings, self.seed, self.levels = settings, seed, levels
        self.table = PromptTable(size, prior)
        self.step, self.draws = -1, 0
        self.taken: set[int] = set()
        self.replayed = 0

    @property
    def replaces(self) -> bool:
        """Whether the sampler's rows are ever replaced."""
        return self.settings.kind != "none" or self.settings.replay.share > 0

    def choose(self, proposed: Sequence[int], *, step: int, max_steps: int) -> list[int]:
        """The rows of this generation's prompts, as many as ``proposed`` (the sampler's), no row twice while there are enough."""
        rng, count = self.next_draw(step), len(proposed)
        hard = replay.hard(self.settings.replay, self.table, step, rng)[: replay.places(self.settings.replay, count)]
        if self.settings.kind == "none":
            rest = [row for row in proposed if row not in hard][: count - len(hard)]
        else:
            rest = self.draw(count - len(hard), step, max_steps, rng, hard)
        replay.note(self.table, hard, rest)
        self.replayed = len(hard)
        rows = hard + rest
        rows += (rows * count)[: count - len(rows)]  # a set smaller than a batch asks some prompts twice
        return rows

    def began(self, rows: Sequence[int]) -> None:
        """A generation asks ``rows``, chosen here or by the sampler: its refills ask others."""
        self.taken = set(rows)

    def further(self, count: int, *, step: int, max_steps: int) -> list[int]:
        """At most ``count`` rows that this generation has not asked yet, to fill the places of groups without signal."""
        rows = self.draw(count, step, max_steps, self.next_draw(step), self.taken)
        self.taken |= set(rows)
        return rows

    def draw(self, count: int, step: int, max_steps: int, rng: np.random.Generator, taken: Sequence[int] | set[int]) -> list[int]:
        """Rows of the open pools by their shares; where a pool is short the others fill in, then whatever was asked longest ago."""
        pools = curriculum.pools(self.settings, self.table, self.levels, step=step, max_steps=max_steps)
        queues = [self.oldest_first(rows, rng, set(taken)) for rows, _ in pools]
        wanted = apportioned([share for _, share in pools], count)
        rows = [row for queue, n in zip(queues, wanted, strict=True) for row in queue[:n]]
        rest = [row for queue, n in zip(queues, wanted, strict=True) for row in queue[n:]]
        rows += rest[: count - len(rows)]
        if len(rows) < count:
            everything = np.arange(len(self.table.last))
            rows += self.oldest_first(everything, rng, {*taken, *rows})[: count - len(rows)]
        return rows

    def oldest_first(self, rows: np.ndarray, rng: np.random.Generator, taken: set[int]) -> list[int]:
        """Rows by when they were last asked, never asked ones first, ties in random order."""
        order = rows[np.lexsort((rng.random(len(rows)), self.table.last[rows]))]
        return [row for row in order.tolist() if row not in taken]

    def next_draw(self, step: int) -> np.random.Generator:
        """A generator of its own for each choice: seeded by the run, the step and how many choices the step made before."""
        self.draws = self.draws + 1 if step == self.step else 0
        self.step = step
        return np.random.default_rng([self.seed, step, self.draws])

    def measured(self) -> dict[str, float]:
        """For the log: the share of prompts measured, of those how many are solved and hopeless, and how many were replayed just now."""
        rates = self.table.rates()
        known = rates[~np.isnan(rates)]
        low, high = self.settings.low, self.settings.high
        shares = {"solved": float(np.mean(known > high)), "hopeless": float(np.mean(known < low))} if len(known) else {}
        return {"measured": len(known) / len(rates), **shares, "replayed": self.replayed}


def apportioned(shares: Sequence[float], count: int) -> list[int]:
    """``count`` places by shares that sum to 1, the largest remainders rounded up.

    >>> apportioned([0.5, 0.5], 5), apportioned([1.0], 3), apportioned([0.9, 0.1], 4)
    ([3, 2], [3], [4, 0])
    """
    exact = np.array(shares) * count
    whole = np.floor(exact + 1e-9).astype(int)
    late = np.argsort(whole - exact, kind="stable")[: count - int(whole.sum())]
    whole[late] += 1
    return whole.tolist()
