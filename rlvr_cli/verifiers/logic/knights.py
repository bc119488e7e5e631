"""Knights and knaves, under whatever names: who always tells the truth, who always lies.

>>> state = {"names": ["Ann", "Bo"], "solution": [True, False]}
>>> judge_knights("Ann is a knight, and Bo is a knave.", state).score, judge_knights("Both are knights.", state).reason
(1.0, 'says nothing of Ann')
"""

from __future__ import annotations

import re
from typing import Any

from rlvr_cli.verifiers.verdict import Verdict

TERMS = {"knight": "knight", "knave": "knave"}


def judge_knights(answer: str, state: dict[str, Any]) -> Verdict:
    """Every inhabitant named once, as the solution has it; somebody called both is nobody."""
    names, solution = state["names"], state["solution"]
    terms = {**TERMS, **(state.get("knight_knave_terms") or {})}
    true, false = terms["knight"].lower(), terms["knave"].lower()
    said: list[str] = []
    for name, truthful in zip(names, solution, strict=True):
        pattern = (
            rf"\b{re.escape(name)}\b\W*(?:(?:is|was|=|:|must be)\W*)?(not\W+)?(?:an?\W+|the\W+)?({re.escape(true)}|{re.escape(false)})\b"
        )
        found = {(term.lower() == true) != bool(denied) for denied, term in re.findall(pattern, answer, re.I)}
        if not found:
            return Verdict(0.0, f"says nothing of {name}", answer[:200])
        if len(found) > 1:
            return Verdict(0.0, f"says two things of {name}", answer[:200])
        if found != {bool(truthful)}:
            return Verdict(0.0, f"{name} is a {true if truthful else false}", answer[:200])
        said.append(f"{name}: {true if truthful else false}")
    return Verdict(1.0, "every inhabitant is right", ", ".join(said))
