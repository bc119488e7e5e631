"""Hard prompts that are sometimes solved come back sooner: where a right answer is rare, more draws are needed to see one.

A prompt is hard when its measured pass rate is above 0 and below ``below``. It takes a place in a batch, at most ``share``
of it, when ``gap_steps`` have passed since it was drawn, and not more than ``times`` in a row: a prompt that does not get
better is left to its turn again. Solved ones drop out by themselves, for their rate rises::

    rate 0.125, last drawn at step 10, gap_steps=5  -> back at step 15, 20, 25, 30 (times=4), then only in its turn
    rate 0.0    -> never replayed: no completion of it was ever right, so its groups carry no signal
"""

from __future__ import annotations

import numpy as np

from rlvr_cli.config.schema import Replay
from rlvr_cli.training.prompt_table import PromptTable


def hard(settings: Replay, table: PromptTable, step: int, rng: np.random.Generator) -> list[int]:
    """Rows that may be replayed at ``step``, the hardest first, ties in random order."""
    rates = table.rates()
    due = (rates > 0) & (rates < settings.below) & (table.last >= 0) & (step - table.last >= settings.gap_steps)
    rows = np.flatnonzero(due & (table.replays < settings.times))
    return rows[np.lexsort((rng.random(len(rows)), rates[rows]))].tolist()


def places(settings: Replay, prompts: int) -> int:
    """How many prompts of a batch replay may fill at most, rounded down."""
    return int(settings.share * prompts + 1e-9)


def note(table: PromptTable, replayed: list[int], in_turn: list[int]) -> None:
    """Count the replays; a prompt that came in its turn starts from zero again."""
    table.replays[replayed] += 1
    table.replays[in_turn] = 0
