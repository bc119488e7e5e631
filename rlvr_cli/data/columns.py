"""A file's columns to the rewards' parameters: renames, paths into nested values, transforms, and one type a column.

The whole journey of a row of GSM8K (``prompt_column: question``, ``answer_transform: rlvr_cli.data.answers.after_hashes``)::

    >>> from rlvr_cli.config.schema import Dataset
    >>> config = Dataset(prompt_column="question", answer_transform="rlvr_cli.data.answers.after_hashes")
    >>> mapped(config, {"question": "1+1?", "answer": "One and one.\\n#### 2"}, {})
    {'question': '1+1?', 'answer': '2', 'prompt': '1+1?'}
"""

from __future__ import annotations

import difflib
import functools
import importlib
import json
from collections.abc import Callable, Iterable
from typing import Any

from rlvr_cli.config.schema import Dataset
from rlvr_cli.errors import DataError
from rlvr_cli.interpreter import see_working_folder

Row = dict[str, Any]
MISSING = object()


class Unusable(Exception):
    """A row that cannot train; the message is the reason it is counted under."""


def look_up(row: Row, path: str) -> Any:
    """A column, or a dotted path into nested columns (``reward_model.ground_truth``); MISSING where there is none.

    >>> look_up({"answer": {"aliases": ["a", "b"]}}, "answer.aliases")
    ['a', 'b']
    """
    if path in row:
        return row[path]
    found: Any = row
    for part in path.split("."):
        if isinstance(found, dict) and part in found:
            found = found[part]
        elif isinstance(found, list) and part.isdecimal() and int(part) < len(found):
            found = found[int(part)]
        else:
            return MISSING
    return found


def dotted_function(path: str, key: str) -> Callable[[Row], Any]:
    """The function of ``answer_transform`` or ``row_transform``; a wrong path is one line."""
    module, _, name = path.rpartition(".")
    see_working_folder()
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise DataError(f"the function {path!r} cannot be imported: {error}", where=f"dataset.{key}") from error
    if not callable(found):
        raise DataError(f"{path!r} is not a function", where=f"dataset.{key}")
    return found


def functions_of(config: Dataset) -> dict[str, Callable[[Row], Any]]:
    """The transforms that a dataset names, imported once."""
    functions = {name: dotted_function(path, name) for name in ("row_transform", "answer_transform") if (path := getattr(config, name))}
    if config.row_options and "row_transform" in functions:
        functions["row_transform"] = functools.partial(functions["row_transform"], **config.row_options)
    return functions


def mapped(config: Dataset, row: Row, functions: dict[str, Callable[[Row], Any]] | None = None) -> Row:
    """One raw row to one with ``prompt``, ``answer`` and the rewards' columns; raises Unusable with the reason."""
    functions = functions or functions_of(config)
    if "row_transform" in functions:
        row = _call(functions["row_transform"], row, "row_transform")
        if row is None:
            raise Unusable("row_transform left it out")
    out = dict(row)
    for parameter, column in config.columns.items():
        out[parameter] = _need(row, column, f"columns.{parameter}")
    if "answer_transform" in functions:
        out["answer"] = _call(functions["answer_transform"], row, "answer_transform")
        if out["answer"] is None:
            raise Unusable("answer_transform found no answer")
    elif config.answer_column and "answer" not in config.columns:
        out["answer"] = _answer(row, config.answer_column)
    out["prompt"] = _need(row, config.prompt_column, "prompt_column")
    if _blank(out["prompt"]):
        raise Unusable(f"no prompt (column {config.prompt_column!r} is empty)")
    return out


def _answer(row: Row, column: str) -> Any:
    answer = _need(row, column, "answer_column")
    if _blank(answer):
        raise Unusable(f"no answer (column {column!r} is empty)")
    return answer


def _blank(value: Any) -> bool:
    return (
        value is None
        or value != value
        or (isinstance(value, (str, list, dict)) and not (value.strip() if isinstance(value, str) else value))
    )


def _need(row: Row, column: str, key: str) -> Any:
    value = look_up(row, column)
    if value is MISSING:
        raise Unusable(f"no column {column!r} (dataset.{key})")
    return value


def _call(function: Callable[[Row], Any], row: Row, key: str) -> Any:
    try:
        return function(row)
    except DataError:
        raise
    except Exception as error:  # the user's own function, on a row of unknown shape: the row is named, the rest goes on
        raise Unusable(f"{key} failed: {type(error).__name__}: {error}") from error


def check_columns(config: Dataset, rows: Iterable[Row], *, source: str) -> None:
    """Refuse, before any row is mapped, a column that no row has, with the nearest name."""
    rows = list(rows)
    present = list(dict.fromkeys(name for row in rows for name in row))
    asked = {"prompt_column": config.prompt_column, **{f"columns.{p}": c for p, c in config.columns.items()}}
    if config.answer_column and not config.answer_transform and "answer" not in config.columns:
        asked["answer_column"] = config.answer_column
    if config.row_transform:  # it may make the columns; mapped() checks them row by row
        return
    for key, column in asked.items():
        if all(look_up(row, column) is MISSING for row in rows):
            others = [name for name in present if name not in asked.values()] or present  # a column has one part to play
            fix = f"dataset.{key}={nearest(column, others)}" + (" or dataset.answer_column=null" if key == "answer_column" else "")
            raise DataError(f"{source} has no column {column!r}, only {', '.join(present)}", where=f"dataset.{key}", fix=fix)


def nearest(name: str, names: list[str]) -> str:
    """The name most like ``name``; some name where none is alike."""
    close = difflib.get_close_matches(name.lower(), [n.lower() for n in names], n=1, cutoff=0.4)
    return next((n for n in names if close and n.lower() == close[0]), names[0] if names else name)


def plain_columns(rows: list[Row]) -> list[Row]:
    """One type a column, so that every row survives a round trip through ``datasets``: nested values become JSON text.

    A list of text (choices) stays a list; ``prompt`` stays messages; a column of numbers and text becomes text.

    >>> plain_columns([{"prompt": [], "tests": {"a": 1}, "answer": 4}, {"prompt": [], "tests": "{}", "answer": "4/3"}])
    [{'prompt': [], 'tests': '{"a": 1}', 'answer': '4'}, {'prompt': [], 'tests': '{}', 'answer': '4/3'}]
    """
    names = list(dict.fromkeys(name for row in rows for name in row))
    writers = {name: _writer([row.get(name) for row in rows]) for name in names if name != "prompt"}

    def written(row: Row, name: str) -> Any:
        value = row.get(name)
        return value if name == "prompt" or value is None else writers[name](value)

    return [{name: written(row, name) for name in names} for row in rows]


def _writer(values: list[Any]) -> Callable[[Any], Any]:
    """How the values of one column are written, given all of them."""
    kinds = {_kind(value) for value in values if value is not None}
    if kinds <= {"bool"} or kinds <= {"text"} or kinds <= {"list of text"} or "image" in kinds:
        return lambda value: value
    if kinds <= {"int", "float"}:
        return float if len(kinds) == 2 and all(abs(v) < 2**53 for v in values if isinstance(v, int)) else _number_writer(values, kinds)
    return lambda value: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _number_writer(values: list[Any], kinds: set[str]) -> Callable[[Any], Any]:
    """Numbers stay numbers, unless they would lose digits on the way through Arrow."""
    fits = len(kinds) == 1 and all(abs(v) < 2**63 for v in values if isinstance(v, int))
    return (lambda value: value) if fits else str


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, (int, float)):
        return type(value).__name__
    if isinstance(value, str):
        return "text"
    if hasattr(value, "tobytes") or isinstance(value, bytes) or (isinstance(value, dict) and isinstance(value.get("bytes"), bytes)):
        return "image"  # of PIL, or as the hub stores one
    return "list of text" if isinstance(value, list) and value and all(isinstance(v, str) for v in value) else "nested"
