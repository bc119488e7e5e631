"""Sets of real numbers as sorted pieces: intervals, unions, complements, finite sets, and the inequalities that mean them.

>>> from .reader import read
>>> pieces(read("0 < x \\\\le 2")) == pieces(read("(0, 2]"))
True
>>> same_set(read("\\\\mathbb{R} \\\\setminus \\\\{3\\\\}"), read("(-\\\\infty,3) \\\\cup (3,\\\\infty)"))
True
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from .evaluate import Undefined, Value, close, is_real, minus, mp, number, value
from .numeric import _near, has_decimals, symbols
from .reader import Node, ungroup
from .tokens import Unreadable

INF = mp.inf


@dataclass(frozen=True)
class Piece:
    """An interval with its ends; a point is closed at both ends that are equal."""

    low: Value
    low_closed: bool
    high: Value
    high_closed: bool


REALS = [Piece(-INF, False, INF, False)]


def same_set(answer: Node, gold: Node, tolerance: Fraction = Fraction(0)) -> bool:
    """Whether both trees are the same set of reals. Raises Unreadable when one of them is no such set."""
    a, g = pieces(answer), pieces(gold)
    loose = tolerance if has_decimals(answer) or has_decimals(gold) else Fraction(0)
    if len(a) != len(g):
        return False
    return all(
        p.low_closed == q.low_closed
        and p.high_closed == q.high_closed
        and _same_end(p.low, q.low, loose)
        and _same_end(p.high, q.high, loose)
        for p, q in zip(a, g, strict=True)
    )


def _same_end(x: Value, y: Value, tolerance: Fraction) -> bool:
    return close(x, y) or bool(
        tolerance and not mp.isinf(number(x)) and not mp.isinf(number(y)) and _near(x, y, tolerance, ("num", 0, None))
    )


def pieces(node: Node) -> list[Piece]:
    """The sorted, merged pieces of a set. Raises Unreadable when the tree is no set of reals."""
    return _merged(_pieces(ungroup(node)))


def _pieces(node: Node) -> list[Piece]:
    kind = node[0]
    if kind == "seq" and len(node[3]) == 2:
        return [Piece(_real(node[3][0]), node[1] == "[", _real(node[3][1]), node[2] == "]")]
    if kind == "set":
        return [Piece(x, True, x, True) for x in map(_real, node[1])]
    if kind == "named":
        return _named(node[1])
    if kind == "union":
        return _operand(node[1]) + _operand(node[2])
    if kind == "inter":
        return _common(pieces(node[1]), pieces(node[2]))
    if kind == "minus":
        return _common(pieces(node[1]), complement(_operand(node[2])))
    if kind == "add" and len(node[1]) == 2 and node[1][1][0] == "mul" and node[1][1][1][0][:2] == ("num", Fraction(-1)):
        return _common(pieces(node[1][0]), complement(pieces(node[1][1][1][1])))
    if kind == "rel":
        return _relation(node)
    if kind == "list":
        return _several(node[1])
    if kind == "builder":
        return _pieces(ungroup(node[2]))
    raise Unreadable(f"{kind} is no set of numbers")


def _operand(node: Node) -> list[Piece]:
    """A set beside a set sign; ``R \\ {2}`` in braces that LaTeX swallows is the number 2."""
    node = ungroup(node)
    return (
        [Piece(x, True, x, True) for x in (_real(node),)]
        if node[0] in ("num", "mul", "const", "root", "pow", "add") and node[0] != "add"
        else pieces(node)
    )


def _named(name: str) -> list[Piece]:
    table = {"R": REALS, "empty": [], "R+": [Piece(Fraction(0), False, INF, False)], "R-": [Piece(-INF, False, Fraction(0), False)]}
    table["R*"] = [Piece(-INF, False, Fraction(0), False), Piece(Fraction(0), False, INF, False)]
    if name not in table:
        raise Unreadable(f"the set {name} is no union of intervals")
    return list(table[name])


def _real(node: Node) -> Value:
    if symbols(node):
        raise Unreadable("an end that depends on a symbol")
    try:
        x = value(node)
    except Undefined as error:
        raise Unreadable(str(error)) from None
    if isinstance(x, list) or not is_real(x):
        raise Unreadable("an end that is not real")
    return x if isinstance(x, Fraction) else mp.re(x)


def _less(x: Value, y: Value) -> bool:
    if close(x, y):
        return False
    return bool(x < y) if isinstance(x, Fraction) and isinstance(y, Fraction) else bool(number(x) < number(y))


def _merged(found: list[Piece]) -> list[Piece]:
    """Sorted, without empty pieces, touching pieces joined."""
    found = [p for p in found if _less(p.low, p.high) or (close(p.low, p.high) and p.low_closed and p.high_closed)]
    out: list[Piece] = []
    for piece in sorted(found, key=lambda p: (number(p.low), not p.low_closed)):
        last = out[-1] if out else None
        if last and (_less(piece.low, last.high) or (close(piece.low, last.high) and (piece.low_closed or last.high_closed))):
            if close(piece.high, last.high):
                out[-1] = Piece(last.low, last.low_closed, last.high, last.high_closed or piece.high_closed)
            elif _less(last.high, piece.high):
                out[-1] = Piece(last.low, last.low_closed, piece.high, piece.high_closed)
        else:
            out.append(piece)
    return out


def complement(found: list[Piece]) -> list[Piece]:
    out, low, closed = [], -INF, False
    for piece in _merged(found):
        out.append(Piece(low, closed, piece.low, not piece.low_closed))
        low, closed = piece.high, not piece.high_closed
    out.append(Piece(low, closed, INF, False))
    return [p for p in out if not (mp.isinf(number(p.low)) and number(p.low) > 0) and not (mp.isinf(number(p.high)) and number(p.high) < 0)]


def _common(left: list[Piece], right: list[Piece]) -> list[Piece]:
    return complement(complement(left) + complement(right))


def _several(items: tuple[Node, ...]) -> list[Piece]:
    """Conditions side by side: both hold where that is possible and says more than nothing, else either does."""
    found = [_merged(_pieces(ungroup(item))) for item in items]
    common, either = found[0], found[0]
    for other in found[1:]:
        common, either = _common(common, other), _merged(either + other)
    if not _merged(common):
        return either
    if either == REALS or len(found) == 1 or all(len(other) > 1 for other in found[1:]):
        return common
    raise Unreadable("conditions that may be meant together or apart")


def _relation(node: Node) -> list[Piece]:
    """``a < x <= b``, ``x != 3``, ``x in S``, ``|x| < 2``: conditions on one name."""
    ops, sides = node[1], tuple(map(ungroup, node[2]))
    if ops[-1] == "in":
        return pieces(sides[-1])
    if ops[-1] == "notin":
        return complement(pieces(sides[-1]))
    out = REALS
    for op, left, right in zip(ops, sides, sides[1:], strict=False):
        out = _common(out, _condition(op, left, right))
    return out


def _condition(op: str, left: Node, right: Node) -> list[Piece]:
    if op not in ("<", ">", "<=", ">=", "!="):
        raise Unreadable(f"{op} is no condition on the reals")
    name, where, coefficient = _linear(left, right)
    if op == "!=":
        found = complement([Piece(where, True, where, True)])
    else:
        closed, up = op.endswith("="), op.startswith(">") == (coefficient > 0)
        found = [Piece(where, closed, INF, False)] if up else [Piece(-INF, False, where, closed)]
    if name != "|":
        return found
    mirrored = [Piece(-p.high, p.high_closed, -p.low, p.low_closed) for p in found]  # |x| < 2
    return _common(found, mirrored) if op != "!=" and not up else _merged(found + mirrored)


def _linear(left: Node, right: Node) -> tuple[str, Value, Value]:
    """The name, the boundary and the direction of a condition that is linear in one name."""
    for x, other, sign in ((left, right, 1), (right, left, -1)):
        if not symbols(other) and (x[0] == "sym" or x[0] == "app" or (x[:2] == ("fn", "abs") and x[2][0][0] == "sym")):
            return ("|" if x[0] == "fn" else "x"), _real(other), sign
    names = symbols(left) | symbols(right)
    if len(names) != 1:
        raise Unreadable("a condition on several names")
    (name,) = names
    try:
        a, b, c = (minus(value(left, {name: Fraction(t)}), value(right, {name: Fraction(t)})) for t in (0, 1, 2))
    except Undefined:
        raise Unreadable("no linear condition") from None
    slope = minus(b, a)
    if not close(minus(c, b), slope) or close(b, a) or not is_real(a) or not is_real(slope):
        raise Unreadable("no linear condition")
    return (
        "x",
        minus(Fraction(0), a / slope if isinstance(a, Fraction) == isinstance(slope, Fraction) else number(a) / number(slope)),
        mp.re(number(slope)),
    )
