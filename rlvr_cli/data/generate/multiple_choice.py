"""Multiple choice: a question with lettered options of which exactly one is right, and wrong ones that a slip would give.

>>> row = next(generate(count=1, seed=0))
>>> print(row["prompt"])
Which of these numbers is the largest?
A) 0.285
B) 0.34
C) 0.09
D) 0.9
Answer with the letter.
>>> row["answer"], row["choices"]
('D', ['0.285', '0.34', '0.09', '0.9'])
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

from rlvr_cli.data.generate.number_facts import ELEMENTS
from rlvr_cli.errors import DataError

DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
WORDS = [
    "anchor",
    "basket",
    "candle",
    "desert",
    "engine",
    "forest",
    "garden",
    "hammer",
    "island",
    "jacket",
    "kettle",
    "ladder",
    "magnet",
    "needle",
    "orange",
    "pocket",
]
POLYGONS = {"triangle": 3, "quadrilateral": 4, "pentagon": 5, "hexagon": 6, "heptagon": 7, "octagon": 8, "nonagon": 9, "decagon": 10}
LETTERS = "ABCDEFGHIJ"

Made = tuple[str, Any, list[Any], int]  # question, right option, wrong options (at least as many as needed), difficulty


def generate(*, count: int, seed: int, options: int = 4, show: bool = True) -> Iterator[dict[str, Any]]:
    """``count`` questions. options: 2 to 6 a question; show: write the options under the question."""
    if not 2 <= options <= 6:
        raise DataError(f"options={options} is not from 2 to 6", where="dataset.options", fix="dataset.options=4")
    rng = random.Random(f"multiple_choice-{seed}")
    for _ in range(count):
        question, right, wrong, difficulty = rng.choice(KINDS)(rng)
        wrong = list(dict.fromkeys(str(w) for w in wrong if str(w) != str(right)))
        choices = [str(right), *rng.sample(wrong, options - 1)]
        rng.shuffle(choices)
        listed = "\n".join(f"{letter}) {choice}" for letter, choice in zip(LETTERS, choices, strict=False))
        yield {
            "prompt": f"{question}\n{listed}\nAnswer with the letter." if show else question,
            "answer": LETTERS[choices.index(str(right))],
            "choices": choices,
            "difficulty": difficulty,
            "kind": "choice",
            "split_key": f"{question} {right}",
        }


def _product(rng: random.Random) -> Made:
    a, b = rng.randint(3, 19), rng.randint(3, 19)
    slips = [a * b + d for d in (-a, a, -b, b, -10, 10, 1, -1)]
    return f"What is {a} * {b}?", a * b, slips, 1 + (a > 10) + (b > 10)


def _prime(rng: random.Random) -> Made:
    primes = [n for n in range(11, 100) if all(n % d for d in range(2, n))]
    others = [n for n in range(11, 100, 2) if n not in primes and n % 5]
    return "Which of these numbers is prime?", rng.choice(primes), rng.sample(others, 6), 2


def _largest(rng: random.Random) -> Made:
    """Decimals of unequal length, where more digits tempt."""
    values = sorted({round(rng.uniform(0, 1), rng.randint(1, 3)) for _ in range(20)})
    picked = sorted(rng.sample(values, 6))
    return "Which of these numbers is the largest?", picked[-1], picked[:-1], 1


def _first_word(rng: random.Random) -> Made:
    words = sorted(rng.sample(WORDS, 6))
    return "Which of these words comes first in the dictionary?", words[0], words[1:], 1


def _weekday(rng: random.Random) -> Made:
    today, n = rng.randrange(7), rng.randint(3, 60)
    right = DAYS[(today + n) % 7]
    return f"Today is {DAYS[today]}. Which day is it in {n} days?", right, [d for d in DAYS if d != right], 1 + (n > 7)


def _sides(rng: random.Random) -> Made:
    name = rng.choice(list(POLYGONS))
    return f"How many sides does a {name} have?", POLYGONS[name], [n for n in range(3, 13) if n != POLYGONS[name]], 1


def _element(rng: random.Random) -> Made:
    name, symbol, _ = rng.choice(ELEMENTS)
    return f"What is the chemical symbol of {name}?", symbol, [s for _, s, _ in ELEMENTS if s != symbol], 2


def _remainder(rng: random.Random) -> Made:
    a, b = rng.randint(20, 200), rng.randint(6, 12)
    return f"What is the remainder when {a} is divided by {b}?", a % b, [r for r in range(b) if r != a % b], 2


def _percent(rng: random.Random) -> Made:
    p, whole = rng.choice([5, 10, 20, 25, 50, 75]), rng.randint(2, 40) * 20
    right = p * whole // 100
    return f"What is {p}% of {whole}?", right, [right + d for d in (5, 10, p, 20)] + [right * 2, whole - right, right * 10], 2


KINDS: list[Callable[[random.Random], Made]] = [_product, _prime, _largest, _first_word, _weekday, _sides, _element, _remainder, _percent]
