"""Runs the parity probe (:mod:`rlvr_cli.weights.parity`) before the first step and every ``generation.parity_every`` steps.

The probed tokens are fixed at the first probe: a few training prompts with the server's own greedy answers.
"""

from __future__ import annotations

import time
from typing import Any

from transformers import TrainerCallback

from rlvr_cli.config.schema import Generation
from rlvr_cli.evaluation.generate import prompt_ids

PROMPTS = 8


class Parity(TrainerCallback):
    """Only with a server; ``prompts``: chat messages to probe with, the same on every rank."""

    def __init__(self, settings: Generation, prompts: list[Any]):
        self.settings, self.prompts = settings, prompts[:PROMPTS]
        self.trainer: Any = None
        self.sequences: list[list[int]] = []

    def on_step_begin(self, args, state, control, **kwargs):
        every = self.settings.parity_every
        if every and state.global_step % every == 0:
            self.run()

    def run(self) -> dict[str, float]:
        """One probe; its numbers ride on the step's line."""
        from rlvr_cli.weights.parity import probe

        trainer, started = self.trainer, time.perf_counter()
        if not self.sequences:
            trainer.sync_if_stale()
            ids = [prompt_ids(trainer.processing_class, prompt, trainer.chat_template_kwargs) for prompt in self.prompts]
            self.sequences = [p + answer for p, answer in zip(ids, trainer.vllm_generation.greedy(ids), strict=True)]
        differences = probe(trainer, self.sequences, self.settings.parity_bound)
        trainer._last_loaded_step = trainer.state.global_step
        trainer.extras |= {**differences, "parity/seconds": time.perf_counter() - started}
        return differences
