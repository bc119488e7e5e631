"""``rlvr train -m``: every combination of comma-separated values, each a run of its own, ranked at the end.

:func:`run` is the command; :func:`task` trains one job and returns one float, the form that optimising sweepers call.
"""

from __future__ import annotations

from pathlib import Path


def run(overrides: list[str], cwd: Path) -> int:
    """Run the whole sweep from ``cwd``; 0 when every job finished, 1 when one did not, 130 when interrupted."""
    from rlvr_cli.sweep.sweep import run as real

    return real(overrides, cwd)


def task(overrides: list[str], cwd: Path | None = None) -> float:
    """Train one job and return its held-out accuracy; a finished job is read, not trained again.

    Raises LaunchError when the job fails, so that a sweeper counts a failed trial and not a bad value.
    """
    from rlvr_cli.sweep.sweep import task as real

    return real(overrides, cwd or Path.cwd())
