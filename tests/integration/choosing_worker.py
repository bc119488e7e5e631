"""The worker with one addition: every rank writes down which prompts *it* chose, for a batch and for each refill.

torchrun --nproc-per-node 2 tests/integration/choosing_worker.py RUN/config.yaml   ->  RUN/chosen.0.jsonl RUN/chosen.1.jsonl
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from rlvr_cli.training import worker
from rlvr_cli.training.prompt_choice import PromptChoice

FILE = Path(sys.argv[1]).parent / f"chosen.{os.environ.get('RANK', '0')}.jsonl"


def written_down(method):
    """The method, and a line for what it returned."""

    def choose(self, *args, **kwargs):
        rows = method(self, *args, **kwargs)
        with FILE.open("a") as file:
            file.write(json.dumps([method.__name__, kwargs["step"], rows]) + "\n")
        return rows

    return choose


if __name__ == "__main__":
    PromptChoice.choose, PromptChoice.further = written_down(PromptChoice.choose), written_down(PromptChoice.further)
    raise SystemExit(worker.main(sys.argv[1:]))
