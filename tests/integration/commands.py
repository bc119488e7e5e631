"""Commands of this project started in the background, and what is left of them: for tests that interrupt one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path


def background(*words: str, cwd: Path, **env: str) -> subprocess.Popen:
    """``rlvr`` with both outputs in one pipe; it hears Ctrl-C although a shell that starts tests in the background has them ignore it."""
    argv = [sys.executable, "-m", "rlvr_cli.main", *words]
    listen = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # noqa: E731
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return subprocess.Popen(argv, cwd=cwd, env={**os.environ, "HF_HUB_OFFLINE": "1", **env}, preexec_fn=listen, **pipes)


def processes_of(*marks: str | Path) -> list[str]:
    """Command lines of living processes that name any of ``marks``, such as a run's folder."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = file.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if any(str(mark) in words for mark in marks):
            found.append(words)
    return found
