"""Rows to audit a reward on when no data is given: a few small tasks of each kind, by the columns that a reward needs.

Each kind has rows of different answers, because several attacks put one row's answer into another row. They are audit
material, not training data: what matters is that each gold is beyond doubt.

>>> [row["answer"] for row in rows_for(["answer"])][:3]
['42', '3/4', '-7']
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

Row = dict[str, Any]

NUMBERS = [
    ("A shop sells 17 pens on Monday and 25 on Tuesday. How many pens is that?", "42"),
    ("A recipe takes 3 cups of flour for 4 cakes. How many cups are in one cake?", "3/4"),
    ("It is 5 degrees at noon and 12 degrees colder at night. How many degrees is it at night?", "-7"),
    ("A train goes 120 km in 1.5 hours. How many km/h is that?", "80"),
    ("What is 15% of 240?", "36"),
    ("A square has an area of 169. How long is a side?", "13"),
    ("There are 1024 players; half go out in each round. How many rounds until one is left?", "10"),
    ("What is 2.5 times 0.5?", "1.25"),
]
CHOICES = [
    ("Which gas do plants take in?", ["Oxygen", "Carbon dioxide", "Helium", "Neon"], "B"),
    ("Which number is prime?", ["21", "27", "33", "37"], "D"),
    ("What freezes at 0 degrees Celsius?", ["Water", "Iron", "Alcohol", "Oil"], "A"),
    ("Which planet has the great red spot?", ["Mars", "Venus", "Jupiter", "Saturn"], "C"),
]
FACTS = [
    ("Who wrote Hamlet?", ["William Shakespeare", "Shakespeare"], ["Shakespeare wrote Hamlet", "about 1600"]),
    ("What is the capital of Australia?", ["Canberra"], ["Canberra is the capital", "not Sydney"]),
    ("How fast is light in vacuum?", ["299792458 m/s"], ["299792458 m/s"]),
]
PASSAGES = [
    ["The bridge was opened in 1932 and is 503 metres long.", "It was designed by John Bradfield."],
    ["The lake is 58 km long and up to 310 m deep."],
]
CODE = [  # question, tests, a right solution, a wrong one of the same form
    (
        "Read a number, print its double.",
        {"type": "stdio", "cases": [["2\n", "4\n"], ["-3\n", "-6\n"], ["5\n", "10\n"]]},
        "print(int(input()) * 2)",
        "print(int(input()) + 1)",
    ),
    (
        "Write inc(x), which returns x + 1.",
        {"type": "assert", "code": "assert inc(1) == 2\nassert inc(-1) == 0\nassert inc(41) == 42", "entry_point": "inc"},
        "def inc(x):\n    return x + 1",
        "def inc(x):\n    return x + 2",
    ),
    (
        "Write last(xs), which returns the last item of a list.",
        {"type": "assert", "code": "assert last([1, 2]) == 2\nassert last(['a']) == 'a'", "entry_point": "last"},
        "def last(xs):\n    return xs[-1]",
        "def last(xs):\n    return xs[-2:]",
    ),
]
SHOP = "CREATE TABLE item(name TEXT, price REAL, stock INTEGER);"
STOCK = [
    SHOP + " INSERT INTO item VALUES ('pen', 1.5, 10), ('ink', 4.0, 0), ('pad', 2.5, 3);",
    SHOP + " INSERT INTO item VALUES ('cup', 3.0, 0), ('mug', 5.5, 8), ('pot', 9.0, 2), ('pan', 12.0, 0);",
]
SQL = [
    ("Which items are out of stock?", "SELECT name FROM item WHERE stock = 0"),
    ("What is the mean price?", "SELECT AVG(price) FROM item"),
    ("How many items cost more than 2?", "SELECT COUNT(*) FROM item WHERE price > 2"),
]
SCHEMAS = [
    (
        {
            "type": "object",
            "properties": {"name": {"type": "string", "minLength": 2}, "age": {"type": "integer", "minimum": 0}},
            "required": ["name", "age"],
        },
        {"name": "Ann", "age": 30},
    ),
    ({"type": "array", "items": {"enum": ["red", "green"]}, "minItems": 2}, ["red", "green"]),
]
STEPS = [
    ("Tom has 3 boxes of 5 and 2 more. How many?", "17", ["3*5=15", "15+2=17"]),
    ("Half of 48, less 4?", "20", ["48/2=24", "24-4=20"]),
]
FOLLOW = [
    (
        "Answer in lower case, and end with: the end",
        ["change_case:english_lowercase", "startend:end_checker"],
        [{}, {"end_phrase": "the end"}],
    ),
    (
        "Name two animals in two bullet points under a <<title>>.",
        ["detectable_format:number_bullet_lists", "detectable_format:title"],
        [{"num_bullets": 2}, {}],
    ),
]


def rows_for(columns: Iterable[str]) -> list[Row]:
    """Rows that have all of ``columns`` (at least a prompt where nothing is asked for); empty when no kind has them."""
    return next(iter(kinds_for(columns)), [])


def kinds_for(columns: Iterable[str], optional: Iterable[str] = ()) -> list[list[Row]]:
    """The kinds of rows that have all of ``columns``, those with more of the ``optional`` ones first."""
    wanted, extra = set(columns), set(optional)
    kinds = [kind() for kind in (_numbers, _steps, _choices, _facts, _key_facts, _passages, _code, _sql, _schemas, _follow, _logic)]
    return sorted((rows for rows in kinds if wanted <= set(rows[0])), key=lambda rows: -len(extra & set(rows[0])))


def _numbers() -> list[Row]:
    return [{"prompt": question, "answer": answer} for question, answer in NUMBERS]


def _steps() -> list[Row]:
    return [{"prompt": question, "answer": answer, "steps": json.dumps(steps)} for question, answer, steps in STEPS]


def _choices() -> list[Row]:
    def asked(question: str, choices: list[str]) -> str:
        return "\n".join([question, *(f"{letter}. {text}" for letter, text in zip("ABCD", choices, strict=True))])

    return [{"prompt": asked(q, choices), "choices": json.dumps(choices), "answer": letter} for q, choices, letter in CHOICES]


def _facts() -> list[Row]:
    return [{"prompt": q, "answer": json.dumps(golds)} for q, golds, _ in FACTS]


def _key_facts() -> list[Row]:
    return [{"prompt": f"{q} Say more.", "facts": json.dumps(facts)} for q, _, facts in FACTS]


def _passages() -> list[Row]:
    return [{"prompt": "Summarise the passages.", "passages": json.dumps(passages)} for passages in PASSAGES]


def _code() -> list[Row]:
    return [
        {"prompt": q, "tests": json.dumps(tests), "solution": right, "reference": right, "wrong_solution": f"```python\n{wrong}\n```"}
        for q, tests, right, wrong in CODE
    ]


def _sql() -> list[Row]:
    return [{"prompt": q, "gold_sql": gold, "schema_sql": STOCK[0], "schema_sql_2": STOCK[1]} for q, gold in SQL]


def _schemas() -> list[Row]:
    return [{"prompt": "Give JSON.", "schema": json.dumps(schema), "answer": json.dumps(value)} for schema, value in SCHEMAS]


def _follow() -> list[Row]:
    return [{"prompt": q, "instruction_id_list": json.dumps(ids), "kwargs": json.dumps(kwargs)} for q, ids, kwargs in FOLLOW]


def _logic() -> list[Row]:
    state = {"numbers": [2, 3, 5], "target": 17}
    return [{"prompt": "Reach 17 with 2, 3 and 5, each once.", "task": "countdown", "state": json.dumps(state), "answer": "2+3*5"}]
