"""What stops a run by name, or warns, before a night is lost.

A loss or gradient that is not finite has already spoilt the weights, so the run stops before anything is saved. The
other two are warnings: no group with any signal for a while, and most completions cut at the limit.
"""

from __future__ import annotations

import math
import sys
from typing import Any

from transformers import TrainerCallback

from rlvr_cli.config.schema import Guard as Limits
from rlvr_cli.errors import TrainingError
from rlvr_cli.training.callbacks.record import Status

WATCHED = ("loss", "grad_norm", "reward", "reward_std", "kl", "entropy")


class Guard(TrainerCallback):
    """Reads each log line on every rank; all ranks see the same numbers for what can stop a run."""

    def __init__(self, limits: Limits, status: Status):
        self.limits, self.status = limits, status
        self.dead = self.clipped = 0

    def on_log(self, args, state, control, logs=None, **kwargs):
        if not logs or "loss" not in logs:
            return
        if self.limits.stop_on_nonfinite:
            stop_when_not_finite(logs, state.global_step)
        self.watch_groups(logs.get("frac_reward_zero_std"), state.global_step)
        self.watch_length(logs.get("completions/clipped_ratio"), state.global_step)

    def watch_groups(self, dead_share: float | None, step: int) -> None:
        """Warn once after ``dead_group_patience`` steps without a group whose rewards differ."""
        patience = self.limits.dead_group_patience
        self.dead = self.dead + 1 if dead_share == 1 else 0
        if patience and self.dead == patience:
            self.warn(f"no group has carried signal for {patience} steps: easier or harder prompts, or a larger G", step)

    def watch_length(self, clipped: float | None, step: int) -> None:
        """Warn once when three lines in a row have most completions cut."""
        over = clipped is not None and clipped > self.limits.clipped_share_warn
        self.clipped = self.clipped + 1 if over else 0
        if self.clipped == 3:
            self.warn(f"{clipped:.0%} of completions are cut at the limit: raise generation.max_completion_length", step)

    def warn(self, text: str, step: int) -> None:
        """To the log and the status, where the parent sees it."""
        print(f"warning: step {step}: {text}", file=sys.stderr, flush=True)
        self.status.say("training", warning=f"step {step}: {text}")


def stop_when_not_finite(logs: dict[str, Any], step: int) -> None:
    """Raise for the first watched number that is NaN or infinite."""
    for name in WATCHED:
        value = logs.get(name)
        if isinstance(value, float) and not math.isfinite(value):
            fix = "optimizer.learning_rate=<a tenth>, or optimizer.max_grad_norm=0.5"
            raise TrainingError(f"{name} is {value} at step {step}", where=f"metrics.jsonl: {name}", fix=fix)
