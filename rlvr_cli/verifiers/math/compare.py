"""Whether an answer is the gold: plain numbers first, then words, then trees by their kind.

The gold's kind leads: a single value is not met by a list, an ordered pair not by a set, a residue class not by a number.

>>> same("x = \\\\pm 3", "\\\\{-3, 3\\\\}"), same("3", "\\\\pm 3")
(True, False)
>>> same("(2,345)", "2345"), same("1:8", "\\\\frac18"), same("m \\\\in [2, \\\\infty)", "m \\\\ge 2")
(False, True, True)
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from . import fast, numerals, numeric, units, words
from .evaluate import NeedsCas, TooBig, Undefined, close, value
from .form import Form, form
from .reader import Node, ungroup
from .sets import same_set
from .tokens import Unreadable

SameValue = Callable[[Node, Node, Fraction], bool]
_NUMBERLESS = ("rel", "list", "set", "seq", "union", "inter", "minus", "named", "builder", "ratio", "mat", "mod", "dots")


_TEMPERATURE = re.compile(
    r"(?:\\circ\s*\}?|°|degrees?)\s*(?:\\(?:text|mathrm|,)\s*\{?)?\s*(?:degrees?\s+)?([CF])(?:elsius|ahrenheit)?\s*\}?\s*$", re.I
)


_SPACED_AS = re.compile(r"\\math(?:bin|rel|ord|op|punct|open|close)\s*\{([^{}]*)\}")
_IN_DEGREES = re.compile(r"\s*(?:\^\s*\{?\s*\\circ\s*\}?|°|\\degree|\\?\s*(?:\\(?:text|mathrm)\s*\{)?\s*deg(?:rees?)?\b\s*\}?)\s*$", re.I)
_IN_RADIANS = re.compile(r"(?:\s|\\[,; ]|~)*(?:\\(?:text|mathrm)\s*\{)?\s*\brad(?:ians?)?\b\s*\}?\s*$", re.I)


def _one_angle(answer: str, gold: str) -> tuple[str, str]:
    """Where one side says degrees and the other radians, both as bare numbers of radians."""

    def turned(text: str) -> str:
        return f"\\frac{{({_IN_DEGREES.sub('', text)}) \\pi}}{{180}}"

    if _IN_DEGREES.search(answer) and _IN_RADIANS.search(gold):
        return turned(answer), _IN_RADIANS.sub("", gold)
    if _IN_RADIANS.search(answer) and _IN_DEGREES.search(gold):
        return _IN_RADIANS.sub("", answer), turned(gold)
    return answer, gold


def same(answer: str, gold: str, tolerance: Fraction = numeric.TOLERANCE, same_value: SameValue = numeric.same_value) -> bool:
    """Whether the bare answer equals the bare gold. Raises NeedsCas where ``same_value`` can not decide an integral or limit."""
    answer, gold = tidied(answer), tidied(gold)
    answer, gold = _one_angle(answer, gold)
    scales = [_TEMPERATURE.search(text) for text in (answer, gold)]
    if all(scales) and scales[0][1].upper() != scales[1][1].upper():
        return False
    a, g = fast.read(answer), fast.read(gold)
    if a and g:
        return _same_numbers(answer, gold, a, g, tolerance)
    said = numerals.spelled(words.bare(answer)) if g else None
    if said is not None:
        return fast.same(fast.Number(said), g, tolerance)
    if (numeral := numerals.in_base(gold)) and not numeral[0].isdigit():  # digits that are letters, which the reader takes for symbols
        return numerals.in_base(answer) == numeral
    if " ".join(answer.split()) == " ".join(gold.split()):
        return True
    by_words = _same_as_words(answer, gold)
    if by_words is not None:
        return by_words
    if words.is_words(gold) and not re.search(r"\d", gold) and words.same_words(answer, gold):
        return True
    try:
        return _same_forms(_form(answer, gold), _form(gold, answer), _Judge(tolerance, same_value))
    except (Unreadable, TooBig, Undefined, RecursionError):
        return False


def tidied(text: str) -> str:
    """An answer without the dollars around it, its digits grouped as in English, a base said in words as a subscript."""
    if m := re.fullmatch(r"\s*\$([^$]+)\$\s*", text):
        text = m[1]
    if len(text) > 200:
        return text
    if re.search(r"base|octal|binary|hex", text) and (numeral := numerals.in_base(text)):
        return f"{numeral[0]}_{{{numeral[1]}}}"
    text = _SPACED_AS.sub(r"\1", text).replace("{:}", ":")
    return numerals.degrees(numerals.regrouped(text))


def _same_numbers(answer: str, gold: str, a: fast.Number, g: fast.Number, tolerance: Fraction) -> bool:
    if a.unit and g.unit and a.unit != g.unit:
        scale = units.ratio(a.unit, g.unit)
        if scale is not None:
            return fast.same(replace(a, value=a.value * scale), g, tolerance) if scale else False
        x, y = words.quantity(answer), words.quantity(gold)
        if x and y:
            return x == y
    return fast.same(a, g, tolerance)


def _same_as_words(answer: str, gold: str) -> bool | None:
    """The verdict of option letters, times, dates, amounts and words; None when the gold is mathematics."""
    labelled = re.match(r"(?:\(([A-Z])\)|([A-Z])[).:])\s*(\S.*)$", words.bare(gold))
    if labelled and words.letters(gold) is None:  # "(C) 12": the letter or the value
        letter = labelled[1] or labelled[2]
        got = words.letters(answer, lone=True)
        return got == letter if got else same(answer, labelled[3])
    chosen = words.letters(gold)
    if chosen:
        got = words.letters(answer, lone=len(chosen) == 1)
        if len(chosen) > 1 and re.search(r"\b(?:or|oder|ou)\b|或", words.bare(answer)):
            return False  # "A or D" chooses neither
        if got is not None or len(chosen) > 1 or "(" in gold or words.is_words(answer):
            return got == chosen or words.same_words(answer, gold)
    for read in (words.clock, words.date):
        g = read(gold)
        if g is not None:
            a = read(answer)
            if a is not None:
                return _same_time(answer, a, g) if read is words.clock else a == g or (a[1:] == g[1:] and g[0] is None)
            if read is words.date:
                return False
    g = words.quantity(gold)
    a = words.quantity(answer) if g is not None else None
    if a is not None and a[0] == g[0] and len(re.findall(r"\d+", answer)) > 1 and a == g:
        return True
    if a is not None and a == g and re.fullmatch(r"[^a-z]*\d\s*[a-z]{1,2}\.?", words.bare(answer), re.I):
        return True  # "5m" is no product here
    if g is not None and len(re.findall(r"\d+", gold)) > 1 and re.search(r"[a-z]{3,}", gold):
        return words.quantity(answer) == g
    meaning = words.meaning(gold)
    if meaning not in (None, "all reals", "no solution") or (words.is_words(gold) and meaning is None and form_or_none(gold) is None):
        return words.same_words(answer, gold)
    if meaning or words.meaning(answer):
        return words.same_words(answer, gold) or None
    return None


def _same_time(answer: str, a: tuple[int, int, int], g: tuple[int, int, int]) -> bool:
    """Equal times of day; the answer may leave out the gold's half of the day, as it may any unit, but not contradict it."""
    unsaid = re.fullmatch(r"[1-9]\d?\s*[:h]\s*\d\d(?::\d\d)?", words.bare(answer)) and a[0] <= 12
    return a == g or bool(unsaid and a[1:] == g[1:] and a[0] % 12 == g[0] % 12 and g[0] >= 12)


_AS_MATHEMATICS = {"all reals": "\\mathbb{R}", "no solution": "\\emptyset"}


def _form(text: str, other: str) -> Form:
    """The form of a text, or of the set that its words name."""
    said = words.meaning(text)
    if said is None and words.bare(text) == "R" and words.bare(other) in ("\\mathbb{R}", "\\R"):
        said = "all reals"
    return form(_AS_MATHEMATICS.get(said, text))


def form_or_none(text: str) -> Form | None:
    try:
        return form(text)
    except Unreadable:
        return None


def _same_forms(a: Form, g: Form, judge: _Judge) -> bool:
    """Any reading of the answer that equals a reading of the gold; units may be left out, not contradict."""
    scale = units.ratio(a.unit, g.unit) if a.unit and g.unit else None
    if scale == 0:
        return False
    if scale not in (None, 1):
        return any(judge.same(("mul", (("num", scale, None), x)), y) for y in g.trees for x in a.trees)
    if scale is None and a.unit and g.unit and not _units_agree(a.unit, g.unit):
        x, y = words.quantity(a.text + a.unit), words.quantity(g.text + g.unit)
        return x is not None and x == y
    return (
        any(judge.same(x, y) for y in g.trees for x in a.trees)
        or any(judge.same(x, y) for y in g.trees[:1] for x in a.loose)
        or any(judge.same(x, y) for y in g.loose if re.match(r"\s*-?0,\d{3}", g.text) for x in a.trees)
        or any(judge.same(x, y) for y in g.loose for x in a.trees if x[0] == y[0] == "list")
    )


def _units_agree(a: str, g: str) -> bool:
    return a == g or not (words.quantity("1 " + a) and words.quantity("1 " + g)) or words.quantity("1 " + a) == words.quantity("1 " + g)


@dataclass(frozen=True)
class _Judge:
    """Equality of two trees with the options of one call."""

    tolerance: Fraction
    same_value: SameValue

    def same(self, a: Node, g: Node) -> bool:
        """Equality of any two trees; the gold's kind leads."""
        try:
            counts = g if ungroup(g)[0] not in _NUMBERLESS else None
            return self._same(unlabelled(counted(a) if counts else a), unlabelled(g))
        except (Unreadable, TooBig, Undefined):
            return False

    def _same(self, a: Node, g: Node) -> bool:
        if a == g:
            return True
        for attempt in (
            self._residues,
            self._bases,
            self._relations,
            self._systems,
            self._families,
            self._ratios,
            self._matrices,
            self._sets,
            self._collections,
        ):
            verdict = attempt(a, g)
            if verdict is not None:
                return verdict
        if a[0] in _NUMBERLESS or g[0] in _NUMBERLESS:
            return False
        return self._values(a, g)

    # -- expressions
    def _values(self, a: Node, g: Node) -> bool:
        if self.same_value(a, g, self.tolerance):
            return True
        for x, y, which in ((a, g, "gold"), (g, a, "answer")):  # a per cent sign that the other side leaves out
            if y[0] == "percent" and not numeric.has(x, "percent") and not numeric.symbols(x):
                pair = (x, ungroup(y[1])) if which == "gold" else (ungroup(y[1]), x)
                return self.same_value(*pair, self.tolerance)
        return False

    # -- relations
    def _relations(self, a: Node, g: Node) -> bool | None:
        """Equations, inequalities and assignments; None when neither side is one or they reduce to something else."""
        if g[0] == "rel" and a[0] == "rel":
            if self._equivalent(a, g):
                return True
            if not is_assignment(g) and "=" in g[1] and not _set_valued(g):
                return False
        if g[0] == "rel":
            stripped = gold_value(g)
            if stripped is None:
                return None if _set_valued(g) or a[0] in ("seq", "union", "named", "set", "minus", "builder") else False
            return self.same(a, stripped)
        if a[0] == "rel" and not _set_valued(a):
            return any(self.same(x, g) for x in answer_values(a, self.constants_agree)) if not numeric.has(g, "rel") else None
        return None

    def constants_agree(self, sides: list[Node]) -> bool:
        """Whether the plain numbers of a chain ``x = 2 = 3`` are one number."""
        plain = [
            side for side in sides if side[0] == "num" or (side[0] == "mul" and len(side[1]) == 2 and all(p[0] == "num" for p in side[1]))
        ]
        return all(self.same_value(x, y, self.tolerance) or numeric.has_decimals(x) for x, y in itertools.pairwise(plain))

    def _equivalent(self, a: Node, g: Node) -> bool:
        """Two relations with the same solutions: one is a multiple of the other, or they vanish together."""
        if len(a[1]) != 1 or len(g[1]) != 1:
            return a[1] == g[1] and all(self.same(x, y) for x, y in zip(a[2], g[2], strict=True))
        if a[1] == g[1] and all(self.same(x, y) for x, y in zip(a[2], g[2], strict=True)):
            return True
        if not {a[1][0], g[1][0]} <= {"=", "<", ">", "<=", ">=", "!="} or (is_solved(g) and not _is_product_of(g[2][0], a)):
            return False
        from .equations import same_relation

        return same_relation(a, g)

    # -- systems
    def _systems(self, a: Node, g: Node) -> bool | None:
        g_map, a_map = assignments(g), assignments(a)
        if g_map is None and a_map is None:
            return None
        if g_map and a_map and set(g_map) == set(a_map):
            return all(self.same(a_map[name], g_map[name]) for name in g_map)
        if g_map and a_map:
            return not set(g_map) & set(a_map) and self._in_order(list(a_map.values()), list(g_map.values()))
        if a_map is None:
            return self._orders(items(a), g_map)
        if g[0] in ("seq", "list", "set"):
            return self._orders(list(items(g) or ()), a_map)
        return False

    def _orders(self, plain: list[Node] | None, named: dict[str, Node]) -> bool:
        """Bare values against named ones: in the order given, or in the alphabet's."""
        if plain is None or len(plain) != len(named):
            return False
        return self._in_order(plain, list(named.values())) or self._in_order(plain, [named[name] for name in sorted(named)])

    def _in_order(self, xs: list[Node], ys: list[Node]) -> bool:
        return len(xs) == len(ys) and all(self.same(x, y) for x, y in zip(xs, ys, strict=True))

    # -- periodic families and set-builders
    def _families(self, a: Node, g: Node) -> bool | None:
        from .families import is_family, same_family

        if not is_family(g) and not is_family(a):
            return None
        return same_family(a, g, self.same)

    def _residues(self, a: Node, g: Node) -> bool | None:
        a, g = residue(a), residue(g)
        if a is None and g is None:
            return None
        if a is None or g is None or not close(value(a[1]), value(g[1])):
            return False
        return (value(a[0]) - value(g[0])) % value(g[1]) == 0

    def _bases(self, a: Node, g: Node) -> bool | None:
        """A numeral in a base is met by the same numeral in that base only."""
        if g[0] != "base":
            return None
        return a[0] == "base" and a[2] == g[2] and a[1].lstrip("0") == g[1].lstrip("0")

    def _ratios(self, a: Node, g: Node) -> bool | None:
        if g[0] != "ratio" and a[0] != "ratio":
            return None
        if g[0] == "ratio" and a[0] == "ratio":
            x, y = a[1], g[1]
            if len(x) != len(y) or ("dots",) in x or ("dots",) in y:
                return self._in_order(list(x), list(y))
            if all(self.same(p, q) for p, q in zip(x, y, strict=True)):
                return True
            cross = ((("mul", (p, y[0])), ("mul", (q, x[0]))) for p, q in zip(x, y, strict=True))
            return all(self.same(p, q) for p, q in cross)
        ratio, other = (g, a) if g[0] == "ratio" else (a, g)
        if len(ratio[1]) != 2 or other[0] in _NUMBERLESS:
            return False
        fraction = ("mul", (ratio[1][0], ("inv", ratio[1][1])))
        return self.same_value(*((other, fraction) if ratio is g else (fraction, other)), self.tolerance)

    def _matrices(self, a: Node, g: Node) -> bool | None:
        if (not numeric.has(g, "mat") and not numeric.has(a, "mat")) or numeric.has(g, "rel", "set"):
            return None
        x, y = as_matrix(a, g), as_matrix(g, a)
        if x is None or y is None:
            return self.same_value(a, g, self.tolerance)
        return (
            len(x) == len(y)
            and len(x[0]) == len(y[0])
            and all(self.same(p, q) for r, s in zip(x, y, strict=True) for p, q in zip(r, s, strict=True))
        )

    def _sets(self, a: Node, g: Node) -> bool | None:
        """Sets of reals as pieces, where either side can only be such a set."""
        interval = any(
            _set_valued(n) or n[0] in ("union", "inter", "minus", "named", "builder") or (n[0] == "seq" and n[1:3] != ("(", ")"))
            for n in (a, g)
        )
        if not interval or (a[0] == g[0] == "named"):
            return None
        if (
            a[0] == g[0] == "seq"
            and a[1:3] != g[1:3]
            and (not (len(a[3]) == len(g[3]) == 2) or {a[1:3], g[1:3]} == {("(", ")"), ("[", "]")})
        ):
            return False
        try:
            return same_set(a, g, self.tolerance)
        except Unreadable:
            return self._same_parts(a, g)

    def _same_parts(self, a: Node, g: Node) -> bool | None:
        """Sets that are no unions of known intervals: part by part."""
        if a[0] == g[0] and a[0] in ("union", "inter"):
            return (self.same(a[1], g[1]) and self.same(a[2], g[2])) or (self.same(a[1], g[2]) and self.same(a[2], g[1]))
        if a[0] == g[0] == "minus":
            return self.same(a[1], g[1]) and self.same(a[2], g[2])
        if a[0] == g[0] == "seq":
            return a[1:3] == g[1:3] and self._in_order(list(a[3]), list(g[3]))
        return None

    # -- tuples, sets and lists
    def _collections(self, a: Node, g: Node) -> bool | None:
        xs, ys = items(a), items(g)
        if xs is None and ys is None:
            return None
        if xs is None or ys is None:
            xs, ys = xs if xs is not None else (a,), ys if ys is not None else (g,)
            if len(set(xs)) != len(set(ys)) and not (len(ys) == 1 and ys[0] != g and len(xs) == 1):
                return self._one(xs, ys)
        if any(p[0] == "seq" and p[1:3] != ("(", ")") and len(p[3]) == 2 and q[0] != "seq" for p, q in ((a, g), (g, a))):
            return False  # an interval, not a pair of values
        if is_ordered(g) and a[0] == "set" and len(a) == 2:
            return False  # {1, 2} names no order
        if is_ordered(g) or is_ordered(a):
            return self._in_order(list(xs), list(ys))
        return self._as_sets(list(xs), list(ys))

    def _one(self, xs: tuple[Node, ...], ys: tuple[Node, ...]) -> bool:
        """A list that says one value several times is that value."""
        if len(ys) == 1 and 1 < len(xs) <= 20:
            return all(self.same(x, ys[0]) for x in xs)
        return False

    def _as_sets(self, xs: list[Node], ys: list[Node]) -> bool:
        """Every item of either list is an item of the other."""
        if max(len(xs), len(ys)) > 200 or bool(xs) != bool(ys):
            return False
        xs, ys = list(dict.fromkeys(xs)), list(dict.fromkeys(ys))
        if len(xs) == len(ys) and all(self.same(x, y) for x, y in zip(xs, ys, strict=True)):
            return True
        return all(any(self.same(x, y) for y in ys) for x in xs) and all(any(self.same(x, y) for x in xs) for y in ys)


def unlabelled(node: Node) -> Node:
    """A named point ``A(1, 6)`` as its coordinates."""
    node = ungroup(node)
    if node[0] == "mul" and len(node[1]) == 2 and node[1][0][0] == "sym" and node[1][1][0] == "seq" and node[1][0][1][:1].isupper():
        return node[1][1]
    if node[0] == "rel" and node[1] == ("in",) and is_name(node[2][0]):
        return ungroup(node[2][1])
    if node[0] == "app" and node[1][:1].isupper() and len(node[2]) > 1 and not node[1].endswith("_"):
        return ("seq", "(", ")", node[2])
    return node


def counted(node: Node) -> Node:
    """``C(10, 3)`` and ``P(5, 2)`` as the numbers they count, where the gold is a number."""
    node = ungroup(node)
    if (
        node[0] == "mul"
        and len(node[1]) == 2
        and node[1][0] in (("sym", "C"), ("sym", "P"))
        and node[1][1][0] == "seq"
        and len(node[1][1][3]) == 2
    ):
        n, k = node[1][1][3]
        chosen = ("binom", n, k)
        return chosen if node[1][0][1] == "C" else ("mul", (chosen, ("fact", k)))
    return node


def is_ordered(node: Node) -> bool:
    """A tuple in round or angle brackets."""
    return node[0] == "seq" and node[1:3] in (("(", ")"), ("[", "]"))


def items(node: Node) -> tuple[Node, ...] | None:
    """The items of a list, set or tuple, with both sides of plus-minus; None for a single value."""
    node = ungroup(node)
    if node[0] == "list":
        found: list[Node] = []
        for item in unassigned(node[1]):
            inner = (
                items(item)
                if (item[0] == "set" and len(item) > 2) or (numeric.has(item, "pm") and item[0] not in ("seq", "list"))
                else None
            )
            found.extend(inner if inner is not None else (item,))
        return tuple(found)
    if node[0] == "set":
        return tuple(x for item in node[1] for x in (items(item) if numeric.has(item, "pm") and item[0] not in ("seq", "set") else (item,)))
    if node[0] == "union" and node[1][0] == node[2][0] == "set":
        return tuple(dict.fromkeys((*items(node[1]), *items(node[2]))))
    if node == ("named", "empty"):
        return ()
    if node[0] == "seq":
        return node[3]
    if node[0] == "rel" and numeric.has(node, "pm") and (inner := gold_value(node)) is not None:
        return items(inner)
    if numeric.has(node, "pm") and node[0] != "rel":
        return (branch(node, 1), branch(node, -1))
    return None


def unassigned(found: tuple[Node, ...]) -> list[Node]:
    """``x = 1 or x = 2`` and ``a = 4, -8`` without their names, when there is one name only."""
    names = {repr(item[2][0]) for item in found if item[0] == "rel" and item[1][0] in ("=", "~") and is_name(item[2][0])}
    if len(names) > 1 and len({re.sub(r"_\d+|\('num', Fraction\(\d+, 1\), None\)", "", name) for name in names}) > 1:
        return [ungroup(item) for item in found]
    return [ungroup(gold_value(item) or item) if item[0] == "rel" and item[1][0] in ("=", "~") else ungroup(item) for item in found]


def branch(node: Node, sign: int) -> Node:
    """One side of all plus-minus signs of a tree."""
    if node[0] == "pm":
        inner = branch(node[2], sign)
        return inner if node[1] * sign > 0 else ("mul", (("num", Fraction(-1), None), inner))
    return tuple(_branch_part(part, sign) for part in node)


def _branch_part(part: object, sign: int) -> object:
    if not isinstance(part, tuple) or not part:
        return part
    if isinstance(part[0], str) and len(part) > 1:
        return branch(part, sign)
    return tuple(_branch_part(p, sign) for p in part)


# -- what relations mean
def is_name(node: Node) -> bool:
    """What may stand left of "=" as a mere name: x, S_20, f(x), P(A and B), AB, |AB|, a ratio or tuple of names."""
    node = ungroup(node)
    if node[0] in ("sym", "app", "text"):
        return True
    if node == ("const", "e") or node == ("const", "i"):
        return False
    if node[0] == "ratio" and len(set(node[1])) < len(node[1]):
        return False
    if node[0] == "mul" and [part[0] for part in node[1]] == ["sym", "num"]:
        return True  # T(5): nobody writes a product with its number last
    if node[0] in ("mul", "seq", "ratio", "list"):
        return all(
            is_name(part) or (node[0] == "mul" and (part[0] in ("inter", "union", "group", "rel") or _is_inverse_name(part)))
            for part in node[-1]
        )
    if node[0] in ("inter", "union"):
        return is_name(node[1]) and is_name(node[2])
    return node[0] in ("inv", "fn") and all(is_name(part) for part in (node[2] if node[0] == "fn" else node[1:]))


def _is_inverse_name(node: Node) -> bool:
    """The ``f^{-1}`` of ``f^{-1}(x)``."""
    return node[0] == "pow" and node[1][0] == "sym" and node[1][1] in "fgh" and node[2][:2] == ("num", Fraction(-1))


def is_assignment(node: Node) -> bool:
    """``x = 5``, ``f(x) = x^2``: a name, then its value."""
    return node[0] == "rel" and set(node[1]) <= {"=", "~"} and is_name(node[2][0])


def is_solved(node: Node) -> bool:
    """``x = 5``: a name and a constant. Another equation with that root is no answer."""
    return is_assignment(node) and not numeric.symbols(node[2][-1])


def _is_product_of(node: Node, other: Node) -> bool:
    """``xy`` as a product, where the other equation speaks of x and y too; by itself it may be a name, like AB."""
    node = ungroup(node)
    return (
        node[0] == "mul"
        and all(part[0] == "sym" and part[1].islower() for part in node[1])
        and len(numeric.symbols(node)) > 1
        and numeric.symbols(node) == numeric.symbols(other)
    )


def _set_valued(node: Node) -> bool:
    """Whether a relation means a set of reals: an inequality, or membership."""
    return node[0] == "rel" and all(op in ("<", ">", "<=", ">=", "!=", "in", "notin") for op in node[1])


def gold_value(node: Node) -> Node | None:
    """The value that an assignment or a chain of equalities states; None for an equation proper."""
    if node[0] != "rel" or not set(node[1]) <= {"=", "~"}:
        return node[2][-1] if node[0] == "rel" and node[1] == ("in",) and is_name(node[2][0]) and node[2][-1][0] != "named" else None
    exact = node[1].index("~") if "~" in node[1] and node[1].index("~") > 0 else len(node[1])
    sides = node[2][: exact + 1]
    if len(sides) == 2 and not is_name(sides[0]) and is_name(sides[1]) and not numeric.symbols(sides[0]):
        return sides[0]
    if is_name(sides[0]) or (len(sides) > 2 and not numeric.symbols(sides[-1])):
        return sides[-1]
    if not numeric.symbols(node) and not numeric.has(node, "app"):
        return sides[-1]
    return None


def answer_values(node: Node, agree: Callable[[list[Node]], bool]) -> list[Node]:
    """The values that an answer's chain of equalities may state: the last exact one, or the approximation after it."""
    if node[0] != "rel" or not set(node[1]) <= {"=", "~"}:
        inner = gold_value(node)
        return [inner] if inner is not None else []
    sides = list(map(ungroup, node[2]))
    if not agree([side for side, op in zip(sides[1:], node[1], strict=False) if op == "="] + ([sides[0]] if sides[0][0] == "num" else [])):
        return []
    if _is_fraction(sides[0]) and not _about(sides[0], sides[1]):  # 3/5 = 0.75
        return []
    exact = node[1].index("~") if "~" in node[1] else len(node[1])
    first, last = sides[0], sides[exact]
    if exact == 1 and not numeric.symbols(first) and is_name(last):
        return [first]
    if first[0] == "ratio" and not is_name(first):
        return []
    compound = not is_name(first) and bool(numeric.symbols(first))
    if compound and (numeric.symbols(last) or (len(sides) == 2 and (_has_literals(first) or last == ("num", Fraction(0), None)))):
        return []
    return [last, *sides[exact + 1 :]]


def _is_fraction(node: Node) -> bool:
    """A plain fraction of two numbers."""
    node = ungroup(node)
    return node[0] == "mul" and len(node[1]) == 2 and node[1][0][0] == "num" and node[1][1][0] == "inv" and node[1][1][1][0] == "num"


def _about(a: Node, b: Node) -> bool:
    """Whether two numbers are within a twentieth, as a fraction and its rounded decimal are; true where that can not be said."""
    try:
        x, y = value(a), value(b)
        return not isinstance(x, Fraction) or not isinstance(y, Fraction) or abs(x - y) * 20 <= abs(x)
    except (Unreadable, TooBig, Undefined):
        return True


def _has_literals(node: Node) -> bool:
    """Whether an expression has coefficients or constants of its own, as in ``3x + 7``; an exponent is none."""
    if node[0] == "pow":
        return _has_literals(node[1])
    if node[0] == "num":
        return node[1] != -1
    return (
        any(_has_literals(part) for part in numeric.walk(node[1:]) if part[0] in ("num", "pow") and part is not node)
        if node[0] in ("add", "mul")
        else False
    )


def assignments(node: Node) -> dict[str, Node] | None:
    """``x = 1, y = 2`` or ``(x, y) = (1, 2)`` by name; None for anything else."""
    if node[0] == "rel" and node[1] == ("=",):
        names, values = items(node[2][0]), items(node[2][1])
        if (
            ungroup(node[2][0])[0] == "seq"
            and ungroup(node[2][1])[0] == "seq"
            and len(names) == len(values)
            and all(is_name(n) for n in names)
        ):
            return {repr(n): v for n, v in zip(names, values, strict=True)}
        return None
    if node[0] not in ("list", "seq", "set") or not node[-1]:
        return None
    parts = [ungroup(part) for part in (node[3] if node[0] == "seq" else node[1])]
    if not all(is_assignment(part) and part[1] == ("=",) for part in parts):
        return None
    named = {repr(ungroup(part[2][0])): part[2][1] for part in parts}
    bases = {re.sub(r"_\d+", "", name) for name in named}
    return (
        named
        if (len(named) == len(parts) > 1 and len(bases) > 1) or (len(named) == len(parts) > 1 and all("_" in n for n in named) and False)
        else None
    )


def residue(node: Node) -> tuple[Node, Node] | None:
    """``n = 3 (mod 8)`` as (3, 8)."""
    if node[0] == "rel" and node[1] == ("equiv",) and node[2][1][0] == "mod":
        return node[2][1][1], node[2][1][2]
    return (node[1], node[2]) if node[0] == "mod" else None


def as_matrix(node: Node, other: Node) -> tuple[tuple[Node, ...], ...] | None:
    """Rows of a matrix; a tuple of tuples is one, and a tuple is a column where the other side is a column."""
    node = ungroup(node)
    while node[0] == "seq" and len(node[3]) == 1 and ungroup(node[3][0])[0] == "mat":
        node = ungroup(node[3][0])
    if node[0] == "mat":
        return node[1]
    if node[0] == "seq" and node[3]:
        rows = [ungroup(item) for item in node[3]]
        if all(row[0] == "seq" for row in rows) and len({len(row[3]) for row in rows}) == 1:
            return tuple(row[3] for row in rows)
        if ungroup(other)[0] == "mat" and len(ungroup(other)[1][0]) == 1:
            return tuple((row,) for row in rows)
    return None


__all__ = ["Form", "NeedsCas", "same"]
