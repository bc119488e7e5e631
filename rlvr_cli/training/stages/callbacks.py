"""The held-out loss of a stage, before the first step, every ``eval_steps`` and at the end, on the step's own log line.

For pairs it comes with the share that is told apart rightly (``eval/pair_accuracy``): the reward model's, or the policy's
implicit reward under DPO.
"""

from __future__ import annotations

from typing import Any

from transformers import TrainerCallback

from rlvr_cli.config.schema import Config
from rlvr_cli.training.callbacks.heldout import same_randomness_after
from rlvr_cli.training.callbacks.record import Status

NAMES = {
    "eval_loss": "eval/loss",
    "eval_mean_token_accuracy": "eval/token_accuracy",
    "eval_accuracy": "eval/pair_accuracy",
    "eval_rewards/accuracies": "eval/pair_accuracy",
}


class HeldOutLoss(TrainerCallback):
    """Leaves the numbers in ``trainer.extras``; :class:`WriteFirstLine`, or the step's own log, writes them."""

    def __init__(self, config: Config, trainer: Any, status: Status):
        self.config, self.trainer, self.status = config, trainer, status

    def on_train_begin(self, args, state, control, **kwargs):
        if state.global_step == 0 and self.config.trainer.eval_at_start:
            self.measure(state)

    def on_step_end(self, args, state, control, **kwargs):
        every = self.config.trainer.eval_steps
        if (every and state.global_step % every == 0) or state.global_step >= state.max_steps:
            self.measure(state)
            control.should_log = True
        return control

    def measure(self, state: Any) -> None:
        """One evaluation."""
        self.status.say("evaluation", step=state.global_step, max_steps=state.max_steps)
        with same_randomness_after():
            found = self.trainer.held_out_loss()
        self.trainer.model.train()
        self.trainer.extras |= {ours: found[theirs] for theirs, ours in NAMES.items() if theirs in found}
        self.status.say("training")


class WriteFirstLine(TrainerCallback):
    """What was measured before the first step gets a line of its own, step 0."""

    def __init__(self, trainer: Any):
        self.trainer = trainer

    def on_train_begin(self, args, state, control, **kwargs):
        if self.trainer.extras:
            self.trainer.log({})
