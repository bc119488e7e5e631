"""Where a run goes on: the newest whole checkpoint of its folder, if it fits, and the records cut back to it.

A checkpoint of another world size or ZeRO stage cannot be loaded by DeepSpeed; that is said before it tries.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rlvr_cli.checkpoints import latest_checkpoint, remove_torn
from rlvr_cli.config.schema import Config
from rlvr_cli.errors import RunDirError
from rlvr_cli.training import failure, records
from rlvr_cli.training.callbacks.keep import step_number


def prepare(run_dir: Path, config: Config, args: Any) -> Path | None:
    """The checkpoint to resume from, or None to start; rank 0 tidies the folder first. Every rank must call it."""
    checkpoint = newest(run_dir)
    if checkpoint is not None:
        refuse_other_shape(checkpoint, config, args)
    if args.process_index == 0:
        tidy(run_dir, step_number(checkpoint) if checkpoint else -1)
    args.distributed_state.wait_for_everyone()
    failure.progress["step"] = max(0, step_number(checkpoint)) if checkpoint else 0
    return checkpoint


def newest(run_dir: Path) -> Path | None:
    """The last ``checkpoints/step_N`` that is whole; the ones passed over are said in the rank's log."""
    found, passed_over = latest_checkpoint(run_dir)
    for text in passed_over:
        print(f"passed over {text}", flush=True)
    return found


def refuse_other_shape(checkpoint: Path, config: Config, args: Any) -> None:
    """DeepSpeed's shards fit one world size and one stage."""
    try:
        facts = json.loads((checkpoint / "metrics.json").read_text())
    except (OSError, ValueError):
        return
    now = {"world_size": args.world_size, "zero_stage": config.hardware.zero_stage}
    for key, name in (("world_size", "hardware.ranks"), ("zero_stage", "hardware.zero_stage")):
        if key in facts and facts[key] != now[key]:
            what = f"{checkpoint.name} was saved with {name}={facts[key]}, this run has {now[key]}"
            raise RunDirError(what, where=name, fix=f"{name}={facts[key]}")


def tidy(run_dir: Path, step: int) -> None:
    """Drop what came after the checkpoint: lines of the records, half-written checkpoints, the last failure."""
    for name in (records.METRICS, records.SAMPLES):
        records.cut_back(run_dir / name, step)
    (run_dir / failure.FILE).unlink(missing_ok=True)
    remove_torn(run_dir)
