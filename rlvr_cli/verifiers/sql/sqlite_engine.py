"""SQLite for hostile queries: an in-memory database that can only be read, by one statement, within limits.

>>> db = Database("CREATE TABLE emp(name TEXT, pay REAL); INSERT INTO emp VALUES ('Ann', 5000), ('Bob', NULL);")
>>> db.query("SELECT * FROM emp", 10, 1000, 1.0)
(2, [['Ann', 5000.0], ['Bob', None]])
>>> db.query("DELETE FROM emp RETURNING name", 10, 1000, 1.0)
Traceback (most recent call last):
rlvr_cli.verifiers.sql.refused.Refused: only SELECT, WITH and VALUES are read-only queries
"""

from __future__ import annotations

import contextlib
import sqlite3
import time
from typing import Any

from rlvr_cli.verifiers.sql.refused import Refused
from rlvr_cli.verifiers.sql.text import first_word

READ_ONLY = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE})
SIDE_DOORS = frozenset({"load_extension", "fts3_tokenizer", "readfile", "writefile", "edit", "lsmode", "zipfile", "sqlar_uncompress"})
INTERNALS = frozenset({"sqlite_stmt", "dbstat", "sqlite_dbpage", "sqlite_dbdata", "bytecode", "tables_used", "completion", "fsdir"})
TABLE_FUNCTIONS = ("json_each", "json_tree")
LARGEST_VALUE = 2_000_000  # bytes of one text or blob
LONGEST_SQL = 100_000
HEAP = 256 * 2**20
# sqlite3.SQLITE_LIMIT_*: Connection.setlimit came with Python 3.11; before, the process limits alone hold.
LIMITS = {"LENGTH": LARGEST_VALUE, "SQL_LENGTH": LONGEST_SQL, "ATTACHED": 0, "VDBE_OP": 1_000_000, "LIKE_PATTERN_LENGTH": 5_000}


class Database:
    """One instance, built from its schema text."""

    WARM_UP = "SELECT 1, 'a', x'00', NULL, 1.5, date('now')"

    def __init__(self, schema_sql: str):
        self.connection = sqlite3.connect(":memory:", isolation_level=None, cached_statements=0)
        try:
            self.connection.execute("PRAGMA temp_store = MEMORY")
            self.connection.execute(f"PRAGMA hard_heap_limit = {HEAP}")
            self.connection.set_authorizer(_may_build)
            self.connection.executescript(schema_sql)
            self.connection.set_authorizer(lambda *_: sqlite3.SQLITE_OK)
            for function in TABLE_FUNCTIONS:  # made at first use, which a reader's rights do not cover
                with contextlib.suppress(sqlite3.Error):
                    self.connection.execute(f"SELECT * FROM {function}('[]')").fetchall()
            self.connection.execute("PRAGMA query_only = ON")
        except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
            raise Refused("schema", str(error)) from None
        self.connection.text_factory = _text
        if hasattr(self.connection, "setlimit"):
            for name, value in LIMITS.items():
                self.connection.setlimit(getattr(sqlite3, f"SQLITE_LIMIT_{name}"), value)
        self.connection.set_authorizer(_may_read)

    def close(self) -> None:
        """Forget the instance."""
        self.connection.close()

    def query(self, sql: str, most: int, most_bytes: int, cpu_s: float) -> tuple[int, list[list[Any]]]:
        """Number of columns and all rows of one read-only query; Refused beyond ``most`` rows, ``most_bytes`` or ``cpu_s``."""
        if len(sql) > LONGEST_SQL:
            raise Refused("refused", f"query of {len(sql)} characters is over the limit of {LONGEST_SQL}")
        if first_word(sql) not in ("SELECT", "WITH", "VALUES"):
            raise Refused("refused", "only SELECT, WITH and VALUES are read-only queries")
        stop = time.process_time() + cpu_s
        self.connection.set_progress_handler(lambda: time.process_time() > stop, 2000)
        try:
            return self._fetch(sql, most, most_bytes)
        except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError) as error:
            raise _refusal(error, time.process_time() > stop, cpu_s) from None
        finally:
            self.connection.set_progress_handler(None, 0)

    def _fetch(self, sql: str, most: int, most_bytes: int) -> tuple[int, list[list[Any]]]:
        cursor = self.connection.execute(sql)
        try:
            rows: list[list[Any]] = []
            for row in cursor:
                if len(rows) == most:
                    raise Refused("size", f"more than {most} rows")
                most_bytes -= sum(len(value) if isinstance(value, (str, bytes)) else 8 for value in row)
                if most_bytes < 0:
                    raise Refused("size", "more text than the gold result could need")
                rows.append([{"blob": value.hex()} if isinstance(value, bytes) else value for value in row])
            return len(cursor.description or ()), rows
        finally:
            cursor.close()


def _may_build(action: int, *names: str | None) -> int:
    """A schema may do what it likes with its own database, and reach for no other."""
    if action in (sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH):
        return sqlite3.SQLITE_DENY
    if action == sqlite3.SQLITE_FUNCTION and str(names[1]).lower() in SIDE_DOORS:
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK


def _may_read(action: int, *names: str | None) -> int:
    """A query may read tables and call functions, of which none leads outside."""
    if action not in READ_ONLY:  # full-text tables ask for data_version themselves
        return sqlite3.SQLITE_OK if action == sqlite3.SQLITE_PRAGMA and names[0] == "data_version" else sqlite3.SQLITE_DENY
    if action == sqlite3.SQLITE_FUNCTION and str(names[1]).lower() in SIDE_DOORS:
        return sqlite3.SQLITE_DENY
    if action == sqlite3.SQLITE_READ and str(names[0]).lower() in INTERNALS:
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK


def _refusal(error: Exception, late: bool, cpu_s: float) -> Refused:
    text = str(error)
    if "interrupted" in text and late:
        return Refused("cpu", f"stopped after {cpu_s:g} s of CPU time")
    if "out of memory" in text:
        return Refused("memory", text)
    if "not authorized" in text or "prohibited" in text:
        return Refused("refused", text)
    return Refused("sql", text)


def _text(raw: bytes) -> str:
    """Text as it is stored; bytes that are no UTF-8 stay distinct instead of failing the row."""
    return raw.decode("utf-8", "surrogateescape")
