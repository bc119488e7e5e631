"""Ends a run when it has generated ``trainer.max_generated_tokens``: runs that differ in waste are compared at equal cost."""

from __future__ import annotations

from typing import Any

from transformers import TrainerCallback


class TokenBudget(TrainerCallback):
    """Stops after the step that reaches the budget. It must come before the held-out evaluation, which judges the last step."""

    def __init__(self, limit: int):
        self.limit = limit
        self.trainer: Any = None

    def on_step_end(self, args, state, control, **kwargs):
        if self.trainer.sampling.ledger.generated >= self.limit:
            control.should_training_stop = control.should_save = True
        return control
