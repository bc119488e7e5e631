"""Graded GSM8K outputs made wrong on purpose, so that "take the last number" is no longer enough to grade them.

Each output ends in ``A: N``. Five corruptions, the label following from how each is built::

    echo        the answer line goes, the number is put into a copy of the question     wrong
    second      a second candidate stands beside the answer                             wrong
    digit       one digit of the answer is another                                      right only if that made it so
    unit        a unit, a currency or a percent sign is added                           as before
    cut         the end is cut off, somewhere before the answer is complete             wrong

>>> rows = list(corrupted("Tom has 2 and 2. How many?", "2+2=<<2+2=4>>4\\nA: 4", "4", True, random.Random(0)))
>>> [(row.kind, row.right) for row in rows]
[('echo', False), ('second', False), ('digit', False), ('unit', True), ('cut', False)]
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass

KINDS = ("echo", "second", "digit", "unit", "cut")
_ECHOES = (
    'The question asks: "{question}" Is it {number}?',
    "We are asked the following. {question} The problem mentions {number}.",
    "Restating the question with its number {number}: {question}",
    "{question} I have to find out whether the answer is {number}.",
    "Question: {question}\nSuppose the answer is {number}. First I need to check this",
)
_SECONDS = (
    "A: {number} or {other}",
    "A: {number}, {other}",
    "A: {other} or {number}",
    "A: {number}\nA: {other}",
    "A: either {number} or {other}",
)
_UNITS = ("A: {number} dollars", "A: ${number}", "A: {number}%", "A: {number} apples", "A: {number} km", "A: {number} percent")


@dataclass(frozen=True)
class Row:
    """One corrupted output with its label."""

    kind: str
    completion: str
    gold: str
    right: bool


def corrupted(question: str, solution: str, gold: str, right: bool, rng: random.Random) -> Iterator[Row]:
    """The five corruptions of one graded output; none for an output without an answer line."""
    body, mark, number = solution.rpartition("A:")
    number = number.strip()
    if not mark or not re.fullmatch(r"-?[\d,]*\.?\d+", number):
        return
    other = str(int(float(number.replace(",", ""))) + rng.choice((1, 2, 3, 10)))
    yield Row("echo", rng.choice(_ECHOES).format(question=question, number=number), gold, False)
    yield Row("second", body + rng.choice(_SECONDS).format(number=number, other=other), gold, False)
    changed = _one_digit_changed(number, rng)
    yield Row("digit", f"{body}A: {changed}", gold, _value(changed) == _value(gold))
    yield Row("unit", body + rng.choice(_UNITS).format(number=number), gold, right)
    yield _cut(body, number, gold, rng)


def _one_digit_changed(number: str, rng: random.Random) -> str:
    places = [i for i, char in enumerate(number) if char.isdigit()]
    place = rng.choice(places)
    return number[:place] + rng.choice([d for d in "0123456789" if d != number[place]]) + number[place + 1 :]


def _cut(body: str, number: str, gold: str, rng: random.Random) -> Row:
    """Cut in the work, before the answer line, or inside the answer's digits."""
    whole = f"{body}A: {number}"
    kept = whole[: rng.randint(len(whole) // 3, len(whole) - 1)]
    said = kept.rpartition("A:")[2].strip() if len(kept) > len(body) else ""
    return Row("cut", kept, gold, bool(re.fullmatch(r"-?[\d,]*\.?\d+", said)) and _value(said) == _value(gold))


def _value(number: str) -> float:
    return float(number.replace(",", ""))
