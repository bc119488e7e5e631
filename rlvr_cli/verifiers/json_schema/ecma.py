r"""JavaScript's regular expressions (ECMA 262), which JSON Schema means, in the ``regex`` library's syntax.

Where the two differ: in JavaScript ``\d`` and ``\w`` are ASCII, ``\s`` is its own set, ``$`` is the end and nothing
before it, ``\cA`` is a control character, ``\/`` an escaped slash, and ``\Z``, ``\a`` are not escapes at all.

>>> matches(r"^\d$", "४"), matches(r"^\d$", "4"), matches("^x$", "x\n"), matches(r"^\cC$", "\x03"), matches(r"\p{Letter}", "é")
(False, True, False, True, True)
"""

from __future__ import annotations

from functools import lru_cache

import regex

SPACE = r"\t\n\v\f\r\x20\xa0\ufeff\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
CLASSES = {"d": "0-9", "w": "A-Za-z0-9_", "s": SPACE}
DEADLINE_S = 2.0


class BadPattern(Exception):
    """The schema's pattern is no regular expression, or ran too long: could not judge."""


def matches(pattern: str, text: str) -> bool:
    """Whether ``pattern`` occurs in ``text``. Raises BadPattern for an illegal one and for one that runs over ``DEADLINE_S``."""
    try:
        return compiled(pattern).search(text, timeout=DEADLINE_S) is not None
    except TimeoutError as error:
        raise BadPattern(f"the pattern {pattern!r} ran for {DEADLINE_S:g} s") from error


@lru_cache(maxsize=512)
def compiled(pattern: str):
    """The pattern, translated and compiled; what cannot be translated is compiled as it is."""
    for text in (translate(pattern), pattern):
        try:
            return regex.compile(text, regex.V0)
        except regex.error as error:
            last = error
    raise BadPattern(f"the pattern {pattern!r} is not a regular expression: {last}")


def translate(pattern: str) -> str:
    """One pass over the pattern; only what differs is rewritten."""
    out, i, in_class = [], 0, False
    while i < len(pattern):
        char = pattern[i]
        if char == "\\" and i + 1 < len(pattern):
            piece, used = _escape(pattern, i, in_class)
            out.append(piece)
            i += used
            continue
        if char == "[" and not in_class:
            in_class = True
        elif char == "]":
            in_class = False
        out.append(r"(?!\s|\S)" if char == "$" and not in_class else char)
        i += 1
    return "".join(out)


def _escape(pattern: str, i: int, in_class: bool) -> tuple[str, int]:
    """(translation, characters used) of the escape at ``i``."""
    letter = pattern[i + 1]
    if letter in CLASSES:
        return (CLASSES[letter] if in_class else f"[{CLASSES[letter]}]"), 2
    if letter in "DWS":
        return (f"\\{letter}" if in_class else f"[^{CLASSES[letter.lower()]}]"), 2
    if letter == "c" and i + 2 < len(pattern) and pattern[i + 2].isalpha():
        return f"\\x{ord(pattern[i + 2].upper()) - 64:02x}", 3
    if letter in "/-" and not in_class:
        return letter if letter == "/" else r"\-", 2
    return pattern[i : i + 2], 2
