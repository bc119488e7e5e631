"""Verdicts by content: the same judge, code, options, row and completion were judged before, here or in another process.

One SQLite file in the user's cache folder, in WAL mode, so that the ranks of a run and the runs of a day share it safely.
Only pooled verifiers come here: for a judge that takes microseconds a look-up would be the slower way. A verdict that could
not be given is never kept, and any trouble with the file (full disk, a network drive without locks) turns the cache off for
this process instead of disturbing a run. ``RLVR_VERDICT_CACHE=0`` turns it off, any other value names the file.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.util
import json
import os
import sqlite3
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rlvr_cli.verifiers.frames import plain
from rlvr_cli.verifiers.verdict import Completion, Verdict

LARGEST = 200_000  # verdicts kept; the oldest go first
LONGEST = 20_000  # characters of a verdict worth keeping
TRIM_EVERY = 2_000  # verdicts stored between two looks at the size

_lock = threading.Lock()
_state: dict[str, Any] = {"on": None, "connection": None, "pid": None, "hits": 0, "misses": 0, "stored": 0}


def key(judge_path: str, completion: Completion, row: dict[str, Any], options: dict[str, Any]) -> bytes | None:
    """What a verdict depends on, as 32 bytes; None when the cache is off or the row has no stable text."""
    if not _is_on():
        return None
    try:
        parts = [judge_path, code_version(judge_path), options, row, completion]
        text = json.dumps(parts, sort_keys=True, default=plain)
    except (TypeError, ValueError, RecursionError):
        return None
    return hashlib.sha256(text.encode("ascii")).digest()


@functools.lru_cache(maxsize=64)
def code_version(judge_path: str) -> str:
    """A digest of the judge's source, its package and the verifiers here: an edited judge judges anew."""
    digest = hashlib.sha256(sys.version.encode())
    for file in sorted(_sources(judge_path.partition(":")[0])):
        with contextlib.suppress(OSError):
            digest.update(file.read_bytes())
    return digest.hexdigest()


def _sources(module: str) -> set[Path]:
    files = set(Path(__file__).parent.rglob("*.py"))
    with contextlib.suppress(ImportError, ValueError, AttributeError):
        origin = getattr(importlib.util.find_spec(module), "origin", None)
        if origin and origin.endswith("__init__.py"):
            files.update(Path(origin).parent.rglob("*.py"))
        elif origin:
            files.add(Path(origin))
    return files


def lookup(keys: Sequence[bytes | None]) -> list[Verdict | None]:
    """The verdicts known, None for the others."""
    if not any(keys):
        return [None] * len(keys)
    with _lock:
        found = [_get(k) for k in keys]
        _state["hits"] += sum(v is not None for v in found)
        _state["misses"] += sum(v is None for v in found)
    return found


def store(verdicts: dict[bytes | None, Verdict]) -> None:
    """Keep verdicts, those with a score and a key, in one transaction."""
    lines = [(k, json.dumps([v.score, v.reason, v.extracted])) for k, v in verdicts.items() if k and v.score is not None]
    lines = [line for line in lines if len(line[1]) <= LONGEST]
    if not lines:
        return
    with _lock, _off_on_trouble():
        if (db := _connect()) is not None:
            with db:
                db.executemany("INSERT OR IGNORE INTO verdicts(key, verdict) VALUES (?, ?)", lines)
            _trim(db, len(lines))


def switch(on: bool) -> None:
    """Turn the cache off for this process, or leave it to ``RLVR_VERDICT_CACHE`` again."""
    with _lock:
        _close()
        _state["on"] = None if on else False


def stats() -> dict[str, float]:
    """Hits and misses of this process and their rate."""
    hits, misses = _state["hits"], _state["misses"]
    return {"cache_hits": hits, "cache_misses": misses, "cache_hit_rate": hits / max(1, hits + misses)}


def path() -> Path:
    """Where the verdicts lie."""
    named = os.environ.get("RLVR_VERDICT_CACHE", "")
    if named and named not in ("0", "1"):
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rlvr" / "verdicts.sqlite"


def _is_on() -> bool:
    if _state["on"] is None:
        _state["on"] = os.environ.get("RLVR_VERDICT_CACHE") != "0"
    return _state["on"]


def _get(k: bytes | None) -> Verdict | None:
    if k is None:
        return None
    with _off_on_trouble():
        db = _connect()
        line = db and db.execute("SELECT verdict FROM verdicts WHERE key = ?", (k,)).fetchone()
        return Verdict(*json.loads(line[0])) if line else None
    return None


@contextlib.contextmanager
def _off_on_trouble():
    """A busy file costs one look-up; a broken one turns the cache off here."""
    try:
        yield
    except (sqlite3.Error, OSError, ValueError, TypeError, RuntimeError) as error:
        if "locked" not in str(error):
            _close()
            _state["on"] = False


def _connect() -> sqlite3.Connection | None:
    """This process's connection: one made before a fork belongs to the parent."""
    if not _is_on():
        return None
    if _state["pid"] != os.getpid():
        file = path()
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        db = sqlite3.connect(file, timeout=1.0, check_same_thread=False)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("CREATE TABLE IF NOT EXISTS verdicts(id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, verdict TEXT NOT NULL)")
        _state.update(connection=db, pid=os.getpid())
    return _state["connection"]


def _close() -> None:
    if _state["connection"] is not None and _state["pid"] == os.getpid():
        _state["connection"].close()
    _state.update(connection=None, pid=None)


def _trim(db: sqlite3.Connection, added: int) -> None:
    _state["stored"] += added
    if _state["stored"] < min(TRIM_EVERY, LARGEST):
        return
    _state["stored"] = 0
    with db:
        db.execute("DELETE FROM verdicts WHERE id <= (SELECT MAX(id) FROM verdicts) - ?", (LARGEST,))


def _after_fork() -> None:
    """A lock that another thread held stays held for ever in the child; the parent's connection must not be closed by it."""
    global _lock
    _lock = threading.Lock()
    _inherited.append(_state["connection"])
    _state.update(connection=None, pid=None)


_inherited: list[Any] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
