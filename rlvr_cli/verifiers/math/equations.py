"""Whether two equations or inequalities in several unknowns have the same solutions.

First as multiples of one another (``6x - 2y = 8`` and ``3x - y - 4 = 0``), then by whether each vanishes where the other does.

>>> from .reader import read
>>> same_relation(read("6x - 2y = 8"), read("3x-y-4=0")), same_relation(read("y^2 = 8x"), read("x^2=8y"))
(True, False)
>>> same_relation(read("xy = 1"), read("y = \\\\frac{1}{x}")), same_relation(read("-x > -1"), read("x < 1"))
(True, True)
"""

from __future__ import annotations

from fractions import Fraction

from .evaluate import EPS, Undefined, Value, is_real, minus, mp, number, value
from .numeric import points, symbols
from .reader import Node


def same_relation(a: Node, g: Node) -> bool:
    """Both with one relation sign. Raises Unreadable for sides that are no expressions."""
    names = symbols(a) | symbols(g)
    if not names:
        return False
    ratio = _constant_ratio(a, g, names)
    if a[1][0] == "=" or g[1][0] == "=" or a[1][0] == "!=" or g[1][0] == "!=":
        return a[1] == g[1] and (ratio is not None or (_vanishes_with(a, g, names) and _vanishes_with(g, a, names)))
    if ratio is None or not is_real(ratio):
        return False
    strict_alike = a[1][0].endswith("=") == g[1][0].endswith("=")
    turned = (a[1][0][0] == g[1][0][0]) == bool(mp.re(ratio) > 0)
    return strict_alike and turned


def _gap(node: Node, env: dict[str, Value]) -> Value:
    return minus(value(node[2][0], env), value(node[2][1], env))


def _constant_ratio(a: Node, g: Node, names: frozenset[str]) -> Value | None:
    """The factor between the two, when it is the same everywhere."""
    ratios = []
    for env, _ in points(names):
        try:
            x, y = number(_gap(a, env)), number(_gap(g, env))
        except Undefined:
            continue
        if abs(x) < EPS or abs(y) < EPS:
            return None
        ratios.append(x / y)
    if len(ratios) < 3 or any(abs(r - ratios[0]) > abs(ratios[0]) * mp.mpf(10) ** -30 for r in ratios):
        return None
    return ratios[0]


def _vanishes_with(a: Node, g: Node, names: frozenset[str]) -> bool:
    """Whether ``g`` vanishes at places where ``a`` does: found by Newton steps from the fixed points, along each unknown."""
    found = 0
    for env, _ in points(names):
        for name in sorted(names)[:3]:
            root = _root(a, env, name)
            if root is None:
                continue
            try:
                there, scale = abs(number(_gap(g, root))), max(abs(number(value(side, root))) for side in g[2])
            except Undefined:
                continue
            if there > mp.mpf(10) ** -15 * max(1, scale):
                return False
            found += 1
    return found >= 4


def _root(node: Node, env: dict[str, Value], name: str) -> dict[str, Value] | None:
    """A zero of the relation along one unknown, by the secant method in the complex plane."""
    start = number(env[name])
    x0, x1 = mp.mpc(start, Fraction(1, 7) * 1.0), mp.mpc(start * 1.25 + 0.5, 0.3)
    env = {key: number(v) for key, v in env.items()}
    try:
        f0, f1 = (number(_gap(node, env | {name: x})) for x in (x0, x1))
        for _ in range(60):
            if abs(f1) < EPS or f1 == f0:
                break
            x0, x1, f0 = x1, x1 - f1 * (x1 - x0) / (f1 - f0), f1
            f1 = number(_gap(node, env | {name: x1}))
    except (Undefined, ArithmeticError):
        return None
    return env | {name: x1} if abs(f1) < mp.mpf(10) ** -25 else None
