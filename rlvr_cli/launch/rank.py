"""One rank's first lines, under torchrun: send its output to ``logs/rank<R>.<attempt>.log``, then train.

Redirected by file descriptor, so that C++ libraries, DeepSpeed's builds and crashes are in the log too.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path


def redirect(run_dir: Path, rank: str, attempt: str) -> Path:
    """Append stdout and stderr of this process to the rank's log."""
    log = run_dir / "logs" / f"rank{rank}.{attempt}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os.dup2(handle, 1)
    os.dup2(handle, 2)
    os.close(handle)
    return log


def main(argv: list[str]) -> int:
    """Redirect, then hand over to the training worker; its exit code is the rank's."""
    config_file = Path(argv[0])
    redirect(config_file.parent, os.environ.get("RANK", "0"), os.environ.get("RLVR_ATTEMPT", "1"))
    from rlvr_cli.training.worker import main as train

    return train([str(config_file)])


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
