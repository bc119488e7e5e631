"""TRL's ``GRPOTrainer`` with this project's rewards, prompt order, clocks and checkpoint names; the learning is TRL's.

Each override is one seam that TRL offers no argument for, and delegates the rest to ``super()``. What else a run wants
(records, held-out accuracy, guards, probes) is a callback, so that a stage or an algorithm can be added without
touching this file.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from trl import GRPOTrainer

from rlvr_cli.config.schema import DynamicSampling as Refill
from rlvr_cli.training import live_rows, padding
from rlvr_cli.training.ahead import Ahead
from rlvr_cli.training.checkpointing import Checkpoints
from rlvr_cli.training.dynamic_sampling import alive_groups
from rlvr_cli.training.prompt_choice import PromptChoice
from rlvr_cli.training.rewards_bridge import RewardBridge, Scored
from rlvr_cli.training.sampler import EpochRepeatSampler
from rlvr_cli.training.sampling import Sampling


class RLVRTrainer(Checkpoints, GRPOTrainer):
    """bridge: the run's rewards. generation_factory: makes the object that ``generate``s and ``sync_weights``, instead of TRL's own.
    choice: which prompts are asked, where that is not the sampler's order alone; refill: the settings of dynamic sampling.
    skip_dead_rows: leave rows of zero advantage out of forward and backward where that changes no gradient.
    sort_by_length: completions of like length in one micro-batch, where their order is free."""

    def __init__(
        self,
        *,
        bridge: RewardBridge,
        generation_factory: Callable[[Any], Any] | None = None,
        choice: PromptChoice | None = None,
        refill: Refill | None = None,
        skip_dead_rows: bool = True,
        sort_by_length: bool = True,
        **kwargs: Any,
    ):
        super().__init__(reward_funcs=bridge.functions(), **kwargs)
        for listed in (self.reward_funcs, self.reward_func_names, self.reward_processing_classes):
            del listed[len(bridge.terms) :]  # an environment's get_reward is paid by a term of its own: rewards.environment.end_state
        self.bridge = bridge
        self.skip_dead_rows, self.skipping, self.sort_by_length = skip_dead_rows, False, sort_by_length
        self.scored: Scored | None = None
        self.seconds: dict[str, float] = defaultdict(float)
        self.extras: dict[str, Any] = {}
        self.scored_hooks: list[Callable[[RLVRTrainer], None]] = []
        self.sampling = Sampling(self, choice, refill or Refill())
        self.ahead: Ahead | None = None
        self.reward_weights = torch.tensor([term.weight for term in bridge.terms], dtype=torch.float32)
        if generation_factory is not None:
            self.use_vllm, self.vllm_mode, self._last_loaded_step = True, "server", -1
            self.vllm_generation = generation_factory(self)

    # ------------------------------------------------------------------------------------------------- rewards

    def score(self, inputs: list[Any], prompts: list[Any], completions: list[Any], ids: list[list[int]], *, first: bool = True) -> Scored:
        """Rewards of all ranks for this rank's completions. ``first`` is false for a refill, whose extra columns TRL has no place for."""
        extra = {
            "completion_ids": ids,
            "trainer_state": self.state,
            "log_extra": self._log_completion_extra if first else lambda column, values: None,
            "log_metric": self._log_metric,
        }
        if self.environments is not None:
            extra["environments"] = self.environments
        with self.timed("reward_s"):
            known = self.judged_ahead(completions)
            return self.bridge.score(inputs, prompts, completions, self.num_generations, extra, known)

    def judged_ahead(self, completions: list[Any]) -> list[Any] | None:
        """What was said of these completions while others were drawn; None where nothing is judged so."""
        if self.ahead is None or not self.ahead.open:
            return None
        known = self.ahead.end(completions)
        self._log_metric("judged_ahead", sum(map(bool, known)) / len(known))
        return known

    def _calculate_rewards(self, inputs, prompts, completions, completion_ids_list):
        refilled = self.sampling.scored() if self.model.training else None
        self.scored = refilled or self.score(inputs, prompts, completions, completion_ids_list)
        return torch.from_numpy(self.scored.matrix).to(self.accelerator.device)

    def _generate_and_score_completions(self, inputs):
        training = self.model.training
        batch = super()._generate_and_score_completions(self.sampling.begin(inputs) if training else inputs)
        if training:
            self.sampling.end(self.scored)
        metrics = self._metrics["train" if self.model.training else "eval"]
        for name, mean in self.scored.term_means().items():
            metrics[f"rewards/{name}/mean"][-1] = float("nan") if mean is None else mean
        if self.scale_rewards == "batch" or self.multi_objective_aggregation == "normalize_then_sum":
            # TRL looks at the whole batch's deviation here, which says nothing of groups
            metrics["frac_reward_zero_std"][-1] = float((~alive_groups(self, self.scored)).mean())
        metrics["unjudged"].append(float(self.scored.left_out))
        if self.scored.unjudged:
            self.extras["unjudged_reasons"] = self.scored.unjudged
        for hook in self.scored_hooks:
            hook(self)
        return batch

    def _generate(self, prompts):
        if not self.model.training:
            return super()._generate(prompts)
        return self.sampling.generated(prompts, self.generate_for(self.sampling.inputs, prompts))

    def generate_for(self, inputs: list[dict[str, Any]], prompts: list[Any]) -> tuple[Any, ...]:
        """Completions of these rows' prompts, judged while others are drawn where that can be."""
        if self.ahead is not None:
            self.ahead.begin(inputs)
        return super()._generate(prompts)

    def generate_again(self, inputs: list[dict[str, Any]], prompts: list[Any]) -> tuple[Any, ...]:
        """Completions of further prompts, as ``_generate`` returns them. Metrics of lengths stay those of the first ones."""
        metrics = self._metrics["train"]
        before = {name: len(values) for name, values in metrics.items() if name != "num_tokens"}
        fields = self.generate_for(inputs, prompts)
        for name, count in before.items():
            del metrics[name][count:]
        return fields

    def _prepare_inputs(self, generation_batch):
        before = self._buffered_inputs
        inputs = super()._prepare_inputs(generation_batch)
        if self._buffered_inputs is before or not self.sort_by_length or not padding.can_sort(self):
            return inputs
        self._buffered_inputs = padding.by_length(self._buffered_inputs)
        return self._buffered_inputs[self._step % self.args.steps_per_generation]

    def _compute_loss(self, model, inputs):
        self.skipping = self.skip_dead_rows and self.model.training and live_rows.can_skip(self, inputs)
        if not self.skipping:
            return super()._compute_loss(model, inputs)
        live = live_rows.only_live(inputs, live_rows.most_of_a_rank(self.accelerator, inputs))
        return super()._compute_loss(model, live) * live_rows.scale(self.loss_type, inputs, live)

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
            logs.update(self.clock() | self.sampling.totals())
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

    def save_beside(self, folder: Path) -> None:
        """The state of sampling."""
        self.sampling.save(folder)
