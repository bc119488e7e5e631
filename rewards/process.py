"""Pays for required steps and true arithmetic, only behind a correctness gate: see conf/reward/process.yaml.

>>> steps(["3*5 = 15, so 15 + 2 = 17", "17"], steps=[["3*5=15", "15+2=17"]] * 2)
[1.0, 0.0]
"""

from rlvr_cli.verifiers.process import gold_completion, judge
from rlvr_cli.verifiers.verdict import Scores, pay, rows_of

__all__ = ["gold_completion", "steps"]


def steps(completions, steps, *, check_arithmetic=True, cost=0.25, prompts=None, **kwargs) -> Scores:
    """Share of the row's ``steps`` (a list, or its JSON text) that are written, minus ``cost`` for each false equation.

    >>> steps(["area = pi r^2. 3+5=9"], steps=['["area = pi r^2"]'])
    [0.75]
    """
    return pay(judge, completions, rows_of(len(completions), steps=steps), check_arithmetic=check_arithmetic, cost=cost)


steps.needs_gate = True
