"""Micro-batches of completions of like length: the same step with less padding.

TRL shuffles a generation's completions before it cuts them into micro-batches, so a short one is padded to the longest of
its neighbours. Where all micro-batches of a generation belong to one optimizer step, and the loss is a sum over rows or is
divided by the whole batch's tokens, which rows sit together changes nothing but rounding: then they go by length, and the
columns in which only padding remains go. Lengths of a generation of eight, two a micro-batch (16 columns against 8)::

    shuffled  [3 8] [2 8] [7 1] [8 2]   ->   by length  [1 2] [2 3] [7 8] [8 8]
"""

from __future__ import annotations

from typing import Any

import torch

from rlvr_cli.training.live_rows import by_row, trimmed

PER_MICRO_BATCH = ("bnpo",)  # a mean over the tokens of a micro-batch: who sits with whom counts


def can_sort(trainer: Any) -> bool:
    """Whether the order within a generation is free: one optimizer step, several micro-batches, nothing computed a micro-batch."""
    args = trainer.args
    one_step = 1 < args.steps_per_generation == args.gradient_accumulation_steps
    whole = trainer.top_entropy_quantile == 1.0 and not trainer.aux_loss_enabled and not trainer._entropy_bonus_enabled
    whole = whole and not trainer._is_vlm
    return one_step and whole and trainer.loss_type not in PER_MICRO_BATCH


def by_length(batches: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same rows in as many micro-batches of the same size, shortest first, each without columns of padding."""
    size = len(batches[0]["completion_mask"])
    lengths = torch.cat([batch["completion_mask"].sum(-1) for batch in batches])  # B
    order = lengths.sort(stable=True).indices
    joined = {name: joined_of([batch[name] for batch in batches], size) for name in batches[0]}
    cut = [order[i : i + size] for i in range(0, len(order), size)]
    return [trimmed({name: value[rows] if by_row(value, len(order)) else value for name, value in joined.items()}) for rows in cut]


def joined_of(values: list[Any], size: int) -> Any:
    """A field of all micro-batches: rows one after the other, what is one for all as it is."""
    return torch.cat(values) if by_row(values[0], size) else values[0]
