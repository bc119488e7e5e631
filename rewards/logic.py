"""Reward for logic puzzles: the answer keeps the rules of its row's task.

The work is in rlvr_cli/verifiers/logic; this is the form that TRL calls. Tasks judged by the reasoning_gym library run in
killable workers.

>>> states = ['{"numbers": [1, 5, 7], "target": 12}', '{"names": ["Ann", "Bo"], "solution": [true, false]}']
>>> correct(["7 + 5 * 1", "Ann is a knight and Bo is a knave"], task=["countdown", "knights_knaves"], state=states)
[1.0, 1.0]
"""

from rlvr_cli.verifiers import Scores, rows_of
from rlvr_cli.verifiers.logic import OWN, gold_completion, judge
from rlvr_cli.verifiers.pool import pay_pooled

__all__ = ["correct", "gold_completion"]


def correct(completions, task=None, answer=None, state=None, prompts=None, *, timeout_s: float = 5.0, **kwargs) -> Scores:
    """1.0 when the rules are kept, 0.0 otherwise, None when the row does not hold what its task needs.

    task: countdown, puzzle24, expression_game, sudoku, mini_sudoku, knights_knaves, n_queens, or any task of reasoning_gym.
    state: what the rules need (numbers and target, the puzzle, names and solution, the library's metadata), mapping or JSON.

    >>> correct(["2+3*5"], ["expression_game"], state=[{"numbers": [2, 3, 5], "target": 17}])
    [1.0]
    """
    rows = rows_of(len(completions), task=task, answer=answer, state=state)
    if all(row.get("task") in OWN for row in rows):  # quick and pure: no worker needed
        return Scores(judge(completion, row) for completion, row in zip(completions, rows, strict=True))
    return pay_pooled("rlvr_cli.verifiers.logic:judge", completions, rows, timeout_s=timeout_s)
