r"""The layouts of public sets, each to the columns that its reward asks for: the functions that ``dataset.row_transform`` names.

HumanEval brings a half-written function and a ``check(candidate)``; the code reward wants tests that can be run:

>>> row = humaneval({"prompt": "def two():\n", "entry_point": "two", "canonical_solution": "    return 2\n", "test": "def check(f):\n    assert f() == 2\n"})
>>> print(row["tests"]["code"])
def check(f):
    assert f() == 2
<BLANKLINE>
check(two)
>>> aqua({"question": "1+1?", "options": ["A)1", "B) 2"], "correct": "B"})["choices"]
['1', '2']
"""  # noqa: E501

from __future__ import annotations

import ast
import functools
import re
import sqlite3
from pathlib import Path
from typing import Any

from rlvr_cli.data.answers import whole_number
from rlvr_cli.errors import DataError

Row = dict[str, Any]
MAX_DATABASE_BYTES = 2_000_000  # a row carries its database as text


def humaneval(row: Row) -> Row:
    """openai_humaneval: task_id, prompt, canonical_solution, test, entry_point."""
    code = f"{row['test'].strip()}\n\ncheck({row['entry_point']})"
    tests = {"type": "assert", "code": code, "entry_point": row["entry_point"]}
    return {"task_id": row.get("task_id"), "prompt": row["prompt"], "tests": tests, "answer": row["prompt"] + row["canonical_solution"]}


def mbpp(row: Row) -> Row:
    """mbpp, full (text, test_setup_code) or sanitized (prompt, test_imports): task_id, code, test_list."""
    setup = row.get("test_setup_code") or "\n".join(row.get("test_imports") or [])
    asserts = list(row["test_list"])
    tests = {"type": "assert", "code": "\n".join([*filter(None, [setup]), *asserts]), "entry_point": entry_point(row["code"], asserts)}
    question = row.get("text") or row["prompt"]
    return {"task_id": row.get("task_id"), "question": question, "example": asserts[0], "tests": tests, "answer": row["code"]}


def entry_point(code: str, asserts: list[str]) -> str | None:
    """The function of ``code`` that the asserts call; the last one defined where none can be told.

    >>> entry_point("def help(x):\\n  return x\\ndef add(a, b):\\n  return help(a) + b", ["assert add(1, 2) == 3"])
    'add'
    """
    try:
        defined = [node.name for node in ast.parse(code).body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)]
        called = [n.func.id for n in ast.walk(ast.parse("\n".join(asserts))) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
    except SyntaxError:
        return None
    return next((name for name in called if name in defined), defined[-1] if defined else None)


def aqua(row: Row) -> Row:
    """aqua_rat: question, options with their letters, rationale, correct."""
    choices = [re.sub(r"^\s*\(?[A-E]\s*[).:]\s*", "", option) for option in row["options"]]
    return {"question": row["question"], "choices": choices, "answer": row["correct"], "rationale": row.get("rationale")}


def svamp(row: Row) -> Row:
    """svamp: Body, Question, Answer as a float; a body without its full stop gets one."""
    body = row["Body"].strip()
    body += "" if body[-1:] in ".?!," else "."
    return {"question": f"{body} {row['Question'].strip()}", "answer": whole_number(row), "kind_of_sum": row.get("Type")}


def cmath(row: Row) -> Row:
    """cmath: question, grade, and the gold under ``golden`` or ``answer``."""
    return {**row, "answer": row.get("golden", row.get("answer"))}


def spider(row: Row, *, databases: str | None = None) -> Row | None:
    """spider: db_id, question, query; ``databases`` is the folder of the set's own archive that has ``<db_id>/<db_id>.sqlite``.

    A database too large to travel with its rows leaves the row out.
    """
    if databases is None:
        raise DataError("spider's rows hold no database", where="dataset.row_options", fix="dataset.row_options.databases=FOLDER")
    folder = Path(databases).expanduser()
    if not folder.is_dir():
        raise DataError(f"there is no folder {databases!r}", where="dataset.row_options.databases")
    schema = database_text(folder / row["db_id"] / f"{row['db_id']}.sqlite")
    if schema is None:
        return None
    query = row["query"].strip().rstrip(";")
    ordered = re.search(r"\border\s+by\b(?![^()]*\))", query, re.IGNORECASE) is not None
    tables = "\n".join(line for line in schema.splitlines() if not line.startswith("INSERT INTO"))
    return {
        "question": row["question"],
        "tables": tables,
        "gold_sql": query,
        "answer": query,
        "schema_sql": schema,
        "order_matters": ordered,
    }


@functools.lru_cache(maxsize=256)
def database_text(path: Path) -> str | None:
    """An SQLite file as the statements that make it; None where it is too large."""
    if not path.is_file():
        raise DataError(f"there is no database {str(path)!r}", where="dataset.row_options.databases")
    if path.stat().st_size > MAX_DATABASE_BYTES:
        return None
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
        database.text_factory = lambda raw: raw.decode("utf-8", "replace")
        statements = [s for s in database.iterdump() if s not in ("BEGIN TRANSACTION;", "COMMIT;")]
    database.close()
    return "\n".join(" ".join(s.split("\n")) if s.startswith("INSERT INTO") else s for s in statements)
