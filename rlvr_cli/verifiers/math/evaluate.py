"""The value of a tree: an exact fraction while that lasts, else 50 digits; symbols take fixed pseudo-random values.

Every step has a price and the sizes are bounded before anything is computed, so a tower of powers raises instead of hanging.

>>> from .reader import read
>>> value(read("2^{10} - \\\\frac{1}{2}"))
Fraction(2047, 2)
>>> value(read("9^{9^{9^9}}"))
Traceback (most recent call last):
    ...
rlvr_cli.verifiers.math.evaluate.TooBig: a power too large to compute
"""

from __future__ import annotations

import hashlib
from fractions import Fraction
from math import comb, factorial, gcd, lcm
from typing import Any

from mpmath.ctx_mp import MPContext

from .reader import Node
from .tokens import Unreadable

DIGITS = 50
MAX_BITS = 120_000
MAX_STEPS = 60_000

mp = MPContext()
mp.dps = DIGITS
EPS = mp.mpf(10) ** -36
Value = Any  # Fraction, mp.mpf or mp.mpc


class TooBig(ArithmeticError):
    """A size or a number of steps beyond what is computed here."""


class Undefined(ArithmeticError):
    """Division by zero, the logarithm of zero and the like."""


def value(node: Node, env: dict[str, Value] | None = None, *, branch: int = 1, log_base: int = 0, radians: bool = False) -> Value:
    """The value of an expression. ``branch`` picks a side of plus-minus, ``log_base`` what a bare log means (0: natural).

    Raises TooBig, Undefined, or Unreadable for a tree that is no expression.
    """
    return _Evaluation(env or {}, branch, log_base, radians).of(node)


def number(x: Value) -> Value:
    """The value as a multi-precision number."""
    if isinstance(x, list):
        raise Unreadable("a matrix where a number should be")
    if isinstance(x, Fraction):
        if x.numerator.bit_length() > 4 * MAX_BITS or x.denominator.bit_length() > 4 * MAX_BITS:
            raise TooBig("a number too large to compute")
        return mp.mpf(x.numerator) / x.denominator
    return x


def is_real(x: Value) -> bool:
    return isinstance(x, Fraction) or not isinstance(x, mp.mpc) or abs(x.imag) <= EPS * max(1, abs(x.real))


def close(a: Value, b: Value) -> bool:
    """Equal: exactly as fractions, to 36 digits otherwise."""
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return a == b
    a, b = number(a), number(b)
    if mp.isinf(a) or mp.isinf(b):
        return bool(a == b)
    gap, size = abs(a - b), max(abs(a), abs(b))
    return bool(gap <= EPS * size or (gap < EPS and size < EPS))


class NeedsCas(Exception):
    """The tree holds an integral, a limit or an infinite sum: work for ``cas``, in a worker that can be killed."""


class _Evaluation:
    """One evaluation with its budget of steps."""

    def __init__(self, env: dict[str, Value], branch: int, log_base: int, radians: bool):
        self.env, self.branch, self.log_base = env, branch, log_base
        self.degree = mp.pi / 180 if radians else Fraction(1)
        self.steps = 0

    def of(self, node: Node) -> Value:
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise TooBig("too many steps")
        handler = getattr(self, "_" + node[0], None)
        if handler is None:
            raise Unreadable(f"{node[0]} is no number")
        try:
            return handler(*node[1:])
        except TypeError:
            raise Unreadable(f"{node[0]} of a matrix") from None
        except (ZeroDivisionError, OverflowError, ValueError) as error:
            if isinstance(error, Unreadable):
                raise
            raise Undefined(str(error)[:60]) from None

    def _num(self, x: Fraction, _decimals: int | None) -> Value:
        return x

    def _group(self, inner: Node) -> Value:
        return self.of(inner)

    def _sym(self, name: str) -> Value:
        if name not in self.env:
            raise Unreadable(f"symbol {name!r} has no value")
        return self.env[name]

    def _const(self, name: str) -> Value:
        return {"pi": mp.pi, "e": mp.e, "i": mp.j, "inf": mp.inf}[name] * 1

    def _add(self, terms: tuple[Node, ...]) -> Value:
        total: Value = Fraction(0)
        for term in terms:
            total = _bounded(_plus(total, self.of(term)))
        return total

    def _mul(self, factors: tuple[Node, ...]) -> Value:
        product: Value = Fraction(1)
        for factor in factors:
            product = _bounded(_times(product, self.of(factor)))
        return product

    def _mat(self, rows: tuple[tuple[Node, ...], ...]) -> Value:
        return [[self.of(cell) for cell in row] for row in rows]

    def _inv(self, a: Node) -> Value:
        x = self.of(a)
        if x == 0:
            raise Undefined("division by zero")
        return 1 / x

    def _pm(self, sign: int, a: Node) -> Value:
        x = self.of(a)
        return x if sign * self.branch > 0 else -x

    def _percent(self, a: Node) -> Value:
        return self.of(a) / 100

    def _deg(self, a: Node) -> Value:
        return _times(self.of(a), self.degree)

    def _pow(self, a: Node, b: Node) -> Value:
        return power(self.of(a), self.of(b))

    def _root(self, n: Node, a: Node) -> Value:
        degree = self.of(n)
        if degree == 0:
            raise Undefined("a root of degree zero")
        return power(self.of(a), 1 / degree)

    def _fact(self, a: Node) -> Value:
        n = self.of(a)
        if isinstance(n, Fraction) and n.denominator == 1:
            if n < 0:
                raise Undefined("factorial of a negative number")
            if n > 8000:
                raise TooBig("a factorial too large to compute")
            return Fraction(factorial(int(n)))
        return self._gamma(n)

    def _gamma(self, n: Value) -> Value:
        x = number(n)
        if abs(x) > 10**6:
            raise TooBig("a factorial too large to compute")
        return mp.gamma(x + 1)

    def _binom(self, a: Node, b: Node) -> Value:
        n, k = self.of(a), self.of(b)
        if isinstance(n, Fraction) and isinstance(k, Fraction) and n.denominator == k.denominator == 1 and n >= 0:
            if k < 0 or k > n:
                return Fraction(0)
            if n > 20_000:
                raise TooBig("a binomial too large to compute")
            return Fraction(comb(int(n), int(k)))
        return self._gamma(n) / (self._gamma(k) * self._gamma(n - k))

    def _base(self, digits: str, base: int) -> Value:
        if not 2 <= base <= 36 or any(int(d) >= base for d in digits):
            raise Unreadable("a digit outside its base")
        return Fraction(int(digits, base))

    def _logb(self, base: Node, a: Node) -> Value:
        x, b = self.of(a), self.of(base)
        if isinstance(x, Fraction) and isinstance(b, Fraction) and b > 1 and x > 0 and x.denominator == b.denominator == 1:
            k, rest = 0, int(x)
            while rest % int(b) == 0 and k < 5000:
                rest, k = rest // int(b), k + 1
            if rest == 1:
                return Fraction(k)
        return _log(x) / _log(b)

    def _sum(self, var: str, low: Node, high: Node, body: Node) -> Value:
        total: Value = Fraction(0)
        for term in self._terms(var, low, high, body):
            total = _bounded(_plus(total, term))
        return total

    def _prod(self, var: str, low: Node, high: Node, body: Node) -> Value:
        product: Value = Fraction(1)
        for term in self._terms(var, low, high, body):
            product = _bounded(_times(product, term))
        return product

    def _terms(self, var: str, low: Node, high: Node, body: Node):
        if high == ("const", "inf"):
            raise NeedsCas("an infinite sum")
        first, last = self.of(low), self.of(high)
        if not (isinstance(first, Fraction) and isinstance(last, Fraction)):
            raise Unreadable("a sum without finite bounds")
        if last - first > 5000:
            raise TooBig("a sum too long to compute")
        outer = self.env
        for k in range(int(first), int(last) + 1):
            self.env = outer | {var: Fraction(k)}
            yield self.of(body)
        self.env = outer

    def _int(self, *_: Any) -> Value:
        raise NeedsCas("an integral")

    def _lim(self, *_: Any) -> Value:
        raise NeedsCas("a limit")

    def _app(self, name: str, args: tuple[Node, ...]) -> Value:
        """An unknown function: a pseudo-random value fixed by its name and the values of its arguments."""
        key = name
        for arg in args:
            if arg[0] in ("text", "sym", "seq", "mul") and name in ("angle", "vec", "overline", "triangle", "hat", "bar", "tilde"):
                key += repr(arg)
            else:
                key += "|" + _key(self.of(arg))
        return scatter(key)

    def _fn(self, name: str, args: tuple[Node, ...]) -> Value:
        if name == "det":
            return determinant([[self.of(cell) for cell in row] for row in args[0][1]])
        if name in TRIGONOMETRIC:
            outer, self.degree = self.degree, mp.pi / 180
            x = number(self.of(args[0]))
            self.degree = outer
            if abs(x) > 10**12:
                raise TooBig("an angle too large to compute")
            return _real_if_so(_trigonometric(name, x))
        return self._plain_function(name, [self.of(arg) for arg in args])

    def _plain_function(self, name: str, args: list[Value]) -> Value:
        if name in ("max", "min"):
            return (max if name == "max" else min)(args, key=number)
        if name in ("gcd", "lcm"):
            return Fraction((gcd if name == "gcd" else lcm)(*(int(a) for a in args)))
        if name == "mod" and len(args) == 2 and all(isinstance(arg, Fraction) for arg in args):
            return args[0] % args[1]
        if len(args) != 1:
            raise Unreadable(f"{name} of {len(args)} arguments")
        x = args[0]
        if name == "abs":
            return abs(x)
        if name in ("floor", "ceil"):
            return Fraction(
                int((mp.floor if name == "floor" else mp.ceil)(number(x)))
                if not isinstance(x, Fraction)
                else (x.__floor__() if name == "floor" else x.__ceil__())
            )
        if name in ("ln", "log"):
            return _log(x) / (_log(Fraction(self.log_base)) if name == "log" and self.log_base else 1)
        if name == "exp":
            return power(mp.e * 1, x)
        if name in ("arcsin", "arccos", "arctan", "arccot", "arcsec", "arccsc"):
            return _real_if_so(_inverse(name, number(x)))
        if name in ("conj", "Re", "Im", "arg", "sgn", "sign", "cis"):
            return _complex_part(name, number(x))
        if name in _HYPERBOLIC:
            if abs(number(x)) > 10**6:
                raise TooBig("too large to compute")
            return _real_if_so(_HYPERBOLIC[name](number(x)))
        raise Unreadable(f"unknown function {name!r}")


_HYPERBOLIC = {
    "sinh": mp.sinh, "cosh": mp.cosh, "tanh": mp.tanh, "coth": mp.coth, "sech": mp.sech, "csch": mp.csch,
    "arcsinh": mp.asinh, "arccosh": mp.acosh, "arctanh": mp.atanh,
}  # fmt: skip
TRIGONOMETRIC = frozenset(("sin", "cos", "tan", "cot", "sec", "csc"))


def _trigonometric(name: str, x: Value) -> Value:
    s, c = mp.sin(x), mp.cos(x)
    low = {"sin": 1, "cos": 1, "tan": c, "cot": s, "sec": c, "csc": s}[name]
    if abs(low) < EPS:
        raise Undefined(f"{name} has a pole here")
    return {"sin": s, "cos": c, "tan": s, "cot": c, "sec": 1, "csc": 1}[name] / low


def _inverse(name: str, x: Value) -> Value:
    if name in ("arcsin", "arccos", "arctan"):
        return {"arcsin": mp.asin, "arccos": mp.acos, "arctan": mp.atan}[name](x)
    if x == 0 and name != "arccot":
        raise Undefined(f"{name} of zero")
    return mp.pi / 2 - mp.atan(x) if name == "arccot" else mp.acos(1 / x) if name == "arcsec" else mp.asin(1 / x)


def _complex_part(name: str, x: Value) -> Value:
    if name == "cis":
        return mp.expj(x)
    return {"conj": mp.conj, "Re": mp.re, "Im": mp.im, "arg": mp.arg, "sgn": mp.sign, "sign": mp.sign}[name](x)


def _plus(a: Value, b: Value) -> Value:
    if isinstance(a, list) or isinstance(b, list):
        return matrix_sum(a, b)
    return a + b if isinstance(a, Fraction) == isinstance(b, Fraction) else number(a) + number(b)


def _times(a: Value, b: Value) -> Value:
    if isinstance(a, list) or isinstance(b, list):
        return matrix_product(a, b)
    return a * b if isinstance(a, Fraction) == isinstance(b, Fraction) else number(a) * number(b)


def minus(a: Value, b: Value) -> Value:
    """``a - b`` of whatever kinds of number."""
    if isinstance(a, list) or isinstance(b, list):
        raise Unreadable("a matrix where a number should be")
    return a - b if isinstance(a, Fraction) and isinstance(b, Fraction) else number(a) - number(b)


def _log(x: Value) -> Value:
    if x == 0:
        raise Undefined("logarithm of zero")
    return mp.log(number(x))


def power(a: Value, b: Value) -> Value:
    """``a ** b``, exact where it can be; roots of odd degree of negative numbers are real."""
    if isinstance(b, Fraction) and b.denominator == 1 and isinstance(a, Fraction):
        return _whole_power(a, int(b))
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        exact = _exact_root(a, b)
        if exact is not None:
            return exact
    if isinstance(b, Fraction) and b.denominator % 2 and b.denominator < 1000 and is_real(a) and mp.re(number(a)) < 0 and b.denominator > 1:
        return (-1) ** (b.numerator % 2) * power(-mp.re(number(a)), b)
    x, y = number(a), number(b)
    if x == 0:
        if mp.re(y) <= 0:
            raise Undefined("zero to a power that is not positive")
        return Fraction(0)
    if abs(mp.re(y) * mp.log(abs(x))) > 10**9 or abs(y) > 10**12:
        raise TooBig("a power too large to compute")
    return _real_if_so(mp.power(x, y))


def _whole_power(a: Fraction, n: int) -> Value:
    if a == 0 and n <= 0:
        raise Undefined("zero to the power zero" if n == 0 else "division by zero")
    size = max(a.numerator.bit_length(), a.denominator.bit_length())
    if abs(a) != 1 and a != 0 and (size - 1 or 1) * abs(n) > MAX_BITS:
        raise TooBig("a power too large to compute")
    if abs(a) == 1:
        return Fraction(-1 if a < 0 and n % 2 else 1)
    return a**n


def _exact_root(a: Fraction, b: Fraction) -> Fraction | None:
    """``8 ** (2/3)`` as a fraction when it is one."""
    q = b.denominator
    if (a < 0 and q % 2 == 0) or q > 64 or abs(b.numerator) > 4096:
        return None
    sign = -1 if a < 0 and b.numerator % 2 else 1
    top, low = _integer_root(abs(a.numerator), q), _integer_root(a.denominator, q)
    if top is None or low is None or (top == 0 and b < 0):
        return None
    return sign * _whole_power(Fraction(top, low), b.numerator)


def _integer_root(n: int, q: int) -> int | None:
    if n < 2:
        return n
    if n.bit_length() > 4000:
        return None
    guess = 1 << -(-n.bit_length() // q)
    while True:
        better = ((q - 1) * guess + n // guess ** (q - 1)) // q
        if better >= guess:
            return guess if guess**q == n else None
        guess = better


def _bounded(x: Value) -> Value:
    if isinstance(x, Fraction) and max(x.numerator.bit_length(), x.denominator.bit_length()) > 4 * MAX_BITS:
        raise TooBig("a number too large to compute")
    return x


def _real_if_so(x: Value) -> Value:
    return x.real if isinstance(x, mp.mpc) and abs(x.imag) <= EPS * max(1, abs(x.real)) else x


def scatter(key: str) -> Fraction:
    """A fixed pseudo-random fraction for a name."""
    digest = int.from_bytes(hashlib.blake2b(key.encode(), digest_size=6).digest(), "big")
    return Fraction(digest % 9973 + 1, 7 + digest // 9973 % 89)


def _key(x: Value) -> str:
    if isinstance(x, Fraction):
        return str(x) if x.denominator.bit_length() + x.numerator.bit_length() < 10_000 else hex(hash(x))
    return mp.nstr(x, 25)


def matrix_sum(a: Value, b: Value) -> Value:
    if not isinstance(a, list) or not isinstance(b, list):
        if a == 0 and isinstance(a, Fraction):  # the empty start of a sum
            return b
        raise Unreadable("a matrix plus a number")
    if len(a) != len(b) or len(a[0]) != len(b[0]):
        raise Unreadable("matrices of different shape")
    return [[_plus(x, y) for x, y in zip(r, s, strict=True)] for r, s in zip(a, b, strict=True)]


def matrix_product(a: Value, b: Value) -> Value:
    if not isinstance(a, list) or not isinstance(b, list):
        rows, factor = (a, b) if isinstance(a, list) else (b, a)
        return [[_times(x, factor) for x in row] for row in rows]
    if len(a[0]) != len(b) or len(a) * len(b) * len(b[0]) > 5000:
        raise Unreadable("matrices that do not multiply")
    columns = list(zip(*b, strict=True))
    return [[_dot(row, column) for column in columns] for row in a]


def _dot(row: list, column: tuple) -> Value:
    total: Value = Fraction(0)
    for x, y in zip(row, column, strict=True):
        total = _plus(total, _times(x, y))
    return total


def determinant(rows: list[list[Value]]) -> Value:
    if len(rows) != len(rows[0]) or len(rows) > 6:
        raise Unreadable("no determinant")
    if len(rows) == 1:
        return rows[0][0]
    total: Value = Fraction(0)
    for k, x in enumerate(rows[0]):
        minor = [row[:k] + row[k + 1 :] for row in rows[1:]]
        total = _plus(total, _times(_times(Fraction((-1) ** k), x), determinant(minor)))
    return total
