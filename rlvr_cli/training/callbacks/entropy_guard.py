"""Ends, mends or names entropy collapse, the textbook illness of this training: the policy stops exploring and falls back.

Measured on SmolLM2-135M at a constant rate: greedy accuracy 76% at step 40, 60% at step 60, while the training reward went
on climbing; entropy was 0.045 nats a token and two groups of three were tied. Both signs together, for some steps in a
row, are the trigger; one alone is not (a policy may be sure and still be taught, a hard batch may be tied and uncertain).
The entropy must be low and have fallen: column sums, nearly every token of which is forced, are healthy at 0.08 from the start::

    step  entropy  tied   in a row       at the start 1.17
      38    0.061  0.68   0
      39    0.048  0.70   1
     ...
      43    0.045  0.75   5     -> guard.entropy.action
"""

from __future__ import annotations

import sys
from typing import ClassVar

from rlvr_cli.config import schema
from rlvr_cli.training.callbacks.controller import Controller
from rlvr_cli.training.callbacks.record import Status

SMALLEST = 1e-9  # TRL decides at construction whether there is an entropy term; this keeps it, and weighs nothing


def starting_coef(config: schema.Config) -> float:
    """The entropy bonus of the first step; above 0 whenever the guard may raise it."""
    raises = config.guard.entropy.action == "raise_bonus"
    return config.algorithm.entropy_coef or (SMALLEST if raises else 0.0)


class EntropyGuard(Controller):
    """Counts collapsed steps. Comes before the held-out evaluation in the order of callbacks, so that a stop is judged."""

    remembered: ClassVar[tuple[str, ...]] = ("low", "tied", "coef", "first")

    def __init__(self, config: schema.Config, status: Status):
        super().__init__()
        self.settings, self.algorithm, self.status = config.guard.entropy, config.algorithm, status
        self.low, self.tied = 0, 0.0
        self.first: list[float] = []  # the entropies that a fall is measured from
        self.coef = starting_coef(config)

    def on_step_end(self, args, state, control, **kwargs):
        tied = self.measured("dynamic_sampling/dead_before")  # of the prompts as drawn; the refilled batch has few
        tied = self.measured("frac_reward_zero_std") if tied is None else tied
        self.tied = self.tied if tied is None else tied  # a step that reuses completions has the groups of the one before
        entropy = self.entropy()
        if entropy is None:
            return control
        if len(self.first) < self.settings.patience:
            self.first.append(entropy)
        self.low = self.low + 1 if self.collapsed(entropy) else 0
        if self.low and self.low % self.settings.patience == 0:
            self.act(f"entropy {entropy:.3f} nats a token, {self.tied:.0%} of groups tied, {self.low} steps in a row", state, control)
        return control

    def collapsed(self, entropy: float) -> bool:
        """Low, fallen, and little signal left."""
        start = sum(self.first) / len(self.first)
        fallen = self.settings.fallen_to == 1 or entropy < self.settings.fallen_to * start
        return entropy < self.settings.floor and fallen and self.tied > self.settings.dead_share

    def entropy(self) -> float | None:
        """Nats a token over the prompts as drawn. Where tied rows were left out, only the others were measured, which are less sure.

        Counting the tied share as 0 would call a task collapsed that is merely too hard so far (all wrong, all uncertain), so no
        more than ``dead_share`` of the rows counts as 0.
        """
        measured, left_out = self.measured("entropy"), self.trainer.skipping or self.measured("dynamic_sampling/dead_before") is not None
        return measured * (1 - self.settings.dead_share) if left_out and measured is not None else measured

    def act(self, seen: str, state, control) -> None:
        """What ``guard.entropy.action`` says; the bonus rises again after every further ``patience`` steps."""
        if self.settings.action == "stop_at_best":
            control.should_training_stop = True
            self.warn(f"{seen}: stopped; final/ is the best of this run", state.global_step)
        elif self.settings.action == "raise_bonus":
            self.coef = min(max(self.algorithm.entropy_coef_max, self.coef), self.coef + self.algorithm.entropy_coef_delta)
            self.apply()
            self.warn(f"{seen}: entropy bonus raised to {self.coef:.4g}", state.global_step)
        elif self.low == self.settings.patience:
            self.warn(f"{seen}: little is left to learn from these prompts, and accuracy may fall from here", state.global_step)

    def warn(self, text: str, step: int) -> None:
        """To the log and the status, where the parent sees it."""
        if self.status.writes:
            print(f"warning: step {step}: {text}", file=sys.stderr, flush=True)
        self.status.say("training", warning=f"step {step}: {text}")

    def apply(self) -> None:
        """The coefficient is the guard's only when it may raise it; TRL's adaptive control moves its own."""
        if self.settings.action == "raise_bonus":
            self.trainer.entropy_coef = self.coef
