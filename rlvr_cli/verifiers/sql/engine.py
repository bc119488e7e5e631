"""Our end of the process that runs queries: start it, ask it, kill it, and say whose fault a failure was.

An engine serves one question at a time and is shared by the threads of this process. It is replaced after a number of
queries, when it dies, and after a fork. It needs no signal to die with us: its pipe ends, and what it runs is limited in CPU time.

>>> engine = Engine("sqlite")
>>> engine.ask("CREATE TABLE t(x); INSERT INTO t VALUES (1), (NULL);", "SELECT x FROM t").rows
[[1], [None]]
>>> engine.ask("CREATE TABLE t(x);", "SELECT y FROM t").fault
'no such column: y'
>>> engine.close()
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import signal
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rlvr_cli.errors import MissingDependency, RewardError
from rlvr_cli.verifiers import frames
from rlvr_cli.verifiers.child import Child

RECYCLE_AFTER = 1000  # queries of one process
START_S = 60.0
MEMORY = {"sqlite": 1 * 2**30, "duckdb": 4 * 2**30}  # bytes of address space; DuckDB reserves far more than it uses
LARGEST_GOLD_ROWS = 200_000
LARGEST_GOLD_BYTES = 64 * 2**20
OWN_FAULT = frozenset({signal.SIGPROF, signal.SIGXCPU})  # the kernel's CPU limit
CRASHES = frozenset({signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGSYS})


class EngineError(Exception):
    """The machinery failed, not the query."""


@dataclass
class Result:
    """What a query gave: rows, or its fault in words; ``kind`` as in engine_process."""

    rows: list[list[Any]] | None
    columns: int = 0
    cpu_s: float = 0.0
    kind: str = ""
    fault: str = ""

    @functools.cached_property
    def size(self) -> int:
        """Bytes of the rows, about."""
        return size_of(self.rows or ())


def size_of(rows: Sequence[Sequence[Any]]) -> int:
    """Bytes of the values of rows, about."""
    return sum(8 if value is None or isinstance(value, (int, float)) else len(str(value)) for row in rows for value in row)


class Engine:
    """The process, started at the first question."""

    def __init__(self, name: str):
        self.name = name
        self.lock = threading.Lock()
        self.child: Child | None = None
        self.confinement: dict[str, list[str]] = {}

    def ask(
        self, schema_sql: str, sql: str, *, rows: int = LARGEST_GOLD_ROWS, size: int = LARGEST_GOLD_BYTES, cpu_s: float = 5.0
    ) -> Result:
        """Run one query on a fresh or known instance. A crash is tried once more on a new process; EngineError after that."""
        ask = {"schema": hashlib.sha256(schema_sql.encode("utf-8", "surrogatepass")).hexdigest(), "sql": sql}
        ask.update(rows=rows, bytes=size, cpu_s=cpu_s)
        with self.lock:
            for attempt in (1, 2):
                try:
                    return self._ask(ask, schema_sql)
                except (frames.Closed, OSError) as error:
                    status = self._ended()
                    self.close()
                    if status in OWN_FAULT:
                        return Result(None, kind="cpu", fault=f"stopped after {cpu_s:g} s of CPU time")
                    if attempt == 2 and status in CRASHES:
                        return Result(None, kind="crash", fault=f"crashed the engine twice ({signal.Signals(status).name})")
                    why = signal.Signals(status).name if status > 0 else str(error)
                except frames.Late:
                    self.close()
                    raise EngineError("the machine was too busy to run the query in time") from None
        raise EngineError(f"the engine process died twice ({why})")

    def _ask(self, ask: dict[str, Any], schema_sql: str) -> Result:
        if self.child is not None and self.queries >= RECYCLE_AFTER:
            self.close()
        if self.child is None:
            self._start()
        self.queries += 1
        until = time.monotonic() + 60.0 + 20 * ask["cpu_s"]  # a backstop far behind the CPU limit
        known = ask["schema"] in self.schemas
        reply = self._exchange(ask if known else {**ask, "schema_sql": schema_sql}, until)
        if reply.get("error") == "unknown":  # it has forgotten
            reply = self._exchange({**ask, "schema_sql": schema_sql}, until)
        if reply.get("error") != "schema":
            self.schemas.add(ask["schema"])
        if "rows" in reply:
            return Result(reply["rows"], int(reply["columns"]), float(reply["cpu_s"]))
        return Result(None, kind=str(reply["error"]), fault=str(reply["detail"]))

    def _exchange(self, message: dict[str, Any], until: float) -> dict[str, Any]:
        self.child.send(message, until)
        reply = self.child.receive(until)
        if not isinstance(reply, dict) or not ({"rows", "columns", "cpu_s"} <= reply.keys() or {"error", "detail"} <= reply.keys()):
            raise frames.Closed("reply of an unknown shape")
        return reply

    def _start(self) -> None:
        self.queries, self.schemas = 0, set()
        self.child = Child("rlvr_cli.verifiers.sql.engine_process", self.name, MEMORY[self.name], own_session=False)
        self.confinement = self.child.receive(time.monotonic() + START_S)

    def _ended(self) -> int:
        """The signal that ended the process, 0 for anything else."""
        return max(0, -((self.child and self.child.ended(2)) or 0))

    def close(self) -> None:
        """Kill and reap the process; the next question starts another."""
        child, self.child = self.child, None
        if child is not None:
            child.close()


@functools.lru_cache(maxsize=8)
def _engine_of(name: str, pid: int) -> Engine:
    return Engine(name)


def check_engine(name: str) -> None:
    """Raise what a person can mend: an unknown engine, or a package that is not installed."""
    if name not in MEMORY:
        raise RewardError(f"engine {name!r} is none of {sorted(MEMORY)}", where="options.engine", fix="engine=sqlite")
    if name == "duckdb" and importlib.util.find_spec("duckdb") is None:
        raise MissingDependency("engine duckdb needs the duckdb package", fix="pip install 'rlvr[duckdb]'")


def engine(name: str) -> Engine:
    """This process's engine of that name (a fork gets its own)."""
    return _engine_of(name, os.getpid())
