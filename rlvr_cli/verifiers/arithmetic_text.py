"""Equations of plain numbers in running text, evaluated exactly. A small parser over fractions: no ``eval``, no CAS.

Only what is surely a whole equation of numbers counts: ``x + 3 = 9`` or ``2^k = 8`` is left alone. A chain is checked link
by link, so ``3+5=8+2=10`` is false. A right side that is written with decimals may be rounded; ``≈`` claims nothing.

>>> [(e.text, e.true) for e in equations("So 3+5=9, but 10/4 = 2.5 and 10/3 = 3.33; x+3=9.")]
[('3+5=9', False), ('10/4=2.5', True), ('10/3=3.33', True)]
>>> [e.true for e in equations(r"\\frac{1}{2} + \\frac{1}{2} = 1 and 20% = 0.2 and 3+5=8+2=10")]
[True, True, False, True]
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

SIGNS = str.maketrans({"×": "*", "·": "*", "⋅": "*", "∗": "*", "÷": "/", "−": "-", "–": "-", "⁄": "/", "∕": "/"})
SUPERSCRIPT = re.compile("[\u2070\u00b9\u00b2\u00b3\u2074-\u207b]+")
SUBSCRIPT = re.compile("[\u2080-\u208b]+")
ANNOTATION = re.compile(r"<<[^<>]{0,200}>>")  # GSM8K's calculator marks: 3+5=<<3+5=8>>8
LATEX = [
    (re.compile(r"\\[dt]?frac\s*\{([^{}]{1,60})\}\s*\{([^{}]{1,60})\}"), r"((\1)/(\2))"),
    (re.compile(r"\\(?:times|cdot|ast)(?![a-zA-Z])"), "*"),
    (re.compile(r"\\div(?![a-zA-Z])"), "/"),
    (re.compile(r"\\(?:left|right|displaystyle|,|;|!|quad|qquad)(?![a-zA-Z])"), " "),
    (re.compile(r"\\([%$])"), r"\1"),
]
RUN = re.compile(r"[0-9.,+\-*/^()%$€£¥= \t]+")
TOKEN = re.compile(r"\s*(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+|\*\*|[+\-*/^()%])")
MAX_DIGITS, MAX_POWER, MAX_DEPTH, MAX_RUN = 40, 64, 40, 400
TIMES = re.compile(r"(?<=[\d%)])\s*[xX]\s*(?=[$€£¥]?\s*[(\d.])")  # 20 x 5, not 2x + 3
SENTENCE_END = re.compile(r"[.,](?=\s)")
REMAINDER = re.compile(r"\s*(?:r(?:em|est)?(?![a-z])|remainder|余)", re.IGNORECASE)
OPERATORS = "+-*/^"


@dataclass(frozen=True)
class Equation:
    """One link ``left = right``, as written, and whether it holds."""

    text: str
    true: bool


class Unreadable(Exception):
    """Not an expression of plain numbers, or one too large to be worth the time."""


def plain(text: str) -> str:
    """ASCII signs for the many ways to write an operator or a digit; LaTeX fractions as quotients."""
    text = SUPERSCRIPT.sub(lambda m: "^" + m.group(), SUBSCRIPT.sub(lambda m: "_" + m.group(), text))  # 2³ is not 23
    text = ANNOTATION.sub("", unicodedata.normalize("NFKC", text).translate(SIGNS))
    for pattern, replacement in LATEX:
        text = pattern.sub(replacement, text)
    return TIMES.sub("*", text.replace("**", "^"))


def equations(text: str) -> Iterator[Equation]:
    """Every link of every equation of plain numbers in ``text``."""
    clean = plain(text)
    for match in RUN.finditer(clean):
        before, after = clean[max(0, match.start() - 2) : match.start()], clean[match.end() : match.end() + 9]
        pieces = SENTENCE_END.split(match.group())  # "is 2. 3+5=8, 1+1=2": each by itself
        for i, piece in enumerate(pieces):
            if "=" in piece and len(piece) <= MAX_RUN:
                yield from _links(piece, before if i == 0 else "", after if i + 1 == len(pieces) else "")


def _links(run: str, before: str, after: str) -> Iterator[Equation]:
    """Links of one run of arithmetic signs; its outer sides must not go on in letters."""
    sides = run.split("=")
    for i, (left, right) in enumerate(itertools.pairwise(sides)):
        first, last = i == 0, i + 2 == len(sides)
        if first and _cut_before(left, before):
            continue
        if last and _cut_after(right, after):
            continue
        link = _link(left, right)
        if link is not None:
            yield link


def _cut_before(left: str, before: str) -> bool:
    """Does the left side go on before the run, as in ``x + 3 =``, ``2x-3=`` or ``5 books x 3 =``?"""
    stripped, last = left.lstrip(), before[-1:]
    glued = bool(last) and stripped == left and (last.isalnum() or last in "\\{}_|")
    times = last in ("x", "X") and not before[:-1].isalnum()
    starts_open = stripped[:1] in ("+", "*", "/", "^", ")") or re.match(r"-\s", stripped) is not None
    return glued or times or starts_open or not stripped


def _cut_after(right: str, after: str) -> bool:
    """Does the right side go on behind the run, as in ``= 3x`` or ``= 2\\sqrt{3}``?"""
    stripped = right.rstrip()
    glued = bool(after) and stripped == right and (after[0].isalnum() or after[0] in "\\{}_|")
    return glued or stripped[-1:] in tuple(OPERATORS) or after[:1] in ("\\", "√", "π") or REMAINDER.match(after) is not None


def _link(left: str, right: str) -> Equation | None:
    left, right = _tidy(left), _tidy(right)
    if not any(c in left + right for c in OPERATORS + "%"):
        return None  # "5 = 5" claims nothing
    try:
        true = _equal(evaluate(left), evaluate(right), left, right) or ("%" in left + right and _equal_as_units(left, right))
    except Unreadable:
        return None
    return Equation(f"{_shown(left)}={_shown(right)}", true)


def _equal_as_units(left: str, right: str) -> bool:
    """``45 + 21 = 66%``: the percent sign as the unit of the numbers."""
    left, right = left.replace("%", ""), right.replace("%", "")
    return _equal(evaluate(left), evaluate(right), left, right)


def _tidy(side: str) -> str:
    """Without currency signs and the full stop or comma of the sentence."""
    return re.sub(r"[$€£¥]", "", side).strip().rstrip(".,").strip()


def _shown(side: str) -> str:
    return "".join(side.split())


def _equal(a: Fraction, b: Fraction, left: str, right: str) -> bool:
    """Equal, or one side is a rounded decimal of the other."""
    if a == b:
        return True
    places = [len(m.group(1)) for m in (re.fullmatch(r"-?[\d,]*\.(\d+)", _shown(side)) for side in (left, right)) if m]
    return bool(places) and abs(a - b) * 10 ** max(places) <= Fraction(1, 1) / 2 + Fraction(1, 10**9)


def evaluate(text: str) -> Fraction:
    """The value of ``+ - * / ^ ( ) %`` over decimals. Raises Unreadable.

    >>> evaluate("2 + 3*(4 - 1)^2"), evaluate("-50% * 8")
    (Fraction(29, 1), Fraction(-4, 1))
    """
    tokens, at = [], 0
    while at < len(text):
        match = TOKEN.match(text, at)
        if match is None:
            if text[at:].isspace():
                break
            raise Unreadable(text)
        tokens.append(match.group(1))
        at = match.end()
    if not tokens or max(map(len, tokens)) > MAX_DIGITS:
        raise Unreadable(text)
    return _Parser(tokens).whole()


class _Parser:
    """Precedence climbing over a list of tokens."""

    def __init__(self, tokens: list[str]):
        self.tokens, self.at, self.depth = tokens, 0, 0

    def whole(self) -> Fraction:
        value = self.sum()
        if self.at != len(self.tokens):
            raise Unreadable
        return value

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self) -> str:
        token = self.peek()
        self.at += 1
        return token

    def sum(self) -> Fraction:
        value = self.product()
        while self.peek() in ("+", "-"):
            value = value + self.product() if self.take() == "+" else value - self.product()
        return value

    def product(self) -> Fraction:
        value = self.signed()
        while self.peek() in ("*", "/"):
            if self.take() == "*":
                value *= self.signed()
            else:
                divisor = self.signed()
                if divisor == 0:
                    raise Unreadable
                value /= divisor
        return value

    def signed(self) -> Fraction:
        if self.peek() in ("+", "-"):
            return -self.signed_deep() if self.take() == "-" else self.signed_deep()
        return self.power()

    def signed_deep(self) -> Fraction:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Unreadable
        return self.signed()

    def power(self) -> Fraction:
        base = self.atom()
        if self.peek() != "^":
            return base
        self.take()
        exponent = self.signed_deep()
        if exponent.denominator != 1 or abs(exponent) > MAX_POWER or (base == 0 and exponent < 0) or _digits(base) > MAX_DIGITS:
            raise Unreadable
        return base ** int(exponent)

    def atom(self) -> Fraction:
        token = self.take()
        if token == "(":
            self.depth += 1
            if self.depth > MAX_DEPTH:
                raise Unreadable
            value = self.sum()
            if self.take() != ")":
                raise Unreadable
        elif token and (token[0].isdigit() or token[0] == "."):
            value = Fraction(token.replace(",", ""))
        else:
            raise Unreadable
        while self.peek() == "%":
            self.take()
            value /= 100
        return value


def _digits(value: Fraction) -> int:
    return max(value.numerator.bit_length(), value.denominator.bit_length()) // 3
