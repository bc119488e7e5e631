"""A search over a local corpus: BM25 by SQLite's own full-text index, in memory, made once a process.

A corpus is a JSONL file (``text``, and ``title`` if there is one), a text file, or a folder of such files; texts are cut
into passages at blank lines. A query is taken as words, never as SQLite's query language::

    search("capital of france", corpus="notes.jsonl")  ->  "[1] France: Paris is the capital of France. ..."
"""

from __future__ import annotations

import functools
import json
import re
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

from rlvr_cli.errors import DataError

SUFFIXES = (".jsonl", ".txt", ".md")
PASSAGE_CHARS = 800
_lock = threading.Lock()


def search(query: str, *, corpus: str, k: int = 3, max_chars: int = 600) -> str:
    """Search the reference texts.

    Args:
        query: A few words to look for

    Returns:
        The best passages, numbered, best first.
    """
    found = passages(str(query), corpus, k)
    if not found:
        return "nothing found"
    room = max(20, max_chars // len(found))
    return "\n".join(f"[{i}] {text if len(text) <= room else text[:room] + '...'}" for i, text in enumerate(found, 1))


def passages(query: str, corpus: str, k: int) -> list[str]:
    """The ``k`` best passages by BM25 (Robertson and Zaragoza 2009), any of the query's words, best first."""
    words = list(dict.fromkeys(re.findall(r"\w+", query.casefold())))[:32]
    if not words:
        return []
    asked = " OR ".join(f'"{word}"' for word in words)
    path = Path(corpus).expanduser().resolve()
    with _lock:
        index = index_of(str(path), _stamp(path))
        rows = index.execute("SELECT title, body FROM passages WHERE passages MATCH ? ORDER BY rank, rowid LIMIT ?", (asked, k))
        return [f"{title}: {body}" if title else body for title, body in rows]


@functools.lru_cache(maxsize=4)
def index_of(corpus: str, stamp: float) -> sqlite3.Connection:
    """The index of a corpus; ``stamp`` makes a changed file a new one."""
    index = sqlite3.connect(":memory:", check_same_thread=False)
    index.execute("CREATE VIRTUAL TABLE passages USING fts5(title, body, tokenize = 'porter unicode61')")
    index.executemany("INSERT INTO passages VALUES (?, ?)", read(Path(corpus)))
    return index


def read(corpus: Path) -> Iterator[tuple[str, str]]:
    """(title, passage) of every text of a corpus, files in the order of their names."""
    for file in files(corpus):
        if file.suffix == ".jsonl":
            yield from _rows(file)
        else:
            yield from ((file.stem, passage) for passage in _cut(file.read_text(encoding="utf-8", errors="replace")))


def files(corpus: Path) -> list[Path]:
    """The files of a corpus. Raises DataError where there is none."""
    if corpus.is_file():
        return [corpus]
    found = sorted(p for p in corpus.rglob("*") if p.suffix in SUFFIXES and p.is_file()) if corpus.is_dir() else []
    if not found:
        what = f"{corpus} has no .jsonl, .txt or .md file" if corpus.is_dir() else f"there is no corpus {str(corpus)!r}"
        raise DataError(what, where="environment.tools.search.options.corpus", fix="environment.tools.search.options.corpus=FOLDER")
    return found


def _rows(file: Path) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            text = row["text"]
        except (ValueError, KeyError, TypeError) as error:
            where = "environment.tools.search.options.corpus"
            raise DataError(f"{file}:{number} is not a JSON object with a 'text'", where=where) from error
        yield from ((str(row.get("title") or ""), passage) for passage in _cut(str(text)))


def _cut(text: str) -> Iterator[str]:
    """Passages: paragraphs, long ones in pieces at white space."""
    for paragraph in re.split(r"\n\s*\n", text):
        words = " ".join(paragraph.split())
        while len(words) > PASSAGE_CHARS:
            end = words.rfind(" ", 1, PASSAGE_CHARS)
            end = end if end > 0 else PASSAGE_CHARS
            yield words[:end]
            words = words[end:].lstrip()
        if words:
            yield words


def _stamp(path: Path) -> float:
    return max(f.stat().st_mtime for f in files(path))


def check(where: str, *, corpus: str, **_: object) -> None:
    """The corpus is there and can be read."""
    path = Path(corpus).expanduser().resolve()
    if next(read(path), None) is None:
        raise DataError(f"the corpus {corpus!r} is empty", where=f"{where}.corpus")


search.check = check
