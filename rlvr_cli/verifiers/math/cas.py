"""The few trees that need a computer algebra system: integrals, limits, infinite sums. Runs in a worker that can be killed.

sympy objects are built from this package's own tree, name by name; no text is ever given to sympy's parser, which uses ``eval``.

>>> from .reader import read
>>> same_value(read("\\\\int_0^1 x^2 dx"), read("1/3"))
True
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from rlvr_cli.verifiers.verdict import Completion, Verdict

from . import numeric
from .evaluate import scatter
from .reader import Node
from .tokens import Unreadable

_SAME_NAME = frozenset(
    "sin cos tan cot sec csc sinh cosh tanh coth sech csch exp floor".split()  # noqa: SIM905
)  # fmt: skip
_RENAMED = {
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arccot": "acot", "arcsec": "asec", "arccsc": "acsc",
    "arcsinh": "asinh", "arccosh": "acosh",
    "arctanh": "atanh", "ln": "log", "log": "log", "abs": "Abs", "ceil": "ceiling", "Re": "re", "Im": "im", "sgn": "sign",
    "sign": "sign", "arg": "arg", "max": "Max", "min": "Min",
}  # fmt: skip


def warm_up() -> None:
    """Load what sympy loads when it first integrates: seconds on a busy machine, and no part of a sample's deadline."""
    import sympy

    x = sympy.Symbol("x", positive=True)
    sympy.Integral(x**2, (x, 0, 1)).doit()
    sympy.Limit(sympy.sin(x) / x, x, 0).doit()
    sympy.Sum(1 / x**2, (x, 1, sympy.oo)).doit()


def judge(completion: Completion, row: dict[str, Any], **options: Any) -> Verdict:
    """The whole verdict with the algebra system switched on; for a worker of the pool."""
    from . import judge_here

    return judge_here(completion, row, same_value=same_value, **options)


def same_value(answer: Node, gold: Node, tolerance: Fraction = numeric.TOLERANCE) -> bool:
    """Whether two trees are equal, worked out by sympy and then compared at points to 30 digits."""
    import sympy

    a, g = (_without_steps(build(tree)) for tree in (answer, gold))
    names = a.free_symbols | g.free_symbols
    for place, _ in numeric.points(frozenset(map(str, names))):
        env = {s: sympy.Rational(place[str(s)].numerator, place[str(s)].denominator) for s in names}
        x, y = (sympy.N(tree.subs(env), 30) for tree in (a, g))
        if not (x.is_number and y.is_number) or x.has(sympy.nan, sympy.zoo) or y.has(sympy.nan, sympy.zoo):
            return False
        if (x.is_infinite or y.is_infinite) and x != y:
            return False
        if x != y and abs(x - y) > sympy.Float("1e-25") * max(1, abs(x), abs(y)):
            return False
    return True


def _without_steps(tree: Any) -> Any:
    """Carry out what is announced, keeping a symbol's name when sympy renames it."""
    return tree.doit()


def build(node: Node) -> Any:
    """The sympy object of a tree. Raises Unreadable where there is none."""
    import sympy

    kind, rest = node[0], node[1:]
    if kind == "num":
        return sympy.Rational(rest[0].numerator, rest[0].denominator)
    if kind == "sym":
        return sympy.Symbol(rest[0], positive=True)
    if kind == "const":
        return {"pi": sympy.pi, "e": sympy.E, "i": sympy.I, "inf": sympy.oo}[rest[0]]
    if kind in ("add", "mul"):
        return (sympy.Add if kind == "add" else sympy.Mul)(*map(build, rest[0]))
    if kind in ("inv", "fact", "percent", "deg", "group"):
        x = build(rest[0])
        return {
            "inv": lambda: 1 / x,
            "fact": lambda: sympy.factorial(x),
            "percent": lambda: x / 100,
            "deg": lambda: x * sympy.pi / 180,
            "group": lambda: x,
        }[kind]()
    if kind in ("pow", "root", "logb", "binom"):
        return _two(kind, build(rest[0]), build(rest[1]))
    if kind in ("sum", "prod", "int", "lim"):
        return _announced(kind, rest)
    if kind == "fn":
        return _function(rest[0], rest[1])
    if kind == "app":
        value = scatter(rest[0] + repr(rest[1]))
        return sympy.Rational(value.numerator, value.denominator)
    raise Unreadable(f"{kind} is nothing for the algebra system")


def _two(kind: str, x: Any, y: Any) -> Any:
    import sympy

    if kind == "pow":
        return sympy.Pow(x, y)
    if kind == "root":
        return sympy.Pow(y, 1 / x)
    return sympy.log(y) / sympy.log(x) if kind == "logb" else sympy.binomial(x, y)


def _announced(kind: str, rest: tuple) -> Any:
    """Sums, products, integrals and limits, not yet carried out."""
    import sympy

    if kind == "lim":
        return sympy.Limit(build(rest[2]), build(rest[0]), build(rest[1]))
    var = sympy.Symbol(rest[0], real=True) if kind == "int" else sympy.Symbol(rest[0], integer=True)
    body = build(rest[3]).subs(sympy.Symbol(rest[0], positive=True), var)
    if kind == "int":
        return (
            sympy.Integral(body, var) if rest[1] is None or rest[2] is None else sympy.Integral(body, (var, build(rest[1]), build(rest[2])))
        )
    return (sympy.Sum if kind == "sum" else sympy.Product)(body, (var, build(rest[1]), build(rest[2])))


def _function(name: str, args: tuple[Node, ...]) -> Any:
    import sympy

    name = name if name in _SAME_NAME else _RENAMED.get(name, "")
    if not name:
        raise Unreadable("a function the algebra system does not know")
    return getattr(sympy, name)(*map(build, args))
