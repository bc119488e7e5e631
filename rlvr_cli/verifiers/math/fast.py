"""Plain numbers, read without a parser: integers, thousands, decimals, fractions, mixed numbers, percentages, scientific, with a unit.

Nine rows in ten of the common sets end here, so this file knows no mathematics beyond one regular expression.

>>> read("$1,250.50")
Number(value=Fraction(2501, 2), percent=False, decimals=2, unit='$')
>>> read("2 \\\\frac{1}{3}").value
Fraction(7, 3)
>>> read("x + 1") is None
True
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from .unicode import mathematical

MAX_DIGITS = 20_000
"""Longest number that is read by value; longer ones are compared as text."""


@dataclass(frozen=True)
class Number:
    """An exact value, and how it was written: percent sign, digits after the point (None: no point), unit ('' for none)."""

    value: Fraction
    percent: bool = False
    decimals: int | None = None
    unit: str = ""


_UNIT = (
    r"(?:\\text|\\mathrm|\\textrm|\\mbox|\\textnormal|\\operatorname)?\s*\{?\s*(?P<unit>(?:square |cubic |sq\.? |cu\.?"
    r" )?[A-Za-z\u00c0-\uffff][A-Za-z.\u00c0-\uffff]*"
    r"(?:(?:\s|\s*/\s*|-)[A-Za-z\u00c0-\uffff][A-Za-z.\u00c0-\uffff]*){0,5}\s*)\}?\s*(?P<power>\^\s*\{?[23]\}?)?"
)
_CURRENCY = r"(?P<money>(?:US\s?)?\\?\$|€|£|¥|₹|₽|₩|USD|EUR|Rs\.?)"
_FRACTION = r"\\[dtc]?frac\s*(?:\{\s*(?P<top>-?\d+)\s*\}|(?P<top1>\d))\s*(?:\{\s*(?P<low>-?\d+)\s*\}|(?P<low1>\d))"
_PLAIN = re.compile(
    rf"(?P<sign>[-+]?)\s*(?:{_CURRENCY}\s*)?(?P<sign2>-?)\s*(?:"
    rf"(?:(?P<whole>\d+)\s*)?{_FRACTION}"
    r"|(?P<mixed>\d+)(?:\s+|(?P<hyphen>-))(?P<mtop>\d+)\s*/\s*(?P<mlow>\d+)"
    r"|(?P<ntop>[1-9]\d{0,2}(?:,\d{3})+|\d+)\s*/\s*(?P<nlow>\d{1,3}(?:,\d{3})+|\d+)"
    r"|(?P<int>[1-9]\d{0,2}(?:(?:,|\{,\}|,?\s*\\[,!;]\s?|\s|\\ |~)\d{3})+|\d+)?(?:\.(?P<dec>\d*))?(?:[eE](?P<exp>[-+]?\d{1,4})"
    r"|\s*(?:\\times|\\cdot|\*|×|x)\s*10\s*\^\s*(?:\{\s*(?P<pow>[-+]?\d{1,4})\s*\}|(?P<pow1>[-+]?\d{1,4})|\((?P<pow2>[-+]?\d{1,4})\)))?"
    r")\s*(?:\\[,;! ]|~)*\s*(?P<pct>\\?%|percent(?:age)?\b|pct\b|per cent\b)?(?:\s*" + _UNIT + r")?\s*",
    re.I,
)
_NO_UNIT = re.compile(
    r"\b(?:or|and|not|to|is|are|no|wrong|incorrect|than|pm|am|millions?|billion|billions|trillion|tens|thousands?|hundreds?|dozens?|万|亿|half|pi|sqrt|mod"
    r"|base|if|th|st|nd|rd|less|more|fewer|squared|cubed|factorial|at|times|minus|plus)\b",
    re.I,
)
_ONE_LETTER = re.compile(r"[A-Za-z]$")


def integer(digits: str) -> int:
    """``int`` without the interpreter's 4,300-digit stop; linear enough for the digits that are let through."""
    if len(digits) <= 4000:
        return int(digits)
    half = len(digits) // 2
    return integer(digits[:half]) * 10 ** (len(digits) - half) + integer(digits[half:])


def read(text: str) -> Number | None:
    """The number that ``text`` is, or None when it is not a plain number with at most a percent sign and a unit."""
    text = text.strip(" ~\n\t") if text.isascii() else mathematical(text).strip(" ~\n\t")
    if not text or len(text) > MAX_DIGITS or not (text[0].isdigit() or text[0] in "-+.$\\€£¥₹₽₩UER "):
        return None
    m = _PLAIN.fullmatch(text)
    if m is None:
        return None
    unit = (m["unit"] or "").strip()
    if unit and (_NO_UNIT.search(unit) or _ONE_LETTER.fullmatch(unit)):
        return None
    if m["hyphen"] and not unit:
        return None  # "2-1/2 hours" is a mixed number, "2-1/2" a difference
    value = _value(m)
    if value is None:
        return None
    if (m["sign"] == "-") != (m["sign2"] == "-"):
        value = -value
    unit = (m["money"] or "").replace("\\", "") or unit + (m["power"] or "")
    return Number(value / 100 if m["pct"] else value, bool(m["pct"]), len(m["dec"]) if m["dec"] else None, unit)


def _value(m: re.Match[str]) -> Fraction | None:
    top, low = m["top"] or m["top1"] or m["mtop"] or m["ntop"], m["low"] or m["low1"] or m["mlow"] or m["nlow"]
    if top is not None:
        top, low = top.replace(",", ""), low.replace(",", "")
        if not integer(low):
            return None
        part = Fraction(integer(top), integer(low))
        return part + integer(m["whole"] or m["mixed"] or "0")
    if not (m["int"] or m["dec"]):
        return None
    digits = re.sub(r"\D", "", m["int"] or "0")
    value = Fraction(integer(digits + (m["dec"] or "")), 10 ** len(m["dec"] or ""))
    power = m["exp"] or m["pow"] or m["pow1"] or m["pow2"]
    return value * Fraction(10) ** int(power) if power else value


def close(answer: Number, gold: Number, tolerance: Fraction) -> bool:
    """Equal exactly, or within the tolerance where the gold is no integer and one side is written as a decimal."""
    if (gold.decimals is None and answer.decimals is None) or gold.value.denominator == 1:
        return answer.value == gold.value
    if answer.decimals is None:  # 1/7 for 0.142857
        return near(gold.value, answer.value, tolerance, gold.decimals)
    return near(answer.value, gold.value, tolerance, answer.decimals)


def near(answer: Fraction, gold: Fraction, tolerance: Fraction, decimals: int | None) -> bool:
    """Within the relative tolerance, or the gold rounded or cut at as many significant digits as the tolerance asks for."""
    gap = abs(answer - gold)
    if gap <= tolerance * abs(gold):
        return True
    if not decimals or not answer or tolerance <= 0:
        return False
    shown, exact = abs(answer) * 10**decimals, abs(gold) * 10**decimals
    if len(str(int(shown)).lstrip("0")) < len(str(int(1 / tolerance))) - 1 or answer * gold < 0:
        return False
    return shown == int(exact) or 2 * abs(shown - exact) <= 1


def same(answer: Number, gold: Number, tolerance: Fraction) -> bool:
    """Equality with the conventions of the field: a percent sign on either side may be read as per cent or as a bare number."""
    if close(answer, gold, tolerance):
        return True
    if answer.percent == gold.percent:
        return False
    bare = [Number(n.value * 100, False, n.decimals) if n.percent else n for n in (answer, gold)]
    return close(bare[0], bare[1], tolerance)
