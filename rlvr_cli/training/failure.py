"""How a rank says why it ended: ``failure.json`` in the run folder, written once, by the first rank that broke.

The other ranks break a moment later because the first is gone; their reason is noise, so whoever comes second keeps
quiet. The parent reads the file and prints one line::

    {"kind": "TrainingError", "what": "loss is not finite", "where": "step 12", "fix": "optimizer.learning_rate=5e-5",
     "exit_code": 1, "rank": 0, "step": 12}
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rlvr_cli.errors import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK, RlvrError

FILE = "failure.json"
progress = {"step": 0}  # the last optimizer step that this process finished


@dataclass
class Outcome:
    """The exit code that the rank ends with."""

    exit_code: int = EXIT_OK


@contextmanager
def recorded(run_dir: Path) -> Iterator[Outcome]:
    """Run the body; an error in it becomes ``failure.json``, a traceback in the rank's log, and an exit code."""
    outcome = Outcome()
    try:
        yield outcome
    except KeyboardInterrupt:
        outcome.exit_code = EXIT_INTERRUPTED
    except Exception as error:
        traceback.print_exc()
        sys.stderr.flush()
        outcome.exit_code = error.exit_code if isinstance(error, RlvrError) else EXIT_FAILED
        write(run_dir, describe(error, outcome.exit_code))


def describe(error: BaseException, exit_code: int) -> dict[str, Any]:
    """An error as plain data."""
    rank = int(os.environ.get("RANK", "0"))
    known = isinstance(error, RlvrError)
    return {
        "kind": type(error).__name__,
        "what": error.what if known else f"{type(error).__name__}: {error}",
        "where": error.where if known else f"rank {rank}",
        "fix": error.fix if known else None,
        "exit_code": exit_code,
        "rank": rank,
        "step": progress["step"],
    }


def write(run_dir: Path, record: dict[str, Any]) -> bool:
    """Write the record unless another rank was first; a link makes "first" exact and the file whole."""
    part = run_dir / f".failure.{os.getpid()}"
    try:
        part.write_text(json.dumps(record, indent=1) + "\n")
        os.link(part, run_dir / FILE)
        return True
    except FileExistsError:
        return False
    except OSError as error:  # a full disk: the reason stands in the rank's log, as far as that could be written
        print(f"failure.json can not be written: {error.strerror}", file=sys.stderr, flush=True)
        return False
    finally:
        part.unlink(missing_ok=True)
