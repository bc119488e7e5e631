"""Knights and knaves, under whatever names: who always tells the truth, who always lies.

>>> state = {"names": ["Ann", "Bo"], "solution": [True, False]}
>>> judge_knights("Ann is a knight, and Bo is a knave.", state).score, judge_knights("Both are knights.", state).reason
(1.0, 'says nothing of Ann')
>>> judge_knights("Knights: Ann. Knaves: Bo", state).score, judge_knights("Ann and Bo are knaves", state).reason
(1.0, 'Ann is a knight')
"""

from __future__ import annotations

import re
from typing import Any

from rlvr_cli.verifiers.verdict import Verdict

_SUPPOSED = re.compile(r"\b(?:suppos\w+|assum\w+|if|imagine|says?|said|claims?)\b", re.I)
TERMS = {"knight": "knight", "knave": "knave"}


def judge_knights(answer: str, state: dict[str, Any]) -> Verdict:
    """Every inhabitant named once, as the solution has it; somebody called both is nobody."""
    names, solution = state["names"], state["solution"]
    terms = {**TERMS, **(state.get("knight_knave_terms") or {})}
    true, false = terms["knight"].lower(), terms["knave"].lower()
    said: list[str] = []
    answer = one_by_one(answer, names, (true, false))
    certain = "\n".join(s for s in re.split(r"[.;!?\n]", answer) if not _SUPPOSED.search(s))
    for name, truthful in zip(names, solution, strict=True):
        pattern = (
            rf"\b{re.escape(name)}\b\W*(?:(?:is|was|=|:|must be)\W*)?(not\W+)?(?:an?\W+|the\W+)?({re.escape(true)}|{re.escape(false)})\b"
            rf"(\s+or\s+(?:an?\s+)?(?:{re.escape(true)}|{re.escape(false)})\b)?"
        )
        found = _found(pattern, answer, true)
        if len(found) > 1:  # what was only supposed, or said by an inhabitant, does not count
            found = _found(pattern, certain, true) or found
        if not found:
            return Verdict(0.0, f"says nothing of {name}", answer[:200])
        if len(found) > 1:
            return Verdict(0.0, f"says two things of {name}", answer[:200])
        if found != {bool(truthful)}:
            return Verdict(0.0, f"{name} is a {true if truthful else false}", answer[:200])
        said.append(f"{name}: {true if truthful else false}")
    return Verdict(1.0, "every inhabitant is right", ", ".join(said))


def one_by_one(answer: str, names: list[str], terms: tuple[str, str]) -> str:
    """``Ann and Bo are knights`` and ``Knights: Ann, Bo`` as a sentence for each."""
    who, term = "|".join(map(re.escape, names)), "|".join(map(re.escape, terms))
    some = rf"\b(?:{who})\b(?:\s*(?:,|&|\band\b)\s*(?:and\s+)?(?:{who})\b){{0,20}}"

    def each(found: re.Match[str]) -> str:
        denied = "not " if found.groupdict().get("denied") else ""
        return "; ".join(f"{name} is {denied}a {found['term']}" for name in re.findall(rf"\b(?:{who})\b", found["some"], re.I))

    answer = re.sub(
        rf"(?P<some>{some})\s+(?:are|were)\s+(?:both\s+|all\s+)?(?P<denied>not\s+)?(?P<term>{term})(?:e?s)\b", each, answer, flags=re.I
    )
    return re.sub(
        rf"\b(?P<term>{term})(?:e?s)?[*\s]*(?:[:=]|\bare\b)[*\s\[]*(?P<some>{some})(?!\W*(?:is\b|[:=]))", each, answer, flags=re.I
    )


def _found(pattern: str, text: str, true: str) -> set[bool]:
    """Whether somebody is called truthful, each way it is said; a choice of both is both."""
    said = re.findall(pattern, text, re.I)
    return {(term.lower() == true) != bool(denied) for denied, term, _ in said} | (
        {True, False} if any(both for *_, both in said) else set()
    )
