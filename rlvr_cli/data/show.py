"""A readable page of rows: what is asked, the gold, the difficulty, the length, and what the whole set looks like.

>>> rows = [{"prompt": "1+1=?", "answer": "2", "difficulty": 1}, {"prompt": "17+25=?", "answer": "42", "difficulty": 2}]
>>> print("\\n".join(summary(rows, column="prompt", answer="answer", count=len, unit="characters")))
2 rows; columns: prompt, answer, difficulty
question: 5 to 7 characters, median 6
answer: 1 to 2 characters, median 1.5
difficulty: 1: 1, 2: 1
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from rlvr_cli.data.files import text_in
from rlvr_cli.errors import DataError

Row = dict[str, Any]
SHORT = 300  # characters of a column shown
LEVELS = 12  # different difficulties listed before they are put into bins


def summary(rows: Sequence[Row], *, column: str, answer: str | None, count: Callable[[str], int], unit: str) -> list[str]:
    """What the set looks like: columns, lengths, empty golds, difficulty, kinds."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    lines = [f"{len(rows)} rows; columns: {', '.join(names)}"]
    for label, name in (("question", column), ("answer", answer)):
        if name in names:
            sizes = [count(text_in(row.get(name))) for row in rows if row.get(name) is not None]
            empty = len(rows) - len(sizes)
            span = f"{min(sizes)} to {max(sizes)} {unit}, median {statistics.median(sizes):g}" if sizes else "none"
            lines.append(f"{label}: {span}" + (f"; {empty} rows have none" if empty else ""))
    for name in ("difficulty", "pass_rate", "kind", "language"):
        if name in names:
            lines.append(f"{name}: {spread([row.get(name) for row in rows])}")
    return lines


def spread(values: Sequence[Any]) -> str:
    """How often each value stands there; many different numbers are put into ten bins.

    >>> spread([1, 2, 2]), spread(["a", None])
    ('1: 1, 2: 2', 'a: 1, none: 1')
    """
    known = [v for v in values if v is not None]
    if len(set(map(str, known))) > LEVELS and all(isinstance(v, (int, float)) for v in known):
        low, high = min(known), max(known)
        width = (high - low) / 10
        bins = Counter(min(int((v - low) / width), 9) for v in known)
        parts = [f"{low + i * width:g} to {low + (i + 1) * width:g}: {bins[i]}" for i in range(10) if bins[i]]
    else:
        counts = Counter(known if all(isinstance(v, (int, float)) for v in known) else map(str, known))
        ordered = sorted(counts) if len(counts) <= LEVELS else [value for value, _ in counts.most_common(LEVELS)]
        parts = [f"{value}: {counts[value]}" for value in ordered]
    missing = len(values) - len(known)
    return ", ".join([*parts, *([f"none: {missing}"] if missing else [])])


def page(row: Row, number: int, *, column: str, count: Callable[[str], int], unit: str) -> tuple[str, list[tuple[str, str]]]:
    """A row as a title and (column, text) pairs, the question first and in full, long columns cut."""
    question = text_in(row.get(column))
    name = f", {row['row_id']}" if "row_id" in row else ""
    title = f"row {number}{name}: {count(question)} {unit}"
    fields = [(column, question)]
    for name, value in row.items():
        if name not in (column, "row_id") and value is not None:
            text = value if isinstance(value, str) else text_in(value)
            fields.append((name, text if len(text) <= SHORT else f"{text[:SHORT]} ... ({len(text)} characters)"))
    return title, fields


def token_counter(path: str) -> Callable[[str], int]:
    """Tokens of a text by the tokenizer in a folder or of a hub id."""
    try:
        from transformers import AutoTokenizer

        tokenizer = AutoTokenizer.from_pretrained(path)
    except ImportError as error:
        raise DataError("counting tokens needs transformers", where="tokenizer", fix="pip install 'rlvr[train]'") from error
    except (OSError, ValueError) as error:
        raise DataError(f"no tokenizer in {path!r}: {str(error).splitlines()[0]}", where="tokenizer", fix="tokenizer=FOLDER") from error
    return lambda text: len(tokenizer(text, add_special_tokens=False)["input_ids"])
