"""The models that a run keeps: ``final/`` (best held-out accuracy), ``last/``, and the newest ``checkpoints/step_N``.

``final/`` is written when a new best is measured, not picked at the end from checkpoints that happen to exist: a policy
that collapses after step 40 still ends at its peak. Equal accuracy keeps the earlier model. Without held-out rows
``final/`` is the last one.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from transformers import TrainerCallback

from rlvr_cli.config.schema import Config
from rlvr_cli.errors import TrainingError
from rlvr_cli.evaluation.heldout import HeldOut
from rlvr_cli.models import precision
from rlvr_cli.training import records

GIB = 1024**3


class Keep(TrainerCallback):
    """Saves and rotates. ``best`` survives a resume: it is read back from ``final/metrics.json``."""

    def __init__(self, config: Config, run_dir: Path):
        self.config, self.run_dir = config, run_dir
        self.trainer: Any = None
        self.accuracy: dict[int, float] = {}
        self.line: dict[str, Any] = {}
        self.best = read_best(run_dir / "final")

    def on_held_out(self, step: int, held: HeldOut) -> None:
        """A new best replaces ``final/``."""
        self.accuracy[step] = held.accuracy
        if self.best is None or held.accuracy > self.best:
            self.best = held.accuracy
            self.save("final", step, {"eval/accuracy": held.accuracy, "eval/n": held.n, "eval/ci95": held.ci95})

    def save(self, name: str, step: int, facts: dict[str, Any]) -> None:
        """A folder of weights, tokenizer and ``metrics.json``, whole or not at all. Every rank must call it (ZeRO-3 gathers)."""
        self.need_disk()
        part, target = self.run_dir / f".{name}.part", self.run_dir / name
        writes = self.trainer.accelerator.is_main_process
        if writes:
            shutil.rmtree(part, ignore_errors=True)
        self.trainer.accelerator.wait_for_everyone()
        self.trainer.save_model(str(part), _internal_call=True)
        self.trainer.accelerator.wait_for_everyone()
        if writes:
            (part / "training_args.bin").unlink(missing_ok=True)
            precision.store_as_computed(part, precision.computed_in(self.trainer.args))
            records.write_json(part / "metrics.json", {"step": step, **facts})
            shutil.rmtree(target, ignore_errors=True)
            part.rename(target)
        self.trainer.accelerator.wait_for_everyone()

    def need_disk(self) -> None:
        """Stop before a save that would fill the disk."""
        free, need = shutil.disk_usage(self.run_dir).free / GIB, self.config.guard.min_free_disk_gib
        if free < need:
            where = "guard.min_free_disk_gib"
            raise TrainingError(f"{free:.2f} GiB of disk left, less than {need:g}", where=where, fix=f"{where}=0")

    def on_log(self, args, state, control, logs=None, **kwargs):
        if logs and "loss" in logs:
            self.line = dict(logs)

    def on_save(self, args, state, control, **kwargs):
        """The checkpoint's own ``metrics.json``, then rotation."""
        if not self.trainer.args.should_save:
            return
        folder = self.run_dir / "checkpoints" / f"step_{state.global_step}"
        facts = {"world_size": args.world_size, "zero_stage": self.config.hardware.zero_stage}
        facts[precision.COMPUTED] = precision.computed_in(args)
        records.write_json(folder / "metrics.json", {"step": state.global_step, **self.line, **facts})
        rotate(folder.parent, self.config.trainer.save_total_limit, self.best_step())

    def best_step(self) -> int | None:
        """The step with the best accuracy of this process, for the rotation to spare."""
        return max(self.accuracy, key=lambda step: (self.accuracy[step], -step)) if self.accuracy else None

    def on_train_end(self, args, state, control, **kwargs):
        self.save("last", state.global_step, {"eval/accuracy": self.accuracy.get(state.global_step)})
        if self.best is None:
            self.save("final", state.global_step, {"eval/accuracy": None})


class KeepLast(Keep):
    """``final/`` is the last model, whatever was measured on the way: for stages whose aim is not the held-out accuracy."""

    def __init__(self, config: Config, run_dir: Path):
        super().__init__(config, run_dir)
        self.best, self.facts = None, {}

    def on_held_out(self, step: int, held: HeldOut) -> None:
        """Remember the numbers; nothing is saved before the end."""
        self.accuracy[step] = held.accuracy
        self.facts = {"eval/accuracy": held.accuracy, "eval/n": held.n, "eval/ci95": held.ci95}

    def line_of_checkpoint(self, step: int) -> dict[str, Any]:
        """The step's numbers of an earlier attempt, which was killed between its last checkpoint and its end."""
        try:
            return json.loads((self.run_dir / "checkpoints" / f"step_{step}" / "metrics.json").read_text())
        except (OSError, ValueError):
            return {}

    def best_step(self) -> int | None:
        """None: the newest checkpoints stay, no other."""
        return None

    def on_train_end(self, args, state, control, **kwargs):
        facts = self.facts if state.global_step in self.accuracy else {"eval/accuracy": None}
        line = self.line or self.line_of_checkpoint(state.global_step)
        facts |= {name: line[name] for name in ("eval/loss", "eval/pair_accuracy") if name in line}
        for name in ("last", "final"):
            self.save(name, state.global_step, facts)


def keeper(config: Config, run_dir: Path) -> Keep:
    """What ``stage.keep`` asks for; ``auto`` is the best for rl and dpo, the last for the others."""
    keep = config.stage.keep
    best = keep == "best" or (keep == "auto" and config.stage.kind in ("rl", "dpo"))
    return (Keep if best else KeepLast)(config, run_dir)


def read_best(final: Path) -> float | None:
    """Accuracy of the model that an earlier attempt kept as the best."""
    try:
        return json.loads((final / "metrics.json").read_text())["eval/accuracy"]
    except (OSError, ValueError, KeyError):
        return None


def step_number(folder: Path) -> int:
    """``step_40`` -> 40; -1 for anything else."""
    _, _, number = folder.name.partition("step_")
    return int(number) if number.isdigit() else -1


def complete_checkpoints(folder: Path) -> list[Path]:
    """``step_N`` folders that can be resumed from, oldest first."""
    found = [p for p in folder.glob("step_*") if step_number(p) >= 0 and (p / "trainer_state.json").is_file()]
    return sorted(found, key=step_number)


def rotate(folder: Path, limit: int | None, spare: int | None) -> None:
    """Remove the oldest checkpoints beyond ``limit``, never the best one."""
    found = complete_checkpoints(folder)
    for old in found[: max(0, len(found) - limit)] if limit else []:
        if step_number(old) != spare:
            shutil.rmtree(old, ignore_errors=True)
