"""An answer that is the sum itself: ``37+48`` for 85 is equal as mathematics and worthless as an answer to "37+48=?".

Where the question is known and the gold is one plain number, an answer that is only numbers joined by + - x or a division
sign was not worked out, and neither is one that stands in the question with its operators. Paying it would teach a model
to copy the question. Without the question nothing can be said: ``3 \\cdot 4`` may be the form that was asked for.

>>> is_unworked("37+48", "85", "37+48=?"), is_unworked("48 + 37", "85", "37+48=?"), is_unworked("37+48", "85", None)
(True, True, False)
>>> is_unworked("37+48=37+48", "85", "37+48=?"), is_unworked("37 + 48 apples", "85", "37+48=?")
(True, True)
>>> is_unworked("3 \\times 10^5", "300000", "How far?"), is_unworked("2+3i", "2+3i", "Roots?")
(False, False)
>>> is_unworked("84/12", "7", "What is 84 / 12?"), is_unworked("S = 37+48", "85", "37+48=?"), is_unworked("37+48=85", "85", "37+48=?")
(True, True, False)
"""

from __future__ import annotations

import re

LONGEST = 400
_PLAIN = re.compile(r"\s*[-−]?\s*[\d,]*\.?\d+\s*%?\s*")
_NUMBER = r"\(?\s*[-−]?\s*\d[\d,]*(?:\.\d+)?\s*\)?"
_CHAIN = re.compile(rf"\s*\(*\s*{_NUMBER}(?:\s*(?:[-+−*×·⋅÷]|\\times|\\cdot|\\div)\s*{_NUMBER})+\s*\)*\s*")
_EQUALS = re.compile(r"=|≈|\\approx\b|\bequals?(?: to)?\b|\b(?:is|makes|gives)\b")
_UNIT = re.compile(r"(?<=[\d)])(?:\s+[^\W\d_]+)+\.?\s*$")
_BOX = re.compile(r"^\\boxed\{(.*)\}$", re.S)
_DRESS = re.compile(r"[\s$\\(){}\[\]]|times|cdot|left|right")
_OPERATOR = re.compile(r"(?<=\d)[-+−*/×·⋅÷]|times|cdot|div")


def is_unworked(answer: str, gold: str, prompt: str | None) -> bool:
    """Whether ``answer`` is arithmetic still to be done, for a known question whose gold is a plain number."""
    if not prompt or len(answer) > LONGEST or not _PLAIN.fullmatch(gold):
        return False
    answer = _last_side(_BOX.sub(r"\1", answer.strip(" $")))
    if _CHAIN.fullmatch(answer):
        return True
    return bool(_OPERATOR.search(answer)) and _bare(answer) in _bare(prompt[-20_000:])


def _last_side(answer: str) -> str:
    """What an equation ends on, without a unit: of "37+48 = 85" the 85, of "S = 37+48 apples" the sum."""
    return _UNIT.sub("", _EQUALS.split(answer)[-1])


def _bare(text: str) -> str:
    """Without spaces, brackets and dress, one sign for each operation."""
    text = text.replace("\\times", "*").replace("\\cdot", "*").replace("\\div", "/")
    return _DRESS.sub("", text).translate(str.maketrans({"×": "*", "·": "*", "⋅": "*", "÷": "/", "−": "-"}))
