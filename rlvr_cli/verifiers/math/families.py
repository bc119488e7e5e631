"""Sets that a rule builds: ``{2k+1 : k in Z}``, ``x = pi/4 + k pi, k in Z``, and other set-builders.

>>> from .reader import read
>>> from .numeric import same_value
>>> a, g = read("\\\\{2k-1 : k \\\\in \\\\mathbb{Z}\\\\}"), read("\\\\{2n+1 \\\\mid n \\\\in \\\\mathbb{Z}\\\\}")
>>> same_family(a, g, same_value)
True
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from .evaluate import Undefined, Value, close, minus, number, value
from .numeric import is_integer, symbols
from .reader import Node, ungroup
from .tokens import Unreadable

_INTEGERS = frozenset(("Z", "N", "Z+", "N0"))


def is_family(node: Node) -> bool:
    return node[0] == "builder" or _members(node) is not None


def same_family(a: Node, g: Node, same: Callable[[Node, Node], bool]) -> bool | None:
    """The verdict, or None when the two are sets of another sort (an interval in set-builder form)."""
    x, y = _members(a), _members(g)
    if x and y:
        return _same_members(x, y, same)
    if x or y:
        return False
    if a[0] == g[0] == "builder" and _same_builder(a, g, same):
        return True
    return None


def _members(node: Node) -> tuple[Node, str, str] | None:
    """(term, counter, domain) of a family that an integer counts."""
    if node[0] == "builder":
        parts = [node[1], *(node[2][1] if node[2][0] == "list" else (node[2],))]
    elif node[0] == "list":
        parts = list(node[1])
    else:
        return None
    where = [
        part
        for part in parts
        if part[0] == "rel" and part[1] == ("in",) and part[2][1][0] == "named" and part[2][1][1] in _INTEGERS and part[2][0][0] == "sym"
    ]
    if len(where) != 1:
        return None
    counter, domain = where[0][2][0][1], where[0][2][1][1]
    for part in parts:
        term = part[2][-1] if part[0] == "rel" and part[1] == ("=",) else part
        if part is not where[0] and term[0] not in ("rel", "list") and counter in symbols(term):
            return ungroup(term), counter, domain
    return None


def _same_members(x: tuple[Node, str, str], y: tuple[Node, str, str], same: Callable[[Node, Node], bool]) -> bool:
    if x[2] != y[2]:
        return False
    renamed = rename(x[0], x[1], y[1])
    if same(renamed, y[0]):
        return True
    if x[2] != "Z":
        return False
    try:
        (a0, a1), (g0, g1) = _progression(renamed, y[1]), _progression(y[0], y[1])
    except (Undefined, Unreadable):
        return False
    if not (
        close(a1, g1)
        or close(
            minus(a1, Fraction(0)) + minus(g1, Fraction(0)) if isinstance(a1, Fraction) == isinstance(g1, Fraction) else 1, Fraction(0)
        )
    ):
        return False
    return is_integer(number(minus(a0, g0)) / number(g1))


def _progression(term: Node, counter: str) -> tuple[Value, Value]:
    """Start and step of a term that is linear in its counter."""
    a, b, c = (value(term, {counter: Fraction(t)}) for t in (0, 1, 2))
    step = minus(b, a)
    if not close(minus(c, b), step) or close(b, a):
        raise Unreadable("no arithmetic progression")
    return a, step


def _same_builder(a: Node, g: Node, same: Callable[[Node, Node], bool]) -> bool:
    """The same builder up to the name of its variable."""
    if a[1][0] == g[1][0] == "sym":
        a = ("builder", g[1], rename(a[2], a[1][1], g[1][1]))
    if a[1:] == g[1:]:
        return True
    return same(a[1], g[1]) and (
        a[2] == g[2]
        or (a[2][0] == g[2][0] == "rel" and a[2][1] == g[2][1] and all(same(p, q) for p, q in zip(a[2][2], g[2][2], strict=True)))
    )


def rename(node: Node, old: str, new: str) -> Node:
    """The tree with one symbol's name changed."""
    if node == ("sym", old):
        return ("sym", new)
    return tuple(rename(part, old, new) if isinstance(part, tuple) else part for part in node)
