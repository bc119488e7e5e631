"""``trainer.profile=true``: where a step's time goes, by clocks of this process that never count a second twice.

A clock that starts inside another one stops it for the while, so the parts add up to the run. The trainer's own methods
and the callbacks are wrapped when training begins; on a GPU every reading waits for the kernels (a profiled run is a
little slower). Written to ``profile.json`` by rank 0 and printed when the run ends::

    where 40 steps went (31.2 s, 0.78 s a step)
    generation          14.1 s   45.2%
    forward, backward   12.0 s   38.4%
    ...
"""

from __future__ import annotations

import functools
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from transformers import TrainerCallback

from rlvr_cli.training import records

FILE = "profile.json"
GENERATION, TOOLS, SYNC, REWARDS = "generation", "tools", "weights to the server", "rewards"
PREPARING, TRAINING, OPTIMIZER = "log-probs and batch", "forward, backward", "optimizer"
RECORDS, EVALUATION, SAVING, REST = "records", "evaluation", "saving", "the rest"
# methods of the trainer: what runs inside another one is taken out of it
METHODS = {
    "training_step": TRAINING,
    "_generate_and_score_completions": PREPARING,
    "_generate_single_turn": GENERATION,
    "_tool_call_loop": TOOLS,
    "_calculate_rewards": REWARDS,
    "_save_checkpoint": SAVING,
}


class Clock:
    """Seconds by name, each second counted once: starting one part pauses the part around it.

    >>> clock = Clock()
    >>> with clock.measure("outer"):
    ...     with clock.measure("inner"):
    ...         time.sleep(0.02)
    >>> clock.spent["inner"] >= 0.02, clock.spent["outer"] < 0.02
    (True, True)
    """

    def __init__(self, settle: Callable[[], None] = lambda: None):
        self.settle = settle  # waits until the device has done what it was given
        self.spent: dict[str, float] = defaultdict(float)
        self.open: list[str] = []
        self.mark = time.perf_counter()

    def start(self, name: str) -> None:
        """Begin a part, inside whatever runs."""
        self.turn()
        self.open.append(name)

    def stop(self) -> None:
        """End the innermost part."""
        self.turn()
        self.open.pop()

    def turn(self) -> None:
        """Give the time since the last reading to the part that was running."""
        self.settle()
        now = time.perf_counter()
        if self.open:
            self.spent[self.open[-1]] += now - self.mark
        self.mark = now

    @contextmanager
    def measure(self, name: str) -> Iterator[None]:
        """The body is a part."""
        self.start(name)
        try:
            yield
        finally:
            self.stop()

    def wrapped(self, function: Callable, name: str) -> Callable:
        """``function``, measured."""

        @functools.wraps(function)
        def timed(*args: Any, **kwargs: Any) -> Any:
            with self.measure(name):
                return function(*args, **kwargs)

        return timed


class Profile(TrainerCallback):
    """Add it last: its end is the end of the run. ``callbacks``: the objects of the run whose work is told apart."""

    def __init__(self, run_dir: Path, trainer: Any, *, record: Any, held_out: Any, keep: Any):
        self.run_dir, self.trainer = run_dir, trainer
        self.clock = Clock(settle_of(trainer))
        self.first = self.began = 0.0
        for name, part in METHODS.items():
            setattr(trainer, name, self.clock.wrapped(getattr(trainer, name), part))
        if getattr(trainer, "use_vllm", False):
            trainer.vllm_generation.sync_weights = self.clock.wrapped(trainer.vllm_generation.sync_weights, SYNC)
        trainer.scored_hooks[:] = [self.clock.wrapped(hook, RECORDS) for hook in trainer.scored_hooks]
        record.on_log = self.clock.wrapped(record.on_log, RECORDS)
        held_out.evaluate = self.clock.wrapped(held_out.evaluate, EVALUATION)
        keep.save = self.clock.wrapped(keep.save, SAVING)

    def on_train_begin(self, args, state, control, **kwargs):
        self.first, self.began = state.global_step, time.perf_counter() - sum(self.clock.spent.values())

    def on_pre_optimizer_step(self, args, state, control, **kwargs):
        self.clock.start(OPTIMIZER)

    def on_optimizer_step(self, args, state, control, **kwargs):
        if self.clock.open[-1:] == [OPTIMIZER]:
            self.clock.stop()

    def on_train_end(self, args, state, control, **kwargs):
        if not self.trainer.accelerator.is_main_process:
            return
        wall, parts = time.perf_counter() - self.began, dict(self.clock.spent)
        parts[REST] = max(0.0, wall - sum(parts.values()))
        told = {name: round(seconds, 3) for name, seconds in sorted(parts.items(), key=lambda item: -item[1])}
        records.write_json(self.run_dir / FILE, {"steps": state.global_step - self.first, "seconds": round(wall, 3), "parts": told})


def settle_of(trainer: Any) -> Callable[[], None]:
    """What waits for the device."""
    import torch

    return torch.cuda.synchronize if trainer.accelerator.device.type == "cuda" else lambda: None
