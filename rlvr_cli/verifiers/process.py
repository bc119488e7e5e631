"""Are the required steps written down, and is the arithmetic in them true?

``steps`` is a list (or its JSON text) of texts or formulas; a list within the list holds alternatives. A step is found by
its words or its formula, not by a model: "3 * 5 = 15" also as ``3×5=15``, ``15 = 3*5`` or in LaTeX. Every written equation
of numbers is checked, and a false one costs. Pays for the look of the work, so it is only used behind a correctness gate.

>>> judge("First 3*5 = 15, then 15 + 2 = 17.", {"steps": ["3*5=15", "15+2=17"]})
Verdict(score=1.0, reason='2 of 2 steps', extracted='3*5=15; 15+2=17')
>>> judge("First 3×5=16, then 16+2=18.", {"steps": ["3*5=15", "15+2=17"]}).reason
"0 of 2 steps; false: '3*5=16'"
"""

from __future__ import annotations

import json
import re
from typing import Any

from rlvr_cli.verifiers.arithmetic_text import equations, plain
from rlvr_cli.verifiers.verdict import Completion, Verdict, text_of

MAX_CHARS = 100_000  # longer texts are cut: no work is longer, and judging stays quick
THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
TOKEN = re.compile(r"\d+(?:\.\d+)?|[^\W\d_]+|\S")


def judge(completion: Completion, row: dict[str, Any], *, check_arithmetic: bool = True, cost: float = 0.25) -> Verdict:
    """Share of the steps that are present, minus ``cost`` for each false equation, never below 0."""
    steps = steps_of(row.get("steps"))
    if not steps:
        return Verdict(None, "the row has no readable steps")
    text = text_of(completion)[:MAX_CHARS]
    searched = normal(text)
    found = [step[0] for step in steps if any(present(form, searched) for form in step)]
    reason = f"{len(found)} of {len(steps)} steps"
    false = [equation.text for equation in equations(text) if not equation.true] if check_arithmetic else []
    if false:
        reason += f"; false: {', '.join(repr(text) for text in false[:3])}"
    return Verdict(max(0.0, len(found) / len(steps) - cost * len(false)), reason, "; ".join(found) or None)


def gold_completion(row: dict[str, Any]) -> str | None:
    """All steps, one a line."""
    steps = steps_of(row.get("steps"))
    return "\n".join(step[0] for step in steps) if steps else None


def steps_of(value: Any) -> list[list[str]]:
    """Steps as lists of alternatives; empty where nothing can be read.

    >>> steps_of('["a", ["b", "c"]]')
    [['a'], ['b', 'c']]
    """
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            value = [line for line in value.splitlines() if line.strip()]
    if not isinstance(value, (list, tuple)):
        return []
    steps = [[str(v) for v in step if str(v or "").strip()] if isinstance(step, (list, tuple)) else [str(step)] for step in value if step]
    return [step for step in steps if step and step[0].strip()]


def tokens_of(step: str) -> list[str]:
    """Numbers, words and signs of a step, lower case, in plain ASCII signs.

    >>> tokens_of("Area = 1,000 × r")
    ['area', '=', '1000', '*', 'r']
    """
    return TOKEN.findall(normal(step))


def normal(text: str) -> str:
    """Plain signs, lower case, no thousands separators."""
    return THOUSANDS.sub("", plain(text).lower())


def present(step: str, text: str) -> bool:
    """Is this step in the (normal) text, with any spacing and, if it is an equation, with either side first?

    Not as a piece of a longer number or word: ``3+5=8`` is not in ``13+5=80``.
    """
    tokens = tokens_of(step)
    forms = [tokens]
    if tokens.count("=") == 1:
        at = tokens.index("=")
        forms.append([*tokens[at + 1 :], "=", *tokens[:at]])
    return any(form and re.search(_pattern(form), text) is not None for form in forms)


def _pattern(tokens: list[str]) -> str:
    first, last = tokens[0], tokens[-1]
    before = r"(?<!\d)(?<!\d\.)" if first[0].isdigit() else "(?<![a-z])" if first[0].isascii() and first[0].isalpha() else ""
    after = r"(?!\d)(?!\.\d)" if last[-1].isdigit() else "(?![a-z])" if last[-1].isascii() and last[-1].isalpha() else ""
    return before + r"\s{0,4}".join(map(re.escape, tokens)) + after
