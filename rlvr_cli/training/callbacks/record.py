"""The run's own record, written by rank 0: a line of metrics a step, the completions with their verdicts, the status.

``progress.json`` is for whoever watches: the phase, the step, how many there will be.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from transformers import TrainerCallback

from rlvr_cli.training import failure, records

DROPPED = ("epoch_time", "total_flos")


class Status:
    """``progress.json`` of a run; silent on the other ranks."""

    def __init__(self, run_dir: Path, writes: bool):
        self.file = run_dir / records.STATUS
        self.writes = writes
        self.facts: dict[str, Any] = {}

    def say(self, phase: str, **facts: Any) -> None:
        """Name the phase and whatever else is known now."""
        self.facts = {**self.facts, "phase": phase, **facts, "time": round(time.time(), 3)}
        if self.writes:
            records.write_json(self.file, self.facts)


class Record(TrainerCallback):
    """metrics.jsonl, samples.jsonl, progress.json. ``attach`` hooks it into the trainer's scoring."""

    def __init__(self, run_dir: Path, status: Status, samples_per_step: int | None):
        self.run_dir, self.status, self.limit = run_dir, status, samples_per_step
        self.started = time.monotonic()
        self.tokens = 0.0

    def attach(self, trainer: Any) -> None:
        """Write completions as they are scored."""
        trainer.scored_hooks.append(self.on_scored)

    def on_scored(self, trainer: Any) -> None:
        """All completions of this generation, of all ranks, with scores, reasons and advantages."""
        rows = len(trainer.scored.answers)
        self.tokens += trainer.sampling.tokens
        if not self.status.writes or self.limit == 0:
            return
        count = rows if self.limit is None else min(rows, self.limit)
        records.append(self.run_dir / records.SAMPLES, (sample(trainer, i, rows) for i in range(count)), sync=False)

    def on_train_begin(self, args, state, control, **kwargs):
        self.status.say("training", step=state.global_step, max_steps=state.max_steps)

    def on_step_end(self, args, state, control, **kwargs):
        failure.progress["step"] = state.global_step

    def on_log(self, args, state, control, logs=None, **kwargs):
        if not logs or "train_runtime" in logs:
            return
        line = {"step": state.global_step, **{k: v for k, v in logs.items() if k not in DROPPED}}
        if "loss" in logs:
            line["tokens_per_s"] = self.tokens / line["step_time"] if self.tokens and line.get("step_time") else None
            self.tokens = 0.0
            line.update(pool_counts())
        line["elapsed_s"] = round(time.monotonic() - self.started, 3)
        if self.status.writes:
            records.append(self.run_dir / records.METRICS, [line], sync=True)
            self.status.say("training", step=state.global_step, max_steps=state.max_steps)


def pool_counts() -> dict[str, float]:
    """What the killable workers of this rank have done so far: verdicts, deadlines passed, workers replaced, cache hit rate.

    Empty for a run whose rewards never used them. Code runs in its own servers; its verdicts count through the cache.
    """
    from rlvr_cli.verifiers import pool

    told = pool.stats()
    used = told["judged"] or told["cache_hits"] or told["cache_misses"]
    return {f"pool/{name}": round(told[name], 4) for name in ("judged", "timeouts", "restarts", "cache_hit_rate")} if used else {}


def sample(trainer: Any, i: int, rows: int) -> Mapping[str, Any]:
    """One line of samples.jsonl. TRL keeps the last generation of all ranks in ``_logs``, oldest first."""
    scored, logs = trainer.scored, trainer._logs
    newest = len(logs["prompt"]) - rows
    results = {name: result for name, result in scored.results.items() if result.applicable[i]}
    completion = logs["completion"][newest + i]
    return {
        "step": trainer.state.global_step + 1,
        "prompt": logs["prompt"][newest + i],
        "completion": completion if isinstance(completion, str) else completion[-1]["content"] if len(completion) == 1 else completion,
        "answer": scored.answers[i],
        "scores": {name: result.scores[i] for name, result in results.items()},
        "reasons": {name: result.reasons[i] for name, result in results.items()},
        "extracted": {name: result.extracted[i] for name, result in results.items()},
        "advantage": logs["advantages"][newest + i],
    }
