"""A row of the data set as a task: the instances, the accepted golds, and how results are compared.

Columns come as text, as objects or as what ``datasets`` made of them (missing keys are None, whole numbers are floats).

>>> task = task_of({"schema_sql": "CREATE TABLE t(x)", "gold_sql": "SELECT 1; SELECT x FROM t;", "order_key_cols": "[0]"})
>>> task.golds, task.schemas, task.ordered, task.keys
(('SELECT 1', 'SELECT x FROM t'), ('CREATE TABLE t(x)',), False, (0,))
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from rlvr_cli.verifiers.sql.text import statements


class BrokenTask(Exception):
    """The task, not the answer, is at fault."""


@dataclass(frozen=True)
class Task:
    """golds: each is an accepted query. alternatives: queries (or lists of rows) of which any ``limit`` rows are right."""

    schemas: tuple[str, ...]
    golds: tuple[str, ...]
    ordered: bool
    keys: tuple[int, ...]
    alternatives: tuple[Any, ...]
    limit: int | None


def task_of(row: dict[str, Any]) -> Task:
    """Read a row; BrokenTask names the column that cannot be used."""
    first, further = _texts(row.get("schema_sql"), "schema_sql"), _texts(row.get("schema_sql_2"), "schema_sql_2")
    if further and not first:  # judging on fewer instances than the row was made with would let constants pass
        raise BrokenTask("schema_sql is empty although schema_sql_2 is not")
    schemas = first + further
    golds = tuple(query for cell in _texts(row.get("gold_sql"), "gold_sql") for query in statements(cell))
    if not golds:
        raise BrokenTask("gold_sql is empty")
    keys = _parsed(row.get("order_key_cols")) or ()
    try:
        keys = tuple(int(k) for k in (keys if isinstance(keys, (list, tuple)) else [keys]))
        limit = None if row.get("limit") in (None, "") else int(float(row["limit"]))
    except (TypeError, ValueError):
        raise BrokenTask("order_key_cols or limit is not a number") from None
    return Task(schemas or ("",), golds, _truth(row.get("order_matters")), keys, _alternatives(row.get("gold_alt")), limit)


def _parsed(value: Any) -> Any:
    """Objects out of JSON text; other text as it is."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, str) and (value.lstrip()[:1] in ("[", '"') or value.strip().isdigit()):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _texts(value: Any, name: str) -> tuple[str, ...]:
    value = _parsed(value)
    cells = [] if value is None else value if isinstance(value, (list, tuple)) else [value]
    cells = [cell for cell in cells if cell is not None and cell != ""]
    if not all(isinstance(cell, str) for cell in cells):
        raise BrokenTask(f"{name} is not text")
    return tuple(cells)


def _truth(value: Any) -> bool:
    return value.strip().lower() in ("true", "1", "yes") if isinstance(value, str) else bool(value)


def _alternatives(value: Any) -> tuple[Any, ...]:
    """One query, several, or the right rows themselves."""
    value = _parsed(value)
    if value is None or value == "" or value == []:
        return ()
    if isinstance(value, str):
        return tuple(statements(value))
    if isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value):
        return tuple(query for cell in value for query in statements(cell))
    if isinstance(value, (list, tuple)) and all(isinstance(item, (list, tuple)) for item in value):
        return (tuple(tuple(item) for item in value),)
    raise BrokenTask("gold_alt is neither a query nor a list of rows")
