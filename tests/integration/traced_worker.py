"""The worker with one addition: every rank writes down, after each step, what the controllers have set in *its* trainer.

torchrun --nproc-per-node 2 tests/integration/traced_worker.py RUN/config.yaml   ->  RUN/trace.0.jsonl RUN/trace.1.jsonl
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from transformers import TrainerCallback

from rlvr_cli.training import session, worker


class Trace(TrainerCallback):
    """Comes after the controllers in the order of callbacks."""

    def __init__(self, trainer, file: Path):
        self.trainer, self.file = trainer, file

    def on_step_end(self, args, state, control, **kwargs):
        trainer = self.trainer
        set_now = {"beta": trainer.beta, "limit": trainer.generation_config.max_new_tokens, "entropy_coef": trainer.entropy_coef}
        with self.file.open("a") as file:
            file.write(json.dumps({"step": state.global_step, **set_now}) + "\n")


def with_trace(made):
    """``session.controllers``, and the trace behind them."""

    def controllers(config, trainer, *rest):
        before, after = made(config, trainer, *rest)
        file = Path(sys.argv[1]).parent / f"trace.{os.environ.get('RANK', '0')}.jsonl"
        return before, [*after, Trace(trainer, file)]

    return controllers


if __name__ == "__main__":
    session.controllers = with_trace(session.controllers)
    raise SystemExit(worker.main(sys.argv[1:]))
