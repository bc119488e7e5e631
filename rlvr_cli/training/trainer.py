"""TRL's ``GRPOTrainer`` with this project's rewards, prompt order, clocks and checkpoint names; the learning is TRL's.

Each override is one seam that TRL offers no argument for, and delegates the rest to ``super()``. What else a run wants
(records, held-out accuracy, guards, probes) is a callback, so that a stage or an algorithm can be added without
touching this file.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from transformers.trainer_utils import PREFIX_CHECKPOINT_DIR
from trl import GRPOTrainer

from rlvr_cli.training.rewards_bridge import RewardBridge, Scored
from rlvr_cli.training.sampler import EpochRepeatSampler


class RLVRTrainer(GRPOTrainer):
    """bridge: the run's rewards. generation_factory: makes the object that ``generate``s and ``sync_weights``, instead of TRL's own."""

    def __init__(self, *, bridge: RewardBridge, generation_factory: Callable[[Any], Any] | None = None, **kwargs: Any):
        super().__init__(reward_funcs=bridge.functions(), **kwargs)
        self.bridge = bridge
        self.scored: Scored | None = None
        self.seconds: dict[str, float] = defaultdict(float)
        self.extras: dict[str, Any] = {}
        self.scored_hooks: list[Callable[[RLVRTrainer], None]] = []
        self.reward_weights = torch.tensor([term.weight for term in bridge.terms], dtype=torch.float32)
        if generation_factory is not None:
            self.use_vllm, self.vllm_mode, self._last_loaded_step = True, "server", -1
            self.vllm_generation = generation_factory(self)

    # ------------------------------------------------------------------------------------------------- rewards

    def _calculate_rewards(self, inputs, prompts, completions, completion_ids_list):
        extra = {
            "completion_ids": completion_ids_list,
            "trainer_state": self.state,
            "log_extra": self._log_completion_extra,
            "log_metric": self._log_metric,
        }
        if self.environments is not None:
            extra["environments"] = self.environments
        with self.timed("reward_s"):
            self.scored = self.bridge.score(inputs, prompts, completions, self.num_generations, extra)
        return torch.from_numpy(self.scored.matrix).to(self.accelerator.device)

    def _generate_and_score_completions(self, inputs):
        batch = super()._generate_and_score_completions(inputs)
        metrics = self._metrics["train" if self.model.training else "eval"]
        for name, mean in self.scored.term_means().items():
            metrics[f"rewards/{name}/mean"][-1] = float("nan") if mean is None else mean
        if self.scale_rewards == "batch" or self.multi_objective_aggregation == "normalize_then_sum":
            # TRL looks at the whole batch's deviation here, which says nothing of groups
            metrics["frac_reward_zero_std"][-1] = self.scored.tied_share(self.reward_weights.tolist(), self.num_generations)
        metrics["unjudged"].append(float(self.scored.left_out))
        if self.scored.unjudged:
            self.extras["unjudged_reasons"] = self.scored.unjudged
        for hook in self.scored_hooks:
            hook(self)
        return batch

    def sync_if_stale(self) -> None:
        """Send the weights to the generation server if it does not have this step's yet. Every rank must call it."""
        if self.state.global_step != self._last_loaded_step:
            self.vllm_generation.sync_weights()
            self._last_loaded_step = self.state.global_step

    # ------------------------------------------------------------------------------------------------- clocks

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Add the body's seconds to ``seconds[name]``, which the next log line carries."""
        started = time.perf_counter()
        yield
        self.seconds[name] += time.perf_counter() - started

    def _generate_single_turn(self, *args, **kwargs):
        with self.timed("generation_s"):
            return super()._generate_single_turn(*args, **kwargs)

    def training_step(self, *args, **kwargs):
        with self.timed("training_step_s"):
            return super().training_step(*args, **kwargs)

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        """TRL's log line, with where the time went and whatever callbacks left in ``extras``."""
        if "loss" in logs:
            logs.update(self.clock())
        logs.update(self.extras)
        self.extras = {}
        super().log(logs, start_time)

    def clock(self) -> dict[str, float]:
        """Seconds of generation, rewards and the rest since the last line, then set back to zero."""
        seconds, self.seconds = self.seconds, defaultdict(float)
        training = seconds["training_step_s"] - seconds["generation_s"] - seconds["reward_s"]
        return {"generation_s": seconds["generation_s"], "reward_s": seconds["reward_s"], "training_s": training}

    # ------------------------------------------------------------------------------------------------- order and resume

    def _get_train_sampler(self, dataset=None):
        dataset = self.train_dataset if dataset is None else dataset
        sampler = EpochRepeatSampler(
            dataset,
            mini_repeat_count=self.num_generations,
            batch_size=self.args.generation_batch_size // self.num_generations,
            repeat_count=self.num_iterations * self.args.steps_per_generation,
            shuffle=self.shuffle_dataset,
            seed=self.args.seed,
            epoch=lambda: self.state.global_step // max(1, steps_per_epoch),
        )
        micro_steps = len(sampler) // self.args.generation_batch_size  # batches of the loader, one a micro-step
        steps_per_epoch = -(-micro_steps // self.args.gradient_accumulation_steps)
        return sampler

    def _save_checkpoint(self, model, trial):
        """``checkpoints/step_N``: written under TRL's name, given ours when it is whole, so a killed save is never resumed from."""
        super()._save_checkpoint(model, trial)
        self.accelerator.wait_for_everyone()
        if self.args.should_save:
            written = Path(self.args.output_dir) / f"{PREFIX_CHECKPOINT_DIR}-{self.state.global_step}"
            os.replace(written, written.with_name(f"step_{self.state.global_step}"))
        self.accelerator.wait_for_everyone()

    def create_model_card(self, *args, **kwargs):
        """None: TRL would write a README into every checkpoint folder's parent."""
