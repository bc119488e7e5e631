"""Answers that are words: option letters, yes and no, "no solution", names, times of day, dates, durations and other quantities.

>>> same_words("an isosceles triangle", "\\\\text{Isosceles triangle}"), same_words("not true", "True")
(True, False)
>>> letters("(A), C"), letters("E: the polygon is a rhombus", lone=True)
('AC', 'E')
>>> clock("7:20 p.m.") == clock("19:20"), quantity("2 hours 15 minutes") == quantity("135 min")
(True, True)
"""

from __future__ import annotations

import re
from fractions import Fraction

from .unicode import mathematical, plain

_WRAP = re.compile(
    r"\\(?:text|textbf|textit|textrm|textsf|texttt|textnormal|mathrm|mathbf|mathit|mathsf|mbox|hbox|boldsymbol|bm|emph|underline"
    r"|operatorname|boxed)\s*\{([^{}]*)\}"
)
_SPACING = re.compile(r"\\[,;:!> ]|\\(?:quad|qquad|left|right|displaystyle)\b|~|\$|\\\(|\\\)|\\\[|\\\]|[*_`\"]")
_ARTICLE = re.compile(r"\b(?:an?|on|the|it is|it's|they are|answer|option|choice|is)\s+(?=\w{2}|an?\s)")
_CLASSES = {
    "no solution": "no solution|no solutions|no real solution|no real solutions|no real roots|there is no solution|there are no"
    " solutions|has no solution|there no solution|none|nosolution|empty set|emptyset|"
    "empty|no such number|no such numbers|no integer solutions|there are no real solutions|无解"
    "|無解|没有解|空集|不存在解|no tiene solución|sin"
    " solución|no hay solución|keine lösung|keine reelle lösung|pas de solution|"
    "aucune solution|nessuna soluzione|sem solução|нет решений|해가 없다|해 없음|解なし|không có nghiệm"
    "|vô nghiệm|nil|inconsistent|no values"
    "|no value|no solution exists|no solutions exist|no real solution exists|no real solutions exist|has no solutions|have no solution"
    "|have no solutions|has no real solutions|has no real solution",
    "infinitely many": "infinitely many|has infinitely many solutions|there are infinitely many"
    "|there are infinitely many solutions|infinitely many solutions|infinite solutions|infinite number of solutions|infinite"
    "|无数解|无穷多解"
    "|有无穷多解|无数个|infinitas soluciones|unendlich viele lösungen|une infinité de solutions",
    "all reals": "all real numbers|all reals|all real|every real number|any real number|全体实数|一切实数|所有实数|alle"
    " reellen zahlen|todos los"
    " números reales|tous les réels",
    "undefined": "undefined|not defined|does not exist|dne|doesn't exist|diverges|divergent|不存在|未定义|no existe|existiert nicht",
    "undetermined": "cannot be determined|can't be determined|not enough information|insufficient information"
    "|无法确定|不能确定|indeterminate",
    "yes": "yes|是|是的|sí|si|oui|ja|да|はい|예|네|sim|có|对|對",
    "no": "no|否|不是|non|nein|нет|いいえ|아니요|아니오|não|không|不对",
    "true": "true|正确|真|verdadero|vrai|wahr|vero|верно|正しい|참",
    "false": "false|错误|错|假|falso|faux|falsch|неверно|誤り|거짓",
}
_SUBJECT = re.compile(
    r"^(?:(?:the|this|that|given)\s+)*(?:system|equations?|inequality|limit|sum|series|integral|problem|it|statement|claim|assertion|answer)"
    r"(?:\s+of\s+equations)?\s+(?:is\s+)?(?=\w)",
    re.I,
)
_VERDICT = re.compile(r"(yes|no|true|false)\b\s*[,.;:!-]\s*(\S.*)", re.I)
_WAVERS = re.compile(
    r"\b(?:yes|no|true|false|or|maybe|perhaps|but|unless|if|when|depend\w*|sometimes"
    r"|wait|actually|both|neither|unclear|unknown|not sure)\b",
    re.I,
)
_CLASS_OF = {phrase.casefold(): name for name, phrases in _CLASSES.items() for phrase in phrases.split("|")}
_LETTERS = re.compile(r"\(?([A-Z])\)?(?:\s*(?:,|;|/|&|\+|and|or|和|與|与|及)?\s*\(?([A-Z])\)?)*")
_MONTHS = "january february march april may june july august september october november december".split()  # noqa: SIM905
_CLOCK = re.compile(r"(\d{1,2})\s*[:：h]\s*([0-5]\d)(?::([0-5]\d))?\s*(a|p)?\.?\s*(?:m\.?)?", re.I)
_WHOLE_CLOCK = re.compile(r"(\d{1,2})\s*(a|p)\.?\s*m\.?", re.I)
_UNITS = {
    "time": {"second": 1, "sec": 1, "s": 1, "minute": 60, "min": 60, "hour": 3600, "hr": 3600, "h": 3600, "day": 86400, "week": 604800},
    "length": {"mm": Fraction(1, 1000), "millimeter": Fraction(1, 1000), "cm": Fraction(1, 100), "centimeter": Fraction(1, 100),
        "m": 1, "meter": 1, "metre": 1, "km": 1000, "kilometer": 1000, "kilometre": 1000},
    "feet": {"inch": 1, "inche": 1, "in": 1, "foot": 12, "feet": 12, "ft": 12, "yard": 36, "yd": 36, "mile": 63360, "mi": 63360},
    "mass": {"mg": Fraction(1, 1000), "g": 1, "gram": 1, "kg": 1000, "kilogram": 1000, "ton": 10**6, "tonne": 10**6},
    "pound": {"ounce": 1, "oz": 1, "pound": 16, "lb": 16},
    "volume": {"ml": 1, "milliliter": 1, "l": 1000, "liter": 1000, "litre": 1000},
    "money": {"cent": 1, "¢": 1, "dollar": 100, "$": 100},
    "year": {"month": 1, "year": 12, "yr": 12},
}  # fmt: skip
_DIMENSION = {unit: (name, factor) for name, table in _UNITS.items() for unit, factor in table.items()}
_MIXED = re.compile(r"(?:(\d{1,9})\s*)?\\[dt]?frac\s*(?:\{(\d{1,9})\}|(\d))\s*(?:\{(\d{1,9})\}|(\d))")
_QUANTITY = re.compile(r"\s*(?:and\s+)?(\$?)\s*(-?\d+(?:,\d{3})*(?:\.\d+)?(?:\s*/\s*\d+)?)\s*([a-z¢]*)\.?\s*,?", re.I)


def bare(text: str) -> str:
    """Text without LaTeX wrappers, mark-up and spare spaces; case kept."""
    text = plain(text)
    for _ in range(4):
        text, changed = _WRAP.subn(r" \1 ", text)
        if not changed:
            break
    text = _SPACING.sub(" ", text)
    return " ".join(text.split()).strip(" .,;:!?。")


def normal(text: str) -> str:
    """Words for comparison: one case, no articles, no brackets around the whole, no full stop."""
    text = bare(text).casefold()
    text = re.sub(r"^\((.*)\)$", r"\1", text)
    text = _ARTICLE.sub(" ", text) if len(text) > 1 else text
    return " ".join(re.sub(r"[^\w\s+\-/.=<>%(){}\[\]^\\|]", " ", text).split())


def meaning(text: str) -> str | None:
    """The class of a set phrase ("no solution", "yes", "all reals"), or None."""
    if len(text) > 200:
        return None
    short = bare(mathematical(text))
    return (
        _CLASS_OF.get(short.casefold())
        or _CLASS_OF.get(normal(text))
        or _CLASS_OF.get(_SUBJECT.sub("", short).casefold())
        or _explained(short)
        or ("no solution" if short.replace(" ", "") in ("\\emptyset", "\\varnothing", "\\{\\}") else None)
    )


def _explained(short: str) -> str | None:
    """The class of ``Yes, it converges``: a verdict, then words that do not waver."""
    m = _VERDICT.fullmatch(short)
    return m[1].casefold() if m and len(m[2].split()) > 1 and not re.search(r"\d", m[2]) and not _WAVERS.search(m[2]) else None


def same_words(answer: str, gold: str) -> bool:
    """Whether two texts say the same, word for word or as a set phrase."""
    a, g = meaning(answer), meaning(gold)
    if a or g:
        return a == g
    if len(answer) > 2 * len(gold) + 200:
        return False
    return bool(normal(gold)) and normal(answer) == normal(gold)


def is_words(text: str) -> bool:
    """Whether a text is words rather than mathematics."""
    short = bare(text[:2000])
    return bool(meaning(text)) or (bool(re.search(r"[^\W\d_]{3,}", short)) and not re.search(r"[\\=^_<>]", short))


def letters(text: str, *, lone: bool = False) -> str | None:
    """The option letters an answer names, sorted; ``lone``: "E: because" names E too. None for anything else."""
    if len(text) > 400:
        return None
    short = bare(re.sub(r"^\s*(?:option|choice|answer|选项|选)\s*|\s*(?:选项|項|项)$", "", bare(text), flags=re.I))
    if m := re.fullmatch(r"\(?([a-z])\)", short):
        return m[1].upper()
    if (
        lone
        and (m := re.match(r"\(?([A-Z])\)?\s*(?:[:：.)\-]|\s-|\s\((?=[a-z]{2}))\s*\S", short))
        and not re.match(r"[A-Z]\s*-\s*\d|[A-Z]\s*\(\s*-?\d", short)
    ):
        return m[1]
    if re.fullmatch(r"[A-Z]", short) or re.fullmatch(r"\([A-Z]\)|[A-Z]\)", short):
        return short.strip("()")
    if len(short) <= 60 and _LETTERS.fullmatch(short):
        return "".join(sorted(set(re.findall(r"[A-Z]", short))))
    return None


def clock(text: str) -> tuple[int, int, int] | None:
    """A time of day as hours, minutes, seconds of 24; None when the text is none."""
    short = bare(text[:80])
    if m := _CLOCK.fullmatch(short):
        hour, minute, second, half = int(m[1]), int(m[2]), int(m[3] or 0), m[4]
    elif m := _WHOLE_CLOCK.fullmatch(short):
        hour, minute, second, half = int(m[1]), 0, 0, m[2]
    else:
        return None
    if half and 1 <= hour <= 12:
        hour = hour % 12 + (12 if half.lower() == "p" else 0)
    return (hour, minute, second) if hour < 25 else None


def date(text: str) -> tuple[int | None, int, int] | None:
    """A date as (year or None, month, day); None when the text is none."""
    if len(text) > 80:
        return None
    short = bare(text).casefold()
    if m := re.fullmatch(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})", short):
        return int(m[1]), int(m[2]), int(m[3])
    words = re.findall(r"[a-z]+|\d+", re.sub(r"(?<=\d)\s*(?:\^\s*\{?)?\s*(?:st|nd|rd|th)\b", "", short))
    month = [i for i, name in enumerate(_MONTHS, 1) for w in words if w == name or (len(w) >= 3 and name.startswith(w))]
    numbers = [int(w) for w in words if w.isdigit()]
    others = [w for w in words if not w.isdigit() and not any(name.startswith(w) for name in _MONTHS) and w not in ("of", "the")]
    if len(month) != 1 or others or not numbers or len(numbers) > 2 or max(numbers) > 9999:
        return None
    days = [n for n in numbers if n <= 31]
    years = [n for n in numbers if n > 31]
    return ((years or [None])[0], month[0], days[0]) if len(days) == 1 else None


def quantity(text: str) -> tuple[str, Fraction] | None:
    """A measured amount in the base unit of its dimension: "2 hours 15 minutes" is ("time", 8100)."""
    if len(text) > 120:
        return None
    text = _MIXED.sub(lambda m: f" {int(m[1] or 0) * int(m[4] or m[5]) + int(m[2] or m[3])}/{m[4] or m[5]} ", text)
    short = re.sub(r"\\\$", "$", bare(text.replace("\\$", "¤"))).replace("¤", "$")
    position, total, dimension = 0, Fraction(0), None
    while position < len(short):
        m = _QUANTITY.match(short, position)
        if not m or m.end() == position:
            return None
        unit = m[1] or m[3].casefold()
        if unit == "m" and dimension == "time":
            unit = "min"
        name, factor = _DIMENSION.get(unit) or _DIMENSION.get(unit.rstrip("s")) or (None, 0)
        if name is None or dimension not in (None, name):
            return None
        top, _, low = m[2].replace(",", "").partition("/")
        if low and not int(low):
            return None
        total += Fraction(top.strip()) / int(low or 1) * factor
        dimension, position = name, m.end()
    return (dimension, total) if dimension else None
