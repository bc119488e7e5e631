"""Numbers in other clothes: spelled out in English or Chinese, with Swiss or continental grouping, in a base by words.

>>> spelled("negative twenty-five"), spelled("three eighths"), spelled("3 out of 8"), spelled("二十五"), spelled("三分之一")
(Fraction(-25, 1), Fraction(3, 8), Fraction(3, 8), Fraction(25, 1), Fraction(1, 3))
>>> spelled("seventy apples") is None, in_base("2a_{16}"), in_base("1101 (base 2)"), regrouped("1.234,50"), regrouped("1'000'000")
(True, ('2A', 16), ('1101', 2), '1234.50', '1000000')
"""

from __future__ import annotations

import re
from fractions import Fraction

_ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
_SMALL = {word: i for i, word in enumerate(_ONES.split())} | {"a": 1, "an": 1}
_SMALL |= {word: 10 * i for i, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)}  # noqa: SIM905
_LARGE = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9}
_PARTS = "half third quarter fifth sixth seventh eighth ninth tenth eleventh twelfth".split()  # noqa: SIM905
_PART = {name: i for i, name in enumerate(_PARTS, 2)} | {"fourth": 4, "hundredth": 100, "thousandth": 1000}
_CJK = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "兩": 2, "壹": 1, "贰": 2, "叁": 3}
_CJK_LARGE = {"十": 10, "百": 100, "千": 1000}
_CJK_NUMBER = re.compile(r"(负|負)?([零〇一二三四五六七八九两兩十百千万亿]+)(?:分之([零〇一二三四五六七八九两兩十百千万亿]+))?")
_BASE_WORDS = {"two": 2, "binary": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "octal": 8, "nine": 9, "ten": 10,
               "sixteen": 16, "hex": 16, "hexadecimal": 16}  # fmt: skip
_WRAPPED = re.compile(r"\\(?:text|mathrm|textbf|mathbf)\s*\{([^{}]*)\}")
_SUBSCRIPT = re.compile(r"\(?([0-9A-Za-z]{1,64})\)?\s*_\s*\{?\s*\(?([0-9]{1,2}|[a-z]+)\)?\s*\}?")
_SAID = re.compile(r"\(?([0-9A-Za-z]{1,64})\)?\s*[,(]?\s*(?:in\s+)?(?:base[\s-]*([0-9]{1,2}|[a-z]+)|(binary|octal|hex(?:adecimal)?))\s*\)?")
_PRIME = r"\s*(?:\^\s*\{?\s*\\prime\s*\}?|'|′)"
_ARC = re.compile(
    r"(?<![\d.])(\d{1,3})\s*(?:\^\s*\{?\s*\\circ\s*\}?|°|\\degree)(?:\s|\\[,; ]|~)*"
    rf"(\d{{1,2}}(?:\.\d+)?){_PRIME}(?!['′])(?:\s*(\d{{1,2}}(?:\.\d+)?)\s*(?:''|″|\"|\^\s*\{{\s*\\prime\s*\\prime\s*\}}))?"
)
_PREFIX = {"0x": 16, "0b": 2, "0o": 8}


def spelled(text: str) -> Fraction | None:
    """The number that a text of words says; None when it says anything else."""
    if len(text) > 120:
        return None
    text = text.strip(" .!。")
    if m := _CJK_NUMBER.fullmatch(text):
        value = Fraction(_chinese(m[3] or m[2]), _chinese(m[2]) if m[3] and _chinese(m[2]) else 1)
        return -value if m[1] else value
    words = re.sub(r"[-\s]+", " ", text.lower()).split()
    if words[:1] in (["negative"], ["minus"]) and len(words) > 1:
        value = spelled(" ".join(words[1:]))
        return None if value is None else -value
    if (m := re.fullmatch(r"(\d{1,9}) and (\d{1,9})/(\d{1,9})", text)) and int(m[3]):
        return int(m[1]) + Fraction(int(m[2]), int(m[3]))
    if m := re.fullmatch(r"(\d{1,9}) (?:out of|in) (\d{1,9})", " ".join(words)):
        return Fraction(int(m[1]), int(m[2])) if int(m[2]) else None
    return _english(words)


def _english(words: list[str]) -> Fraction | None:
    if not words:
        return None
    last = words[-1]
    part = _PART.get(last) or (_PART.get(last[:-1]) if last.endswith("s") else None) or (2 if last == "halves" else None)
    if part:
        rest = words[:-1]
        if "and" in rest[1:]:
            at = rest.index("and")
            whole, top = _whole(rest[:at]), _whole(rest[at + 1 :])
            return None if whole is None or top is None else whole + Fraction(top, part)
        top = _whole(rest) if rest else 1
        return None if top is None else Fraction(top, part)
    value = _whole(words)
    return None if value is None else Fraction(value)


def _whole(words: list[str]) -> int | None:
    """``two hundred and five thousand`` as 205000."""
    total = current = 0
    seen = False
    for word in words:
        if word == "and" and seen:
            continue
        if word in _SMALL:
            current += _SMALL[word]
        elif word == "hundred" and seen:
            current *= 100
        elif word in _LARGE and seen:
            total, current = total + current * _LARGE[word], 0
        else:
            return None
        seen = True
    return total + current if seen and words[-1] not in ("a", "an", "and") else None


def _chinese(text: str) -> int:
    total = section = digit = 0
    for char in text:
        if char in _CJK:
            digit = digit * 10 + _CJK[char] if digit and not section else _CJK[char]
        elif char in _CJK_LARGE:
            section, digit = section + (digit or 1) * _CJK_LARGE[char], 0
        else:
            total, section, digit = (total + section + digit) * {"万": 10**4, "亿": 10**8}[char], 0, 0
    return total + section + digit


def in_base(text: str) -> tuple[str, int] | None:
    """(digits, base) of a numeral whose base is said; None for anything else."""
    if len(text) > 120:
        return None
    text = _WRAPPED.sub(r"\1", text).replace("\\", " ").strip(" $.~")
    text = re.sub(r"\{\s*(\w+)\s*\}", r"\1", text)
    if len(text) > 2 and text[:2].lower() in _PREFIX and re.fullmatch(r"[0-9A-Fa-f]+", text[2:]):
        return text[2:].upper().lstrip("0") or "0", _PREFIX[text[:2].lower()]
    m = _SUBSCRIPT.fullmatch(text) or _SAID.fullmatch(text)
    if m is None:
        return None
    said = next(group for group in m.groups()[1:] if group)
    base = int(said) if said.isdigit() else _BASE_WORDS.get(said, 0)
    digits = m[1].upper().lstrip("0") or "0"
    valid = 2 <= base <= 36 and m[1][0].isdigit() | (base > 10) and all(int(digit, 36) < base for digit in digits)
    return (digits, base) if valid else None


def degrees(text: str) -> str:
    """``22^\\circ 30'`` as ``22.5^\\circ``, minutes and seconds of arc being parts of the degree."""

    def whole(m: re.Match[str]) -> str:
        return f"({m[1]}+\\frac{{{m[2]}}}{{60}}+\\frac{{{m[3] or 0}}}{{3600}})^{{\\circ}}"

    return _ARC.sub(whole, text) if "'" in text or "prime" in text or "′" in text else text


def regrouped(text: str) -> str:
    """``1'000'000``, ``1.000.000`` and ``1.234,50`` in the way of English; other texts as they are."""
    text = re.sub(r"(?<![\d.,'])(\d{1,3})((?:['’]\d{3})+)(?![\d'])", lambda m: m[1] + re.sub(r"\D", "", m[2]), text)
    text = re.sub(r"(?<![\d.,])(\d{1,3})((?:\.\d{3})+),(\d{1,2})(?!\d)", lambda m: f"{m[1]}{m[2].replace('.', '')}.{m[3]}", text)
    return re.sub(r"(?<![\d.,])([1-9]\d{0,2})((?:\.\d{3}){2,})(?![\d.,]\d)", lambda m: m[1] + m[2].replace(".", ""), text)
