"""Knights and knaves: knights always tell the truth, knaves always lie; who is what? Exactly one answer fits.

``state`` has the layout of ``reasoning_gym``'s metadata: the names, and each one's statement as a nested list. A whole row:

>>> row = next(generate(count=1, seed=1, people=2))
>>> import textwrap
>>> print(textwrap.fill(row["prompt"], 120))
On an island, knights always tell the truth and knaves always lie. Ines says: "Kofi is a knave." Kofi says: "Kofi is a
knight if and only if Ines is a knight." Who is a knight and who is a knave? Answer in the form: Ines is a ..., Kofi is
a ...
>>> row["answer"], row["state"]["statements"]
('Ines is a knight, Kofi is a knave', [['lying', 1], ['<=>', ['telling-truth', 1], ['telling-truth', 0]]])
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from typing import Any

from rlvr_cli.errors import DataError

NAMES = ["Ada", "Bao", "Cem", "Dina", "Eli", "Fatou", "Gil", "Hana", "Ines", "Jun", "Kofi", "Lea"]
RULES = "On an island, knights always tell the truth and knaves always lie."

Statement = list  # ["telling-truth", i], ["lying", i], ["not", s], ["and", s, t], ["or", s, t], ["->", s, t], ["<=>", s, t]


def generate(*, count: int, seed: int, people: int = 2, people_max: int | None = None, depth: int = 2) -> Iterator[dict[str, Any]]:
    """``count`` puzzles. people, people_max: how many speak, drawn between the two; depth: 1 plain claims, 2 with and, or, if."""
    top = people_max or people
    if not 2 <= people <= top <= 6 or depth not in (1, 2):
        raise DataError("knights and knaves need 2 to 6 people and depth 1 or 2", where="dataset.people", fix="dataset.people=3")
    rng = random.Random(f"knights_knaves-{seed}")
    for _ in range(count):
        n = rng.randint(people, top)
        statements, solution = _puzzle(rng, n, depth)
        yield _row(rng.sample(NAMES, n), statements, solution)


def _puzzle(rng: random.Random, n: int, depth: int) -> tuple[list[Statement], tuple[bool, ...]]:
    """Statements that exactly one assignment of knights (True) satisfies."""
    while True:
        statements = [_statement(rng, n, depth, speaker) for speaker in range(n)]
        found = solutions(statements)
        if len(found) == 1:
            return statements, found[0]


def _statement(rng: random.Random, n: int, depth: int, speaker: int) -> Statement:
    if depth == 1 or rng.random() < 0.3:
        return [rng.choice(["telling-truth", "lying"]), rng.choice([i for i in range(n) if i != speaker])]
    first, second = rng.sample(range(n), 2)
    parts = [[rng.choice(["telling-truth", "lying"]), who] for who in (first, second)]
    return [rng.choice(["and", "or", "->", "<=>"]), *parts]


def holds(statement: Statement, knights: Sequence[bool]) -> bool:
    """Whether a statement is true when ``knights`` says who tells the truth.

    >>> holds(["->", ["telling-truth", 0], ["lying", 1]], [True, True])
    False
    """
    op, *rest = statement
    if op in ("telling-truth", "lying"):
        return knights[rest[0]] == (op == "telling-truth")
    if op == "not":
        return not holds(rest[0], knights)
    values = [holds(part, knights) for part in rest]
    return {"and": all(values), "or": any(values), "->": not values[0] or values[-1], "<=>": values[0] == values[-1]}[op]


def solutions(statements: Sequence[Statement]) -> list[tuple[bool, ...]]:
    """Every assignment in which exactly the knights' statements are true."""
    everyone = itertools.product([False, True], repeat=len(statements))
    return [knights for knights in everyone if all(holds(s, knights) == k for s, k in zip(statements, knights, strict=True))]


def said(statement: Statement, names: Sequence[str]) -> str:
    """A statement in words."""
    op, *rest = statement
    if op in ("telling-truth", "lying"):
        return f"{names[rest[0]]} is a {'knight' if op == 'telling-truth' else 'knave'}"
    if op == "not":
        return f"it is not so that {said(rest[0], names)}"
    first, second = (said(part, names) for part in rest)
    form = {"and": "{} and {}", "or": "{} or {}", "->": "if {} then {}", "<=>": "{} if and only if {}"}[op]
    return form.format(first, second)


def _row(names: list[str], statements: list[Statement], solution: tuple[bool, ...]) -> dict[str, Any]:
    talk = " ".join(f'{name} says: "{said(s, names)}."' for name, s in zip(names, statements, strict=True))
    form = ", ".join(f"{name} is a ..." for name in names)
    return {
        "prompt": f"{RULES} {talk} Who is a knight and who is a knave? Answer in the form: {form}",
        "answer": ", ".join(f"{name} is a {'knight' if knight else 'knave'}" for name, knight in zip(names, solution, strict=True)),
        "state": {"names": names, "statements": statements, "solution": list(solution)},
        "difficulty": len(names) + sum(len(s) > 2 for s in statements),
        "task": "knights_knaves",
        "kind": "logic",
    }
