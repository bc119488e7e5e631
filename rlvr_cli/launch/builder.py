"""The child that makes a model in the user's cache before the ranks start (``model.builder``)."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rlvr_cli.errors import ConfigError, LaunchError, MissingDependency, RlvrError
from rlvr_cli.interpreter import python
from rlvr_cli.launch.follow import read_json
from rlvr_cli.launch.processes import Kept, tail

POLL_S, SAY_EVERY_S = 0.1, 10.0
FILE = "model.json"
KINDS: dict[str, type[RlvrError]] = {"ConfigError": ConfigError, "MissingDependency": MissingDependency}


def start(run_dir: Path, log: Path) -> Kept:
    """Start the builder on the run's frozen configuration; a CPU build must not wake a GPU's driver."""
    (run_dir / FILE).unlink(missing_ok=True)
    env = {**os.environ, "HF_HUB_DISABLE_TELEMETRY": "1", "TOKENIZERS_PARALLELISM": "false", "PYTHONUNBUFFERED": "1"}
    argv = python("-m", "rlvr_cli.models", str((run_dir / "config.yaml").resolve()), str((run_dir / FILE).resolve()))
    return Kept.start(argv, log, env=env)


def wait(child: Kept, run_dir: Path, say: Callable[[str], None]) -> dict[str, Any]:
    """What the builder told (``path`` and facts); its error, as its own class, when it could not."""
    started, said = time.monotonic(), 0.0
    while child.poll() is None:
        waited = time.monotonic() - started
        if waited - said >= SAY_EVERY_S:
            said = waited
            say(f"preparing the model: {waited:.0f} s (once; it stays in the cache)")
        time.sleep(POLL_S)
    told = read_json(run_dir / FILE) or {}
    if child.poll() == 0 and "path" in told:
        return told
    if "what" in told:
        raise KINDS.get(told["kind"], LaunchError)(told["what"], where=told.get("where"), fix=told.get("fix"))
    lines = tail(child.log, 5).splitlines()
    raise LaunchError(f"the model could not be prepared: {lines[-1] if lines else f'exit code {child.poll()}'}", where=str(child.log))
