"""Built models live in the user's cache, under a name that hashes everything they are made of.

A folder appears under its final name only when it is complete (built beside it, then renamed), so a killed build leaves
nothing that a later run would trust, and two builders at once cost time but never a broken model::

    ~/.cache/rlvr/tiny-3f2a9c01d4e8/   config.json  model.safetensors  tokenizer.json  built.json
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any


def cache_root() -> Path:
    """``$XDG_CACHE_HOME/rlvr``, or ``~/.cache/rlvr``; a user without a home (a container's bare number) has a temporary folder."""
    named = os.environ.get("XDG_CACHE_HOME")
    if named:
        return Path(named) / "rlvr"
    try:
        return Path.home() / ".cache" / "rlvr"
    except RuntimeError:
        return Path(tempfile.gettempdir()) / f"rlvr-{os.getuid()}"


def digest(settings: dict[str, Any]) -> str:
    """Twelve hexadecimal digits that change with any setting.

    >>> digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1}) != digest({"a": 1, "b": 3})
    True
    """
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:12]


def cached(name: str, settings: dict[str, Any], build: Callable[[Path], dict[str, Any]]) -> Path:
    """The folder made of ``settings``; ``build(folder)`` fills it once and returns facts worth keeping (``built.json``)."""
    target = cache_root() / f"{name}-{digest(settings)}"
    if (target / "built.json").is_file():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        facts = build(work)
        (work / "built.json").write_text(json.dumps({"settings": settings, **facts}, indent=1) + "\n")
        work.chmod(0o755)
        publish(work, target)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return target


def publish(work: Path, target: Path) -> None:
    """Rename a finished folder into place. Another builder that was quicker made the same thing: keep its copy."""
    if target.exists() and not (target / "built.json").is_file():
        shutil.rmtree(target)
    try:
        work.rename(target)
    except OSError:
        if not (target / "built.json").is_file():
            raise
