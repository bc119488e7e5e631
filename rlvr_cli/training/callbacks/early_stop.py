"""Ends a run whose held-out accuracy has stopped rising: ``guard.early_stop_evals`` evaluations in a row without a new best.

    eval/accuracy 0.27 0.52 0.64 0.76 0.74 0.71   with early_stop_evals=2: the run ends here, final/ holds 0.76

transformers' own early stopping wants its own evaluation loop; this one listens to ours.
"""

from __future__ import annotations

from typing import ClassVar

from rlvr_cli.evaluation.heldout import HeldOut
from rlvr_cli.training.callbacks.controller import Controller
from rlvr_cli.training.callbacks.record import Status


class EarlyStop(Controller):
    """Comes after the held-out evaluation in the order of callbacks, which tells it through :meth:`on_held_out`."""

    remembered: ClassVar[tuple[str, ...]] = ("best", "since")

    def __init__(self, patience: int, status: Status):
        super().__init__()
        self.patience, self.status = patience, status
        self.best, self.since = -1.0, 0

    def on_held_out(self, step: int, held: HeldOut) -> None:
        """Count evaluations since the best."""
        self.best, self.since = (held.accuracy, 0) if held.accuracy > self.best else (self.best, self.since + 1)

    def on_step_end(self, args, state, control, **kwargs):
        if self.patience and self.since >= self.patience and state.global_step < state.max_steps:
            control.should_training_stop = True
            text = f"no new best in {self.since} held-out evaluations: stopped; final/ is the best of this run ({self.best:.1%})"
            self.status.say("training", warning=f"step {state.global_step}: {text}")
        return control
