"""Formats that the ``jsonschema`` library reads too loosely or too strictly: times by RFC 3339 with leap seconds, mail by RFC 5321.

>>> is_time("23:59:60Z"), is_time("15:59:60-08:00"), is_time("22:59:60Z"), is_date_time("2024-02-30T00:00:00Z")
(True, True, False, False)
>>> is_email('"a b"@example.com'), is_email("te..st@example.com"), is_email("a@[127.0.0.1]")
(True, False, True)
"""

from __future__ import annotations

import datetime
import ipaddress
import re
from typing import Any

from jsonschema import FormatChecker

_TIME = re.compile(r"([01]\d|2[0-3]):([0-5]\d):([0-5]\d|60)(?:\.\d+)?(?:z|([+-])([01]\d|2[0-3]):([0-5]\d))", re.I | re.A)
_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)", re.A)
_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_LOCAL = re.compile(rf'{_ATOM}(?:\.{_ATOM})*|"(?:[ !#-\[\]-~]|\\[ -~])*"')
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_DOMAIN = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")


def is_time(text: Any) -> bool:
    """``full-time`` of RFC 3339; second 60 only where it is 23:59 UTC."""
    if not isinstance(text, str):
        return True
    found = _TIME.fullmatch(text)
    if found is None or found[3] != "60":
        return found is not None
    hour, minute, _, sign, hours, minutes = found.groups()
    offset = int(hours or 0) * 60 + int(minutes or 0)
    return (int(hour) * 60 + int(minute) + (offset if sign == "-" else -offset)) % 1440 == 1439


def is_date(text: Any) -> bool:
    """``full-date`` of RFC 3339: a day that exists."""
    if not isinstance(text, str):
        return True
    if not (found := _DATE.fullmatch(text)):
        return False
    try:
        datetime.date(*map(int, found.groups()))
    except ValueError:
        return False
    return True


def is_date_time(text: Any) -> bool:
    """``date-time`` of RFC 3339."""
    return not isinstance(text, str) or (len(text) > 10 and text[10] in "Tt" and is_date(text[:10]) and is_time(text[11:]))


def is_email(text: Any) -> bool:
    """``Mailbox`` of RFC 5321: a dotted or quoted local part, a domain or an address in brackets."""
    if not isinstance(text, str):
        return True
    local, at, domain = text.rpartition("@")
    if not at or not _LOCAL.fullmatch(local):
        return False
    return _is_literal(domain[1:-1]) if domain[:1] == "[" and domain[-1:] == "]" else bool(_DOMAIN.fullmatch(domain))


def _is_literal(address: str) -> bool:
    try:
        if address[:5].lower() == "ipv6:":
            ipaddress.IPv6Address(address[5:])
        else:
            ipaddress.IPv4Address(address)
    except ValueError:
        return False
    return True


def checker_of(library: FormatChecker) -> FormatChecker:
    """The library's checks of a draft, with these in place of its own where the draft has them."""
    own = {"time": is_time, "date": is_date, "date-time": is_date_time, "email": is_email}
    checker = FormatChecker(formats=())
    checker.checkers = {**library.checkers, **{name: (check, ()) for name, check in own.items() if name in library.checkers}}
    return checker
