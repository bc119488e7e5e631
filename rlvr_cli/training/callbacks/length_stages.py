"""A completion limit that grows in stages: short and cheap while answers are short, longer once many are cut.

Early in a run a policy rambles, and every rambling token is paid for in time and memory; a limit that starts low spends
less on it. But a limit below what right answers need teaches that they cannot be reached. So the limit asks the policy::

    limit 64, clipped share 0.10 0.31 0.40 0.33 0.29 0.35  ->  five in a row above 0.25  ->  limit 128, counting from 0 again

until ``generation.max_completion_length``, which is also what the plan, the context check, the held-out evaluation, the
overlong reward and Dr. GRPO's constant divisor use from the first step on. The line of a step carries its limit as
``completions/limit``. With tools the limit holds for each turn.
"""

from __future__ import annotations

import math
from typing import ClassVar

from rlvr_cli.config.schema import Generation
from rlvr_cli.training.callbacks.controller import Controller


class LengthStages(Controller):
    """Sets the limit of whoever generates: transformers' generation settings, or the vLLM object's."""

    remembered: ClassVar[tuple[str, ...]] = ("limit", "over")

    def __init__(self, generation: Generation):
        super().__init__()
        self.settings, self.most = generation.length_stages, generation.max_completion_length
        self.limit = min(self.settings.start or self.most, self.most)
        self.over = 0

    def on_step_begin(self, args, state, control, **kwargs):
        super().on_step_begin(args, state, control, **kwargs)
        self.trainer.extras["completions/limit"] = self.limit

    def on_step_end(self, args, state, control, **kwargs):
        clipped = self.measured("completions/clipped_ratio")
        if clipped is not None:
            self.limit, self.over = self.next(clipped)
            self.apply()

    def next(self, clipped: float) -> tuple[int, int]:
        """(limit, generations in a row over the share) after one whose share of cut completions was ``clipped``."""
        over = self.over + 1 if clipped > self.settings.clipped_share else 0
        if over < self.settings.patience or self.limit == self.most:
            return self.limit, over
        return min(self.most, math.ceil(self.limit * self.settings.factor)), 0

    def apply(self) -> None:
        """vLLM's object reads its own attribute at each call; transformers reads the generation settings."""
        if hasattr(self.trainer, "generation_config"):
            self.trainer.generation_config.max_new_tokens = self.limit
        if hasattr(self.trainer, "vllm_generation"):
            self.trainer.vllm_generation.max_completion_length = self.limit
