"""Key facts: what share of the facts that a good answer must hold does this one say? For medical and other long answers.

>>> row = {"facts": '["ibuprofen", ["400 mg", "400 milligrams"], "with food"]'}
>>> judge_facts("Take 400 mg of ibuprofen, never with alcohol.", row)
Verdict(score=0.6666666666666666, reason='2 of 3 facts; missing: with food', extracted='ibuprofen; 400 mg')
"""

from __future__ import annotations

import json
from typing import Any

from rlvr_cli.verifiers.facts.quantity import quantities, quantity, same_quantity
from rlvr_cli.verifiers.facts.short import SENTENCE, denied_before
from rlvr_cli.verifiers.facts.text import answer_text, position, same_words
from rlvr_cli.verifiers.verdict import Completion, Verdict, text_of


def judge_facts(completion: Completion, row: dict[str, Any], *, tolerance: float = 1e-6) -> Verdict:
    """Share of ``facts`` (texts, or lists of ways to say one) said and not denied; None when the row lists none."""
    facts = facts_of(row.get("facts"))
    if not facts:
        return Verdict(None, "the row lists no facts")
    answer = answer_text(text_of(completion))
    if not answer:
        return Verdict(0.0, "no answer")
    hays = [same_words(sentence) for sentence in SENTENCE.split(answer)]
    said = [next((way for way in ways if says(way, answer, hays, tolerance)), None) for ways in facts]
    missing = [ways[0] for ways, way in zip(facts, said, strict=True) if way is None]
    found = [way for way in said if way is not None]
    reason = f"{len(found)} of {len(facts)} facts" + (f"; missing: {', '.join(missing[:5])}" if missing else "")
    return Verdict(len(found) / len(facts), reason, "; ".join(found) or None)


def facts_of(column: Any) -> list[list[str]]:
    """The facts, each a list of ways to say it."""
    if isinstance(column, str):
        try:
            column = json.loads(column)
        except ValueError:
            column = [column]
    rows = [[item] if isinstance(item, str) else list(item or []) for item in column or []]
    return [[way for way in ways if way] for ways in rows if any(ways)]


def says(way: str, answer: str, hays: list[list[str]], tolerance: float) -> bool:
    """Whether a sentence of the answer says it in these words, undenied, or gives the same quantity."""
    needle = same_words(way)
    if len(SENTENCE.split(way)) > 1:
        hays = [[word for hay in hays for word in hay]]
    for hay in hays:
        place = position(needle, hay)
        if place >= 0 and not denied_before(hay, place):
            return True
    wanted = quantity(way)
    if wanted is None or wanted.base is None:
        return False
    return any(q.base == wanted.base and same_quantity(q, wanted, tolerance) for q in quantities(answer))
