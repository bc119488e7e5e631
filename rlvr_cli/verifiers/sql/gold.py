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
MOST = 256  # gold results kept in a process
_memory: OrderedDict[tuple, Result] = OrderedDict()


@dataclass(frozen=True)
class Gold:
    """One accepted query's result on one instance, the alternatives' results, or why the query failed."""

    result: Result
    alternatives: tuple[Result, ...] = ()

    @property
    def failed(self) -> str:
        """Why there is no result; empty where there is one."""
        if self.result.rows is not None:
            return ""
        return ("" if self.result.kind == "schema" else "gold query fails: ") + _fault(self.result)

    @property
    def most(self) -> int:
        """Rows of the largest right answer."""
        return max(len(result.rows or ()) for result in (self.result, *self.alternatives))

    @property
    def size(self) -> int:
        """Bytes of the largest right answer, about."""
        return max(result.size for result in (self.result, *self.alternatives))

    def difference(self, answer: Result, task: Task) -> str | None:
        """None when the answer is right, else why not."""
        if self.failed:
            return self.failed
        if answer.columns != self.result.columns:
            return f"gold has {self.result.columns} columns, answer {answer.columns}"
        wrong = difference(answer.rows, self.result.rows, ordered=task.ordered, keys=task.keys)
        if wrong is None or any(self._fits(answer.rows, allowed.rows, task) for allowed in self.alternatives):
            return None
        return wrong

    def _fits(self, rows: list[list[Any]], allowed: Sequence[Sequence[Any]], task: Task) -> bool:
        if task.limit is None:
            return difference(rows, allowed, ordered=task.ordered, keys=task.keys) is None
        if part_of(rows, allowed, task.limit) is not None:
            return False
        if not (task.ordered and task.keys and len(rows) == len(self.result.rows)):
            return True
        keys = [[[row[k] for k in task.keys] for row in side] for side in (rows, self.result.rows)]
        return difference(*keys, ordered=True) is None


def volatile(*queries: Any) -> bool:
    """Whether any of the texts asks for now or for chance."""
    return any(VOLATILE.search(str(query)) for query in queries if query)


def golds_of(name: str, schema: str, task: Task) -> list[Gold]:
    """Results of the accepted queries on one instance; BrokenTask when none of them runs."""
    alternatives = tuple(_allowed(name, schema, alternative) for alternative in task.alternatives)
    golds = [Gold(_result(name, schema, query), alternatives) for query in task.golds]
    if all(gold.failed for gold in golds):
        raise BrokenTask(golds[0].failed)
    for gold in golds:
        if not gold.failed and any(not -gold.result.columns <= key < gold.result.columns for key in task.keys):
            raise BrokenTask(f"order_key_cols {list(task.keys)} do not fit {gold.result.columns} columns")
    return golds


def _allowed(name: str, schema: str, alternative: Any) -> Result:
    """A query's result, or rows that stand in the data set."""
    if not isinstance(alternative, str):
        return Result([list(row) for row in alternative], len(alternative[0]) if alternative else 0)
    result = _result(name, schema, alternative)
    if result.rows is None:
        raise BrokenTask(f"gold_alt fails: {_fault(result)}")
    return result


def _fault(result: Result) -> str:
    return f"schema fails: {result.fault}" if result.kind == "schema" else result.fault


def _result(name: str, schema: str, query: str) -> Result:
    key = (name, schema, query)
    if key not in _memory:
        result = engine(name).ask(schema, query, cpu_s=CPU_S)
        if result.rows is None or volatile(query):
            return result
        _memory[key] = result
        _forget_oldest()
    return _memory[key]


def _forget_oldest() -> None:
    """Keep the memory of gold results bounded; a large one alone is kept, since its row is being judged now."""
    while len(_memory) > MOST or (len(_memory) > 1 and sum(result.size for result in _memory.values()) > REMEMBERED):
        _memory.popitem(last=False)
