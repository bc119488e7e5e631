"""Follow a growing JSONL file: only whole lines, from where the last look ended."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


class Follow:
    """Reads the lines added to ``path`` since the last call; a file that does not exist yet has none.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "metrics.jsonl"
    >>> follow = Follow(path); follow.new()
    []
    >>> _ = path.write_text('{"step": 1}\\n{"step": 2')
    >>> follow.new()
    [{'step': 1}]
    """

    def __init__(self, path: Path, *, from_end: bool = False):
        self.path = path
        self.offset = path.stat().st_size if from_end and path.exists() else 0

    def new(self) -> list[dict[str, Any]]:
        """The new records; a half-written last line waits for its end, a file that shrank is read again."""
        if not self.path.exists():
            return []
        if self.path.stat().st_size < self.offset:  # a resumed run cut the steps after its checkpoint off
            self.offset = self.path.stat().st_size
        with self.path.open("rb") as file:
            file.seek(self.offset)
            chunk = file.read()
        whole = chunk[: chunk.rfind(b"\n") + 1]
        self.offset += len(whole)
        return [json.loads(line) for line in whole.splitlines() if line.strip()]


def read_json(path: Path) -> dict[str, Any] | None:
    """The object in ``path``, or None where it is absent or half-written."""
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return None
