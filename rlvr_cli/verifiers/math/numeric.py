"""Whether two expressions have the same value: exactly, at fixed pseudo-random points, within the tolerance only where decimals stand.

>>> from .reader import read
>>> same_value(read("(a+b)(a-b)"), read("a^2-b^2"))
True
>>> same_value(read("0.333333"), read("1/3")), same_value(read("0.33"), read("1/3")), same_value(read("3.0001"), read("3"))
(True, False, False)
>>> same_value(read("|x|"), read("x"))
False
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction

from .evaluate import EPS, TooBig, Undefined, Value, close, is_real, mp, number, value
from .fast import near
from .reader import Node

TOLERANCE = Fraction(1, 10**6)
COUNTERS = frozenset("nmkjNMK")
_CONSTANTS = frozenset(("C", "c", "K", "C_1", "c_1", "C_0", "D", "const", "k"))
_BOUND = ("sum", "prod", "int")


def symbols(node: Node) -> frozenset[str]:
    """The free symbols of a tree."""
    if node[0] == "sym":
        return frozenset((node[1],))
    found: frozenset[str] = frozenset()
    for part in node[1:]:
        found |= _symbols_of(part)
    return found - {node[1]} if node[0] in _BOUND else found


def _symbols_of(part: object) -> frozenset[str]:
    if not isinstance(part, tuple) or not part:
        return frozenset()
    if isinstance(part[0], str):
        return symbols(part) if len(part) > 1 else frozenset()
    return frozenset().union(*(_symbols_of(p) for p in part))


def walk(node: object) -> Iterator[Node]:
    """All nodes of a tree."""
    if isinstance(node, tuple):
        if node and isinstance(node[0], str):
            yield node
        for part in node:
            yield from walk(part)


def has(node: Node, *kinds: str) -> bool:
    return any(part[0] in kinds for part in walk(node))


def has_decimals(node: Node) -> bool:
    return any(part[0] == "num" and part[2] for part in walk(node))


def has_bare_log(node: Node) -> bool:
    return any(part[:2] == ("fn", "log") for part in walk(node))


def same_value(answer: Node, gold: Node, tolerance: Fraction = TOLERANCE) -> bool:
    """Whether the answer's value is the gold's. Raises Unreadable for what is no expression, NeedsCas for an integral or limit."""
    if answer == gold:
        return True
    if is_constant_of_integration(answer) and is_constant_of_integration(gold):
        return _same_up_to_constant(answer, gold)
    logs = (0, 10) if has_bare_log(answer) or has_bare_log(gold) else (0,)
    angles_a = (False, True) if has(answer, "deg") else (False,)
    angles_g = (False, True) if has(gold, "deg") else (False,)
    return any(
        _same_at_points(answer, gold, tolerance, {"log_base": log, "radians": a}, {"log_base": log, "radians": g})
        for log in logs
        for a in angles_a
        for g in angles_g
    )


def points(names: frozenset[str]) -> Iterator[tuple[dict[str, Value], bool]]:
    """Fixed places to compare at, with whether they are all positive: four of those, then four of mixed sign."""
    for index in range(8 if names else 1):
        env = {}
        for name in sorted(names):
            rng = random.Random(f"{name}:{index}")
            base = Fraction(rng.randint(3, 60), rng.choice((7, 11, 13, 17)))
            env[name] = Fraction(rng.randint(2, 14)) if name in COUNTERS else base if index < 4 or rng.random() < 0.3 else -base
        yield env, index < 4


def _same_at_points(answer: Node, gold: Node, tolerance: Fraction, options_a: dict, options_g: dict) -> bool:
    names = symbols(answer) | symbols(gold)
    decimals = has_decimals(answer) or has_decimals(gold)
    compared = 0
    for env, positive in points(names):
        verdict = _same_here(answer, gold, env, positive, tolerance if decimals else Fraction(0), options_a, options_g)
        if verdict is False:
            return False
        compared += verdict is True
    return compared >= (3 if names else 1)


def _same_here(answer: Node, gold: Node, env: dict, positive: bool, tolerance: Fraction, options_a: dict, options_g: dict) -> bool | None:
    """True, False, or None where nothing can be said at this place."""
    try:
        g = value(gold, env, **options_g)
    except Undefined:
        return None
    try:
        a = value(answer, env, **options_a)
    except Undefined:
        return None if env else False
    if isinstance(a, list) or isinstance(g, list):
        return _same_matrix(a, g, tolerance)
    if close(a, g) or (tolerance and _near(a, g, tolerance, answer)):
        return True
    if positive or is_real(a) != is_real(g) or is_real(a):
        return False
    return None


def _same_matrix(a: Value, g: Value, tolerance: Fraction) -> bool:
    if not isinstance(a, list) or not isinstance(g, list) or len(a) != len(g) or len(a[0]) != len(g[0]):
        return False
    return all(
        close(x, y) or bool(tolerance and _near(x, y, tolerance, ("mat",)))
        for r, s in zip(a, g, strict=True)
        for x, y in zip(r, s, strict=True)
    )


def _near(a: Value, g: Value, tolerance: Fraction, answer: Node) -> bool:
    """Within tolerance of a gold that is no integer."""
    if is_integer(g):
        return False
    if isinstance(a, Fraction):
        decimals = answer[2] if answer[0] == "num" else None
        if isinstance(g, Fraction):
            return near(a, g, tolerance, decimals)
        if decimals and is_real(g):
            return near(a, _fraction(g), tolerance, decimals)
    x, y = number(a), number(g)
    return bool(abs(x - y) <= mp.mpf(tolerance.numerator) / tolerance.denominator * abs(y))


def _fraction(x: Value) -> Fraction:
    """A real multi-precision number as a fraction, to 40 digits after the point."""
    scaled = mp.re(x) * mp.mpf(10) ** 40
    if abs(scaled) > mp.mpf(10) ** 400:
        raise TooBig("too large to compare")
    return Fraction(int(mp.nint(scaled)), 10**40)


def is_integer(x: Value) -> bool:
    if isinstance(x, Fraction):
        return x.denominator == 1
    if not is_real(x) or mp.isinf(x):
        return False
    real = mp.re(x)
    return bool(abs(real - mp.nint(real)) <= EPS * max(1, abs(real)))


def is_constant_of_integration(node: Node) -> bool:
    """Whether the tree is ``... + C`` with the C nowhere else."""
    return bool(_free_constant(node))


def _free_constant(node: Node) -> str | None:
    if node[0] != "add":
        return None
    for index, term in enumerate(node[1]):
        if term[0] == "sym" and term[1] in _CONSTANTS:
            rest = node[1][:index] + node[1][index + 1 :]
            if not any(term[1] in symbols(other) for other in rest) and (term[1] != "k" or len(symbols(node)) > 1):
                return term[1]
    return None


def _same_up_to_constant(answer: Node, gold: Node) -> bool:
    """Two antiderivatives: their difference is the same everywhere."""
    a_name, g_name = _free_constant(answer), _free_constant(gold)
    names = (symbols(answer) - {a_name}) | (symbols(gold) - {g_name})
    gaps: list[Value] = []
    for env, _ in points(names):
        env = env | {a_name: Fraction(0), g_name: Fraction(0)}
        try:
            a, g = value(answer, env), value(gold, env)
        except Undefined:
            continue
        if is_real(a) != is_real(g):
            return False
        gaps.append(number(a) - number(g))
    scale = max((abs(g) for g in gaps), default=mp.mpf(0))
    return len(gaps) >= 3 and all(abs(gap - gaps[0]) <= EPS * max(1, scale) * 1000 for gap in gaps if is_real(gap))
