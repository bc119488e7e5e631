"""Units of measure as dimensions and a factor, so that ``5 km`` is ``5000 m`` and neither ``5 m`` nor ``5 km^2``.

Only units beyond doubt are known; any other word ("apples") contradicts nothing.

>>> ratio("km", "m"), ratio("cm ^ { 2 }", "square centimeters"), ratio("km", "km^2"), ratio("m/s", "km/h")
(Fraction(1000, 1), Fraction(1, 1), Fraction(0, 1), Fraction(18, 5))
>>> ratio("apples", "m") is None, ratio("hours per day", "hours") is None
(True, True)
"""

from __future__ import annotations

import re
from collections import Counter
from fractions import Fraction

_F = Fraction
# (dimension, factor to its base): names that people write
_KNOWN: dict[str, tuple[str, Fraction]] = {}
for _dimension, _names in {
    "length": {"mm millimeter millimetre": _F(1, 1000), "cm centimeter centimetre": _F(1, 100), "m meter metre": 1,
               "km kilometer kilometre": 1000, "inch inche": _F(254, 10000), "foot feet ft": _F(3048, 10000), "yard yd": _F(9144, 10000),
               "mile mi": _F(1609344, 1000), "dm decimeter decimetre": _F(1, 10)},
    "time": {"second sec s": 1, "minute min": 60, "hour hr h": 3600, "day": 86400, "week": 604800, "ms millisecond": _F(1, 1000)},
    "months": {"month": 1, "year yr": 12},
    "mass": {"mg milligram": _F(1, 1000), "g gram": 1, "kg kilogram": 1000, "ton tonne": 10**6},
    "weight": {"ounce oz": 1, "lb": 16},
    "dollars": {"cent ¢": _F(1, 100), "dollar usd $": 1},
    "euros": {"euro eur €": 1},
}.items():  # fmt: skip
    for _words, _factor in _names.items():
        _KNOWN |= {name: (_dimension, _F(_factor)) for name in _words.split()}
_WORDS = re.compile(r"(?P<op>/|\bper\b)|(?P<word>[a-z¢$€]+)|(?P<power>\^\s*\{?\s*([-−]?\s*\d)\s*\}?)|(?P<rest>\d+|[()])")
_POWER_BEFORE, _POWER_AFTER = {"square": 2, "sq": 2, "cubic": 3, "cu": 3}, {"squared": 2, "cubed": 3}
_PHRASES = {"kph": "km/h", "kmh": "km/h", "mph": "mi/h", "sqft": "ft^2", "cc": "cm^3"}
_LITER = {"l": 1, "liter": 1, "litre": 1, "ml": _F(1, 1000), "milliliter": _F(1, 1000), "millilitre": _F(1, 1000)}
Dimensions = Counter  # dimension -> power


def ratio(answer: str, gold: str) -> Fraction | None:
    """How many of the gold's unit one of the answer's is; 0 where they contradict, None where that can not be said."""
    a, g = _read(answer), _read(gold)
    if a is None or g is None:
        return None
    if a[0] == g[0]:
        return a[1] / g[1]
    one_sided = _below(a[0]) != _below(g[0]) and Counter() in (_below(a[0]), _below(g[0])) and _above(a[0]) == _above(g[0])
    return None if one_sided else Fraction(0)  # "8 hours a day" and "8 hours" differ in what is left unsaid


def _above(dimensions: dict[str, int]) -> Counter:
    return Counter({name: power for name, power in dimensions.items() if power > 0})


def _below(dimensions: dict[str, int]) -> Counter:
    return Counter({name: -power for name, power in dimensions.items() if power < 0})


def _read(unit: str) -> tuple[dict[str, int], Fraction] | None:
    """(powers by dimension, factor); None when any word is not known."""
    text = re.sub(r"\\(?:text|mathrm|textrm|cdot|,|;|:|!| )|[{}\\.*·~]", " ", unit.strip().lower().replace("us$", "$"))
    text = re.sub(r"\^\s+", "^", " ".join(_PHRASES.get(word, word) for word in text.split()))
    dimensions: Counter = Counter()
    factor, sign, before, last = Fraction(1), 1, 1, None
    for m in _WORDS.finditer(text):
        if m["op"]:
            sign = -1
        elif m["word"] in _POWER_BEFORE:
            before = _POWER_BEFORE[m["word"]]
        elif m["power"] or m["word"] in _POWER_AFTER:
            if last is None:
                return None
            power = _POWER_AFTER[m["word"]] if m["word"] else int(re.sub(r"[^\d-]", "", m["power"].replace("−", "-")))
            dimensions[last[0]] += last[2] * (power - 1)
            factor *= last[1] ** (last[2] * (power - 1))
        elif m["word"]:
            known = _unit(m["word"])
            if known is None:
                return None
            name, size, cube = known
            last = (name, size, sign)
            dimensions[name] += sign * before * cube
            factor *= size ** (sign * before * cube) if cube == 1 else size**sign
            before = 1
        else:
            return None
    powers = {name: power for name, power in dimensions.items() if power}
    return (powers, factor) if powers else None


def _unit(word: str) -> tuple[str, Fraction, int] | None:
    """(dimension, factor, power): a litre is a thousandth of a cubic metre."""
    for name in (word, word[:-1] if word.endswith("s") and len(word) > 2 else word):
        if name in _KNOWN:
            return (*_KNOWN[name], 1)
        if name in _LITER:
            return "length", Fraction(_LITER[name]) / 1000, 3
    return None
