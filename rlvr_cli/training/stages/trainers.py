"""TRL's three trainers with the seams that this project's callbacks need; the learning is TRL's.

One mixin, no base class of our own: ``extras`` ride on the next log line, checkpoints are named ``step_N`` when they are
whole, and :meth:`Seams.held_out_loss` measures without a log line of its own.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from transformers.trainer_utils import PREFIX_CHECKPOINT_DIR
from trl import DPOTrainer, RewardTrainer, SFTTrainer

from rlvr_cli.training import resume


class Seams:
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

    def _run_epoch(self, *args, **kwargs):
        if not resume.at_its_end(self):
            super()._run_epoch(*args, **kwargs)

    def _save_checkpoint(self, model, trial):
        """``checkpoints/step_N``, named so when it is whole."""
        super()._save_checkpoint(model, trial)
        self.accelerator.wait_for_everyone()
        if self.args.should_save:
            written = Path(self.args.output_dir) / f"{PREFIX_CHECKPOINT_DIR}-{self.state.global_step}"
            os.replace(written, written.with_name(f"step_{self.state.global_step}"))
        self.accelerator.wait_for_everyone()

    def create_model_card(self, *args, **kwargs):
        """None: TRL would write a README beside the checkpoints."""


class Sft(Seams, SFTTrainer):
    """Supervised fine-tuning."""


class Dpo(Seams, DPOTrainer):
    """Direct preference optimisation; TRL loads the reference from the same folder as the policy."""


class RewardModel(Seams, RewardTrainer):
    """A sequence classifier with one logit."""


TRAINERS = {"sft": Sft, "dpo": Dpo, "reward_model": RewardModel}
