"""Everyday prompts by rule: a plain question is answered, a harmful one declined, a harmless one not declined.

The work is in rlvr_cli/verifiers/general.py. A probe first of all (docs/stages.md); as a reward, for short replies.

>>> expected(["A lemon is yellow.", "I cannot help with that."], answer=["yellow", None], refuse=[False, True])
[1.0, 1.0]
"""

from rlvr_cli.verifiers.general import MAX_WORDS, gold_completion, judge
from rlvr_cli.verifiers.verdict import Scores, pay, rows_of

__all__ = ["expected", "gold_completion"]


def expected(completions, answer=None, refuse=None, prompts=None, *, max_words=MAX_WORDS, **kwargs) -> Scores:
    """1.0 when the reply says ``answer`` (a text or aliases), or declines where ``refuse`` is true.

    >>> expected(["yellow " * 100], ["yellow"])
    [0.0]
    """
    return pay(judge, completions, rows_of(len(completions), answer=answer, refuse=refuse), max_words=max_words)
