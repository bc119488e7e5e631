"""Held-out greedy accuracy before the first step, every ``eval_steps`` and at the end, by the function ``rlvr eval`` uses.

All ranks answer a share of the prompts; the verdicts are gathered. The numbers ride on the step's own line of
``metrics.jsonl``, and whoever keeps the best model is told (``hooks``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from transformers import TrainerCallback

from rlvr_cli.config.schema import Config
from rlvr_cli.evaluation.generate import Completion, Sampling, cut, draw_ids, generate, prompt_ids, stop_tokens
from rlvr_cli.evaluation.heldout import HeldOut, draws_of, held_out_of, judged_samples
from rlvr_cli.training.callbacks.record import Status


class HeldOutAccuracy(TrainerCallback):
    """rows: the held-out set, the same on every rank; hooks: called with (step, HeldOut) after each evaluation."""

    def __init__(self, config: Config, rows: Sequence[Mapping[str, Any]], status: Status):
        self.config, self.rows, self.status = config, list(rows), status
        self.trainer: Any = None
        self.turns: Any = None  # environments.turns.Turns of a run with tools
        self.hooks: list[Callable[[int, HeldOut], None]] = []
        self.last_step = -1

    def on_train_begin(self, args, state, control, **kwargs):
        if self.rows and state.global_step == 0 and self.config.trainer.eval_at_start:
            self.evaluate(state)
            self.trainer.log({})
        elif self.rows and state.global_step >= state.max_steps:  # killed before its end: the line is there, final/ may not be
            self.evaluate(state)
            self.trainer.extras = {}

    def on_step_end(self, args, state, control, **kwargs):
        every = self.config.trainer.eval_steps
        due = every and state.global_step % every == 0
        last = state.global_step >= state.max_steps or control.should_training_stop
        if self.rows and (due or last):
            self.evaluate(state)
            control.should_log = True
        return control

    def evaluate(self, state: Any) -> HeldOut:
        """Answer, judge, gather, and leave the numbers for the next log line."""
        if self.config.dataset.eval_fresh:
            self.rows = self.fresh_rows(state.global_step)
        self.status.say("evaluation", step=state.global_step, max_steps=state.max_steps, prompts=len(self.rows))
        started = time.perf_counter()
        with same_randomness_after():
            held = held_out_of(self.samples())
        self.last_step = state.global_step
        low, high = held.ci95
        self.trainer.extras |= {
            "eval/accuracy": held.accuracy,
            "eval/strict": held.strict / held.n,
            "eval/lenient": held.lenient / held.n,
            "eval/ci95_low": low,
            "eval/ci95_high": high,
            "eval/n": held.n,
            "eval/truncated": held.truncated / held.n,
            "eval/unjudged": sum(held.unjudged.values()),
            "eval/seconds": time.perf_counter() - started,
        }
        if held.called is not None:
            self.trainer.extras["eval/call_rate"] = held.called / held.n
        for hook in self.hooks:
            hook(state.global_step, held)
        self.status.say("training")
        return held

    def fresh_rows(self, step: int) -> list[Mapping[str, Any]]:
        """``dataset.eval_fresh``: other prompts of the held-out share, the same ones on every rank and after a resume."""
        from rlvr_cli.data import drop_long, fresh_eval

        dataset, tokenizer = self.config.dataset, self.trainer.processing_class
        rows = fresh_eval(dataset, draw=step, system_prompt=self.config.model.system_prompt)
        if not dataset.max_prompt_tokens:
            return rows
        return drop_long(rows, lambda prompt: len(prompt_ids(tokenizer, prompt)), dataset.max_prompt_tokens)[0]

    def samples(self) -> list[dict[str, Any]]:
        """Judged greedy completions of all rows, in order."""
        from accelerate.utils import gather_object

        accelerator = self.trainer.accelerator
        if self.trainer.use_vllm and hasattr(self.trainer.vllm_generation, "greedy"):
            return self.judge(self.rows, self.by_server())
        rank, world = accelerator.process_index, accelerator.num_processes
        mine = self.rows[rank::world]
        shares = gather_object([self.judge(mine, self.by_trainer(mine))])
        return [shares[i % world][i // world] for i in range(len(self.rows))]

    def judge(self, rows: Sequence[Mapping[str, Any]], completions: Sequence[Completion]) -> list[dict[str, Any]]:
        """Verdicts of the run's own reward."""
        pool = self.config.reward.pool.model_dump()
        return judged_samples(rows, draws_of(rows), completions, self.config.reward.terms, kind="greedy", pool=pool) if rows else []

    def by_trainer(self, rows: Sequence[Mapping[str, Any]]) -> list[Completion]:
        """Greedy completions from the policy itself; under ZeRO-3 its weights are gathered for the while."""
        from trl.models import unwrap_model_for_generation

        generation = self.config.generation
        sampling = Sampling(
            generation.max_completion_length,
            greedy=True,
            stop_ids=tuple(self.trainer.eos_token_ids),
            repetition_penalty=generation.repetition_penalty,
            template_options=self.trainer.chat_template_kwargs or {},
        )
        size, tokenizer = self.config.trainer.per_device_eval_batch_size, self.trainer.processing_class
        with unwrap_model_for_generation(self.trainer.model_wrapped, self.trainer.accelerator) as model:
            if not rows:
                return []
            if self.turns is None:
                return generate(model, tokenizer, draws_of(rows), sampling, batch_size=size)
            stops = stop_tokens(model, tokenizer, sampling.stop_ids)
            ask = partial(draw_ids, model, tokenizer, batch_size=size)
            return self.turns.completions(ask, draws_of(rows), rows, sampling, stops)

    def by_server(self) -> list[Completion]:
        """Greedy completions from the generation server, after it has the current weights."""
        trainer, tokenizer = self.trainer, self.trainer.processing_class
        trainer.sync_if_stale()
        stops = set(stop_tokens(trainer.model, tokenizer, trainer.eos_token_ids))
        if self.turns is not None:
            sampling = Sampling(self.config.generation.max_completion_length, greedy=True)
            ask = lambda ids, draws, sampling: trainer.vllm_generation.greedy(ids)  # noqa: E731
            return self.turns.completions(ask, draws_of(self.rows), self.rows, sampling, sorted(stops))
        ids = [prompt_ids(tokenizer, row["prompt"], trainer.chat_template_kwargs) for row in self.rows]
        return [cut(tokenizer, answer, stops) for answer in trainer.vllm_generation.greedy(ids)]


@contextmanager
def same_randomness_after():
    """Leave torch's random state as it was: an evaluation must not change which completions are drawn next."""
    state = torch.get_rng_state()
    cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_available() else None
    try:
        yield
    finally:
        torch.set_rng_state(state)
        if cuda is not None:
            torch.cuda.set_rng_state_all(cuda)
