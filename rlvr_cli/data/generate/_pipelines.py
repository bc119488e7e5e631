"""Programs made of stages: keep some numbers, change each, and end with one result. Tens of thousands of different tasks.

Each stage holds its words, its source text and the same thing as a function; a test keeps text and function together. Some
also hold the slip that a careless reader makes there, as text and as a function: a task's test cases are chosen so that no
slip, and no number that is off by one, passes them (:meth:`Pipeline.telling_inputs`).

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

import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Stage:
    """words and text may hold ``{k}``; ``k`` is its range. ``slip`` is the likely mistake: a stage that does something near."""

    words: str
    text: str
    call: Callable[..., Any]
    k: tuple[int, int] = (0, 0)
    slip: Stage | None = None


def _slip(text: str, call: Callable[..., Any]) -> Stage:
    """A mistake: it has no words, for nobody asks for it."""
    return Stage("", text, call)


KEEPS = [
    Stage("greater than {k}", "v > {k}", lambda v, k: v > k, (-5, 25)),
    Stage("less than {k}", "v < {k}", lambda v, k: v < k, (0, 30), _slip("v <= {k}", lambda v, k: v <= k)),
    Stage("divisible by {k}", "v % {k} == 0", lambda v, k: v % k == 0, (2, 6)),
    Stage("not divisible by {k}", "v % {k} != 0", lambda v, k: v % k != 0, (2, 6)),
    Stage(
        "whose absolute value is at most {k}", "abs(v) <= {k}", lambda v, k: abs(v) <= k, (5, 25), _slip("v <= {k}", lambda v, k: v <= k)
    ),
]
MAPS = [
    Stage("is multiplied by {k}", "v * {k}", lambda v, k: v * k, (2, 9)),
    Stage("is squared", "v * v", lambda v, k: v * v),
    Stage("is increased by {k}", "v + {k}", lambda v, k: v + k, (1, 20)),
    Stage("is subtracted from {k}", "{k} - v", lambda v, k: k - v, (10, 60), _slip("v - {k}", lambda v, k: v - k)),
    Stage(
        "is replaced by the last digit of its absolute value",
        "abs(v) % 10",
        lambda v, k: abs(v) % 10,
        slip=_slip("v % 10", lambda v, k: v % 10),
    ),
]
ENDS = [
    Stage("the sum of what remains", "sum(values)", lambda vs: sum(vs)),
    Stage(
        "the largest of what remains, or 0 if nothing remains",
        "max(values, default=0)",
        lambda vs: max(vs, default=0),
        slip=_slip("max(values)", lambda vs: max(vs)),
    ),
    Stage(
        "the smallest of what remains, or 0 if nothing remains",
        "min(values, default=0)",
        lambda vs: min(vs, default=0),
        slip=_slip("min(values)", lambda vs: min(vs)),
    ),
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

    def near_misses(self) -> list[Pipeline]:
        """Tasks that a careless reader would solve instead: each number off by one, each stage replaced by its slip."""
        off = [replace(self, keep_k=self.keep_k + d) for d in (-1, 1) if self.keep_k + d]
        if self.change and self.change.k != (0, 0):
            off += [replace(self, change_k=self.change_k + d) for d in (-1, 1)]
        slips = {name: stage.slip for name in ("keep", "change", "end") if (stage := getattr(self, name)) and stage.slip}
        return off + [replace(self, **{name: slip}) for name, slip in slips.items()]

    def telling_inputs(self, rng: random.Random) -> list[list[int]]:
        """Few inputs of which at least one tells each near miss from the task; a miss that no tried input tells is left."""
        found: list[list[int]] = []
        for miss in self.near_misses():
            if not any(self._tells(values, miss) for values in found):
                found += next(([values] for values in self._candidates(rng) if self._tells(values, miss)), [])
        return found

    def differs(self, other: Pipeline, rng: random.Random, tries: int = 500) -> bool:
        """Whether some of ``tries`` lists tells the two tasks apart: a miss may happen to be the same task."""
        lists = itertools.chain(self._candidates(rng), ([rng.randint(-20, 40) for _ in range(rng.randint(0, 9))] for _ in range(tries)))
        return any(self._tells(values, other) for values in lists)

    def _tells(self, values: list[int], miss: Pipeline) -> bool:
        try:
            return miss.solve(values) != self.solve(values)
        except (ValueError, ZeroDivisionError):  # it raises where the task has an answer
            return True

    def _candidates(self, rng: random.Random) -> Iterator[list[int]]:
        """Random lists with the numbers at the border of what is kept among them, then those numbers alone."""
        edges = [self.keep_k - 1, self.keep_k, self.keep_k + 1, -self.keep_k, -self.keep_k - 1]
        for _ in range(40):
            yield rng.sample(edges, 2) + [rng.randint(-20, 40) for _ in range(rng.randint(0, 4))]
        yield from ([edge] for edge in [*edges, -37, 41])


def draw_pipeline(rng: random.Random) -> Pipeline:
    """A random task."""
    keep, change = rng.choice(KEEPS), rng.choice([None, *MAPS])
    return Pipeline(keep, rng.randint(*keep.k), change, rng.randint(*change.k) if change else 0, rng.choice(ENDS))
