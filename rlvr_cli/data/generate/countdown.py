"""Countdown: reach a target from given numbers. The gold is the expression that the target was made from.

>>> row = next(generate(count=1, seed=0, numbers=3))
>>> row["prompt"]
'Use each of the numbers 18, 19, 15 exactly once, with + - * / and brackets, to make 16. Write only the expression in <answer></answer>.'
>>> row["answer"], row["state"], row["task"]
('19+15-18', {'numbers': [18, 19, 15], 'target': 16}, 'countdown')
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

from rlvr_cli.data.generate import arithmetic
from rlvr_cli.errors import DataError

PROMPT = (
    "Use each of the numbers {numbers} exactly once, with {operators} and brackets, to make {target}. "
    "Write only the expression in <answer></answer>."
)
SIGNS = {"+": "+", "-": "-", "*": "*", "/": "//"}


def generate(
    *, count: int, seed: int, numbers: int = 4, min: int = 1, max: int = 25, target_min: int = 10, target_max: int = 100,
    operators: Sequence[str] = ("+", "-", "*", "/"),
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """``count`` solvable targets. numbers: how many are given; min, max: their range; target_min, target_max: the target's range."""
    wrong = [op for op in operators if op not in SIGNS]
    if wrong or not operators or numbers < 2 or not 0 <= min <= max or target_min > target_max:
        raise DataError("countdown needs operators of + - * /, at least 2 numbers, and ranges that are not empty", where="dataset")
    rng = random.Random(f"countdown-{seed}")
    for _ in range(count):
        tree = _reachable(rng, numbers, min, max, (target_min, target_max), [SIGNS[op] for op in operators])
        yield _row(tree, rng, " ".join(operators))


def _reachable(rng: random.Random, numbers: int, low: int, high: int, target: tuple[int, int], operators: list[str]) -> arithmetic.Tree:
    """A random expression with whole, non-negative steps whose value lies in the target's range."""
    for _ in range(20_000):
        tree = arithmetic.draw_tree(rng, operators=tuple(operators), terms=numbers, low=low, high=high)
        if tree is not None and target[0] <= arithmetic.value(tree) <= target[1]:
            return tree
    raise DataError(
        f"no target from {target[0]} to {target[1]} was reached in 20,000 draws", where="dataset.target_min", fix="a wider range"
    )


def _row(tree: arithmetic.Tree, rng: random.Random, operators: str) -> dict[str, Any]:
    numbers, target = leaves(tree), arithmetic.value(tree)
    given = rng.sample(numbers, len(numbers))
    return {
        "prompt": PROMPT.format(numbers=", ".join(map(str, given)), operators=operators, target=target),
        "answer": arithmetic.render(tree).replace("//", "/"),
        "state": {"numbers": given, "target": target},
        "difficulty": len(numbers),
        "task": "countdown",
        "kind": "logic",
        "split_key": f"{sorted(numbers)} -> {target}",
    }


def leaves(tree: arithmetic.Tree) -> list[int]:
    """The numbers of an expression, left to right."""
    return [tree] if isinstance(tree, int) else leaves(tree[1]) + leaves(tree[2])
