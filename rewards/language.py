"""Pays the share of a text that is in its prompt's language: see conf/reward/language.yaml.

>>> consistent(["四", "It is four"], prompts=["二加二等于几？"] * 2)
[1.0, 0.0]
"""

from rlvr_cli.verifiers.language import gold_completion, judge
from rlvr_cli.verifiers.verdict import Scores, pay, rows_of

__all__ = ["consistent", "gold_completion"]


def consistent(completions, *, prompts=None, language=None, threshold=None, **kwargs) -> Scores:
    """Share of the words in ``language``, by default the prompt's; ``threshold`` makes it all or nothing.

    >>> consistent(["The answer is four", "答案是 four"], language="en")
    [1.0, 0.25]
    """
    rows = rows_of(len(completions), prompt=prompts)
    return pay(judge, completions, rows, language=language, threshold=threshold)
