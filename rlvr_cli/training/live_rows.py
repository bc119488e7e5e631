"""The rows of a micro-batch that can teach: a completion with advantage zero adds nothing to the gradient, so it is left out.

In a group whose rewards tie every advantage is zero, and with no KL and no entropy term the loss of such a row is zero
whatever the weights. Its forward and backward pass is the dearest zero of a step: with half of the groups dead, half of
the update's time. Leaving the row out is exact, because the loss is then put back on the whole batch's scale
(:func:`scale`); columns in which only padding remains go too. Every rank keeps as many rows as the one that has most
live ones (and at least one), because TRL gathers clip ratios a row. Eight completions of 24 tokens, one group dead::

    inputs["advantages"] = [0, 0, 0, 0, 1.5, -0.5, -0.5, -0.5]
    only_live(inputs)["completion_ids"].shape == (4, 24)

What changes is what is *said*: ``entropy`` and the clip ratios are then those of the rows that taught.
"""

from __future__ import annotations

from typing import Any

import torch

OVER_ROWS = ("grpo", "sapo", "luspo", "dr_grpo")  # losses that are a mean over the micro-batch's rows


def can_skip(trainer: Any, inputs: dict[str, Any]) -> bool:
    """Whether a zero advantage means a zero loss here: no KL, no entropy term, no router loss, no share of tokens, no images."""
    plain = trainer.beta == 0 and not trainer._entropy_bonus_enabled and not trainer.aux_loss_enabled
    whole = trainer.top_entropy_quantile == 1.0 and trainer.off_policy_mask_threshold is None
    return plain and whole and inputs["advantages"].dim() == 1 and inputs.get("num_images") is None


def most_of_a_rank(accelerator: Any, inputs: dict[str, Any]) -> int:
    """Live rows of the rank that has most. Every rank must call it."""
    return int(accelerator.gather(inputs["advantages"].ne(0).sum().reshape(1)).max())


def only_live(inputs: dict[str, Any], at_least: int = 1) -> dict[str, Any]:
    """A copy of ``inputs`` with the rows of non-zero advantage, filled up by others to ``at_least``, without columns of padding alone."""
    advantages = inputs["advantages"]  # B
    live = advantages.ne(0)
    rows = torch.argsort(~live, stable=True)[: max(1, at_least, int(live.sum()))].sort().values
    size = len(advantages)
    chosen = {name: value[rows] if by_row(value, size) else value for name, value in inputs.items()}
    return trimmed(chosen)


def by_row(value: Any, size: int) -> bool:
    """Whether this field has an entry a row."""
    return isinstance(value, torch.Tensor) and value.dim() > 0 and value.size(0) == size


def trimmed(inputs: dict[str, Any]) -> dict[str, Any]:
    """Without the columns that no row attends to: padding stands left of the prompts and right of the completions."""
    out = dict(inputs)
    prompt = int(inputs["prompt_mask"].sum(-1).max())
    width = inputs["completion_ids"].size(1)
    completion = max(1, last_used(inputs["completion_mask"]))
    for name in ("prompt_ids", "prompt_mask"):
        out[name] = inputs[name][:, inputs[name].size(1) - max(1, prompt) :]
    for name, value in inputs.items():
        if name not in ("prompt_ids", "prompt_mask") and isinstance(value, torch.Tensor) and value.dim() == 2 and value.size(1) == width:
            out[name] = value[:, :completion]
    return out


def last_used(mask: torch.Tensor) -> int:
    """One more than the last column in which any row is on."""
    columns = mask.ne(0).any(0).nonzero().flatten()  # T
    return int(columns[-1]) + 1 if len(columns) else 0


def scale(loss_type: str, inputs: dict[str, Any], live: dict[str, Any]) -> float:
    """What the live rows' loss is multiplied by to be the loss of the whole micro-batch."""
    if loss_type in OVER_ROWS:
        return len(live["advantages"]) / len(inputs["advantages"])
    if loss_type == "bnpo":
        return tokens(live) / max(1.0, tokens(inputs))
    return 1.0  # dapo, cispo, vespo: divided by the tokens of the whole generation batch


def tokens(inputs: dict[str, Any]) -> float:
    """Tokens that the loss is a mean over."""
    mask = inputs["completion_mask"]
    return float((mask * inputs["tool_mask"]).sum() if "tool_mask" in inputs else mask.sum())
