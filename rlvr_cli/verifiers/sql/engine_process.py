"""The confined process that runs queries: ``python -m rlvr_cli.verifiers.sql.engine_process IN OUT NAME MEMORY``.

It holds in-memory databases and nothing else: no expected results, no verdict, no file, no socket. One question a frame::

    <- {"schema": "digest", "schema_sql": "CREATE ...", "sql": "SELECT ...", "rows": 8, "bytes": 1000000, "cpu_s": 1.0}
    -> {"rows": [["Ann", 5000.0], [null, {"blob": "00ff"}]], "columns": 2, "cpu_s": 0.0004}      or
    -> {"error": "sql", "detail": "no such column: nme"}

Errors by kind: ``schema``, ``sql``, ``refused`` (not a read-only query), ``cpu``, ``memory``, ``size`` (too many rows or bytes).
What does not stop at ``cpu_s`` by itself is ended by the kernel a little later, which the other end sees as SIGPROF.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import time
from collections import OrderedDict
from typing import Any

from rlvr_cli.verifiers import frames
from rlvr_cli.verifiers.sql.confine import confine
from rlvr_cli.verifiers.sql.refused import Refused

DATABASES = 16  # kept, the least recently used goes
GRACE_S = 0.5  # CPU seconds between the engine's own limit and the kernel's


def main() -> None:
    """Serve questions until the other end closes the pipe."""
    inp, out, name, memory = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
    opened = _opener(name)
    # Everything lazy must be loaded now: after confine nothing can be.
    for sql in (opened.WARM_UP, "SELECT nothing"):
        _answer(opened, {"schema": "", "schema_sql": "CREATE TABLE t(x INTEGER)", "sql": sql, "rows": 1, "bytes": 999, "cpu_s": 9})
    held = confine(memory, threads=name == "duckdb")
    frames.send(out, {"held": held, "leaks": leaks()})
    databases: OrderedDict[str, Any] = OrderedDict()
    with contextlib.suppress(frames.Closed):
        while True:  # one question at a time, until the pipe ends
            frames.send(out, _answer(opened, frames.receive(inp), databases))
    os._exit(0)


def leaks() -> list[str]:
    """Try what must not work and name what does: the confinement is proved, not assumed."""
    attempts = {
        "reads files": lambda: open("/etc/passwd").close(),
        "writes files": lambda: open(f"/tmp/rlvr_sql_{os.getpid()}", "w").close(),
        "opens sockets": lambda: socket.socket().close(),
        "starts processes": lambda: os.fork() or os._exit(0),
    }
    worked = []
    for what, attempt in attempts.items():
        with contextlib.suppress(OSError):
            attempt()
            worked.append(what)
    return worked


def _opener(name: str):
    if name == "duckdb":
        from rlvr_cli.verifiers.sql import duckdb_engine

        return duckdb_engine.Database
    from rlvr_cli.verifiers.sql import sqlite_engine

    return sqlite_engine.Database


def _answer(opened: Any, ask: dict[str, Any], databases: OrderedDict[str, Any] | None = None) -> dict[str, Any]:
    """Run one question under its limits. The kernel's timer counts CPU, so that a busy machine makes no difference."""
    databases = OrderedDict() if databases is None else databases
    try:
        signal.setitimer(signal.ITIMER_PROF, ask.get("schema_cpu_s", 30.0) + GRACE_S)
        database = _database(opened, ask, databases)
        signal.setitimer(signal.ITIMER_PROF, ask["cpu_s"] + GRACE_S)
        start = time.process_time()
        columns, rows = database.query(ask["sql"], ask["rows"], ask["bytes"], ask["cpu_s"])
        return {"rows": rows, "columns": columns, "cpu_s": time.process_time() - start}
    except Refused as error:
        return {"error": error.kind, "detail": str(error)[:300]}
    except MemoryError:
        databases.clear()
        return {"error": "memory", "detail": "out of memory"}
    except Exception as error:  # a text that the engine's own package cannot take, such as half a surrogate pair
        return {"error": "sql", "detail": f"{type(error).__name__}: {error}"[:300]}
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _database(opened: Any, ask: dict[str, Any], databases: OrderedDict[str, Any]) -> Any:
    digest = ask["schema"]
    if digest in databases:
        databases.move_to_end(digest)
        return databases[digest]
    if "schema_sql" not in ask:
        raise Refused("unknown", "schema not held")
    databases[digest] = opened(ask["schema_sql"])
    if len(databases) > DATABASES:
        databases.popitem(last=False)[1].close()
    return databases[digest]


if __name__ == "__main__":
    main()
