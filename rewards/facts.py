"""Rewards for facts: short answers, key facts of a long answer, faithfulness to passages.

The work is in rlvr_cli/verifiers/facts; this is the form that TRL calls.

>>> exact(["It was Ada Lovelace.", "Charles Babbage"], answer=["Ada Lovelace", "Ada Lovelace"])
[1.0, 0.0]
>>> f1(["the Analytical Engine"], answer=[["Analytical Engine", "Difference Engine"]])
[1.0]
>>> key_facts(["Rest, and drink water."], facts=['["rest", "water", "paracetamol"]'])
[0.6666666666666666]
>>> faithful(['He said "to be" in 1601.'], passages=[["To be, or not to be (Hamlet, 1601)"]])
[1.0]
"""

from rlvr_cli.verifiers import Scores, pay, rows_of
from rlvr_cli.verifiers.facts import gold_completion, judge, judge_f1, judge_facts, judge_faithful

__all__ = ["exact", "f1", "faithful", "gold_completion", "key_facts"]


def exact(completions, answer, prompts=None, *, tolerance: float = 1e-6, strict: bool = False, same_unit: bool = False, **kwargs) -> Scores:
    """1.0 when the answer states a gold (a text, or a list of aliases); numbers with units compare within ``tolerance``.

    ``same_unit`` is for questions that ask for a unit: without it, repeating "1.5 km" converts 1.5 km to metres.

    >>> exact(["<answer>1500 m</answer>"], ["1.5 km"]), exact(["<answer>1500 m</answer>"], ["1.5 km"], same_unit=True)
    ([1.0], [0.0])
    """
    return pay(judge, completions, rows_of(len(completions), answer=answer), tolerance=tolerance, strict=strict, same_unit=same_unit)


def f1(completions, answer, prompts=None, **kwargs) -> Scores:
    """SQuAD's token F1 with the nearest alias.

    >>> f1(["a red fox"], ["fox"])
    [0.6666666666666666]
    """
    return pay(judge_f1, completions, rows_of(len(completions), answer=answer))


def key_facts(completions, facts, prompts=None, *, tolerance: float = 1e-6, **kwargs) -> Scores:
    """Share of the row's key facts that the answer says; a fact is a text or a list of ways to say it.

    >>> key_facts(["not aspirin"], [["aspirin"]])
    [0.0]
    """
    return pay(judge_facts, completions, rows_of(len(completions), facts=facts), tolerance=tolerance)


def faithful(completions, passages, prompts=None, *, tolerance: float = 1e-6, **kwargs) -> Scores:
    """Supported share of the answer's quotations, numbers and names.

    >>> faithful(["Ann is 41."], ["Bob is 41."])
    [1.0]
    """
    return pay(judge_faithful, completions, rows_of(len(completions), passages=passages), tolerance=tolerance)
