"""Labelled or sampled rows in, rows with scores out: what ``rlvr score`` and ``rlvr reward`` share. No torch.

A row is a JSON object with a ``completion`` (text, or chat messages) and the columns its reward needs; ``gold`` is taken
as ``answer`` where there is no ``answer``. A row out is the row in, and what was said of it::

    {"completion": "<answer>4</answer>", "answer": "4", "scores": {"correct": 1.0}, "total": 1.0,
     "reasons": {"correct": "4 = 4"}, "extracted": {"correct": "4"}}
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from rlvr_cli.config.schema import Reward
from rlvr_cli.errors import ConfigError, DataError
from rlvr_cli.rewards_api import BoundTerm, bind, compose, configure_pool, group_terms, score_batch
from rlvr_cli.rewards_api.bind import validated

Row = dict[str, Any]
NOT_COLUMNS = ("prompt", "completion", "completion_ids")  # TRL hands these over by other names
EXTRAS = ("completion_ids", "group_id", "correct")
COLUMN_KEY = "dataset.columns."


@dataclass
class Choice:
    """The reward that the command line names, and the renames of columns."""

    reward: Reward
    renames: dict[str, str] = field(default_factory=dict)

    def bound(self, columns: Iterable[str] | None = None) -> list[BoundTerm]:
        """The terms, checked against the columns of the data; the pool is set up on the way."""
        configure_pool(self.reward)
        return bind(self.reward, columns, alone=len(self.reward.terms) == 1)


def split_words(argv: Sequence[str], own: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """``key=value`` words of the command itself, and the others, which are for the composition."""
    mine, others = {}, []
    for word in argv:
        key, equals, value = word.partition("=")
        if equals and key in own:
            mine[key] = value
        else:
            others.append(word)
    return mine, others


def choose(name: str, overrides: Sequence[str]) -> Choice:
    """``name`` is an option of ``conf/reward`` or the dotted path (or ``file.py:function``) of a function."""
    renames = {w[len(COLUMN_KEY) :].partition("=")[0]: w.partition("=")[2] for w in overrides if w.startswith(COLUMN_KEY)}
    if "." in name or ":" in name:
        return Choice(_single(name, [w for w in overrides if not w.startswith(COLUMN_KEY)]), renames)
    from rlvr_cli.config.compose import compose as compose_config

    return Choice(compose_config([f"reward={name}", *overrides]).config.reward, renames)


def _single(dotted: str, overrides: Sequence[str]) -> Reward:
    """A reward of one term, named after its function; ``options.k=v`` (in full ``reward.terms.<name>.options.k=v``) sets
    its options."""
    name = dotted.replace(":", ".").rpartition(".")[2]
    tree: dict[str, Any] = {"terms": {name: {"fn": dotted}}}
    for word in overrides:
        key, equals, text = word.partition("=")
        if key.startswith("options."):
            key = f"reward.terms.{name}.{key}"
        if not equals or not key.startswith("reward."):
            fix = "options.KEY=VALUE"
            raise ConfigError(f"{word!r} is not an override of this reward", where="command line", fix=fix)
        at = tree
        *path, last = key.split(".")[1:]
        for part in path:
            at = at.setdefault(part, {})
        try:
            at[last] = yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise ConfigError(f"{word!r} is not a value", where="command line") from error
    return validated(tree)


def read_rows(source: str, renames: Mapping[str, str]) -> Iterator[tuple[str, Row | str]]:
    """``(place, row)``, or ``(place, why it is none)`` for a line that cannot be scored. ``-`` is standard input.

    Raises DataError where the file cannot be read at all.
    """
    from rlvr_cli.data.sources import Broken, find_path, parse_line, read_file

    if source == "-":
        items: Iterable = (parse_line(line, f"line {n}") for n, line in enumerate(sys.stdin, 1) if line.strip())
    else:
        path = find_path(source)
        if path is None or path.is_dir():
            raise DataError(f"there is no file {source!r}", where="data", fix="data=FILE.jsonl")
        items = read_file(path, key="data")
    for item in items:
        if isinstance(item, Broken):
            yield item.where, item.reason
        else:
            yield item[0], _usable(item[1], renames)


def _usable(row: Row, renames: Mapping[str, str]) -> Row | str:
    for new, old in renames.items():
        if old in row:
            row[new] = row[old]
    completion = row.get("completion")
    if isinstance(completion, str) or (isinstance(completion, list) and all(isinstance(m, dict) for m in completion)):
        return row
    if "completion" in row:
        return f"column 'completion' is {'null' if completion is None else f'a {type(completion).__name__}'}, not text or messages"
    have = ", ".join(row) or "no columns"
    return f"no column 'completion' (text or messages); it has: {have}. Type: {COLUMN_KEY}completion=NAME"


def columns_of(rows: Sequence[Row]) -> dict[str, list[Any]]:
    """Rows to columns; what a row lacks is None, and ``gold`` is ``answer`` where nothing else is."""
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: [row.get(name) for row in rows] for name in names if name not in NOT_COLUMNS}
    if "gold" in columns:
        answers = columns.get("answer", [None] * len(rows))
        columns["answer"] = [gold if answer is None else answer for answer, gold in zip(answers, columns["gold"], strict=True)]
    return columns


def score_rows(terms: Sequence[BoundTerm], rows: Sequence[Row]) -> list[Row]:
    """The rows with ``scores``, ``total``, ``reasons`` and ``extracted``. Group-relative terms need whole groups here."""
    columns = columns_of(rows)
    prompts = [row.get("prompt", row.get("question")) for row in rows]
    extra = {name: [row.get(name) for row in rows] for name in EXTRAS if all(row.get(name) is not None for row in rows)}
    group, correct = extra.pop("group_id", None), extra.pop("correct", None)
    known = prompts if any(p is not None for p in prompts) else None
    results = score_batch(terms, known, [row["completion"] for row in rows], columns, extra=extra, group_id=group, correct=correct)
    total = compose(results, terms).total
    return [{**row, **_said(results, i), "total": total[i]} for i, row in enumerate(rows)]


def _said(results: Mapping[str, Any], i: int) -> Row:
    return {
        "scores": {name: result.scores[i] for name, result in results.items()},
        "reasons": {name: result.reasons[i] for name, result in results.items()},
        "extracted": {name: result.extracted[i] for name, result in results.items()},
    }


def batches(items: Iterable[tuple[str, Row | str]], size: int | None) -> Iterator[list[tuple[str, Row | str]]]:
    """Runs of at most ``size`` items; None makes one of all."""
    batch: list[tuple[str, Row | str]] = []
    for item in items:
        batch.append(item)
        if size is not None and len(batch) >= size:
            yield batch
            batch = []
    if batch:
        yield batch


def batch_size_for(terms: Sequence[BoundTerm], size: int) -> int | None:
    """``size``, or all rows at once where a term compares rows of a group."""
    return None if group_terms(terms) else size


def json_line(row: Row) -> str:
    """One line of JSONL: readable text, escaped only where it holds what UTF-8 can not (a lone surrogate)."""
    line = json.dumps(row, ensure_ascii=False, default=str)
    try:
        line.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(row, default=str)
    return line


def require_file(path: str) -> Path:
    """The path of a file to read; DataError where there is none."""
    found = Path(path).expanduser()
    if not found.is_file():
        raise DataError(f"there is no file {path!r}", where="data", fix="data=FILE.jsonl")
    return found
