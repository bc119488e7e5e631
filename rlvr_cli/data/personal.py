"""Patterns of personal data, each with the check that keeps ordinary numbers out.

>>> found("Write to ann@example.com or ann@firm.de, card 4111 1111 1111 1111, not 1234 5678 9012 3456.")
[('e-mail', 'ann@firm.de'), ('card number', '4111 1111 1111 1111')]
>>> found("The product of 12345678901 and 3 is 37037036703.")
[]
>>> masked("Call +49 151 23456789 now")
'Call <phone number> now'
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable

RESERVED = re.compile(r"(^|\.)(example\.(org|com|net)|[\w-]+\.(example|test|invalid|localhost))$", re.IGNORECASE)


def _luhn(text: str) -> bool:
    digits = [int(c) for c in text if c.isdigit()]
    doubled = [sum(divmod(2 * d, 10)) if i % 2 else d for i, d in enumerate(reversed(digits))]
    return 13 <= len(digits) <= 19 and digits[0] in (2, 3, 4, 5, 6) and sum(doubled) % 10 == 0 and len(set(digits)) > 1


def _iban(text: str) -> bool:
    plain = re.sub(r"\s", "", text).upper()
    turned = plain[4:] + plain[:4]
    return 15 <= len(plain) <= 34 and int("".join(str(int(c, 36)) for c in turned)) % 97 == 1


def _chinese_id(text: str) -> bool:
    weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    return "10X98765432"[sum(int(d) * w for d, w in zip(text[:17], weights, strict=True)) % 11] == text[17].upper()


def _mail(text: str) -> bool:
    return not RESERVED.search(text.rpartition("@")[2])


def _public_address(text: str) -> bool:
    try:
        return ipaddress.ip_address(text).is_global
    except ValueError:
        return False


def _social_security(text: str) -> bool:
    area, group, serial = text.split("-")
    return area not in ("000", "666") and area < "900" and group != "00" and serial != "0000"


PATTERNS: list[tuple[str, re.Pattern[str], Callable[[str], bool]]] = [
    ("e-mail", re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){0,8}\.[A-Za-z]{2,24}\b"), _mail),
    ("IBAN", re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?\b"), _iban),
    ("card number", re.compile(r"(?<![\d.])\d{4}([ -]?)\d{4}\1\d{4}\1\d{1,7}(?![\d.])"), _luhn),
    (
        "identity number",
        re.compile(r"(?<!\d)[1-9]\d{5}(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dXx](?!\d)"),
        _chinese_id,
    ),
    ("social security number", re.compile(r"(?<![\d-])\d{3}-\d{2}-\d{4}(?![\d-])"), _social_security),
    ("phone number", re.compile(r"(?<![\w+])\+\d{1,3}[ -]?(?:\(\d{1,4}\)[ -]?)?\d{2,4}(?:[ -]?\d{2,4}){2,4}(?!\d)"), lambda _: True),
    ("phone number", re.compile(r"(?<![\w.-])\(?\d{3}\)?[ -]\d{3}-\d{4}(?![\w-])"), lambda _: True),
    ("phone number", re.compile(r"(?<=电话|手机|联系)[^\d\n]{0,6}(?<!\d)1[3-9]\d{9}(?!\d)"), lambda _: True),
    ("network address", re.compile(r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])"), _public_address),
]


def found(text: str) -> list[tuple[str, str]]:
    """(kind, text) of every piece of personal data, in the order of the kinds; addresses reserved for examples are none."""
    return [(kind, match.group()) for kind, pattern, real in PATTERNS for match in pattern.finditer(text) if real(match.group())]


def masked(text: str) -> str:
    """The text with each piece of personal data replaced by its kind in angle brackets."""
    for kind, pattern, real in PATTERNS:
        text = pattern.sub(lambda m, kind=kind, real=real: f"<{kind}>" if real(m.group()) else m.group(), text)
    return text
