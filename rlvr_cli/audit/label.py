"""``rlvr reward label``: a person labels a hundred completions in the terminal; what comes out is what ``reward test`` takes.

One key a row, each label on the disk before the next row is shown, so it can be left and taken up again. Rows are drawn
half from what the reward accepted and half from what it refused, where the file holds scores (a run's samples.jsonl
does): agreement on easy rows tells little.

>>> rows = [{"completion": str(i), "scores": {"c": float(i < 2)}} for i in range(10)]
>>> sorted(row["scores"]["c"] for row in draw(rows, 4, seed=0))
[0.0, 0.0, 1.0, 1.0]
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TextIO

from rlvr_cli.verifiers.verdict import text_of

KEYS = {
    "r": "right",
    "1": "right",
    "y": "right",
    "w": "wrong",
    "0": "wrong",
    "n": "wrong",
    "b": "broken",
    "s": "skip",
    "u": "undo",
    "q": "quit",
}
EXPECT = {"right": 1.0, "wrong": 0.0, "broken": None}
HELP = "[r]ight  [w]rong  [b]roken task  [s]kip  [u]ndo  [q]uit"
SHOWN_CHARS = 2000


def row_id(row: dict[str, Any]) -> str:
    """The same row has the same id in every session: prompt, completion and gold decide."""
    parts = [row.get("prompt"), row.get("completion"), row.get("answer", row.get("gold"))]
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:16]


def accepted(row: dict[str, Any]) -> bool | None:
    """Did the reward accept the row, as far as the file says?"""
    scores = row.get("scores")
    if not isinstance(scores, dict) or not scores:
        return None
    first = scores.get("correct", next(iter(scores.values())))
    return first is not None and first >= 1.0 - 1e-9


def draw(rows: Sequence[dict[str, Any]], n: int, *, seed: int) -> list[dict[str, Any]]:
    """``n`` rows, half accepted and half refused where the file tells, in an order that gives nothing away."""
    rng = random.Random(seed)
    order = rng.sample(list(rows), len(rows))
    pools = [[row for row in order if accepted(row) is said] for said in (True, False)]
    chosen: list[dict[str, Any]] = []
    while any(pools) and len(chosen) < n:
        chosen += [pool.pop() for pool in pools if pool]
    chosen += [row for row in order if accepted(row) is None]
    return rng.sample(chosen[:n], min(n, len(chosen)))


def done_ids(path: Path) -> set[str]:
    """Ids of the rows that ``path`` holds already."""
    if not path.exists():
        return set()
    return {json.loads(line)["id"] for line in path.read_text(encoding="utf-8").splitlines() if line.strip()}


def page(row: dict[str, Any], number: int, total: int) -> str:
    """One row for the eye: the question, the end of the completion, the gold; not the reward's own verdict."""
    prompt, text = row.get("prompt") or row.get("question"), text_of(row["completion"])
    if not isinstance(prompt, str):
        prompt = "\n".join(str(m.get("content")) for m in prompt or () if isinstance(m, dict))
    cut = text if len(text) <= SHOWN_CHARS else f"[... {len(text) - SHOWN_CHARS} characters]\n{text[-SHOWN_CHARS:]}"
    gold = row.get("answer", row.get("gold"))
    parts = [f"--- {number} of {total} " + "-" * 50, prompt, "--- completion", cut]
    return "\n".join([*(p for p in parts if p), f"--- gold: {gold}" if gold is not None else "--- no gold in this row", HELP])


def keys() -> Iterator[str]:
    """Keys as they are pressed on a terminal, else the first letter of each line of standard input."""
    if not sys.stdin.isatty():
        for line in sys.stdin:
            yield line.strip()[:1].lower()
        return
    import termios
    import tty

    fd = sys.stdin.fileno()
    while True:
        saved = termios.tcgetattr(fd)
        try:
            tty.setcbreak(fd)
            key = os.read(fd, 1).decode(errors="replace").lower()
        finally:
            termios.tcsetattr(fd, termios.TCSADRAIN, saved)
        yield key


def label_rows(rows: Sequence[dict[str, Any]], out: Path, *, pressed: Iterator[str], show: Callable[[str], Any] = print) -> dict[str, int]:
    """Ask for each row that ``out`` lacks; append its label at once. Returns the counts of this session."""
    known = done_ids(out)
    todo = [row for row in rows if row_id(row) not in known]
    counts = {"right": 0, "wrong": 0, "broken": 0, "skip": 0, "before": len(rows) - len(todo)}
    made: list[tuple[int, str]] = []
    at = 0
    with open(out, "a+", encoding="utf-8") as file:
        while at < len(todo):
            show(page(todo[at], at + 1, len(todo)))
            word = _next_word(pressed, show)
            if word == "quit":
                break
            if word == "undo":
                at = _undo(file, made, counts, at, show)
                continue
            made.append((_append(file, todo[at], word), word))
            counts[word] += 1
            at += 1
    return counts


def _next_word(pressed: Iterator[str], show: Callable[[str], Any]) -> str:
    for key in pressed:
        if key in KEYS:
            return KEYS[key]
        show(HELP)
    return "quit"  # standard input ended


def _append(file: TextIO, row: dict[str, Any], word: str) -> int:
    """Write the label; returns where it starts in the file. A skipped row writes nothing and comes again next time."""
    file.seek(0, os.SEEK_END)
    start = file.tell()
    if word != "skip":
        labelled = {"id": row_id(row), **{k: v for k, v in row.items() if k not in ("scores", "reasons", "extracted", "total", "id")}}
        file.write(json.dumps({**labelled, "expect": EXPECT[word]}, ensure_ascii=False) + "\n")
        file.flush()
    return start


def _undo(file: TextIO, made: list[tuple[int, str]], counts: dict[str, int], at: int, show: Callable[[str], Any]) -> int:
    if not made:
        show("nothing to undo in this session")
        return at
    start, word = made.pop()
    file.truncate(start)
    counts[word] -= 1
    return at - 1
