"""Expressions over given numbers: countdown, 24, the expression game. A small exact parser; nothing is evaluated as code."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

from rlvr_cli.verifiers.verdict import Verdict

LONGEST, DEEPEST = 400, 30
SIGNS = str.maketrans({"×": "*", "·": "*", "⋅": "*", "÷": "/", "−": "-", "–": "-", "[": "(", "]": ")"})
_TOKEN = re.compile(r"\s*(\d{1,12}|[-+*/()])")
_FRACTION = re.compile(r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}")
_SAYS_VALUE = re.compile(r"\s*(?:=|->|→|\b(?:is|equals|gives|makes|becomes)\b)\s*")
_EXPRESSION = re.compile(r"[\d\s+\-*/()]+")


class Malformed(ValueError):
    """The text is no expression of whole numbers."""


def judge_numbers(answer: str, state: dict[str, Any]) -> Verdict:
    """Each given number exactly once, the four operations, and the target as value."""
    wanted, target = sorted(int(n) for n in state["numbers"]), Fraction(state["target"])
    text = expression_of(answer, target)
    if text is None:
        return Verdict(0.0, "no expression found", answer[:200])
    try:
        value, used = evaluate(text)
    except Malformed as error:
        return Verdict(0.0, str(error), text)
    if sorted(used) != wanted:
        return Verdict(0.0, f"uses {', '.join(map(str, sorted(used)))}, not {', '.join(map(str, wanted))}", text)
    return Verdict(float(value == target), f"{text} = {value}" + ("" if value == target else f", not {target}"), text)


def judge_24(answer: str, state: dict[str, Any]) -> Verdict:
    """The four numbers of the row, and 24."""
    return judge_numbers(answer, {**state, "target": 24})


def expression_of(answer: str, target: Fraction) -> str | None:
    """The answer's expression: its last line that is one, without a trailing "= target" (another value is left in, and fails)."""
    for line in reversed([line.strip(" .$`*\t") for line in without_latex(answer).translate(SIGNS).splitlines() if line.strip()]):
        sides = [side.strip(" .$`*") for side in _SAYS_VALUE.split(line.rsplit(":", 1)[-1])]
        if len(sides) > 1 and str(target) in (sides[0], sides[-1]):
            sides.remove(str(target))
        body = "=".join(sides) if "=" in line else sides[-1]
        if _EXPRESSION.fullmatch(body) and any(c.isdigit() for c in body):
            return body
    return None


def without_latex(text: str) -> str:
    """Fractions, signs and braces of LaTeX as plain ones; an x between numbers, and a bracket behind one, multiply."""
    for _ in range(DEEPEST):
        text, more = _FRACTION.subn(r"((\1)/(\2))", text)
        if not more:
            break
    text = re.sub(r"\\(?:times|cdot|ast)\b", "*", text)
    text = re.sub(r"\\div\b", "/", text)
    text = re.sub(r"\\(?:left|right)\b|\\[()\[\],;! ]", "", text)
    return re.sub(r"(?<=[\d)])[ \t]?[xX][ \t]?(?=[\d(])|(?<=[\d)])[ \t]?(?=\()", "*", text)


def evaluate(text: str) -> tuple[Fraction, list[int]]:
    """(exact value, numbers used) of an expression. Raises Malformed."""
    if len(text) > LONGEST:
        raise Malformed(f"longer than {LONGEST} characters")
    tokens, end = [], 0
    for match in _TOKEN.finditer(text):
        if match.start() != end:
            break
        tokens.append(match[1])
        end = match.end()
    if text[end:].strip():
        raise Malformed(f"{text[end:].strip()[:20]!r} is not part of an expression")
    used: list[int] = []
    value, rest = _sum(tokens, 0, used, 0)
    if rest != len(tokens):
        raise Malformed(f"unexpected {tokens[rest]!r}")
    return value, used


def _sum(tokens: list[str], i: int, used: list[int], depth: int) -> tuple[Fraction, int]:
    value, i = _product(tokens, i, used, depth)
    while i < len(tokens) and tokens[i] in "+-":
        right, j = _product(tokens, i + 1, used, depth)
        value, i = (value + right if tokens[i] == "+" else value - right), j
    return value, i


def _product(tokens: list[str], i: int, used: list[int], depth: int) -> tuple[Fraction, int]:
    value, i = _atom(tokens, i, used, depth)
    while i < len(tokens) and tokens[i] in "*/":
        right, j = _atom(tokens, i + 1, used, depth)
        if tokens[i] == "/" and right == 0:
            raise Malformed("divides by zero")
        value, i = (value * right if tokens[i] == "*" else value / right), j
    return value, i


def _atom(tokens: list[str], i: int, used: list[int], depth: int) -> tuple[Fraction, int]:
    if i >= len(tokens) or depth > DEEPEST:
        raise Malformed("ends too early" if i >= len(tokens) else "nested too deeply")
    if tokens[i] == "(":
        value, j = _sum(tokens, i + 1, used, depth + 1)
        if j >= len(tokens) or tokens[j] != ")":
            raise Malformed("a bracket is not closed")
        return value, j + 1
    if tokens[i] == "-":
        value, j = _atom(tokens, i + 1, used, depth + 1)
        return -value, j
    if not tokens[i].isdigit():
        raise Malformed(f"unexpected {tokens[i]!r}")
    used.append(int(tokens[i]))
    return Fraction(used[-1]), i + 1
