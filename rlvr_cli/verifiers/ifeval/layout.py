"""Checks of form: bullets, highlights, sections, titles, JSON, beginnings and ends. Each says what is wrong, or "".

Lines are walked with ``find``, not with patterns such as ``<<.+>>``, which take quadratic time on ``<<<<<<``.

>>> bullets("* one\\n- two\\n\\n---", num_bullets=2), title("<<A day>>"), title("<< >>")
('', '', 'no <<title>>')
"""

from __future__ import annotations

import json
import re

CHOICES = ("My answer is yes.", "My answer is no.", "My answer is maybe.")
_HIGHLIGHT = re.compile(r"\*[^\n*]*\*")
_DOUBLE = re.compile(r"\*\*[^\n*]*\*\*")
_MARKERS = {"p.p.s": r"(?<![a-z])p\.\s?p\.\s?s", "p.s.": r"(?<![a-z])p\.\s?s\."}
_FENCE = re.compile(r"\A```(?:json)?", re.I)


def fewer(found: int, wanted: int, what: str) -> str:
    """ "" when there are at least so many."""
    return "" if found >= wanted else f"{found} {what}, not at least {wanted}"


def placeholders(answer: str, *, num_placeholders: int) -> str:
    """At least so many ``[placeholders]``, each on one line."""
    found = 0
    for line in answer.split("\n"):
        at = 0
        while (start := line.find("[", at)) >= 0 and (end := line.find("]", start)) >= 0:
            found, at = found + 1, end + 1
    return fewer(found, num_placeholders, "placeholders")


def postscript(answer: str, *, postscript_marker: str) -> str:
    """A postscript with the marker (``P.S.``, ``P.P.S``), spaces between its letters allowed."""
    marker = postscript_marker.strip().lower()
    pattern = _MARKERS.get(marker) or re.escape(marker)
    return "" if re.search(pattern, answer.lower()) else f"no postscript {postscript_marker.strip()}"


def bullets(answer: str, *, num_bullets: int) -> str:
    """Exactly so many lines that begin with ``* `` or ``-``; a rule (``---``, ``***``) is no bullet."""
    found = sum(1 for line in answer.split("\n") if _is_bullet(line.strip()))
    return "" if found == num_bullets else f"{found} bullets, not {num_bullets}"


def _is_bullet(line: str) -> bool:
    starred = line[:1] == "*" and line[1:2] not in ("", "*")
    return (starred or line[:1] == "-") and bool(line.strip("-* \t"))


def constrained_response(answer: str) -> str:
    """One of the three answers that were offered, and only one."""
    said = [choice for choice in CHOICES if choice in answer]
    return "" if len(said) == 1 else f"says {len(said)} of the three answers"


def highlights(answer: str, *, num_highlights: int) -> str:
    """At least so many ``*highlighted*`` or ``**highlighted**`` parts with something in them."""
    found = sum(bool(part.strip("*").strip()) for pattern in (_HIGHLIGHT, _DOUBLE) for part in pattern.findall(answer))
    return fewer(found, num_highlights, "highlighted parts")


def sections(answer: str, *, section_spliter: str, num_sections: int) -> str:
    """At least so many sections, each marked by the word and a number: ``SECTION 1``."""
    found = len(re.findall(re.escape(section_spliter.strip()) + r"\s?\d", answer))
    return fewer(found, num_sections, "sections")


def json_format(answer: str) -> str:
    """The whole answer is one JSON value, fenced or bare."""
    text = _FENCE.sub("", answer.strip()).removesuffix("```").strip()
    try:
        json.loads(text, parse_constant=_not_json)
    except (ValueError, RecursionError) as error:
        return f"not JSON: {str(error)[:60]}"
    return ""


def _not_json(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def title(answer: str) -> str:
    """A ``<<title>>`` on one line, with something in it."""
    for line in answer.split("\n"):
        start, end = line.find("<<"), line.rfind(">>")
        if 0 <= start < end and line[start:end].strip("<> \t"):
            return ""
    return "no <<title>>"


def two_responses(answer: str) -> str:
    """Two different answers, divided by ``******``; an empty part is allowed at either end only."""
    parts = [part.strip() for part in answer.split("******")]
    if any(not part for part in parts[1:-1]):
        return "an empty response"
    said = [part for part in parts if part]
    if len(said) != 2:
        return f"{len(said)} responses, not 2"
    return "" if said[0] != said[1] else "both responses are the same"


def repeat_prompt(answer: str, *, prompt_to_repeat: str) -> str:
    """The answer begins with the request, word for word; letter case does not count."""
    return "" if answer.strip().lower().startswith(prompt_to_repeat.strip().lower()) else "does not begin with the request"


def end_phrase(answer: str, *, end_phrase: str) -> str:
    """The answer ends with the phrase and nothing behind it; letter case and a closing quotation mark do not count."""
    return "" if answer.strip().strip('"').rstrip().lower().endswith(end_phrase.strip().lower()) else "does not end with the phrase"


def quotation(answer: str) -> str:
    """The whole answer stands in double quotation marks."""
    text = answer.strip()
    return "" if len(text) > 1 and text[0] == text[-1] == '"' else "not wrapped in double quotation marks"
