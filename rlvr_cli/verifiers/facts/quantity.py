"""Numbers with units: parsed into a value and a dimension, compared at a stated tolerance.

>>> a, b = quantity("299,792,458 m/s"), quantity("3.0e8 m/s")
>>> same_quantity(a, b, 0.001), same_quantity(a, b, 1e-6)
(True, False)
>>> same_quantity(quantity("1.5 km"), quantity("1500 m"), 1e-9), same_quantity(quantity("5 kg"), quantity("5 m"), 0.1)
(True, False)
"""

# ruff: noqa: E501
from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import dataclass

# unit -> (factor to the base, base)
UNITS: dict[str, tuple[float, str]] = {
    "m": (1, "m"), "meter": (1, "m"), "metre": (1, "m"), "km": (1e3, "m"), "kilometer": (1e3, "m"), "kilometre": (1e3, "m"), "cm": (1e-2, "m"),
    "centimeter": (1e-2, "m"), "centimetre": (1e-2, "m"), "mm": (1e-3, "m"), "millimeter": (1e-3, "m"), "millimetre": (1e-3, "m"), "nm": (1e-9, "m"),
    "mile": (1609.344, "m"), "mi": (1609.344, "m"), "foot": (0.3048, "m"), "feet": (0.3048, "m"), "ft": (0.3048, "m"), "inch": (0.0254, "m"),
    "inches": (0.0254, "m"), "yard": (0.9144, "m"), "yd": (0.9144, "m"),
    "g": (1e-3, "kg"), "gram": (1e-3, "kg"), "kg": (1, "kg"), "kilogram": (1, "kg"), "mg": (1e-6, "kg"), "t": (1e3, "kg"), "tonne": (1e3, "kg"),
    "lb": (0.45359237, "kg"), "lbs": (0.45359237, "kg"), "pound": (0.45359237, "kg"), "oz": (0.028349523125, "kg"), "ounce": (0.028349523125, "kg"),
    "s": (1, "s"), "sec": (1, "s"), "second": (1, "s"), "ms": (1e-3, "s"), "min": (60, "s"), "minute": (60, "s"), "h": (3600, "s"), "hr": (3600, "s"),
    "hour": (3600, "s"), "day": (86400, "s"), "week": (604800, "s"),
    "m/s": (1, "m/s"), "km/h": (1 / 3.6, "m/s"), "kph": (1 / 3.6, "m/s"), "km/s": (1e3, "m/s"), "mph": (0.44704, "m/s"), "m/s2": (1, "m/s2"), "m/s^2": (1, "m/s2"),
    "l": (1, "l"), "liter": (1, "l"), "litre": (1, "l"), "ml": (1e-3, "l"), "milliliter": (1e-3, "l"), "millilitre": (1e-3, "l"),
    "j": (1, "j"), "joule": (1, "j"), "kj": (1e3, "j"), "cal": (4.184, "j"), "kcal": (4184, "j"), "w": (1, "w"), "watt": (1, "w"), "kw": (1e3, "w"),
    "n": (1, "n"), "newton": (1, "n"), "pa": (1, "pa"), "pascal": (1, "pa"), "kpa": (1e3, "pa"), "atm": (101325, "pa"), "bar": (1e5, "pa"),
    "hz": (1, "hz"), "hertz": (1, "hz"), "khz": (1e3, "hz"), "mhz": (1e6, "hz"), "ghz": (1e9, "hz"), "v": (1, "v"), "volt": (1, "v"), "a": (1, "a"), "amp": (1, "a"),
    "mol": (1, "mol"), "k": (1, "K"), "kelvin": (1, "K"), "%": (0.01, ""), "percent": (0.01, ""), "°": (1, "deg"), "degree": (1, "deg"), "$": (1, "usd"),
    "dollar": (1, "usd"), "usd": (1, "usd"), "€": (1, "eur"), "euro": (1, "eur"), "eur": (1, "eur"), "£": (1, "gbp"), "gbp": (1, "gbp"), "¥": (1, "yen"),
    "yen": (1, "yen"), "₹": (1, "inr"), "rupee": (1, "inr"),
    "米": (1, "m"), "公尺": (1, "m"), "公里": (1e3, "m"), "千米": (1e3, "m"), "厘米": (1e-2, "m"), "毫米": (1e-3, "m"), "公斤": (1, "kg"), "千克": (1, "kg"),
    "克": (1e-3, "kg"), "秒": (1, "s"), "分钟": (60, "s"), "小时": (3600, "s"), "天": (86400, "s"),
}  # fmt: skip
SCALES = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "万": 1e4, "亿": 1e8}
MONEY = {"k": 1e3, "m": 1e6, "mn": 1e6, "mio": 1e6, "bn": 1e9, "b": 1e9, "tn": 1e12}  # behind an amount with a currency sign
_CJK_UNIT = "公里|千米|厘米|毫米|公尺|米|公斤|千克|克|秒|分钟|小时|天"
CELSIUS, FAHRENHEIT = {"°c", "celsius", "degrees celsius"}, {"°f", "fahrenheit", "degrees fahrenheit"}
_NUMBER = re.compile(
    r"(?P<lead>[$€£¥₹]?)\s*(?P<sign>(?:(?<![\w)])[-−])?)(?P<value>\d{1,3}(?:,\d{3})+(?:\.\d+)?|(?<![\d.])\d{1,3}(?: \d{3})+(?![\d.,]) ?(?=[A-Za-z°%])|\d+(?:\.\d+)?|\.\d+)"
    r"(?:\s*(?:[x×*·]|\\times|\\cdot)\s*10\s*(?:\^|\*\*)?\s*\{?(?P<power>[-−+]?\d{1,3})\}?|[eE](?P<exp>[-+]?\d{1,3}))?"
    r"\s*(?P<scale>hundred|thousand|million|billion|trillion|万|亿)?"
    r"\s*(?P<unit>%|°\s?[CF]?|(?i:degrees? (?:celsius|fahrenheit))|"
    + _CJK_UNIT
    + r"|[A-Za-z€$£¥]+(?:/[A-Za-z]+\^?\d?|\s+per\s+[A-Za-z]+)?)?"
)
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻₀₁₂₃₄₅₆₇₈₉", "0123456789-0123456789")
LONGEST = 60  # digits of a number that is read
PER = {("meters", "second"): "m/s", ("metres", "second"): "m/s", ("kilometers", "hour"): "km/h", ("kilometres", "hour"): "km/h"}
PER |= {("miles", "hour"): "mph", ("kilometers", "second"): "km/s", ("kilometres", "second"): "km/s"}


@dataclass(frozen=True)
class Quantity:
    """A value in base units; ``base`` is None where no known unit stands, "" where it is a pure share.

    A number that no float holds has the value nan, which is the same as nothing: infinity would be "near" everything.
    """

    value: float
    base: str | None
    text: str
    number: float = math.nan
    """As written, before the unit's factor."""
    unit: str | None = None
    """The unit in one spelling (``1000 m`` for km, kilometre, kilometres); None where no known unit stands."""


def quantity(text: str) -> Quantity | None:
    """The only number of ``text`` with its unit; None where there is none or more than one."""
    found = quantities(text)
    return found[0] if len(found) == 1 else None


def quantities(text: str) -> list[Quantity]:
    """All numbers with their units, in order. Superscript digits count as powers of ten's exponents."""
    return [_read(m) for m in _NUMBER.finditer(unicodedata.normalize("NFKC", raised_apart(text)))]


def raised_apart(text: str) -> str:
    """``4²`` as ``4^2`` and ``4½`` as ``4 ½``: a sign that only looks like a further digit is none."""
    text = re.sub(r"(?<=\d)([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+|[₀₁₂₃₄₅₆₇₈₉]+)", lambda m: "^" + m[1].translate(_RAISED), text)
    return re.sub(r"(?<=\d)(?=[¼-¾⅐-⅞↉①-⓿])", " ", text)


def _read(match: re.Match[str]) -> Quantity:
    exponent = (match["power"] or match["exp"] or "0").replace("−", "-")
    digits = match["value"].replace(",", "").replace(" ", "")
    value = float(f"{digits}e{exponent}") * SCALES.get(match["scale"] or "", 1) if len(digits) <= LONGEST else math.nan
    value = (-value if match["sign"] else value) if math.isfinite(value) else math.nan
    unit = " ".join((match["unit"] or match["lead"] or "").lower().split())
    if unit in CELSIUS or unit.replace("° ", "°") in CELSIUS:
        return Quantity(value + 273.15, "K", match[0].strip(), value, "C")
    if unit in FAHRENHEIT or unit.replace("° ", "°") in FAHRENHEIT:
        return Quantity((value - 32) * 5 / 9 + 273.15, "K", match[0].strip(), value, "F")
    if match["unit"] in ("C", "F") and not match["lead"]:  # coulombs and farads would meet their like in either reading
        return _read_degrees(match, value)
    if match["lead"] and unit in MONEY:
        value, unit = value * MONEY[unit], match["lead"]
    elif match["lead"] and unit not in UNITS and unit.rstrip("s") not in UNITS:
        unit = match["lead"]  # "$5 each"
    factor, base = _unit(unit)
    return Quantity(value * factor, base, match[0].strip(), value, None if base is None else f"{factor:g} {base}")


def _read_degrees(match: re.Match[str], value: float) -> Quantity:
    """``100C`` and ``212 F``."""
    kelvin = value + 273.15 if match["unit"] == "C" else (value - 32) * 5 / 9 + 273.15
    return Quantity(kelvin, "K", match[0].strip(), value, match["unit"])


def _unit(unit: str) -> tuple[float, str | None]:
    if " per " in unit:
        left, right = unit.split(" per ")
        unit = PER.get((left, right), unit)
    for name in (unit, unit.rstrip("s"), unit.rstrip(".")):
        if name in UNITS:
            return UNITS[name]
    return 1.0, None


def same_quantity(a: Quantity, b: Quantity, tolerance: float) -> bool:
    """Equal within ``tolerance`` (relative) and of one dimension; a bare number agrees with any unit's plain value."""
    if a.base is not None and b.base is not None and a.base != b.base:
        return False
    return abs(a.value - b.value) <= tolerance * max(abs(a.value), abs(b.value)) + 1e-12


def same_as_written(a: Quantity, b: Quantity, tolerance: float) -> bool:
    """Equal numbers in the same unit: what a conversion asks for. A bare number is taken to be in the other's unit.

    >>> a = quantity("1500 m")
    >>> [same_as_written(quantity(text), a, 1e-9) for text in ("1500 metres", "1500", "1.5 km")]
    [True, True, False]
    """
    if a.unit is not None and b.unit is not None and a.unit != b.unit:
        return False
    return abs(a.number - b.number) <= tolerance * max(abs(a.number), abs(b.number)) + 1e-12
