"""Rows to and from files for the commands of ``rlvr data``: JSONL out, whole or not at all, and progress on standard error.

>>> import tempfile, pathlib
>>> path = pathlib.Path(tempfile.mkdtemp()) / "rows.jsonl.gz"
>>> write_rows([{"prompt": "1+1=?", "answer": "2"}], str(path))
1
>>> rows_of_file(str(path))
[{'prompt': '1+1=?', 'answer': '2'}]
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from rlvr_cli.data.sources import Broken, find_path, parse_line, read_file, read_folder
from rlvr_cli.errors import DataError
from rlvr_cli.outputs import claim, writing

Row = dict[str, Any]
T = TypeVar("T")
PROGRESS_S = 2.0
QUESTION_COLUMNS = ("prompt", "question", "problem", "query", "instruction", "input", "text")


def rows_of_file(source: str, *, key: str = "data", on_broken: str = "stop", encoding: str = "utf-8") -> list[Row]:
    """The rows of a file, a folder or ``-`` (standard input, JSON lines). A broken line stops, or is said and left out."""
    rows: list[Row] = []
    broken = 0
    for item in _items(source, key, encoding):
        if not isinstance(item, Broken):
            rows.append(item[1])
        elif on_broken == "drop":
            broken += 1
            print(f"left out {item.where}: {item.reason}", file=sys.stderr)
        else:
            raise DataError(f"{item.where}: {item.reason}", where=key, fix="on_broken=drop to leave such lines out, counted")
    if not rows:
        raise DataError(f"{source} has no usable row{f', {broken} are broken' if broken else ''}", where=key)
    return rows


def _items(source: str, key: str, encoding: str) -> Iterator[Any]:
    if source == "-":
        return (parse_line(line, f"standard input line {n}") for n, line in enumerate(sys.stdin, 1) if line.strip())
    path = find_path(source)
    if path is None:
        raise DataError(f"there is no file {source!r}", where=key, fix=f"{key}=FILE.jsonl")
    if path.is_dir():
        return read_folder(path, split="train", encoding=encoding, key=key)
    return read_file(path, encoding=encoding, key=key)


def write_rows(rows: Iterable[Row], out: str | None) -> int:
    """Write JSON lines to ``out`` (``.gz`` packs; None or ``-`` is standard output) and return how many."""
    if out in (None, "-"):
        return _write(rows, sys.stdout)
    with writing(Path(out).expanduser()) as file:
        return _write(rows, file)


def claim_all(settings: dict[str, Any], *keys: str) -> None:
    """Each file that a verb will write, claimed before the work starts: none overwrites without ``overwrite=true``, none is an input."""
    read = {Path(str(settings[key])).expanduser().resolve() for key in ("data", "against") if isinstance(settings.get(key), str)}
    for key in keys:
        out = settings.get(key)
        if out in (None, "-"):
            continue
        if Path(str(out)).expanduser().resolve() in read:
            raise DataError(f"{out} is what this command reads", where=key, fix=f"{key}=OTHER.jsonl")
        claim(str(out), overwrite=settings["overwrite"], where=key, fix=f"overwrite=true, or {key}=OTHER")


def _write(rows: Iterable[Row], file: Any) -> int:
    count = 0
    for row in rows:
        file.write(json.dumps(row, ensure_ascii=False, default=str) + "\n")
        count += 1
    return count


def progressing(items: Sequence[T], what: str) -> Iterator[T]:
    """The items; once they take more than two seconds, a line on standard error every two seconds."""
    said = time.monotonic()
    for number, item in enumerate(items):
        now = time.monotonic()
        if now - said >= PROGRESS_S:
            said = now
            print(f"{what}: {number} of {len(items)} ({100 * number // len(items)}%)", file=sys.stderr, flush=True)
        yield item


def question_column(rows: Sequence[Row], asked: str | None, *, key: str = "column") -> str:
    """The column with the question: the one that was asked for by ``key=``, or the first usual name that the rows have.

    >>> question_column([{"ID": 1, "Question": "1+1?"}], None)
    'Question'
    """
    names = list(dict.fromkeys(name for row in rows[:100] for name in row))
    if asked is None:
        found = next((name for usual in QUESTION_COLUMNS for name in names if name.lower() == usual), None)
        if found is None:
            raise DataError(f"no column looks like the question among {', '.join(names)}", where=key, fix=f"{key}={names[0]}")
        return found
    if asked not in names:
        from rlvr_cli.data.columns import nearest

        what = f"the rows have no column {asked!r}, only {', '.join(names)}"
        raise DataError(what, where=key, fix=f"{key}={nearest(asked, names)}")
    return asked


def text_in(value: Any) -> str:
    """A column's text: as it is, the user's turns of messages, or JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(m, dict) and "content" in m for m in value):
        return "\n".join(str(m["content"]) for m in value if m.get("role", "user") == "user")
    return "" if value is None else json.dumps(value, ensure_ascii=False)
