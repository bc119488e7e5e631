r"""Gold answers out of worked solutions: the functions that ``dataset.answer_transform`` names.

>>> after_hashes({"answer": "He has 3+4=<<3+4=7>>7.\n#### 1,234"})
'1,234'
>>> boxed({"solution": r"Thus $x = \boxed{\frac{1}{2}}$."})
'\\frac{1}{2}'
>>> letter_of_index({"answer": 2})
'C'
>>> thought_aloud({"solution": "He has 3+4=<<3+4=7>>7 pens.\n#### 7", "answer": "7"})
'<think>He has 3+4=7 pens.</think>\n<answer>7</answer>'
"""

from __future__ import annotations

import re
from typing import Any

Row = dict[str, Any]


def after_hashes(row: Row) -> str | None:
    """GSM8K: what stands after the last ``####`` of ``answer``."""
    _, mark, gold = str(row["answer"]).rpartition("####")
    return (gold.strip() or None) if mark else None


def boxed(row: Row) -> str | None:
    r"""MATH: the content of the last ``\boxed{...}`` (or ``\fbox``) of ``solution``, braces balanced."""
    return last_boxed(str(row["solution"]))


def last_boxed(text: str) -> str | None:
    r"""The content of the last ``\boxed{...}``; ``\boxed 5`` (one token, no braces) is read too; None where there is none."""
    start = max(text.rfind("\\boxed"), text.rfind("\\fbox"))
    if start < 0:
        return None
    rest = text[start + (6 if text.startswith("\\boxed", start) else 5) :]
    if not rest.lstrip().startswith("{"):
        return (rest.split("$")[0].split() or [None])[0] if rest.startswith(" ") else None
    rest, depth = rest.lstrip(), 0
    for place, char in enumerate(rest):
        if rest[place - 1 : place] == "\\":  # \{ and \} are text
            continue
        depth += (char == "{") - (char == "}")
        if depth == 0:
            return rest[1:place].strip() or None
    return None


def letter_of_index(row: Row) -> str | None:
    """MMLU: the option's letter where ``answer`` counts from 0; a letter stays what it is."""
    answer = row["answer"]
    if isinstance(answer, str) and not answer.strip().isdecimal():
        return answer.strip() or None
    return "ABCDEFGHIJ"[int(answer)]


def whole_number(row: Row) -> str:
    """SVAMP: ``145.0`` is written 145; a true fraction keeps its digits."""
    value = float(row.get("Answer", row.get("answer")))
    return str(int(value)) if value.is_integer() else repr(value)


def thought_aloud(row: Row) -> str | None:
    """A demonstration in the form ``<think>work</think><answer>gold</answer>`` (``stage.worked``) out of a set's worked solution.

    ``row``: ``solution`` (GSM8K's with its ``<<3+4=7>>`` and ``####``, or any text) and ``answer``. None where one is missing.
    """
    solution, gold = row.get("solution"), row.get("answer")
    if not solution or gold in (None, ""):
        return None
    work = re.sub(r"<<[^<>]*>>", "", str(solution).rpartition("####")[0] or str(solution)).strip()
    return f"<think>{work}</think>\n<answer>{gold}</answer>"
