"""The JSON value that an answer gives: the last complete one outside the thinking, in a fence or bare.

A fence that says json, or holds nothing but one value, comes before text around it; otherwise the whole answer, if it is
one value; otherwise the last object or array in the prose, or a scalar alone on the last line. Numbers, strings and
literals in the middle of prose are words, not an answer.

>>> last_value('First {"a": 1}, no: ```json\\n{"a": 2}\\n```').value
{'a': 2}
>>> last_value('The set [1, 2] and {"a": [3]} at last.').text
'{"a": [3]}'
>>> last_value("It is 41 years.") is None
True
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from rlvr_cli.verifiers.math.thinking import visible

LONGEST = 1_000_000
DEEPEST = 500
_FENCE = re.compile(r"(?m)^[ \t]*(```+|~~~+)[ \t]*([\w+-]*)[^\n]*\n(.*?)(?:^[ \t]*\1[ \t]*$|\Z)", re.S)
_OPENS = re.compile(r"[{\[]")


@dataclass(frozen=True)
class Found:
    """A JSON value and the text that it was read from."""

    value: Any
    text: str


def last_value(completion: str) -> Found | None:
    """The answer's value, or None where no complete legal value stands."""
    text = visible_raw(completion)
    if text is None:
        return None
    whole = read(text)
    if whole:
        return whole
    fenced = [(m[2].lower(), m[3]) for m in _FENCE.finditer(text)]
    for _, body in reversed([f for f in fenced if f[0] in ("json", "json5", "jsonc", "")]):
        found = read(body) or _last_in_prose(body)
        if found:
            return found
    return _last_in_prose(text) or _last_line(text)


def visible_raw(completion: str) -> str | None:
    """What stands outside the thinking, byte for byte: look-alike characters must stay inside JSON strings."""
    if visible(completion) is None:
        return None
    end = completion.rfind("</think>")
    return completion[end + len("</think>") if end >= 0 else 0 :][-LONGEST:]


def read(text: str) -> Found | None:
    """The text as one legal JSON value (RFC 8259: no NaN, no Infinity, no trailing comma); None otherwise."""
    stripped = text.strip()
    try:
        return Found(json.loads(stripped, parse_constant=_refuse), stripped)
    except (ValueError, RecursionError):
        return None


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _last_in_prose(text: str) -> Found | None:
    """The last object or array that is complete. Scanned forwards, skipping what was read, so that the time stays linear."""
    decoder, found, place, tries = json.JSONDecoder(parse_constant=_refuse), None, 0, 0
    while (match := _OPENS.search(text, place)) and tries < 2_000:
        tries += 1
        try:
            value, place = decoder.raw_decode(text, match.start())
            found = Found(value, text[match.start() : place])
        except (ValueError, RecursionError):
            place = match.end()
    return found


def _last_line(text: str) -> Found | None:
    lines = text.strip().splitlines()
    return read(lines[-1]) if lines else None
