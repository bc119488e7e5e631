"""How long a person waits for `rlvr --help`, beside `trl --help` and an empty Python, interleaved in one run.

    python benchmarks/startup.py [rounds]

Prints medians of wall time and the ratios. Goal: `rlvr --help` under 0.1 s.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

BIN = Path(sys.executable).parent
COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "rlvr --help": [str(BIN / "rlvr"), "--help"],
    "rlvr ls": [str(BIN / "rlvr"), "ls"],
    "trl --help": [str(BIN / "trl"), "--help"],
}


def seconds(argv: list[str]) -> float:
    """Wall time of one run, which must succeed."""
    started = time.perf_counter()
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - started


def main(rounds: int) -> None:
    """Interleave the commands, so that a busy moment falls on all of them."""
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(rounds):
        for name, argv in COMMANDS.items():
            times[name].append(seconds(argv))
    ours = statistics.median(times["rlvr --help"])
    for name, values in times.items():
        median = statistics.median(values)
        spread = f"median of {rounds} ({min(values):.3f} to {max(values):.3f})"
        print(f"{name:<16} {median:7.3f} s {spread}   {median / ours:6.1f} x rlvr --help")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 7)
