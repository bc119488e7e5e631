"""What torchrun starts on every rank: ``python -m rlvr_cli.training.worker outputs/RUN/config.yaml``.

Thin on purpose: it sets what must be set before torch and TRL are imported, hands over to :mod:`.session`, and turns
any end into ``failure.json`` and an exit code, so that the parent can say one line whatever broke. It also works by
hand, without the parent: ``torchrun --nproc-per-node 1 -m rlvr_cli.training.worker outputs/RUN/config.yaml``.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

QUIET = {"HF_HUB_DISABLE_TELEMETRY": "1", "TOKENIZERS_PARALLELISM": "false", "TRL_EXPERIMENTAL_SILENCE": "1"}


def main(argv: list[str]) -> int:
    """Train as the frozen configuration says; returns the exit code."""
    config_file = Path(argv[0])
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    from rlvr_cli.training import failure

    with failure.recorded(config_file.parent) as outcome:
        from rlvr_cli.training.session import train

        train(config_file)
    return outcome.exit_code


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
