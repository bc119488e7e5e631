"""Reward for following instructions: IFEval's 25, each checked by a program.

The work is in rlvr_cli/verifiers/ifeval; this is the form that TRL calls. One of the public set's columns is named
``kwargs``: it is a parameter here, and what other columns there are goes to ``others``.

>>> ids = '["detectable_format:title", "startend:end_checker"]'
>>> own = '[{}, {"end_phrase": "Is that all?"}]'
>>> scores = followed(["<<Rain>> It fell. Is that all?", "It fell. Is that all?"], [ids] * 2, [own] * 2)
>>> scores, scores.verdicts[1].reason
([1.0, 0.0], 'followed 1 of 2; detectable_format:title: no <<title>>')
"""

from rlvr_cli.verifiers import Scores, pay, rows_of
from rlvr_cli.verifiers.ifeval import gold_completion, judge

__all__ = ["followed", "gold_completion"]


def followed(completions, instruction_id_list, kwargs, prompts=None, *, loose: bool = False, mode: str = "all", **others) -> Scores:
    """1.0 when every instruction is followed, 0.0 otherwise, None for an unknown instruction or a missing parameter.

    instruction_id_list, kwargs: one list a row, as objects or JSON text. loose: content with the answer less its first or
    last line or its asterisks. mode="fraction": the share of the row's instructions that is followed.

    >>> followed(["no commas here"], [["punctuation:no_comma"]], [[{}]])
    [1.0]
    """
    rows = rows_of(len(completions), instruction_id_list=instruction_id_list, kwargs=kwargs)
    return pay(judge, completions, rows, loose=loose, mode=mode)
