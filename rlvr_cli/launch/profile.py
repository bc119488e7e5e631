"""``profile.json`` of a run as a table for a person: where the time of its steps went.

>>> print("\\n".join(table({"steps": 2, "seconds": 4.0, "parts": {"generation": 3.0, "the rest": 1.0}})))
where 2 steps went (4.0 s, 2.00 s a step)
  generation         3.0 s   75.0%
  the rest           1.0 s   25.0%
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def lines(run_dir: Path) -> list[str]:
    """The table of a run folder; empty where the run was not profiled."""
    file = run_dir / "profile.json"
    return table(json.loads(file.read_text(encoding="utf-8"))) if file.is_file() else []


def table(told: Mapping[str, Any]) -> list[str]:
    """A line a part, the longest first, with its share of the whole."""
    steps, seconds, parts = told["steps"], told["seconds"], told["parts"]
    width = max(16, *(len(name) for name in parts))
    rows = [f"  {name:<{width}}{spent:>6.1f} s  {100 * spent / seconds:>5.1f}%" for name, spent in parts.items()]
    return [f"where {steps} steps went ({seconds:.1f} s, {seconds / max(1, steps):.2f} s a step)", *rows]
