"""Faithfulness: does what the answer asserts stand in the passages it was given?

Three kinds of things can be checked without understanding: quotations (word for word), numbers (as quantities), and names
(runs of capitalised words, all of whose words must occur). The score is the supported share; an answer that asserts none
of them is not faithful, it is empty.

>>> row = {"passages": ["Marie Curie won the Nobel Prize in 1903 and again in 1911."]}
>>> judge_faithful("Marie Curie won it in 1903.", row).score
1.0
>>> judge_faithful("Pierre Curie won it in 1904.", row).reason
'0 of 2 supported; not in the passages: 1904, Pierre Curie'
"""

from __future__ import annotations

import json
import re
from typing import Any

from rlvr_cli.verifiers.facts.quantity import quantities, same_quantity
from rlvr_cli.verifiers.facts.text import answer_text, position, words
from rlvr_cli.verifiers.verdict import Completion, Verdict, text_of

_QUOTE = re.compile(r"[\"“]([^\"”]{3,400})[\"”]|「([^」]{2,400})」")
_NAME = re.compile(r"\b[A-Z][\w'’-]*(?:\s+(?:of|de|van|von|the|del|la)?\s*[A-Z][\w'’-]*)*")
_SENTENCE_START = re.compile(r"(?:^|[.!?。]\s+|\n\s*)$")
COMMON = {
    "the",
    "a",
    "an",
    "it",
    "he",
    "she",
    "they",
    "i",
    "we",
    "this",
    "that",
    "these",
    "in",
    "on",
    "at",
    "yes",
    "no",
    "according",
    "based",
    "however",
}


def judge_faithful(completion: Completion, row: dict[str, Any], *, tolerance: float = 1e-6) -> Verdict:
    """Supported share of the answer's quotations, numbers and names; the unsupported are listed. None without passages."""
    passages = passages_of(row.get("passages"))
    if not passages:
        return Verdict(None, "the row has no passages")
    answer = answer_text(text_of(completion))
    if not answer:
        return Verdict(0.0, "no answer")
    source = "\n".join(passages)
    hay, known = words(source), quantities(source)
    claims = [(quote, position(words(quote), hay) >= 0) for quote in quotes(answer)]
    claims += [(q.text, any(same_quantity(q, k, tolerance) for k in known)) for q in quantities(_QUOTE.sub(" ", answer))]
    present = set(hay)
    claims += [(name, set(words(name)) <= present) for name in names(_QUOTE.sub(" ", answer))]
    if not claims:
        return Verdict(0.0, "asserts nothing that can be looked up", answer[:200])
    missing = [text[:80] for text, held in claims if not held]
    reason = f"{len(claims) - len(missing)} of {len(claims)} supported"
    return Verdict(
        1 - len(missing) / len(claims), reason + (f"; not in the passages: {', '.join(missing[:8])}" if missing else ""), answer[:200]
    )


def passages_of(column: Any) -> list[str]:
    """The passages: a list, JSON text of a list, or one text."""
    if isinstance(column, str):
        try:
            column = json.loads(column) if column.lstrip().startswith("[") else [column]
        except ValueError:
            column = [column]
    return [str(item) for item in column or [] if item]


def quotes(answer: str) -> list[str]:
    """What stands between quotation marks."""
    return [a or b for a, b in _QUOTE.findall(answer)]


def names(answer: str) -> list[str]:
    """Runs of capitalised words; a single one that only begins a sentence is no name."""
    found = []
    for match in _NAME.finditer(answer):
        name = match[0].strip()
        starts = bool(_SENTENCE_START.search(answer[: match.start()]))
        if starts and " " in name and name.split()[0].lower() in COMMON:
            name, starts = name.split(" ", 1)[1], False
        if not (starts and " " not in name) and name.lower() not in COMMON:
            found.append(name)
    return found
