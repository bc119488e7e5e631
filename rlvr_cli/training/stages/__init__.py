"""The stages that are not reinforcement learning: TRL's SFTTrainer, DPOTrainer and RewardTrainer with this project's records.

:mod:`rlvr_cli.training.session` hands over here when ``stage.kind`` is not ``rl``. The learning is TRL's; what a run leaves
behind (metrics, held-out numbers, checkpoints, ``final/``) is written by the same callbacks as for ``rl``. By hand::

    torchrun --nproc-per-node 1 -m rlvr_cli.training.worker outputs/RUN/config.yaml        # a run of stage=sft
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rlvr_cli.config.schema import Config
from rlvr_cli.data import load
from rlvr_cli.stages.rows import StageRows, read
from rlvr_cli.training import records, resume
from rlvr_cli.training.callbacks.guard import Guard
from rlvr_cli.training.callbacks.heldout import HeldOutAccuracy
from rlvr_cli.training.callbacks.keep import keeper
from rlvr_cli.training.callbacks.record import Record, Status
from rlvr_cli.training.callbacks.watchdog import Watchdog
from rlvr_cli.training.stages import arguments
from rlvr_cli.training.stages.callbacks import HeldOutLoss, WriteFirstLine


def train(config: Config, plan: dict[str, Any], run_dir: Path, model_path: str) -> None:
    """Train the stage that ``config.stage.kind`` names, in ``run_dir``. Rows are read before any weight is."""
    args = arguments.make(config, run_dir)
    status = Status(run_dir, writes=args.process_index == 0)
    status.say("loading")
    dataset = None if config.stage.kind == "reward_model" else load_dataset(config)
    rows = read(config, dataset)
    for note in rows.notes:
        print(note, flush=True)
    trainer = assemble(config, model_path, run_dir, args, rows)
    add_callbacks(trainer, config, run_dir, status, rows, dataset.eval if dataset else [])
    checkpoint = resume.prepare(run_dir, config, args)
    trainer.train(resume_from_checkpoint=checkpoint and str(checkpoint))
    status.say("done", step=trainer.state.global_step, max_steps=trainer.state.max_steps)
    if args.process_index == 0:
        told = {"stage": config.stage.kind, "rows": len(rows.train), "general_rows": rows.general, "held_out": len(rows.held)}
        records.write_json(run_dir / "training.json", {"steps": trainer.state.global_step, "epochs": trainer.state.epoch, **told})


def load_dataset(config: Config) -> Any:
    """The data set, for the held-out accuracy and for worked answers."""
    return load(config.dataset, seed=config.seed, system_prompt=config.model.system_prompt)


def assemble(config: Config, model_path: str, run_dir: Path, args: Any, rows: StageRows) -> Any:
    """The stage's trainer with its model and rows."""
    from datasets import Dataset
    from transformers import PrinterCallback

    from rlvr_cli.training.policy import load_policy, load_tokenizer, peft_config
    from rlvr_cli.training.stages.trainers import TRAINERS

    kind = config.stage.kind
    tokenizer = load_tokenizer(config, model_path)
    model = model_path if kind == "reward_model" else load_policy(config, model_path, args)  # TRL puts the head on by itself
    if kind == "sft":
        args.model_init_kwargs = None  # used above; TRL would warn that it ignores them
    trainer = TRAINERS[kind](
        model=model,
        args=args,
        train_dataset=Dataset.from_list(rows.train),
        eval_dataset=Dataset.from_list(rows.held) if rows.held else None,
        processing_class=tokenizer,
        peft_config=peft_config(config),
    )
    trainer.remove_callback(PrinterCallback)
    return trainer


def add_callbacks(trainer: Any, config: Config, run_dir: Path, status: Status, rows: StageRows, judged: list[Any]) -> None:
    """The run's records. ``judged``: rows of the data set whose greedy answers are judged by the run's reward."""
    keep, record = keeper(config, run_dir), Record(run_dir, status, config.trainer.samples_per_step)
    held_out = HeldOutAccuracy(config, judged, status)
    held_out.trainer = keep.trainer = trainer
    held_out.hooks.append(keep.on_held_out)
    loss = HeldOutLoss(config, trainer, status) if rows.held else None
    ends = (WriteFirstLine(trainer), Guard(config.guard, status), record, keep, Watchdog(run_dir, config.trainer.timeout_s))
    for callback in (loss, held_out, *ends):
        if callback is not None:
            trainer.add_callback(callback)
