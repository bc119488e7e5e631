"""Logic and puzzles: rules are checked from the row, not against one written solution, wherever a task has rules.

``task`` names the puzzle, ``state`` (a mapping, or its JSON text) holds what its rules need, ``answer`` a known solution.
Countdown, 24, the expression game, sudoku, knights and knaves, and queens are judged by this project's own code; any other task of
the ``reasoning_gym`` library by that library's scorer, in a killable worker, on text that cannot be a program.

>>> row = {"task": "countdown", "state": '{"numbers": [2, 3, 5], "target": 17}'}
>>> judge("<answer>3*5 + 2</answer>", row)
Verdict(score=1.0, reason='3*5 + 2 = 17', extracted='3*5 + 2')
>>> judge("2*3 + 11", row).reason, judge("3*5 + 3", row).reason
('uses 2, 3, 11, not 2, 3, 5', 'uses 3, 3, 5, not 2, 3, 5')
"""

from __future__ import annotations

import json
from typing import Any

from rlvr_cli.verifiers.facts.text import answer_text, settled
from rlvr_cli.verifiers.logic import cryptarithm, gym, knights, numbers, queens, sudoku
from rlvr_cli.verifiers.verdict import Completion, Verdict, text_of

OWN = {
    "countdown": numbers.judge_numbers,
    "puzzle24": numbers.judge_24,
    "expression_game": numbers.judge_numbers,
    "sudoku": sudoku.judge_sudoku,
    "mini_sudoku": sudoku.judge_sudoku,
    "knights_knaves": knights.judge_knights,
    "n_queens": queens.judge_queens,
    "cryptarithm": cryptarithm.judge_cryptarithm,
}


def judge(completion: Completion, row: dict[str, Any]) -> Verdict:
    """1.0 when the answer keeps the task's rules, 0.0 otherwise; None when the row does not hold what its task needs."""
    state = state_of(row.get("state"))
    task = row.get("task")
    if not task:
        return Verdict(None, "the row names no task")
    answer = answer_text(text_of(completion))
    if answer is None:
        return Verdict(0.0, "thinking was never closed")
    answer = settled(answer)
    if not answer:
        return Verdict(0.0, "no answer")
    try:
        own = OWN.get(task)
        return own(answer, state) if own else gym.judge_by_library(answer, task, row.get("answer"), state)
    except (KeyError, TypeError) as error:
        return Verdict(None, f"the row's state does not fit {task}: {type(error).__name__} {error}")


def state_of(column: Any) -> dict[str, Any]:
    """The state as a mapping; keys that ``datasets`` added with None are left out."""
    if isinstance(column, str):
        try:
            column = json.loads(column)
        except ValueError:
            return {}
    return {key: value for key, value in (column or {}).items() if value is not None} if isinstance(column or {}, dict) else {}


def warm_up() -> None:
    """Import the library before a worker's first deadline runs: on a busy machine that alone takes longer than a sample may."""
    gym.load()


def gold_completion(row: dict[str, Any]) -> str | None:
    """The row's known solution in a tag; None where the row holds none."""
    answer = row.get("answer") or gym.gold_of(row.get("task"), state_of(row.get("state")))
    return f"<answer>{answer}</answer>" if answer else None
