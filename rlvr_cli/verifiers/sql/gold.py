"""Gold results: run once an instance, remembered, and compared with an answer.

A gold query that fails is the task's fault and gives no verdict. Of several accepted ones those that run are used. Results
of queries about now, or random ones, are not remembered.

>>> volatile("SELECT * FROM t WHERE day > date('now')"), volatile("SELECT now_playing FROM films")
(True, False)
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rlvr_cli.verifiers.sql.compare import difference, part_of
from rlvr_cli.verifiers.sql.engine import Result, engine
from rlvr_cli.verifiers.sql.task import BrokenTask, Task

CPU_S = 10.0  # seconds of CPU for a gold query
REMEMBERED = 64 * 2**20  # bytes of gold results kept in a process
VOLATILE = re.compile(
    r"\bnow\b|\bcurrent_|\brandom|\blocaltime|\bget_current|\btoday\b|\buuid|\bnextval|"
    r"\b(?:date|time|datetime|julianday|unixepoch|strftime|changes|total_changes)\s*\(\s*(?:'[^']*'\s*)?\)",
    re.I,
)
_memory: OrderedDict[tuple, Result] = OrderedDict()


@dataclass(frozen=True)
class Gold:
    """One accepted query's result on one instance, and the alternatives' rows."""

    rows: list[list[Any]]
    columns: int
    cpu_s: float
    alternatives: tuple[Sequence[Sequence[Any]], ...] = ()
    failed: str = ""

    @property
    def most(self) -> int:
        """Rows of the largest right answer."""
        return max([len(self.rows), *map(len, self.alternatives)])

    @property
    def size(self) -> int:
        """Bytes of the largest right answer, about."""
        return max(map(_size, [self.rows, *self.alternatives]))

    def difference(self, answer: Result, task: Task) -> str | None:
        """None when the answer is right, else why not."""
        if self.failed:
            return self.failed
        if answer.columns != self.columns:
            return f"gold has {self.columns} columns, answer {answer.columns}"
        if any(key >= self.columns or key < -self.columns for key in task.keys):
            raise BrokenTask(f"order_key_cols {list(task.keys)} do not fit {self.columns} columns")
        wrong = difference(answer.rows, self.rows, ordered=task.ordered, keys=task.keys)
        if wrong is None or not self.alternatives:
            return wrong
        return None if any(self._fits(answer.rows, allowed, task) for allowed in self.alternatives) else wrong

    def _fits(self, rows: list[list[Any]], allowed: Sequence[Sequence[Any]], task: Task) -> bool:
        if task.limit is None:
            return difference(rows, allowed, ordered=task.ordered, keys=task.keys) is None
        if part_of(rows, allowed, task.limit) is not None:
            return False
        if not (task.ordered and task.keys and len(rows) == len(self.rows)):
            return True
        keys = [[[row[k] for k in task.keys] for row in side] for side in (rows, self.rows)]
        return difference(*keys, ordered=True) is None


def volatile(*queries: Any) -> bool:
    """Whether any of the texts asks for now or for chance."""
    return any(VOLATILE.search(str(query)) for query in queries if query)


def golds_of(name: str, schema: str, task: Task) -> list[Gold]:
    """Results of the accepted queries on one instance; BrokenTask when none of them runs."""
    alternatives = tuple(_rows_of(name, schema, alternative) for alternative in task.alternatives)
    golds = [_gold(_result(name, schema, query), alternatives) for query in task.golds]
    if all(gold.failed for gold in golds):
        raise BrokenTask(golds[0].failed)
    return golds


def _gold(result: Result, alternatives: tuple[Sequence[Sequence[Any]], ...]) -> Gold:
    if result.rows is None:
        return Gold([], 0, 0.0, failed=f"{'' if result.kind == 'schema' else 'gold query fails: '}{_fault(result)}")
    return Gold(result.rows, result.columns, result.cpu_s, alternatives)


def _rows_of(name: str, schema: str, alternative: Any) -> Sequence[Sequence[Any]]:
    if not isinstance(alternative, str):
        return alternative
    result = _result(name, schema, alternative)
    if result.rows is None:
        raise BrokenTask(f"gold_alt fails: {_fault(result)}")
    return result.rows


def _fault(result: Result) -> str:
    return f"schema fails: {result.fault}" if result.kind == "schema" else result.fault


def _result(name: str, schema: str, query: str) -> Result:
    key = (name, schema, query)
    if key in _memory:
        return _memory[key]
    result = engine(name).ask(schema, query, cpu_s=CPU_S)
    if result.rows is not None and not volatile(query):
        _memory[key] = result
        while len(_memory) > 1 and (len(_memory) > 512 or sum(_size(r.rows) for r in _memory.values()) > REMEMBERED):
            _memory.popitem(last=False)
    return result


def _size(rows: Sequence[Sequence[Any]]) -> int:
    return sum(len(value) if isinstance(value, str) else 8 for row in rows for value in row)
