"""What all tests share: no network, one thread, and small helpers that run a command in this process.

A test that starts models, servers or ranks is marked ``real``; one that is longer than the gate allows, ``slow``.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")


class Done(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


@pytest.fixture
def rlvr(capsys: pytest.CaptureFixture[str]) -> Callable[..., Done]:
    """Run ``rlvr WORDS...`` in this process: ``rlvr("ls", "model").out``."""

    def run(*words: str) -> Done:
        from rlvr_cli.main import main

        capsys.readouterr()
        try:
            code = main(list(words))
        except SystemExit as end:  # argparse
            code = int(end.code or 0)
        out, err = capsys.readouterr()
        return Done(code, out, err)

    return run


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder, as a user would start in one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
