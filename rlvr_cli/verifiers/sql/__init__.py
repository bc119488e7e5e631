r"""SQL judged by what it returns: the query runs beside the gold one on the same data, and the results are compared.

Queries run in a confined process of their own (engine.py, engine_process.py); this side holds the gold results and the verdict.
The columns of a row, of which the first two are needed::

    {"schema_sql": "CREATE TABLE emp(name TEXT, pay REAL); INSERT INTO emp VALUES ('Ann', 5000), ('Bob', 4000);",
     "gold_sql": "SELECT name FROM emp WHERE pay > 4500",
     "schema_sql_2": "...",       # further instances with other data: a constant that is right on one is wrong on the other
     "order_matters": false,      # positions of the rows count
     "order_key_cols": [1],       # ... but only these output columns; rows that tie in them may swap
     "gold_alt": "SELECT ...",    # any `limit` of this query's rows are right as well
     "limit": 1}

>>> row = {"schema_sql": "CREATE TABLE t(x); INSERT INTO t VALUES (1), (2);", "gold_sql": "SELECT MAX(x) FROM t"}
>>> judge("```sql\nSELECT x FROM t ORDER BY x DESC LIMIT 1\n```", row).score
1.0
>>> judge("```sql\nSELECT MIN(x) FROM t\n```", row).reason
'gold row (2,) is missing, answer has (1,)'
>>> judge("SELECT 1", {**row, "gold_sql": "SELECT y FROM t"})
Verdict(score=None, reason='gold query fails: no such column: y', extracted=None)
"""

from __future__ import annotations

from typing import Any

from rlvr_cli.verifiers.sql.engine import EngineError, Result, check_engine, engine
from rlvr_cli.verifiers.sql.gold import BrokenTask, Gold, golds_of, volatile
from rlvr_cli.verifiers.sql.task import Task, task_of
from rlvr_cli.verifiers.sql.text import query_of
from rlvr_cli.verifiers.verdict import Completion, Verdict, text_of

__all__ = ["cacheable", "confinement", "describe", "gold_completion", "judge"]

CPU_S = 1.0  # seconds of CPU that a query may take, or GOLD_FACTOR times what the gold query took
GOLD_FACTOR = 5.0


def judge(completion: Completion, row: dict[str, Any], *, engine: str = "sqlite", cpu_s: float = CPU_S) -> Verdict:
    """1.0 when the completion's query gives the gold result on every instance, 0.0 when not, None when the task is broken.

    engine: "sqlite" or "duckdb" (needs the package). cpu_s: CPU seconds a query may take, at least.
    """
    query = None
    try:
        task = task_of(row)
        golds = [golds_of(engine, schema, task) for schema in task.schemas]
        query = query_of(text_of(completion))
        if query is None:
            return Verdict(0.0, "no SQL query found")
        return _verdict(query, task, golds, engine, cpu_s)
    except BrokenTask as error:
        return Verdict(None, str(error), query)
    except EngineError as error:
        return Verdict(None, f"could not judge: {error}", query)


def gold_completion(row: dict[str, Any]) -> str | None:
    """The gold query in a fence: of several accepted ones the first."""
    try:
        return f"```sql\n{task_of(row).golds[0]}\n```"
    except BrokenTask:
        return None


def cacheable(completion: Completion, row: dict[str, Any]) -> bool:
    """Whether the verdict will hold tomorrow: not for queries about now, nor for random ones."""
    return not volatile(text_of(completion), row.get("gold_sql"), row.get("gold_alt"))


def confinement(name: str = "sqlite") -> dict[str, list[str]]:
    """What confines the engine here: the layers that hold, and the attempts at leaving it that worked (none should)."""
    started = engine(name)
    started.ask("", "SELECT 1")
    return started.confinement


def describe(name: str = "sqlite") -> str:
    """One line for ``rlvr check``."""
    check_engine(name)
    found = confinement(name)
    leaks = f"; but it {', '.join(found['leaks'])}" if found["leaks"] else ""
    return f"SQL engine {name}: its own process ({', '.join(found['held'])}){leaks}"


def _verdict(query: str, task: Task, golds: list[list[Gold]], engine_name: str, cpu_s: float) -> Verdict:
    """Right when one accepted gold agrees on every instance."""
    open_golds = set(range(len(task.golds)))
    for number, (schema, known) in enumerate(zip(task.schemas, golds, strict=True)):
        answer = _run(query, schema, known, engine_name, cpu_s)
        where = f"instance {number + 1}: " if len(task.schemas) > 1 else ""
        if answer.rows is None:
            return Verdict(0.0, where + _fault(answer, known), query)
        faults = {i: known[i].difference(answer, task) for i in sorted(open_golds)}
        open_golds = {i for i, fault in faults.items() if fault is None}
        if not open_golds:
            return Verdict(0.0, where + str(next(iter(faults.values()))), query)
    instances = f" on {len(task.schemas)} instances" if len(task.schemas) > 1 else ""
    return Verdict(1.0, f"same {len(answer.rows)} rows{instances}", query)


def _run(query: str, schema: str, known: list[Gold], engine_name: str, cpu_s: float) -> Result:
    """Run the answer under limits that follow from the gold: a row or a megabyte more is wrong whatever it holds."""
    budget = max([cpu_s, *(GOLD_FACTOR * gold.result.cpu_s for gold in known)])
    rows = max(gold.most for gold in known) + 1
    size = 2**20 + 4 * max(gold.size for gold in known)
    return engine(engine_name).ask(schema, query, rows=rows, size=size, cpu_s=budget)


def _fault(answer: Result, known: list[Gold]) -> str:
    if answer.kind == "size":
        return f"{answer.fault}, gold has {max(gold.most for gold in known)}" if "rows" in answer.fault else answer.fault
    return {"sql": "SQL error: ", "refused": "not allowed: "}.get(answer.kind, "") + answer.fault
