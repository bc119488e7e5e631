"""Reward for multiple choice: the chosen options are exactly the gold's.

The work is in rlvr_cli/verifiers/choice.py; this is the form that TRL calls.

>>> answers = ["The answer is (B).", "B. Oslo", "Oslo", "A or B", "A fjord runs there.", "选B"]
>>> correct(answers, answer=["B"] * 6, choices=[["Lima", "Oslo", "Rome"]] * 6)
[1.0, 1.0, 1.0, 0.0, 0.0, 1.0]
"""

from rlvr_cli.verifiers import Scores, pay, rows_of
from rlvr_cli.verifiers.choice import gold_completion, judge

__all__ = ["correct", "gold_completion"]


def correct(completions, answer, choices=None, prompts=None, **kwargs) -> Scores:
    """1.0 for the right option(s), 0.0 otherwise, None when the gold names no option.

    answer: a letter, several ("A, C"), an index from 0, or the option's text. choices: the options in order, as a list,
    JSON text or "A) one B) two"; without them only letters count.

    >>> correct(["Both, so AC"], ["A, C"])
    [0.0]
    >>> correct(["Answer: A, C"], ["A, C"])
    [1.0]
    """
    rows = rows_of(len(completions), answer=answer, choices=choices)
    return pay(judge, completions, rows)
