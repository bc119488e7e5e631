"""One rank's training, from the frozen configuration to ``final/``: load, assemble, resume or start, train.

The order matters: settings before the model (ZeRO-3 loads it sharded), rewards and data before the weights (a wrong
column must not cost a load), callbacks last (they need the trainer). Everything that can be decided was decided by the
parent and stands in ``config.yaml`` and ``plan.json``; all ranks read the same files and so do the same.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from rlvr_cli import rewards_api
from rlvr_cli.config.compose import read_frozen
from rlvr_cli.config.schema import Config
from rlvr_cli.data import Loaded, load
from rlvr_cli.errors import ConfigError, DataError
from rlvr_cli.training import ahead, grpo_config, records, resume, sampling
from rlvr_cli.training.callbacks.budget import TokenBudget
from rlvr_cli.training.callbacks.early_stop import EarlyStop
from rlvr_cli.training.callbacks.entropy_guard import EntropyGuard
from rlvr_cli.training.callbacks.guard import Guard
from rlvr_cli.training.callbacks.heldout import HeldOutAccuracy
from rlvr_cli.training.callbacks.keep import keeper
from rlvr_cli.training.callbacks.kl_control import KLControl
from rlvr_cli.training.callbacks.length_stages import LengthStages
from rlvr_cli.training.callbacks.parity import Parity
from rlvr_cli.training.callbacks.profile import Profile
from rlvr_cli.training.callbacks.record import Record, Status
from rlvr_cli.training.callbacks.watchdog import Watchdog
from rlvr_cli.training.rewards_bridge import RewardBridge


def train(config_file: Path) -> None:
    """Train as ``config_file`` says, in the folder that it lies in."""
    run_dir = config_file.resolve().parent
    config, plan = read_frozen(config_file), read_plan(run_dir)
    if config.hardware.zero_stage is None:
        leave_lonely_group()
    if config.stage.kind != "rl":
        from rlvr_cli.training import stages

        return stages.train(config, plan, run_dir, plan.get("model_path") or model_folder(config))
    args = grpo_config.make(config, run_dir, server=plan.get("server"))
    status = Status(run_dir, writes=args.process_index == 0)
    status.say("loading")
    trainer, held_out = assemble(config, plan, run_dir, args, status)
    checkpoint = resume.prepare(run_dir, config, args)
    if checkpoint is not None:
        trainer.sampling.load(checkpoint)
    trainer.train(resume_from_checkpoint=checkpoint and str(checkpoint))
    status.say("done", step=trainer.state.global_step, max_steps=trainer.state.max_steps)
    if args.process_index == 0:
        records.write_json(run_dir / "training.json", summary(trainer, held_out))


def assemble(config: Config, plan: dict[str, Any], run_dir: Path, args: Any, status: Status) -> tuple[Any, HeldOutAccuracy]:
    """The trainer with its rewards, data, model and callbacks."""
    from transformers import PrinterCallback

    from rlvr_cli.training.policy import load_policy, load_tokenizer, peft_config
    from rlvr_cli.training.trainer import RLVRTrainer

    model_path = plan.get("model_path") or model_folder(config)
    tokenizer = load_tokenizer(config, model_path)
    turns = turns_of(config, tokenizer)
    rows = read_rows(config, tokenizer, args, model_path, status, turns)
    rewards_api.configure_pool(config.reward)
    terms = rewards_api.bind(config.reward, rows.columns)
    choice = sampling.prepare(config, rows.train)
    trainer = RLVRTrainer(
        choice=choice,
        refill=config.algorithm.dynamic_sampling,
        skip_dead_rows=config.trainer.skip_dead_rows,
        sort_by_length=config.trainer.sort_by_length,
        bridge=RewardBridge(terms, unjudged_stop_share=config.reward.unjudged_stop_share),
        generation_factory=generation_factory(config, plan.get("server")),
        model=load_policy(config, model_path, args),
        args=args,
        train_dataset=as_dataset(rows.train),
        processing_class=tokenizer,
        peft_config=peft_config(config),
        tools=turns.bound.functions if turns else None,
        environment_factory=turns.bound.factory if turns else None,
    )
    ahead.attach(trainer, config, plan.get("server"))
    if turns is not None:
        turns.context = getattr(trainer.model.config, "max_position_embeddings", None)
    trainer.remove_callback(PrinterCallback)
    held_out = HeldOutAccuracy(config, rows.eval, status)
    keep, record = keeper(config, run_dir), Record(run_dir, status, config.trainer.samples_per_step)
    held_out.trainer, held_out.turns = trainer, turns
    keep.trainer = trainer
    held_out.hooks.append(keep.on_held_out)
    record.attach(trainer)
    if hasattr(getattr(trainer, "vllm_generation", None), "score"):
        parity = Parity(config.generation, [row["prompt"] for row in rows.train])
        parity.trainer = trainer
        trainer.add_callback(parity)
    before, after = controllers(config, trainer, held_out, status)
    guard, watchdog = Guard(config.guard, status), Watchdog(run_dir, config.trainer.timeout_s)
    for callback in (*before, held_out, *after, guard, record, keep, watchdog):
        trainer.add_callback(callback)
    if config.trainer.profile:
        trainer.add_callback(Profile(run_dir, trainer, record=record, held_out=held_out, keep=keep))
    return trainer, held_out


def turns_of(config: Config, tokenizer: Any) -> Any:
    """The turns of the run's environment, with the tokenizer taught to read calls; None for a single turn."""
    from rlvr_cli import environments

    bound = environments.bind(config.environment)
    if bound is None:
        return None
    from rlvr_cli.environments.turns import Turns

    os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")
    return Turns(bound, tokenizer, template_options=config.algorithm.extra.get("chat_template_kwargs"))


def controllers(config: Config, trainer: Any, held_out: HeldOutAccuracy, status: Status) -> tuple[list[Any], list[Any]]:
    """What moves a setting or ends the run by what a step measured: (before, after) the held-out evaluation of that step."""
    before: list[Any] = []
    if config.trainer.max_generated_tokens is not None:
        before.append(TokenBudget(config.trainer.max_generated_tokens))
    if config.algorithm.kl_control.kind != "none":
        before.append(KLControl(config.algorithm))
    if config.generation.length_stages.start is not None:
        before.append(LengthStages(config.generation))
    if config.guard.entropy.action != "off":
        before.append(EntropyGuard(config, status))
    after = [EarlyStop(config.guard.early_stop_evals, status)] if config.guard.early_stop_evals else []
    held_out.hooks += [stop.on_held_out for stop in after]
    for callback in (*before, *after):
        callback.trainer = trainer
    return before, after


def leave_lonely_group() -> None:
    """A single rank without DeepSpeed needs no process group: DDP around it costs time and cannot resume on CPU."""
    if os.environ.get("WORLD_SIZE") == "1":
        for name in ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE"):
            os.environ.pop(name, None)


def read_plan(run_dir: Path) -> dict[str, Any]:
    """``plan.json``; empty when a rank is started by hand."""
    file = run_dir / "plan.json"
    return json.loads(file.read_text()) if file.is_file() else {}


def model_folder(config: Config) -> str:
    """Where the weights lie, when no parent prepared them."""
    from rlvr_cli.models import prepare

    return str(prepare(config.model, config.seed))


def read_rows(config: Config, tokenizer: Any, args: Any, model_path: str, status: Status, turns: Any = None) -> Loaded:
    """Training and held-out rows whose prompts fit, and at least one whole generation of them."""
    from rlvr_cli.data import drop_long
    from rlvr_cli.evaluation.generate import prompt_ids

    rows = load(config.dataset, seed=config.seed, system_prompt=config.model.system_prompt)
    length = turns.prompt_length if turns else lambda prompt: len(prompt_ids(tokenizer, prompt))
    limit, said = config.dataset.max_prompt_tokens or room_for_prompts(config, model_path), []
    if limit:
        rows.train, long = drop_long(rows.train, length, limit)
        rows.eval, long_held = drop_long(rows.eval, length, limit)
        for line in (*long, *long_held):
            print(f"dropped: {line}", flush=True)
        if long or long_held:
            said.append(f"{len(long)} training and {len(long_held)} held-out prompts over {limit} tokens were dropped")
    if not turns and (unread := foreign(tokenizer, [prompt_ids(tokenizer, row["prompt"]) for row in rows.train[:200]])):
        said.append(unread)
    if said:  # in one word: a status that follows at once takes the place of the one before
        status.say("loading", detail="; ".join(said))
    need = args.generation_batch_size // args.num_generations
    if len(rows.train) < need:
        raise DataError(
            f"{len(rows.train)} training prompts, but one generation takes {need}: TRL would train for no step at all",
            where="dataset, trainer.per_device_train_batch_size",
            fix=f"trainer.per_device_train_batch_size={max(1, len(rows.train)) * args.num_generations}",
        )
    return rows


def foreign(tokenizer: Any, prompts: list[list[int]]) -> str | None:
    """A sentence where the model's vocabulary lacks much of the prompts: it can not read them, so no reward will ever rise.

    >>> from types import SimpleNamespace
    >>> foreign(SimpleNamespace(unk_token_id=0), [[5, 0, 0, 7]]), foreign(SimpleNamespace(unk_token_id=None), [[0]])
    ('50% of the tokens of the prompts are unknown to this model: it can not read them (another model, or another dataset)', None)
    """
    tokens = [token for prompt in prompts for token in prompt]
    unknown = tokens.count(tokenizer.unk_token_id) / len(tokens) if tokens and tokenizer.unk_token_id is not None else 0.0
    said = "of the tokens of the prompts are unknown to this model: it can not read them (another model, or another dataset)"
    return f"{unknown:.0%} {said}" if unknown > 0.02 else None


def room_for_prompts(config: Config, model_path: str) -> int | None:
    """Tokens that the model's context leaves for a prompt beside the longest completion; None where it states no context."""
    from transformers import AutoConfig

    settings = AutoConfig.from_pretrained(model_path, revision=config.model.revision, trust_remote_code=config.model.trust_remote_code)
    context = getattr(settings.get_text_config(), "max_position_embeddings", None)
    return max(1, context - config.generation.max_completion_length) if context else None


def as_dataset(rows: list[dict[str, Any]]) -> Any:
    """Rows as the ``Dataset`` that TRL wants, each with its own place: a loader that shuffles does not tell it."""
    from datasets import Dataset

    return Dataset.from_list([{**row, sampling.ROW: i} for i, row in enumerate(rows)])


def generation_factory(config: Config, server: dict[str, Any] | None) -> Any:
    """What makes the client of a server without CUDA; None where TRL generates by itself."""
    if config.generation.backend != "vllm_server":
        return None
    if not server:
        raise ConfigError("generation=vllm_server needs the server that rlvr train starts", where="plan.json", fix="rlvr train ...")
    if server["backend"] != "rlvr_shm":
        return None
    from rlvr_cli.weights.generation import factory

    return factory(config, server)


def summary(trainer: Any, held_out: HeldOutAccuracy) -> dict[str, Any]:
    """What ``training.json`` keeps beside the records: how many steps, how many tokens."""
    state = trainer.state
    return {"steps": state.global_step, "epochs": state.epoch, "tokens": state.num_input_tokens_seen, "held_out": len(held_out.rows)}
