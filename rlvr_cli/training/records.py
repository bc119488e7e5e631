"""The append-only files of a run, ``metrics.jsonl`` and ``samples.jsonl``, and how they survive a kill.

Lines are whole or absent: one write each, and metrics are on the disk (fsync) before the next step starts. A resumed run
first cuts both files back to the step that it resumes from, so no step stands there twice::

    {"step": 12, "reward": 0.61, "rewards/correct/mean": 0.61, "frac_reward_zero_std": 0.25, "step_time": 0.33, ...}
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

METRICS, SAMPLES, STATUS = "metrics.jsonl", "samples.jsonl", "progress.json"


def plain(value: Any) -> Any:
    """A value that strict JSON can hold: numbers that are not finite become None."""
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def append(path: Path, rows: Iterable[Mapping[str, Any]], *, sync: bool) -> None:
    """Append rows in one write; ``sync`` waits until they are on the disk."""
    data = "".join(json.dumps(plain(row), ensure_ascii=False) + "\n" for row in rows).encode()
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(handle, data)
        if sync:
            os.fsync(handle)
    finally:
        os.close(handle)


def cut_back(path: Path, step: int) -> int:
    """Drop lines later than ``step``, and a torn last line; returns how many went."""
    if not path.exists():
        return 0
    kept, dropped = [], 0
    for line in path.read_bytes().splitlines(keepends=True):
        if line.endswith(b"\n") and step_of(line) <= step:
            kept.append(line)
        else:
            dropped += 1
    if dropped:
        replace(path, b"".join(kept))
    return dropped


def step_of(line: bytes) -> float:
    """The step that a line belongs to; infinity for a line that cannot be read."""
    try:
        return json.loads(line)["step"]
    except (ValueError, KeyError, TypeError):
        return math.inf


def replace(path: Path, data: bytes) -> None:
    """Write a file whole or not at all."""
    part = path.with_name(f".{path.name}.{os.getpid()}")
    part.write_bytes(data)
    os.replace(part, path)


def write_json(path: Path, record: Mapping[str, Any]) -> None:
    """Write one mapping whole or not at all."""
    replace(path, (json.dumps(plain(record), indent=1, ensure_ascii=False) + "\n").encode())
