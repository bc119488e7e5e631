"""SQL as text: the query in a completion, the statements of a script, the first word of a statement.

The convention: the last fenced block (```sql, ```sqlite, untagged; ~~~ too) that starts like SQL, after the thinking; without
such a block the first line that starts with SELECT, WITH or VALUES, up to its semicolon or the end.

>>> query_of("<think>maybe DROP</think>The names:\\n```sql\\nSELECT name FROM emp; -- all\\n```")
'SELECT name FROM emp; -- all'
>>> statements("SELECT ';'; -- a; b\\nSELECT 2;")
["SELECT ';'", '-- a; b\\nSELECT 2']
"""

from __future__ import annotations

import re
from collections.abc import Iterator

TAGS = frozenset({"", "sql", "sqlite", "sqlite3", "duckdb", "postgres", "postgresql", "pgsql", "psql", "mysql", "tsql", "mssql", "ansi"})
# fmt: off
STARTS = frozenset((
    "SELECT", "WITH", "VALUES", "INSERT", "UPDATE", "DELETE", "REPLACE", "CREATE", "DROP", "ALTER", "PRAGMA", "ATTACH",
    "DETACH", "REINDEX", "VACUUM", "ANALYZE", "EXPLAIN", "BEGIN", "COMMIT", "END", "ROLLBACK", "SAVEPOINT", "RELEASE",
    "FROM", "TRUNCATE", "MERGE", "COPY", "CALL", "SET", "SHOW", "DESCRIBE", "INSTALL", "LOAD", "EXPORT", "IMPORT",
))
# fmt: on
FENCE = re.compile(r"(?P<mark>`{3,})|^[ \t]*(?P<tilde>~{3,})", re.M)
# A token that may hide a semicolon: string, quoted name, comment; each may be left open at the end.
HIDES = re.compile(r"'(?:[^']|'')*(?:'|\Z)|\"(?:[^\"]|\"\")*(?:\"|\Z)|`[^`]*(?:`|\Z)|\[[^\]]*(?:\]|\Z)|--[^\n]*|/\*.*?(?:\*/|\Z)|;", re.S)
COMMENT = re.compile(r"(?:\s+|--[^\n]*(?:\n|\Z)|/\*.*?(?:\*/|\Z))*", re.S)
BARE = re.compile(r"^[ \t]*(?=(?:SELECT|WITH|VALUES)\b)", re.I | re.M)
SPECIAL = re.compile(r"<\|[a-z_]+\|>|</?s>", re.I)
LONGEST = 200_000  # characters of a completion that are looked at, from its end


def query_of(completion: str) -> str | None:
    """The query that a completion offers, or None."""
    text = _without_end_marks(_after_thinking(completion)[-LONGEST:])
    outside, blocks = _fences(text)
    for tag, body in reversed(blocks):
        if tag in TAGS and first_word(body) in STARTS:
            return body.strip()
    if found := BARE.search(outside):
        return _up_to_semicolon(outside[found.end() :]).strip()
    return None


def _after_thinking(text: str) -> str:
    """What follows the last </think>; thinking that never ended holds no answer. The inside of <answer> where there is one."""
    text = text.rpartition("</think>")[2]
    text = text.partition("<think>")[0]
    inside = text.rpartition("<answer>")[2]
    return inside.partition("</answer>")[0] if "<answer>" in text else text


def _without_end_marks(text: str) -> str:
    """Without the spaces and end-of-text tokens at its end, found from the end: a pattern tried at every space is quadratic."""
    end = len(text)
    while True:
        while end and text[end - 1].isspace():
            end -= 1
        start = text.rfind("<", max(0, end - 40), end)
        if start < 0 or not SPECIAL.fullmatch(text, start, end):
            return text[:end]
        end = start


def _fences(text: str) -> tuple[str, list[tuple[str, str]]]:
    """The text outside all fences, and (tag, body) of each; the last one may be unclosed."""
    outside, blocks, position = [], [], 0
    while opening := FENCE.search(text, position):
        mark = opening["mark"] or opening["tilde"]
        outside.append(text[position : opening.start()])
        closing = re.compile(f"{mark[0]}{{{len(mark)},}}").search(text, opening.end())
        end = closing.start() if closing else len(text)
        blocks.append(_block(text[opening.end() : end]))
        position = closing.end() if closing else len(text)
    outside.append(text[position:])
    return "".join(outside), blocks


def _block(inside: str) -> tuple[str, str]:
    """Tag and body. ```sql SELECT 1``` on one line is a block too."""
    head, newline, rest = inside.partition("\n")
    word, _, behind = head.strip().partition(" ")
    if word.upper() in STARTS or word.startswith(("--", "/*")):
        return "", inside
    return word.lower(), behind + newline + rest


def _up_to_semicolon(text: str) -> str:
    for token in HIDES.finditer(text):
        if token[0] == ";":
            return text[: token.end()]
    return text


def first_word(sql: str) -> str:
    """The first word of a statement in capitals, comments skipped; '' where there is none."""
    start = COMMENT.match(sql).end()
    word = re.compile(r"[A-Za-z]+").match(sql, start)
    return word[0].upper() if word else ""


def statements(script: str) -> list[str]:
    """The statements of a script, without their semicolons; pieces that are only comments are left out."""
    return [piece.strip() for piece in _pieces(script) if COMMENT.match(piece).end() < len(piece)]


def _pieces(script: str) -> Iterator[str]:
    start = 0
    for token in HIDES.finditer(script):
        if token[0] == ";":
            yield script[start : token.start()]
            start = token.end()
    yield script[start:]
