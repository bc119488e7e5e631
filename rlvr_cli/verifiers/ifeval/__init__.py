"""Instruction following: the 25 instructions of IFEval (Zhou et al. 2023, arXiv:2311.07911), each checked by a program.

A row names its instructions and gives each its parameters; the published layout, as objects or as JSON text:

>>> row = {"instruction_id_list": ["punctuation:no_comma", "length_constraints:number_words"],
...        "kwargs": [{}, {"relation": "less than", "num_words": 6}]}
>>> judge("Rain falls on the hill.", row)
Verdict(score=1.0, reason='followed 2 of 2', extracted=None)
>>> judge("Rain, again.", row).reason
'followed 1 of 2; punctuation:no_comma: 1 commas'
>>> judge("Rain, again.", row, mode="fraction").score
0.5

``strict`` judges the answer as it stands. ``loose`` takes the paper's eight readings of it (without its first line, its
last line, both, and each of these without asterisks) and is content with one. Where the public program accepts what its
own words rule out, the checks here side with the words: docs/verifiers/ifeval.md lists each such place.
"""

from __future__ import annotations

from typing import Any

from rlvr_cli.verifiers.ifeval.columns import Unreadable, instructions_of
from rlvr_cli.verifiers.ifeval.table import CHECKS
from rlvr_cli.verifiers.ifeval.text import answer_of, says_something
from rlvr_cli.verifiers.verdict import Completion, Verdict, text_of

__all__ = ["CHECKS", "gold_completion", "judge"]

MODES = ("all", "fraction")
LONGEST = 400_000


def judge(completion: Completion, row: dict[str, Any], *, loose: bool = False, mode: str = "all") -> Verdict:
    """1.0 when every instruction is followed (``mode="fraction"``: the share that is); None when the row can not be read.

    Row columns: ``instruction_id_list`` and ``kwargs``, lists of equal length or JSON text.
    """
    if mode not in MODES:
        raise ValueError(f"mode is {mode!r}; it can be {' or '.join(MODES)}")
    try:
        instructions = instructions_of(row)
    except Unreadable as error:
        return Verdict(None, str(error))
    text = text_of(completion)
    if len(text) > LONGEST:
        return Verdict(0.0, f"the answer is longer than {LONGEST} characters")
    answer = answer_of(text)
    if answer is None or not says_something(answer):
        return Verdict(0.0, "thinking was never closed" if answer is None else "nothing is said")
    readings = readings_of(answer) if loose else [answer]
    broken = [(name, wrong) for name, parameters in instructions if (wrong := _wrong(name, parameters, readings))]
    kept = len(instructions) - len(broken)
    reason = "; ".join([f"followed {kept} of {len(instructions)}", *(f"{name}: {wrong}" for name, wrong in broken)])
    return Verdict(kept / len(instructions) if mode == "fraction" else float(not broken), reason)


def gold_completion(row: dict[str, Any]) -> str | None:
    """None: any text that keeps the instructions is perfect, and none is written down."""
    return None


def readings_of(answer: str) -> list[str]:
    """The eight readings of the loose criterion, blank ones left out.

    >>> readings_of("Sure:\\n*yes*")
    ['Sure:\\n*yes*', '*yes*', 'Sure:', 'Sure:\\nyes', 'yes']
    """
    lines = answer.split("\n")
    cuts = ["\n".join(part).strip() for part in (lines[1:], lines[:-1], lines[1:-1])]
    whole = [answer, *cuts]
    return [text for text in dict.fromkeys([*whole, *(text.replace("*", "") for text in whole)]) if text.strip()]


def _wrong(name: str, parameters: dict[str, Any], readings: list[str]) -> str:
    """What is wrong with the answer by one instruction; "" as soon as one reading follows it."""
    first = ""
    for reading in readings:
        wrong = CHECKS[name].check(reading, **parameters)
        if not wrong:
            return ""
        first = first or wrong
    return first
