"""Sums: the embedded default's task, and the first rungs of a curriculum.

A row's value comes from the tree that the text is written from, so no text is ever evaluated by Python. The example of a
whole row, and of the worked answer that a cold start learns from (column arithmetic, the carry written as ``+1``):

>>> row = next(generate(count=1, seed=4))
>>> row["prompt"], row["answer"], row["difficulty"]
('97-25=?', '72', 1)
>>> worked({"expression": "37+48"})
'<think>7+8=15,3+4+1=8</think><answer>85</answer>'
>>> worked({"expression": "52-38"})
'<think>12-8=4,5-3-1=1</think><answer>14</answer>'
>>> worked({"expression": "37+48"}, forget=1.0, rng=random.Random(0))  # the sloppy pupil forgets the carry
'<think>7+8=15,3+4=7</think><answer>75</answer>'
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from rlvr_cli.errors import DataError

Tree = int | tuple  # a number, or (operator, left, right)
OPERATORS = ("+", "-", "*", "//")
PRECEDENCE = {"+": 1, "-": 1, "*": 2, "//": 2}
ATTEMPTS = 1000  # draws for one row before the settings count as impossible


def generate(
    *,
    count: int,
    seed: int,
    operators: Sequence[str] = ("+", "-"),
    min: int = 10,
    max: int = 99,
    factor_max: int | None = None,
    terms: int = 2,
    terms_max: int | None = None,
    brackets: bool = False,
    negative: bool = False,
    exact_division: bool = False,
) -> Iterator[dict[str, Any]]:
    """``count`` sums with their answers, the same for the same seed.

    operators: any of ``+ - * //`` (``//`` rounds down), drawn apart for each place, so several operators mix.
    min, max: range of the numbers. factor_max: largest number beside ``*`` or after ``//``; null is ``max``.
    terms, terms_max: how many numbers a sum has; with ``terms_max`` drawn between the two.
    brackets: draw the order of evaluation freely and write the brackets it needs.
    negative: allow results below zero, in every step. exact_division: no remainders.
    """
    keys = {"min": min, "max": max, "factor_max": factor_max, "terms": terms, "terms_max": terms_max}
    _check(operators, **keys)
    rng = random.Random(f"arithmetic-{seed}")
    shape = {"operators": tuple(operators), "brackets": brackets, "negative": negative, "exact": exact_division}
    for _ in range(count):
        tree = _draw_legal(rng, low=min, high=max, factor=max if factor_max is None else factor_max,
                           terms=rng.randint(terms, terms_max or terms), **shape)  # fmt: skip
        yield _row(tree)


def training_rows(count: int, *, seed: int, share: float = 0.1, **keys: Any) -> Iterator[dict[str, Any]]:
    """The first ``count`` of :func:`rlvr_cli.data.split.endless_training_rows` of this generator."""
    from rlvr_cli.data.split import endless_training_rows

    return itertools.islice(endless_training_rows(partial(generate, **keys), seed=seed, share=share), count)


def _check(operators: Sequence[str], **keys: int | None) -> None:
    """Refuse settings that cannot make a sum, each by its name."""
    wrong = [op for op in operators if op not in OPERATORS]
    if wrong or not operators:
        raise DataError(f"operator {wrong[0] if wrong else '(none)'!r} is not one of {' '.join(OPERATORS)}",
                        where="dataset.operators", fix="'dataset.operators=[+,-]'")  # fmt: skip
    if keys["min"] < 0 or keys["min"] > keys["max"]:
        raise DataError(f"the range {keys['min']} to {keys['max']} is empty or below zero", where="dataset.min", fix="dataset.min=10")
    if keys["terms"] < 2 or (keys["terms_max"] or keys["terms"]) < keys["terms"]:
        raise DataError(f"a sum needs at least 2 terms and terms_max no smaller, not {keys['terms']}", where="dataset.terms")
    if keys["factor_max"] is not None and keys["factor_max"] < 1:
        raise DataError(f"factor_max={keys['factor_max']} leaves no factor", where="dataset.factor_max", fix="dataset.factor_max=9")


def _row(tree: Tree) -> dict[str, Any]:
    text = render(tree)
    return {
        "prompt": f"{text}=?",
        "answer": str(value(tree)),
        "expression": text,
        "solution": ",".join(steps_of(tree, _Pupil(0.0, random.Random(0)))[0]),
        "difficulty": difficulty(tree),
        "kind": "math",
        "split_key": split_key(tree),
    }


def split_key(tree: Tree) -> str:
    """What must not be shared by training and held-out rows: ``48+37`` gives ``37+48`` away."""
    if isinstance(tree, tuple) and tree[0] in "+*" and all(isinstance(leaf, int) for leaf in tree[1:]):
        tree = (tree[0], *sorted(tree[1:]))
    return render(tree)


# ---------------------------------------------------------------------------------------------- drawing


def _draw_legal(rng: random.Random, *, negative: bool, exact: bool, **shape: Any) -> Tree:
    """The first drawn tree that divides by no zero and honours ``negative`` and ``exact``."""
    for _ in range(ATTEMPTS):
        tree = _draw(rng, exact=exact, **shape)
        if not negative:
            tree = _swap(tree)
        if _legal(tree, negative, exact):
            return tree
    raise DataError(f"no legal sum in {ATTEMPTS} draws with {shape}", where="dataset", fix="dataset.negative=true or a wider range")


def draw_tree(rng: random.Random, *, operators: tuple[str, ...], terms: int, low: int, high: int) -> Tree | None:
    """One freely bracketed tree whose steps are whole and not negative, or None where the draw is not legal."""
    tree = _swap(_draw(rng, operators=operators, terms=terms, brackets=True, low=low, high=high, factor=high, exact=True))
    return tree if _legal(tree, False, True) else None


def _draw(rng: random.Random, *, operators: tuple[str, ...], terms: int, brackets: bool, **sizes: Any) -> Tree:
    return _fill(_free(rng, terms, operators) if brackets else _flat(rng, terms, operators), rng, **sizes)


def _free(rng: random.Random, terms: int, operators: tuple[str, ...]) -> Tree | None:
    """A random shape with ``terms`` empty leaves (None)."""
    if terms == 1:
        return None
    left = rng.randint(1, terms - 1)
    return (rng.choice(operators), _free(rng, left, operators), _free(rng, terms - left, operators))


def _flat(rng: random.Random, terms: int, operators: tuple[str, ...]) -> Tree | None:
    """The shape of a line without brackets: precedence decides, and the left goes first."""
    ops = [rng.choice(operators) for _ in range(terms - 1)]
    products: list[Any] = [None]
    sums: list[str] = []
    for op in ops:
        if PRECEDENCE[op] == 2:
            products[-1] = (op, products[-1], None)
        else:
            sums.append(op)
            products.append(None)
    tree = products[0]
    for op, right in zip(sums, products[1:], strict=True):
        tree = (op, tree, right)
    return tree


def _fill(shape: Any, rng: random.Random, low: int, high: int, factor: int, exact: bool) -> Tree:
    """Put numbers in the leaves: factors and divisors stay small, an exact dividend is a multiple."""
    if shape is None:
        return rng.randint(low, high)
    op, left, right = shape

    def fill(part: Any) -> Tree:
        return _fill(part, rng, low, high, factor, exact)

    if PRECEDENCE[op] == 1:
        return (op, fill(left), fill(right))
    small = (max_of(1, low) if low <= factor else 1, factor)
    b = rng.randint(*small) if right is None else fill(right)
    if left is not None:
        return (op, fill(left), b)
    if op == "//" and exact and isinstance(b, int):
        return (op, b * rng.randint(-(-low // b), max_of(-(-low // b), high // b)), b)
    return (op, rng.randint(low, high) if op == "//" else rng.randint(*small), b)


max_of = max  # `max` is a key of the generator


def _swap(tree: Tree) -> Tree:
    """Put the larger number of a plain difference first, so that few draws are thrown away."""
    if isinstance(tree, int):
        return tree
    op, left, right = tree[0], _swap(tree[1]), _swap(tree[2])
    plain = isinstance(left, int) and isinstance(right, int)
    return (op, right, left) if op == "-" and plain and left < right else (op, left, right)


def _legal(tree: Tree, negative: bool, exact: bool) -> bool:
    if isinstance(tree, int):
        return True
    op, left, right = tree
    if not (_legal(left, negative, exact) and _legal(right, negative, exact)):
        return False
    if op == "//" and (value(right) == 0 or (exact and value(left) % value(right))):
        return False
    return negative or value(tree) >= 0


# ---------------------------------------------------------------------------------------------- reading and writing


def apply(op: str, a: int, b: int) -> int:
    """One operation on whole numbers; ``//`` rounds down."""
    return a + b if op == "+" else a - b if op == "-" else a * b if op == "*" else a // b


def value(tree: Tree) -> int:
    """What a tree is worth."""
    return tree if isinstance(tree, int) else apply(tree[0], value(tree[1]), value(tree[2]))


def render(tree: Tree) -> str:
    """A tree as text, with the brackets it needs and no others.

    >>> render(("*", ("+", 1, 2), ("-", 9, ("-", 5, 3))))
    '(1+2)*(9-(5-3))'
    """
    if isinstance(tree, int):
        return str(tree)
    op, left, right = tree
    a, b = render(left), render(right)
    if isinstance(left, tuple) and PRECEDENCE[left[0]] < PRECEDENCE[op]:
        a = f"({a})"
    if isinstance(right, tuple) and PRECEDENCE[right[0]] <= PRECEDENCE[op] and not _associates(op, right):
        b = f"({b})"
    return a + op + b


def _associates(op: str, right: Tree) -> bool:
    """Whether ``a op right`` may lose right's brackets: only a chain of the same ``+`` or ``*`` may (10*(11//4) may not)."""
    while isinstance(right, tuple) and PRECEDENCE[right[0]] == PRECEDENCE[op]:
        if right[0] != op or op not in "+*":
            return False
        right = right[1]
    return isinstance(right, int) or PRECEDENCE[right[0]] > PRECEDENCE[op]


def parse(text: str) -> Tree:
    """Text back to a tree: whole numbers, ``+ - * //`` and brackets; ValueError on anything else.

    >>> value(parse("2*(3+4)-17//5"))
    11
    """
    tokens = re.findall(r"\d+|//|[-+*()]|\S", text)
    tree, rest = _parse_level(tokens, 1)
    if rest:
        raise ValueError(f"cannot read {rest[0]!r} in {text!r}")
    return tree


def _parse_level(tokens: list[str], level: int) -> tuple[Tree, list[str]]:
    """One precedence level, left to right; level 3 is a number or a bracket."""
    if level == 3:
        if tokens[:1] == ["("]:
            tree, rest = _parse_level(tokens[1:], 1)
            if rest[:1] != [")"]:
                raise ValueError("a bracket is not closed")
            return tree, rest[1:]
        if not tokens or not tokens[0].isdecimal():
            raise ValueError(f"a number is missing before {tokens[:1]}")
        return int(tokens[0]), tokens[1:]
    tree, rest = _parse_level(tokens, level + 1)
    while rest and PRECEDENCE.get(rest[0]) == level:
        right, after = _parse_level(rest[1:], level + 1)
        tree, rest = (rest[0], tree, right), after
    return tree, rest


def carries(op: str, a: int, b: int) -> int:
    """Columns that carry in ``a+b`` or borrow in ``a-b``; for ``*`` and ``//`` the digits of the smaller number more than one."""
    if op in ("*", "//"):
        return len(str(abs(a))) + len(str(abs(b))) - 1
    a, b = (abs(a), abs(b)) if op == "+" or a >= b else (abs(b), abs(a))
    count = carry = 0
    while a or b:
        column = a % 10 + carry + b % 10 if op == "+" else a % 10 - carry - b % 10
        carry = int(column >= 10 or column < 0)
        count, a, b = count + carry, a // 10, b // 10
    return count


def difficulty(tree: Tree) -> int:
    """One for each operation, and one for each carry, borrow or further digit of a factor."""
    if isinstance(tree, int):
        return 0
    op, left, right = tree
    return 1 + carries(op, value(left), value(right)) + difficulty(left) + difficulty(right)


# ---------------------------------------------------------------------------------------------- the worked answer


def worked(row: dict[str, Any], *, forget: float = 0.0, rng: random.Random | None = None) -> str:
    """A demonstration: the steps in ``<think>``, the result in ``<answer>``.

    ``forget`` is the probability, in [0, 1], that the pupil forgets a carry or a borrow, each by itself; the rest of
    the work then follows from the mistake. At the default sizes it has at most 31 characters, tags counting one.
    """
    steps, result = steps_of(parse(row["expression"]), _Pupil(forget, rng or random.Random(0)))
    return f"<think>{','.join(steps)}</think><answer>{result}</answer>"


def steps_of(tree: Tree, pupil: _Pupil) -> tuple[list[str], int]:
    """The pupil's written steps and result."""
    single = isinstance(tree, tuple) and all(isinstance(leaf, int) for leaf in tree[1:])
    steps: list[str] = []
    return steps, pupil.work(tree, steps, columns=single)


class _Pupil:
    """Someone who adds in columns and, now and then, forgets what was carried."""

    def __init__(self, forget: float, rng: random.Random):
        self.forget, self.rng = forget, rng

    def keeps(self) -> bool:
        return self.rng.random() >= self.forget

    def work(self, tree: Tree, steps: list[str], *, columns: bool) -> int:
        """The pupil's value of a tree; its steps are appended: columns for a single sum, else one operation a step."""
        if isinstance(tree, int):
            return tree
        op, a, b = tree[0], self.work(tree[1], steps, columns=False), self.work(tree[2], steps, columns=False)
        lines: list[str] = []
        result = self.operate(op, a, b, lines)
        steps.extend(lines if columns and lines else [f"{a}{op}{b}={result}"])
        return result

    def operate(self, op: str, a: int, b: int, lines: list[str]) -> int:
        if op == "//":
            return a // b if b else 0
        if op == "*":
            return self.multiply(a, b)
        if op == "-":
            b = -b
        if a < 0 and b < 0:
            return -self.add(-a, -b, lines)
        if a < 0 or b < 0:
            big, small = max(a, b, key=abs), min(a, b, key=abs)
            return (1 if big >= 0 else -1) * self.subtract(abs(big), abs(small), lines)
        return self.add(a, b, lines)

    def add(self, a: int, b: int, lines: list[str]) -> int:
        """Column addition of two numbers that are not negative."""
        width, carry, total = max(len(str(a)), len(str(b))), 0, 0
        for place in range(width):
            x, y = a // 10**place % 10, b // 10**place % 10
            carry = carry and int(self.keeps())
            column = x + y + carry
            lines.append(f"{x}+{y}{'+1' * carry}={column}")
            carry = int(column >= 10)
            keep_ten = place == width - 1 and (not carry or self.keeps())  # 6+5=11 ends in 11, or, forgotten, in 1
            total += (column if keep_ten else column % 10) * 10**place
        return total

    def subtract(self, a: int, b: int, lines: list[str]) -> int:
        """Column subtraction with ``a >= b >= 0``; ten is borrowed where the upper digit is the smaller."""
        borrow = total = 0
        for place in range(len(str(a))):
            x, y = a // 10**place % 10, b // 10**place % 10
            borrow = borrow and int(self.keeps())
            x += 10 * int(x - y - borrow < 0)
            lines.append(f"{x}-{y}{'-1' * borrow}={x - y - borrow}")
            total += (x - y - borrow) * 10**place
            borrow = int(x >= 10)
        return total

    def multiply(self, a: int, b: int) -> int:
        """Digit by digit of ``b``; each carried amount may be forgotten."""
        total, sign = 0, (1 if (a < 0) == (b < 0) else -1)
        a, b = abs(a), abs(b)
        for place, digit in enumerate(reversed(str(b))):
            carry = line = 0
            for column, x in enumerate(reversed(str(a))):
                product = int(x) * int(digit) + (carry if carry and self.keeps() else 0)
                last = column == len(str(a)) - 1
                line += (product if last else product % 10) * 10**column
                carry = product // 10
            total += line * 10**place
        return sign * total
