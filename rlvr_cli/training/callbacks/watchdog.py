"""A step that never ends is a hang; this names it. A thread, because the hung thread cannot.

It dumps every thread's stack to the rank's log, writes ``failure.json`` and ends the process; torchrun then ends the
other ranks.
"""

from __future__ import annotations

import faulthandler
import os
import sys
import threading
import time
from pathlib import Path

from transformers import TrainerCallback

from rlvr_cli.errors import EXIT_FAILED, TrainingError
from rlvr_cli.training import failure


class Watchdog(TrainerCallback):
    """Fed by each finished step and each log line; barks ``timeout_s`` seconds after the last one."""

    def __init__(self, run_dir: Path, timeout_s: float):
        self.run_dir, self.timeout_s = run_dir, timeout_s
        self.fed = time.monotonic()
        self.over = threading.Event()

    def on_train_begin(self, args, state, control, **kwargs):
        self.feed()
        threading.Thread(target=self.watch, daemon=True, name="rlvr-watchdog").start()

    def on_step_begin(self, args, state, control, **kwargs):
        self.feed()

    def on_step_end(self, args, state, control, **kwargs):
        self.feed()

    def on_log(self, args, state, control, **kwargs):
        self.feed()

    def on_train_end(self, args, state, control, **kwargs):
        self.over.set()

    def feed(self) -> None:
        """Something happened."""
        self.fed = time.monotonic()

    def watch(self) -> None:
        """Sleep until fed too late."""
        while not self.over.wait(min(1.0, self.timeout_s / 10)):
            if time.monotonic() - self.fed > self.timeout_s:
                self.bark()

    def bark(self) -> None:
        """Name the hang and end this process."""
        faulthandler.dump_traceback(file=sys.stderr)
        error = TrainingError(
            f"step {failure.progress['step'] + 1} did not finish within {self.timeout_s:g} s",
            where="trainer.timeout_s",
            fix=f"trainer.timeout_s={self.timeout_s * 2:g}, and look at the stacks in logs/",
        )
        failure.write(self.run_dir, failure.describe(error, EXIT_FAILED))
        os._exit(EXIT_FAILED)
