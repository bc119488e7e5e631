"""The expression game: put + and * between three numbers, in any order, to hit a target. The laboratory's task.

Five tokens, the numbers interleaved with two operators; ``*`` goes before ``+``. A whole row:

>>> row = next(generate(count=1, seed=0))
>>> row["prompt"]
'Numbers: 5 3 2. Target: 30. Write the numbers, each once, with + or * between them, so that the result is the target.'
>>> row["answer"], row["state"]
('2*3*5', {'numbers': [5, 3, 2], 'target': 30})
"""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Iterator, Sequence
from typing import Any

from rlvr_cli.data.generate import arithmetic
from rlvr_cli.errors import DataError

PROMPT = "Numbers: {numbers}. Target: {target}. Write the numbers, each once, with + or * between them, so that the result is the target."


def generate(
    *, count: int, seed: int, numbers: Sequence[int] = (2, 3, 5), given: int = 3, operators: Sequence[str] = ("+", "*")
) -> Iterator[dict[str, Any]]:
    """``count`` rows. numbers: the numbers that ``given`` of them are drawn from; with 2, 3 and 5 there are 30 prompts in all."""
    if not set(operators) <= {"+", "*", "-"} or len(numbers) < given or given < 2:
        raise DataError(
            "the expression game needs at least 2 numbers, given no more than there are, and operators of + * -", where="dataset"
        )
    rng = random.Random(f"expression_game-{seed}")
    for _ in range(count):
        yield _row(rng, rng.sample(list(numbers), given), tuple(operators))


def _row(rng: random.Random, numbers: list[int], operators: tuple[str, ...]) -> dict[str, Any]:
    targets = solutions(tuple(numbers), operators)
    target = rng.choice(sorted(targets))
    return {
        "prompt": PROMPT.format(numbers=" ".join(map(str, numbers)), target=target),
        "answer": targets[target][0],
        "state": {"numbers": numbers, "target": target},
        "difficulty": 1 + len(set(targets[target][0]) & {"+", "*", "-"}),
        "task": "expression_game",
        "kind": "logic",
    }


@functools.lru_cache(maxsize=4096)
def solutions(numbers: tuple[int, ...], operators: tuple[str, ...] = ("+", "*")) -> dict[int, list[str]]:
    """Every target that can be hit, and the expressions that hit it, the shortest to read first.

    >>> solutions((2, 3, 5))[17]
    ['2+3*5', '2+5*3', '3*5+2', '5*3+2']
    """
    found: dict[int, list[str]] = {}
    for order in itertools.permutations(numbers):
        for signs in itertools.product(operators, repeat=len(order) - 1):
            text = str(order[0]) + "".join(sign + str(n) for sign, n in zip(signs, order[1:], strict=True))
            found.setdefault(arithmetic.value(arithmetic.parse(text)), []).append(text)
    return {target: sorted(set(texts)) for target, texts in found.items()}
