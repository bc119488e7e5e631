"""Prepare a run's model in a process of its own: ``python -m rlvr_cli.models outputs/RUN/config.yaml outputs/RUN/model.json``.

The launcher starts this so that it never imports torch itself, so that what libraries print goes to a log, and so that
the time is counted apart from training. Writes ``{"path": ..., "cold_start_seconds": ...}``, or ``failure.json``'s fields.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from rlvr_cli.errors import EXIT_OK, RlvrError


def main(argv: list[str]) -> int:
    """Build or find the model; the exit code is the error's class."""
    from rlvr_cli.config.compose import read_frozen
    from rlvr_cli.models import prepare

    config = read_frozen(Path(argv[0]))
    try:
        path = prepare(config.model, config.seed)
    except RlvrError as error:
        told = {"kind": type(error).__name__, "what": error.what, "where": error.where, "fix": error.fix}
        Path(argv[1]).write_text(json.dumps(told) + "\n")
        return error.exit_code
    Path(argv[1]).write_text(json.dumps({"path": str(path), **built_facts(path)}) + "\n")
    return EXIT_OK


def built_facts(path: str | Path) -> dict[str, object]:
    """What the builder recorded about its work (``built.json``), without its settings."""
    file = Path(path) / "built.json"
    facts = json.loads(file.read_text()) if file.is_file() else {}
    return {key: value for key, value in facts.items() if key != "settings"}


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
