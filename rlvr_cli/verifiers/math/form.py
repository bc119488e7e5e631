"""An answer's text as a form: the trees it may mean, and its unit. Ambiguous commas give more than one tree.

>>> form("35 \\\\text{ cm}").unit
'cm'
>>> [tree[0] for tree in form("1,234").trees], form("1000,99").loose[0][1]
(['num', 'list'], Fraction(100099, 100))
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from . import fast
from .reader import Node, parse
from .tokens import MAX_CHARS, Token, Unreadable, tokens

_LEADS = frozenset(
    "about approximately approx roughly exactly only just nearly around usd eur rs a total value equal to equals is are it"  # noqa: SIM905
    " the answer final result point year number".split()
)
_BAD_UNITS = re.compile(
    r"#|=|"
    r"\b(?:not|wrong|squared|cubed|factorial|times|more|less|fewer|minus|plus|at|incorrect|or|and|tens|hundreds?|thousands?|millions?|billions?"
    r"|dozens?|false|if|than|unless|isn't|maybe|perhaps|cannot|undefined|no|a\.?m|p\.?m|mod|base|is|are|was|were|be|to"
    r"|equals?|equal|gives?|makes?|yields?|becomes?)\b|不|或|错",
    re.I,
)
_SCALES = {
    "hundred": 2,
    "thousand": 3,
    "million": 6,
    "billion": 9,
    "trillion": 12,
    "万": 4,
    "亿": 8,
    "mil": 3,
    "millones": 6,
    "millionen": 6,
    "millions": 6,
}
_SCALED = re.compile(
    r"(?<=[\d}$)])(?:\s|\\[ ,;]|~)*(?:\\text\{\s*|\\mathrm\{\s*)?(hundred|thousand|million|billion|trillion|millions|万|亿)\b\}?", re.I
)
_LETTER_UNIT = re.compile(r"(?<=\d)(?:(?:\s|\\ |\\,|\\;|~)+(?:[msgJNWVAKLhlC])(?:\s*\^\s*\{?[23]\}?)?|[msL](?:\^\{?[23]\}?|[²³]))\s*$")
_DECIMAL_COMMA = re.compile(r"([-+]?)\s*(?:(\d{1,3}(?:\.\d{3})+)|(\d+)),(\d+)")


@dataclass(frozen=True)
class Form:
    """``trees``: what the text means, likeliest first; ``loose``: readings that count only for an answer."""

    trees: tuple[Node, ...]
    unit: str = ""
    text: str = ""
    loose: tuple[Node, ...] = ()


@lru_cache(maxsize=512)
def form(text: str) -> Form:
    """The form of an answer. Raises Unreadable when it is no mathematics."""
    if len(text) > MAX_CHARS:
        raise Unreadable("too long to read")
    text = _trimmed(text)
    text = _SCALED.sub(lambda m: f" \\times 10^{{{_SCALES[m[1].lower()]}}}", text)
    unit = ""
    if m := _LETTER_UNIT.search(text):
        text, unit = text[: m.start()], m[0].strip("\\ ,;~")
    found: list[tuple[Node, str]] = []
    problem: Unreadable | None = None
    for variant in _variants(text):
        try:
            found.append(_with_unit(tokens(variant)))
        except Unreadable as error:
            problem = error
    if not found:
        raise problem or Unreadable("nothing to read")
    return Form(tuple(tree for tree, _ in found), unit or found[0][1], _amount(text), _loose(text))


def _amount(text: str) -> str:
    """The number a quantity starts with."""
    m = re.match(r"\s*\\?\$?\s*-?[\d.,/ ]*", text)
    return m[0] + " "


_REWRITES = (
    (re.compile(r"\+\s*/\s*-(?=\s*[\d\\(a-z])|\\text\s*\{\s*plus or minus\s*\}"), r"\\pm "),
    (re.compile(r"(?<=\d)\s+[xX]\s+(?=\d)"), r" \\times "),
    (re.compile(r"(?<![\d.])\.\s*(?=\\(?:overline|bar|dot)\b)"), "0."),
    (re.compile(r"\{\s*(\\(?:sin|cos|tan|cot|sec|csc|ln|log))\s*\}"), r"\1"),
    (re.compile(r"\\left\s*\\\{\s*\\begin\s*\{array\}\s*(?:\{[^{}]*\})?(.*)\\end\s*\{array\}\s*\\right\s*\.", re.S), r"\1"),
    (re.compile(r"\\(?:text|mathrm)\s*\{\s*°\s*[CF]\s*\}\s*$"), ""),
    (re.compile(r"(?<=\d)(?:\s|\\[,;! ]|~)+(?:\\(?:text|mathrm)\s*\{\s*([kM])\s*\}|([kM]))?\\Omega\s*$"), r"\\text{ \1\2ohm}"),
    (re.compile(r"(?<=\d)(?:\s|\\[,;! ]|~)*[µμ](?=[A-Za-z]{1,3}\s*$)"), r" \\text{ micro }"),
    (re.compile(r"(?<=\d)(?:\s|\\[,;! ]|~)+\\mu\s*\\(?:text|mathrm)\s*\{\s*([A-Za-z])\s*\}"), r"\\text{ micro \1}"),
    (re.compile(r"^(['\"“‘])(.*)(['\"”’])$", re.S), r"\2"),
    (re.compile(r"^\*{1,2}([^*]+)\*{1,2}$"), r"\1"),
    (re.compile(r"(?:\^\s*\{?\s*\\circ\s*\}?|°|\\degree)\s*(?:\\(?:text|mathrm|,)\s*\{?)?\s*[CF]\s*\}?\s*$"), ""),
    (re.compile(r"(?:\{\})?[_^] ?\{?([A-Za-z0-9]{1,12})\}? ?C ?_ ?\{?([A-Za-z0-9]{1,12})\}?"), r"\\binom{\1}{\2}"),
    (re.compile(r"(?<![A-Za-z\\])C_\s*\{?(\d+)\}?\s*\^\s*\{?(\d+)\}?"), r"\\binom{\1}{\2}"),
    (re.compile(r"(?:\{\})?[_^] ?\{?([A-Za-z0-9]{1,12})\}? ?P ?_ ?\{?([A-Za-z0-9]{1,12})\}?"), r"\\frac{(\1)!}{((\1)-(\2))!}"),
    (re.compile(r"(\\equiv[^\\]*)\\bmod(?![a-z])"), r"\1\\pmod "),
    (re.compile(r"(\))\s*\^\s*\{?\s*(?:T|\\top|\\mathsf\{T\}|\\mathrm\{T\}|\\intercal)\s*\}?\s*$"), r"\1"),
    (re.compile(r"(?<=[\w})])\s*\\q?quad\s*(?=\\?[A-Za-z]\w{0,10}\s*=)"), ", "),
)


def _trimmed(text: str) -> str:
    text = text.strip()
    text = (
        re.sub(r"\\(?:begin|end)\s*\{(?:cases|aligned|align|gathered|split|eqnarray|gather|equation|alignedat)\*?\}", " ", text)
        if "cases" in text or ("align" in text or "gather" in text or "split" in text)
        else text
    )
    if "matrix" not in text and "array" not in text:
        text = text.replace("&", " ") if "\\&" not in text else text
    text = _unwrapped(text)
    for pattern, plain in _REWRITES:
        text = pattern.sub(plain, text)
    if text.count(")") == text.count("(") + 1 and text.endswith(")") and not re.search(r"[\[\]]", text):
        text = text[:-1]
    text = re.sub(r"^\s*(?:\\approx|≈|=|:|\\Rightarrow|⇒)\s*", "", text)
    text = re.sub(r"(?<=[\d}\])])\s*[.。]$", "", text)
    return text.replace("$", " ") if text.count("$") >= 2 and not re.match(r"\\?\$\s*\d", text) else text


def _unwrapped(text: str) -> str:
    """Of many brackets around the whole, one pair: ``(((7)))`` is ``(7)``. Linear in the text."""
    return _of_one_pair(
        _of_one_pair(text.replace("\\left(", "(").replace("\\right)", ")") if "((" in text or "(\\left(" in text else text, "()"), "{}"
    )


def _of_one_pair(text: str, pair: str) -> str:
    opens, closes = len(text) - len(text.lstrip(pair[0])), len(text) - len(text.rstrip(pair[1]))
    spare = min(opens, closes) - 1
    if spare < 1:
        return text
    inner, depth = text[spare:-spare], 0
    for char in inner:
        depth += (char == pair[0]) - (char == pair[1])
        if depth < 0:
            return text
    return inner if depth == 0 else text


def readable(text: str) -> bool:
    """Whether a text is mathematics, with at most a unit."""
    if fast.read(text):
        return True
    try:
        return bool(form(text).trees) and len(re.findall(r"[^\W\d_]{2,}", re.sub(r"\\[A-Za-z]+", "", text))) <= 3
    except Unreadable:
        return False


def _variants(text: str) -> list[str]:
    """The text with commas as thousands, where they can be, and as it is."""
    if "," not in text:
        return [text]
    if re.fullmatch(r"\s*-?[1-9]\d{0,2}(?:(?:,\d{3}){2,}|,0\d{2})(?:\.\d+)?\s*", text):
        return [text.replace(",", "")]  # 1,000,000 and 1,024 can be nothing else
    depth, merged, last = 0, [], 0
    for m in re.finditer(r"[(\[{)\]}]|(?<![\d.,\w])[1-9]\d{0,2}(?:,\d{3})+(?![\d,]|\.\d+,)", text):
        if m[0] in "([{":
            depth += 1
        elif m[0] in ")]}":
            depth -= 1
        elif depth <= 0 or (text[m.start() - 1 : m.start()] == "{" and text[m.end() : m.end() + 1] == "}"):
            merged.append(text[last : m.start()] + m[0].replace(",", ""))
            last = m.end()
    return [text] if not merged else ["".join(merged) + text[last:], text]


def _loose(text: str) -> tuple[Node, ...]:
    """``1000,99`` and ``1.000,99`` as decimals, in the way of half of the world; ``100,200,300`` as three values."""
    if re.fullmatch(r"\s*[1-9]\d{0,2}(?:,[1-9]\d{2}){2,}\s*", text):
        return (parse(tokens(text.replace(",", ", "))),)
    m = _DECIMAL_COMMA.fullmatch(text.strip().rstrip("%€$ "))
    if not m:
        return ()
    return (parse(tokens(f"{m[1]}{(m[2] or m[3]).replace('.', '')}.{m[4]}")),)


def _with_unit(stream: list[Token]) -> tuple[Node, str]:
    """The tree without lead words before and unit words after."""
    stream = [t for t in stream if t[0] != "s"]
    if stream and stream[0][0] == "t" and stream[0][1].lower() in ("minus", "negative"):
        stream = [("o", "-"), *stream[1:]]
    while stream and stream[0][0] == "t" and set(re.findall(r"\w+", stream[0][1].lower())) <= _LEADS and stream[1:2] != [("o", "=")]:
        stream = stream[1:]
    while len(stream) > 1 and stream[-1] == ("c", "cur"):
        stream = stream[:-1]
    first = next((i for i, t in enumerate(stream) if t[0] == "t" and stream[i + 1 : i + 2] != [("o", "=")]), None)
    if first and first >= 3 and stream[first - 2 : first] == [("c", "frac"), ("o", "{")]:
        first -= 2  # a unit written as a fraction
        if stream[first - 1][0] != "n" and stream[first - 1][1] not in (")", "}", "pi"):
            return parse(stream), ""
    if not first or not _is_unit(stream[first:]) or stream[first - 1] in (("o", "_"), ("o", "^")) or stream[first - 1] == ("o", "{"):
        return parse(stream), ""
    tail = stream[first:]
    end = len(tail)
    while end and tail[end - 1] == ("o", "."):
        end -= 1
    head = stream[:first]
    while head and head[-1] in (("o", "/"), ("o", "-")):
        head = head[:-1]
    return parse(head), " ".join(text for _, text in tail[:end]).lower()


def _is_unit(tail: list[Token]) -> bool:
    """Words, slashes and powers only, few of them, and none that changes the meaning."""
    said = " ".join(text for kind, text in tail if kind == "t")
    if len(said.split()) > 8 or re.search(r"\bof\s*$", said) or _BAD_UNITS.search(said):
        return False
    for index, (kind, text) in enumerate(tail):
        power = index > 0 and tail[index - 1][1] in ("^", "{") and text in ("1", "2", "3", "{", "}", "-", "−")
        if not (
            kind in ("t", "l")
            or power
            or text in ("/", "^", "}", ".", "*", "-", "(", ")", "\\", "circ", "per", "{", "frac")
            or (kind, text) in (("n", "1"), ("n", "2"), ("n", "3"))
        ):
            return False
    return True
