"""The expression game: three numbers, a target, five tokens.

A prompt shows a permutation of 2, 3 and 5 and a target. The answer writes the three numbers in the order shown with one
of + and * between neighbours, so that the value, with * before +, is the target::

    numbers (2, 3, 5), target 17        ->  2 + 3 * 5
    numbers (5, 3, 2), target 17        ->  5 * 3 + 2

>>> judge(Prompt((2, 3, 5), 17), ("2", "+", "3", "*", "5"))
Judged(reward=1.0, well_formed=True, right=True)
>>> judge(Prompt((2, 3, 5), 25), ("2", "+", "3", "*", "5")).right       # precedence: not (2 + 3) * 5
False
>>> judge(Prompt((2, 3, 5), 17), ("2", "+", "+", "*", "5")).well_formed
False
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations, product

from rlvr_cli.lab.constants import REWARD_FORM, REWARD_PREFIX, REWARD_RIGHT

NUMBERS = (2, 3, 5)
OPERATORS = ("+", "*")
TOKENS = ("2", "3", "5", "+", "*")  # V = 5
LENGTH = 5  # T
# One of each pair of permutations that share a target and a first number: the pair's other half teaches it.
HELD_OUT = {((2, 5, 3), 17), ((3, 5, 2), 13), ((5, 3, 2), 11), ((3, 5, 2), 10), ((5, 2, 3), 10), ((2, 5, 3), 30), ((5, 3, 2), 30)}


@dataclass(frozen=True)
class Prompt:
    """Three numbers in the order shown, and the target."""

    numbers: tuple[int, int, int]
    target: int


@dataclass(frozen=True)
class Judged:
    """The verifier's word on one answer."""

    reward: float
    well_formed: bool
    right: bool


def value(numbers: tuple[int, ...], operators: tuple[str, ...]) -> int:
    """Value of ``n op n op n`` with * before +: a sum of products."""
    total, factor = 0, numbers[0]
    for operator, number in zip(operators, numbers[1:], strict=True):
        if operator == "*":
            factor *= number
        else:
            total, factor = total + factor, number
    return total + factor


def legal(prompt: Prompt, position: int, token: str) -> bool:
    """Whether ``token`` may stand at ``position``: the numbers as shown at even places, an operator at odd ones."""
    if position % 2:
        return token in OPERATORS
    return token == str(prompt.numbers[position // 2])


def judge(prompt: Prompt, tokens: tuple[str, ...]) -> Judged:
    """Reward of an answer; a text that is too short, too long or illegal anywhere has no value at all."""
    good = 0
    for position, token in enumerate(tokens[:LENGTH]):
        if not legal(prompt, position, token):
            break
        good += 1
    if good < LENGTH or len(tokens) != LENGTH:
        return Judged(REWARD_PREFIX * good / LENGTH, False, False)
    right = value(prompt.numbers, (tokens[1], tokens[3])) == prompt.target
    return Judged(REWARD_RIGHT if right else REWARD_FORM, True, right)


def all_prompts() -> list[Prompt]:
    """The 24 prompts that have an answer: six orders, and the four values each can reach."""
    pairs = {(order, value(order, ops)) for order in permutations(NUMBERS) for ops in product(OPERATORS, repeat=2)}
    return [Prompt(order, target) for order, target in sorted(pairs)]


def split() -> tuple[list[Prompt], list[Prompt]]:
    """(training prompts, held-out prompts), always the same."""
    prompts = all_prompts()
    train = [p for p in prompts if (p.numbers, p.target) not in HELD_OUT]
    return train, [p for p in prompts if (p.numbers, p.target) in HELD_OUT]
