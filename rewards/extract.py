"""Pays by an extraction rule that a person can read and change; ``rlvr reward fit`` learns one from a few labelled answers.

>>> matches(["Ergebnis: 12.", "Ergebnis: 13"], answer=["12", "12"], patterns=["Ergebnis: (.+)"], normalise=["no_end_punctuation"])
[1.0, 0.0]
"""

from rlvr_cli.verifiers.extract import gold_completion
from rlvr_cli.verifiers.verdict import Scores, rows_of

__all__ = ["gold_completion", "matches"]


def matches(completions, answer, *, patterns, take="last", normalise=(), timeout_s=None, prompts=None, **kwargs) -> Scores:
    """1.0 where the text that the first matching pattern captures equals the gold, both normalised.

    normalise: names from nfkc, no_markup, spaces, no_end_punctuation, no_quotes, no_units, no_article, number, first_word, lower.

    >>> matches(["I pick B) for sure"], answer=["b"], patterns=[r"pick (\\w)"], normalise=["lower"])
    [1.0]
    """
    from rlvr_cli.verifiers.pool import pay_pooled

    rows = rows_of(len(completions), answer=answer)
    options = {"patterns": list(patterns), "take": take, "normalise": list(normalise)}
    return pay_pooled("rlvr_cli.verifiers.extract:judge", completions, rows, timeout_s=timeout_s, **options)
