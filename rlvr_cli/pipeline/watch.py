"""What a person sees of a chain: a line when a part starts or ends, and now and then where the running one is.

The same lines in a terminal and in a file; the running run's own live picture is ``rlvr show RUN``.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from rlvr_cli.launch.follow import Follow
from rlvr_cli.launch.view import eval_line, stage_line, step_line

EVERY_S = 15.0


class Watch:
    """Lines to the screen and to the launcher's log; in a terminal the running step stands on one line that is written over."""

    def __init__(self, log: Path):
        self.log, self.follow, self.of, self.said = log, None, "", 0.0
        self.terminal = sys.stdout.isatty()

    def say(self, text: str) -> None:
        """One line."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("a", encoding="utf-8") as file:
            file.write(f"{time.strftime('%H:%M:%S')} {text}\n")
        print(("\r\x1b[K" if self.terminal else "") + text, flush=True)

    def look(self, label: str, metrics: Path | None) -> None:
        """Read what the running part wrote since the last look; an evaluation is always said, a step now and then."""
        if metrics is None:
            return
        if self.of != label:
            self.follow, self.of = Follow(metrics, from_end=True), label
        for line in self.follow.new():
            if line.get("eval/accuracy") is not None:
                self.say(f"{label}: {eval_line(line)}")
            if "loss" in line and time.monotonic() - self.said > (1.0 if self.terminal else EVERY_S):
                self.said = time.monotonic()
                text = f"{label}: {(step_line if 'reward' in line else stage_line)(line, None, None)}"
                print(f"\r\x1b[K{text[:150]}" if self.terminal else text, end="" if self.terminal else "\n", flush=True)

    def close(self) -> None:
        """Leave the line."""
        if self.terminal:
            print("\r\x1b[K", end="", flush=True)
