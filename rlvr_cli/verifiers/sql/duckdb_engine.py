"""DuckDB for hostile queries: in memory, external access off, settings locked, one SELECT in a read-only transaction.

All instances are attached to one DuckDB: a second one would read the machine's files anew, which a confined process cannot.

>>> db = Database("CREATE TABLE emp(name TEXT, pay DECIMAL(8, 2)); INSERT INTO emp VALUES ('Ann', 5000.50), ('Bob', NULL);")
>>> db.query("SELECT * FROM emp", 10, 1000, 1.0)
(2, [['Ann', 5000.5], ['Bob', None]])
"""

from __future__ import annotations

import contextlib
import datetime
import decimal
import functools
import itertools
import threading
import time
from typing import Any

import duckdb

from rlvr_cli.verifiers.sql.refused import Refused
from rlvr_cli.verifiers.sql.sqlite_engine import LONGEST_SQL

SETTINGS = {
    "threads": 1,
    "memory_limit": "256MB",
    "enable_external_access": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "temp_directory": "",
}
_numbers = itertools.count()


@functools.cache
def _root() -> duckdb.DuckDBPyConnection:
    root = duckdb.connect(":memory:", config=SETTINGS)
    root.execute("SET TimeZone = 'UTC'")
    root.execute("SET lock_configuration = true")
    return root


class Database:
    """One instance, built from its schema text."""

    # One value of each kind, so that what the package imports at first sight of it is imported before nothing can be.
    WARM_UP = (
        "SELECT 1, 1.5::DECIMAL(4, 1), 'a', 'a'::BLOB, NULL, true, 1e9, DATE '2020-01-01', TIMESTAMP '2020-01-01 10:00:00', "
        "TIMESTAMPTZ '2020-01-01 10:00:00', TIME '10:00:00', INTERVAL 1 DAY, uuid(), [1], {'a': 1}, MAP {'a': 1}, now(), current_date"
    )

    def __init__(self, schema_sql: str):
        self.name = f"task_{next(_numbers)}"
        _root().execute(f"ATTACH ':memory:' AS {self.name}")
        try:
            self._cursor().execute(schema_sql or "SELECT 1")
        except (duckdb.Error, ValueError) as error:
            self.close()
            raise Refused("schema", str(error)) from None

    def _cursor(self) -> duckdb.DuckDBPyConnection:
        cursor = _root().cursor()
        cursor.execute(f"USE {self.name}")
        return cursor

    def close(self) -> None:
        """Forget the instance."""
        with contextlib.suppress(duckdb.Error):
            _root().execute(f"DETACH {self.name}")

    def query(self, sql: str, most: int, most_bytes: int, cpu_s: float) -> tuple[int, list[list[Any]]]:
        """Number of columns and all rows of one read-only query; Refused beyond ``most`` rows, ``most_bytes`` or ``cpu_s``."""
        if len(sql) > LONGEST_SQL:
            raise Refused("refused", f"query of {len(sql)} characters is over the limit of {LONGEST_SQL}")
        cursor = self._cursor()
        done, late = threading.Event(), threading.Event()
        threading.Thread(target=_interrupt_after, args=(cpu_s, cursor, done, late), daemon=True).start()
        try:
            _check_read_only(cursor, sql)
            cursor.execute("BEGIN TRANSACTION READ ONLY")
            return _fetch(cursor.execute(sql), most, most_bytes)
        except (duckdb.Error, RuntimeError) as error:
            if late.is_set():
                raise Refused("cpu", f"stopped after {cpu_s:g} s of CPU time") from None
            kind = "memory" if isinstance(error, duckdb.OutOfMemoryException) else "sql"
            raise Refused(kind, str(error).partition("\n")[0]) from None
        finally:
            done.set()
            with contextlib.suppress(duckdb.Error):
                cursor.execute("ROLLBACK")
            cursor.close()


def _interrupt_after(cpu_s: float, cursor: duckdb.DuckDBPyConnection, done: threading.Event, late: threading.Event) -> None:
    """Interrupt a query by the CPU time it took, which on a busy machine is less than the time that passed."""
    stop = time.process_time() + cpu_s
    while not done.wait(max(0.01, stop - time.process_time())):
        if time.process_time() >= stop:
            late.set()
            cursor.interrupt()
            return


def _check_read_only(cursor: duckdb.DuckDBPyConnection, sql: str) -> None:
    statements = cursor.extract_statements(sql)
    if len(statements) != 1:
        raise Refused("refused", f"{len(statements)} statements, one query is asked")
    if statements[0].type.name != "SELECT":
        raise Refused("refused", f"{statements[0].type.name} is not a read-only query")


def _fetch(cursor: duckdb.DuckDBPyConnection, most: int, most_bytes: int) -> tuple[int, list[list[Any]]]:
    rows: list[list[Any]] = []
    while batch := cursor.fetchmany(256):
        for row in batch:
            if len(rows) == most:
                raise Refused("size", f"more than {most} rows")
            most_bytes -= sum(len(value) if isinstance(value, (str, bytes)) else 8 for value in row)
            if most_bytes < 0:
                raise Refused("size", "more text than the gold result could need")
            rows.append([_plain(value) for value in row])
    return len(cursor.description or ()), rows


def _plain(value: Any) -> Any:
    """JSON forms: numbers as numbers, text as text, everything else tagged with what it is."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return int(value) if isinstance(value, bool) else value
    if isinstance(value, decimal.Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, (bytes, bytearray)):
        return {"blob": bytes(value).hex()}
    if isinstance(value, datetime.datetime):
        return {"time": value.isoformat()}
    if isinstance(value, datetime.date):
        return {"time": value.isoformat() + "T00:00:00"}  # a day is its midnight
    if isinstance(value, dict):
        return {"list": [[_plain(k), _plain(v)] for k, v in value.items()]}
    if isinstance(value, (list, tuple)):
        return {"list": [_plain(item) for item in value]}
    return {type(value).__name__: str(value)}
