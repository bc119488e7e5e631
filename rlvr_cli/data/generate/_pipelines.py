"""Programs made of stages: keep some numbers, change each, and end with one result. Tens of thousands of different tasks.

Each stage holds its words, its source text and the same thing as a function; a test keeps text and function together.

>>> import random
>>> stages = Pipeline(KEEPS[0], 3, MAPS[1], 0, ENDS[0])
>>> print(stages.source("work"))
def work(values):
    values = [v for v in values if v > 3]
    values = [v * v for v in values]
    return sum(values)
>>> stages.solve([1, 5, 4]), stages.asks()
(41, 'the sum of what remains, when of {it} only those greater than 3 are kept and each is squared')
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Stage:
    """words and text may hold ``{k}``; ``k`` is its range."""

    words: str
    text: str
    call: Callable[..., Any]
    k: tuple[int, int] = (0, 0)


KEEPS = [
    Stage("greater than {k}", "v > {k}", lambda v, k: v > k, (-5, 25)),
    Stage("less than {k}", "v < {k}", lambda v, k: v < k, (0, 30)),
    Stage("divisible by {k}", "v % {k} == 0", lambda v, k: v % k == 0, (2, 6)),
    Stage("not divisible by {k}", "v % {k} != 0", lambda v, k: v % k != 0, (2, 6)),
    Stage("whose absolute value is at most {k}", "abs(v) <= {k}", lambda v, k: abs(v) <= k, (5, 25)),
]
MAPS = [
    Stage("is multiplied by {k}", "v * {k}", lambda v, k: v * k, (2, 9)),
    Stage("is squared", "v * v", lambda v, k: v * v),
    Stage("is increased by {k}", "v + {k}", lambda v, k: v + k, (1, 20)),
    Stage("is subtracted from {k}", "{k} - v", lambda v, k: k - v, (10, 60)),
    Stage("is replaced by the last digit of its absolute value", "abs(v) % 10", lambda v, k: abs(v) % 10),
]
ENDS = [
    Stage("the sum of what remains", "sum(values)", lambda vs: sum(vs)),
    Stage("the largest of what remains, or 0 if nothing remains", "max(values, default=0)", lambda vs: max(vs, default=0)),
    Stage("the smallest of what remains, or 0 if nothing remains", "min(values, default=0)", lambda vs: min(vs, default=0)),
    Stage("how many different numbers remain", "len(set(values))", lambda vs: len(set(vs))),
    Stage("what remains from the smallest to the largest", "sorted(values)", lambda vs: sorted(vs)),
    Stage("what remains in reverse order", "values[::-1]", lambda vs: vs[::-1]),
]


@dataclass(frozen=True)
class Pipeline:
    """A drawn task. ``change`` is None where the kept numbers stay as they are."""

    keep: Stage
    keep_k: int
    change: Stage | None
    change_k: int
    end: Stage

    def asks(self) -> str:
        """What is returned, in words; ``{it}`` stands for the input."""
        changed = f" and each {self.change.words.format(k=self.change_k)}" if self.change else ""
        return f"{self.end.words}, when of {{it}} only those {self.keep.words.format(k=self.keep_k)} are kept{changed}"

    def source(self, name: str) -> str:
        """The gold function."""
        lines = [f"def {name}(values):", f"    values = [v for v in values if {self.keep.text.format(k=self.keep_k)}]"]
        if self.change:
            lines.append(f"    values = [{self.change.text.format(k=self.change_k)} for v in values]")
        return "\n".join([*lines, f"    return {self.end.text}"])

    def solve(self, values: list[int]) -> Any:
        """The expected result."""
        kept = [v for v in values if self.keep.call(v, self.keep_k)]
        return self.end.call([self.change.call(v, self.change_k) for v in kept] if self.change else kept)


def draw_pipeline(rng: random.Random) -> Pipeline:
    """A random task."""
    keep, change = rng.choice(KEEPS), rng.choice([None, *MAPS])
    return Pipeline(keep, rng.randint(*keep.k), change, rng.randint(*change.k) if change else 0, rng.choice(ENDS))
