"""Groups without signal are replaced by groups of further prompts, before anything is learnt from the batch.

DAPO, arXiv 2503.14476, eq. 11: a prompt trains only if 0 < |right answers| < G. With other rewards the same thing reads:
the rewards of its group are not all equal. TRL asks for completions once (``_generate``) and then works on what came back;
this refills in between, so that log-probs, reference and loss see one batch of the usual size and are computed once.

A round asks as many further prompts as groups are missing (times ``oversample``), scores them, and puts the groups that
carry signal in the places of those that do not; ``max_rounds`` bounds it, and what is dead then stays dead and is
counted. Rewards are gathered over all ranks before anything is decided, so each rank decides the same; a group may lie
across ranks and may be generated on other ranks than the one that trains on it. An example, G=4, four prompts::

    round 0   prompts 7 2 9 4   right answers 0 1 4 2   ->  groups 0 and 2 are dead
    round 1   prompts 5 8       right answers 3 0       ->  group 0 becomes prompt 5
    round 2   prompt  1         right answers 2         ->  group 2 becomes prompt 1; four groups that all teach
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd
from typing import Any

import numpy as np

from rlvr_cli.config.schema import DynamicSampling as Settings

TIE = 1e-6  # rewards closer than this are equal: they went through float32


@dataclass
class Rollout:
    """A rank's completions, as TRL's ``_generate`` returns them; all lists by row, or None or empty where a run has no such thing."""

    prompt_ids: list[list[int]]
    completion_ids: list[list[int]]
    tool_mask: list[list[int]] | None
    completions: list[Any]
    logprobs: list[list[float]] | None
    extra_fields: dict[str, Any]
    images: list[Any] | None
    tool_images: list[Any]

    def fields(self) -> tuple[Any, ...]:
        """In TRL's order."""
        return (
            self.prompt_ids, self.completion_ids, self.tool_mask, self.completions, self.logprobs, self.extra_fields, self.images,
            self.tool_images,
        )  # fmt: skip

    def row(self, i: int) -> list[Any]:
        """What row ``i`` has in each list."""
        return [values[i] if isinstance(values, list) and values else None for values in self.fields()]

    def put(self, i: int, row: Sequence[Any]) -> None:
        """Replace row ``i`` by another rollout's."""
        for values, value in zip(self.fields(), row, strict=True):
            if isinstance(values, list) and values:
                values[i] = value

    def written(self) -> list[int]:
        """Tokens that the policy wrote, a row; those of a tool are not its own."""
        return [len(ids) for ids in self.completion_ids] if self.tool_mask is None else [sum(mask) for mask in self.tool_mask]


def with_signal(matrix: np.ndarray, weights: np.ndarray, num_generations: int, *, by_term: bool = False) -> np.ndarray:
    """(groups,) whether a group's rewards differ. matrix: (rows, terms) of raw scores, NaN where left out or not applicable.

    by_term: each term is normalised by itself (GDPO), so a group carries signal when any of them differs.

    >>> with_signal(np.array([[1.0], [1.0], [1.0], [0.0], [np.nan], [1.0]]), np.ones(1), 2).tolist()
    [False, True, False]
    """
    columns = matrix * weights
    if not by_term:
        left_out = np.isnan(columns).all(axis=1)
        columns = np.where(left_out, np.nan, np.nansum(columns, axis=1))[:, None]
    grouped = columns.reshape(-1, num_generations, columns.shape[1])
    highest = np.where(np.isnan(grouped), -np.inf, grouped).max(axis=1)
    lowest = np.where(np.isnan(grouped), np.inf, grouped).min(axis=1)
    return (highest - lowest > TIE).any(axis=1)


def alive_groups(trainer: Any, scored: Any) -> np.ndarray:
    """(groups,) of all ranks: which carry signal under the trainer's weights and way of adding terms up."""
    by_term = trainer.multi_objective_aggregation == "normalize_then_sum"
    return with_signal(scored.matrix, trainer.reward_weights.numpy(), trainer.num_generations, by_term=by_term)


def prompts_to_ask(missing: int, oversample: float, num_generations: int, ranks: int, most: int) -> int:
    """Prompts of a round: enough for the missing groups, their completions divisible by the ranks, at most a whole batch.

    >>> prompts_to_ask(3, 1.0, 8, 2, 16), prompts_to_ask(3, 1.0, 3, 2, 16), prompts_to_ask(3, 2.0, 8, 1, 4)
    (3, 4, 4)
    """
    unit = ranks // gcd(num_generations, ranks)
    wanted = -(-int(np.ceil(missing * oversample)) // unit) * unit
    return min(wanted, most)


@dataclass
class Batch:
    """One generation. inputs, prompts, rollout: this rank's rows; scored, tokens: (rows,) of all ranks in rank order."""

    inputs: list[dict[str, Any]]
    prompts: list[Any]
    rollout: Rollout
    scored: Any = None
    tokens: np.ndarray | None = None


class DynamicSampling:
    """Refills a batch; prompts, completions and scores come through ``trainer.sampling``. Every rank must call it."""

    def __init__(self, trainer: Any, settings: Settings):
        self.trainer, self.settings = trainer, settings

    def fill(self, batch: Batch) -> dict[str, float]:
        """Replace groups without signal, in place; returns what it took: rounds, prompts, the share of dead groups."""
        alive = alive_groups(self.trainer, batch.scored)
        before, rounds, asked = float(np.mean(~alive)), 0, 0
        while not alive.all() and rounds < self.settings.max_rounds:
            rows = self.further(int(np.count_nonzero(~alive)), len(alive))
            if not rows:
                break
            fresh = self.trainer.sampling.ask(rows)
            rounds, asked = rounds + 1, asked + len(rows)
            good = np.flatnonzero(alive_groups(self.trainer, fresh.scored))
            pairs = list(zip(np.flatnonzero(~alive).tolist(), good.tolist(), strict=False))
            self.move(pairs, rows, batch, fresh)
            alive[[slot for slot, _ in pairs]] = True
        return {"rounds": rounds, "further_prompts": asked, "dead_before": before, "dead_after": float(np.mean(~alive))}

    def further(self, missing: int, most: int) -> list[int]:
        """Rows of the further prompts, divisible by the ranks; fewer, or none, where the data set has no more."""
        trainer, ranks = self.trainer, self.trainer.accelerator.num_processes
        count = prompts_to_ask(missing, self.settings.oversample, trainer.num_generations, ranks, most)
        rows = trainer.sampling.further_rows(count)
        unit = ranks // gcd(trainer.num_generations, ranks)
        return rows[: len(rows) // unit * unit]

    def move(self, pairs: list[tuple[int, int]], rows: list[int], batch: Batch, fresh: Batch) -> None:
        """Put group ``b`` of ``fresh`` (prompt ``rows[b]``) in place of group ``a`` of ``batch``, wherever their rows lie."""
        size = self.trainer.num_generations
        found = self.rows_of_groups([b for _, b in pairs], fresh)
        first = self.trainer.accelerator.process_index * len(batch.inputs)
        for a, b in pairs:
            batch.tokens[a * size : (a + 1) * size] = fresh.tokens[b * size : (b + 1) * size]
            for j in range(size):
                slot = a * size + j - first
                if 0 <= slot < len(batch.inputs):
                    batch.rollout.put(slot, found[b * size + j])
                    batch.inputs[slot] = self.trainer.sampling.row(rows[b])
                    batch.prompts[slot] = batch.inputs[slot]["prompt"]
        batch.scored = self.trainer.bridge.with_groups(batch.scored, fresh.scored, pairs, size)

    def rows_of_groups(self, groups: list[int], fresh: Batch) -> dict[int, list[Any]]:
        """The completions of these groups by their place in ``fresh``, from whichever rank generated them."""
        size, mine = self.trainer.num_generations, len(fresh.inputs)
        first = self.trainer.accelerator.process_index * mine
        wanted = {group * size + j for group in groups for j in range(size)}
        return gathered({first + i: fresh.rollout.row(i) for i in range(mine) if first + i in wanted})


def gathered(mine: dict[int, Any]) -> dict[int, Any]:
    """The union of all ranks' mappings."""
    from accelerate.utils import gather_object

    return {key: value for part in gather_object([mine]) for key, value in part.items()}
