"""Start a command under a keeper, with its output in a log file; stop it and everything it started.

>>> import sys, tempfile, pathlib
>>> log = pathlib.Path(tempfile.mkdtemp()) / "hello.log"
>>> kept = Kept.start([sys.executable, "-c", "print('hello')"], log)
>>> kept.wait(timeout=20), log.read_text()
(0, 'hello\\n')
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from rlvr_cli.launch import keeper


class Kept:
    """A command and all its descendants, which end when this object's process ends, however it ends."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path):
        self.process, self.log = process, log

    @classmethod
    def start(cls, argv: Sequence[str], log: Path, *, env: Mapping[str, str] | None = None, cwd: Path | None = None) -> Kept:
        """Start ``argv`` with stdout and stderr appended to ``log``."""
        log.parent.mkdir(parents=True, exist_ok=True)
        # -I -S: the keeper needs nothing but the standard library, and must not pick up a user's modules
        command = [sys.executable, "-I", "-S", keeper.__file__, *argv]
        with log.open("ab") as out:
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=out,
                env=None if env is None else dict(env),
                cwd=cwd,
                start_new_session=True,
            )
        return cls(process, log)

    def poll(self) -> int | None:
        """Exit code, or None while it runs."""
        return self.process.poll()

    def wait(self, timeout: float | None = None) -> int | None:
        """Exit code, or None when ``timeout`` seconds passed first."""
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            return None

    def stop(self) -> int | None:
        """Ask, wait, kill: returns when no descendant is left. Safe to call twice."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            if self.wait(keeper.GRACE_S + 10) is None:
                self._kill()
        if self.process.stdin:
            self.process.stdin.close()
        return self.process.poll()

    def _kill(self) -> None:
        """The keeper itself does not answer: kill what it keeps, then the keeper."""
        for pid in reversed(keeper._tree([self.process.pid])):
            keeper._kill(pid)
        self.process.wait(10)

    def tail(self, lines: int = 20) -> str:
        """The last lines of the log, for the sentence about what happened."""
        return tail(self.log, lines)


def tail(path: Path, lines: int = 20, *, window: int = 64 * 1024) -> str:
    """The last ``lines`` lines of a file, reading at most ``window`` bytes from its end."""
    try:
        with path.open("rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - window))
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return ""
    return "\n".join(text.splitlines()[-lines:])


def wait_gone(pids: Sequence[int], timeout: float) -> bool:
    """Whether all ``pids`` have ended within ``timeout`` seconds."""
    deadline = time.monotonic() + timeout
    while any(Path(f"/proc/{pid}").exists() for pid in pids):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
