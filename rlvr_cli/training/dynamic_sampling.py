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


def prompts_to_ask(missing: int, oversample: float, num_generations: int, ranks: int, most: int) -> int:
    """Prompts of a round: enough for the missing groups, their completions divisible by the ranks, at most a whole batch.

    >>> prompts_to_ask(3, 1.0, 8, 2, 16), prompts_to_ask(3, 1.0, 3, 2, 16), prompts_to_ask(3, 2.0, 8, 1, 4)
    (3, 4, 4)
    """
    unit = ranks // gcd(num_generations, ranks)
    wanted = -(-int(np.ceil(missing * oversample)) // unit) * unit
    return min(wanted, most)


class DynamicSampling:
    """One batch's refill. ``ask(prompts of this rank, rows) -> (Rollout, Scored)`` generates and scores, on all ranks at once."""

    def __init__(self, trainer: Any, max_rounds: int, oversample: float):
        self.trainer, self.max_rounds, self.oversample = trainer, max_rounds, oversample

    def fill(self, inputs: list[dict[str, Any]], prompts: list[Any], rollout: Rollout, scored: Any) -> tuple[Any, dict[str, float]]:
        """Replace groups without signal, in place, in ``inputs``, ``prompts`` and ``rollout``.

        Returns the whole batch's ``Scored`` and the metrics of what it cost.
        """
        alive = self.alive(scored)
        before, rounds, asked = float(np.mean(~alive)), 0, 0
        while not alive.all() and rounds < self.max_rounds:
            rows = self.further(np.count_nonzero(~alive), len(alive))
            if not rows:
                break
            fresh_inputs, fresh_prompts = self.mine(rows)
            fresh, fresh_scored = self.trainer.ask_again(fresh_prompts, fresh_inputs)
            rounds, asked = rounds + 1, asked + len(rows)
            pairs = list(zip(np.flatnonzero(~alive).tolist(), np.flatnonzero(self.alive(fresh_scored)).tolist(), strict=False))
            self.move(pairs, rows, inputs, prompts, rollout, fresh)
            scored = self.trainer.bridge.with_groups(scored, fresh_scored, pairs, self.trainer.num_generations)
            alive[[slot for slot, _ in pairs]] = True
        return scored, {"rounds": rounds, "further_prompts": asked, "dead_before": before, "dead_after": float(np.mean(~alive))}

    def alive(self, scored: Any) -> np.ndarray:
        """(groups,) of all ranks."""
        trainer = self.trainer
        by_term = trainer.multi_objective_aggregation == "normalize_then_sum"
        return with_signal(scored.matrix, trainer.reward_weights.numpy(), trainer.num_generations, by_term=by_term)

    def further(self, missing: int, most: int) -> list[int]:
        """Rows of the further prompts; fewer, or none, where the data set has no more."""
        trainer, ranks = self.trainer, self.trainer.accelerator.num_processes
        count = prompts_to_ask(missing, self.oversample, trainer.num_generations, ranks, most)
        rows = trainer.choice.further(count, step=trainer.state.global_step, max_steps=trainer.state.max_steps)
        unit = ranks // gcd(trainer.num_generations, ranks)
        return rows[: len(rows) // unit * unit]

    def mine(self, rows: list[int]) -> tuple[list[dict[str, Any]], list[Any]]:
        """This rank's slice of the repeated rows, and their prompts."""
        inputs = self.trainer.rows_of_rank(rows)
        return inputs, [row["prompt"] for row in inputs]

    def move(
        self, pairs: list[tuple[int, int]], rows: list[int], inputs: list[dict[str, Any]], prompts: list[Any], rollout: Rollout, fresh: Rollout
    ) -> None:
        """Put group ``b`` of the fresh rollout in place of group ``a``, wherever their rows lie. Every rank must call it."""
        trainer, size = self.trainer, self.trainer.num_generations
        here, of_fresh = trainer.accelerator.process_index, len(fresh.completions)
        wanted = {b * size + j for _, b in pairs for j in range(size)}
        mine = {here * of_fresh + i: fresh.row(i) for i in range(of_fresh) if here * of_fresh + i in wanted}
        found = gathered(mine)
        first = here * len(inputs)
        for a, b in pairs:
            for j in range(size):
                slot = a * size + j - first
                if 0 <= slot < len(inputs):
                    rollout.put(slot, found[b * size + j])
                    inputs[slot] = trainer.row(rows[b])
                    prompts[slot] = inputs[slot]["prompt"]


def gathered(mine: dict[int, Any]) -> dict[int, Any]:
    """The union of all ranks' mappings."""
    from accelerate.utils import gather_object

    return {key: value for part in gather_object([mine]) for key, value in part.items()}
