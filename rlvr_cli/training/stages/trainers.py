"""TRL's three trainers with the seams that this project's callbacks need; the learning is TRL's.

One mixin, no base class of our own: ``extras`` ride on the next log line, checkpoints are those of every trainer here
(:mod:`rlvr_cli.training.checkpointing`), and :meth:`Seams.held_out_loss` measures without a log line of its own.
"""

from __future__ import annotations

import time
from typing import Any

from trl import DPOTrainer, RewardTrainer, SFTTrainer

from rlvr_cli.training.checkpointing import Checkpoints


class Seams(Checkpoints):
    """What :mod:`rlvr_cli.training.callbacks` reads of a trainer, beside transformers' own."""

    use_vllm = False
    chat_template_kwargs: dict[str, Any] = {}  # noqa: RUF012  never written to

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.extras: dict[str, Any] = {}
        self.measured: dict[str, float] | None = None
        self.logged = time.perf_counter()
        settings = getattr(self.model, "generation_config", None)
        own = getattr(settings, "eos_token_id", None)
        ends = [own] if isinstance(own, int) else list(own or [])
        self.eos_token_ids = list(dict.fromkeys([*ends, self.processing_class.eos_token_id]))

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        """TRL's log line with the seconds it took and what callbacks left; a measurement goes to who asked for it."""
        if self.measured is not None:
            means = {f"eval_{name}": sum(values) / len(values) for name, values in self._metrics["eval"].items()}
            self._metrics["eval"].clear()
            self.measured |= {**logs, **means}
            return
        self.logged += self.extras.get("eval/seconds", 0.0)  # judging held-out rows is no part of a step
        if "loss" in logs:
            now = time.perf_counter()
            logs["step_time"], self.logged = (now - self.logged) / self.args.logging_steps, now
        logs.update(self.extras)
        self.extras = {}
        super().log(logs, start_time)

    def held_out_loss(self) -> dict[str, float]:
        """TRL's own evaluation of the held-out rows: ``eval_loss`` (nats a token) and what else its loss reports."""
        started, self.measured = time.perf_counter(), {}
        try:
            self.evaluate()
            return dict(self.measured)
        finally:
            self.measured = None
            self.logged += time.perf_counter() - started


class Sft(Seams, SFTTrainer):
    """Supervised fine-tuning."""


class Dpo(Seams, DPOTrainer):
    """Direct preference optimisation; TRL loads the reference from the same folder as the policy."""


class RewardModel(Seams, RewardTrainer):
    """A sequence classifier with one logit."""


TRAINERS = {"sft": Sft, "dpo": Dpo, "reward_model": RewardModel}
