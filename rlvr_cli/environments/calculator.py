"""A calculator: exact fractions over a small parser, never ``eval``.

>>> calculate("47 × 38"), calculate("(1/3 + 1/6) * 2"), calculate("2^10 / 3"), calculate("97//25")
('1786', '1', '1024/3', '3')
>>> calculate("__import__('os')")
Traceback (most recent call last):
...
ValueError: not arithmetic
"""

from __future__ import annotations

from fractions import Fraction

from rlvr_cli.data.generate.arithmetic import parse, value
from rlvr_cli.verifiers.arithmetic_text import Unreadable, evaluate, plain

MAX_CHARS = 200  # nested brackets and long chains end here
MAX_DIGITS = 60


def calculate(expression: str) -> str:
    """Work out an arithmetic expression exactly.

    Args:
        expression: Numbers with + - * / // ^ % and brackets, for example (3+4)*12

    Returns:
        The value, as a whole number, a decimal or a fraction.
    """
    text = str(expression).strip().rstrip("=")
    if not text or len(text) > MAX_CHARS:
        raise ValueError("not arithmetic" if not text else f"longer than {MAX_CHARS} characters")
    try:
        found = Fraction(value(parse(text))) if "//" in text else evaluate(plain(text))
    except (Unreadable, ValueError) as error:
        raise ValueError("not arithmetic") from error
    except ZeroDivisionError as error:
        raise ValueError("division by zero") from error
    return shown(found)


def shown(number: Fraction) -> str:
    """A whole number or an exact decimal where there is one, else the fraction.

    >>> shown(Fraction(5, 2)), shown(Fraction(-7, 3)), shown(Fraction(1, 8))
    ('2.5', '-7/3', '0.125')
    """
    if max(abs(number.numerator), number.denominator) >= 10**MAX_DIGITS:
        raise ValueError(f"more than {MAX_DIGITS} digits")
    if number.denominator == 1:
        return str(number.numerator)
    places = next((p for p in range(1, 13) if 10**p % number.denominator == 0), None)
    if places is None:
        return str(number)
    scaled = abs(number * 10**places).numerator
    sign = "-" if number < 0 else ""
    return f"{sign}{scaled // 10**places}.{scaled % 10**places:0{places}d}"
