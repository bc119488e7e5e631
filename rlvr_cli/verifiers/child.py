"""A process of our own that judges or runs queries: started by exec with two pipes for frames, nothing secret about it, killed whole.

>>> import time
>>> child = Child("rlvr_cli.verifiers.pool_worker", os.getpid(), 0)
>>> child.send({"path": []})
>>> child.receive(time.monotonic() + 60)
{'ready': True}
>>> child.close()
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from typing import Any

from rlvr_cli.verifiers import frames

# What a child may know of our environment: nothing that could be a secret.
ENVIRONMENT = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ", "XDG_CACHE_HOME", "LD_LIBRARY_PATH", "PYTHONHOME")


class Child:
    """``python -m module IN OUT *words`` and our ends of its pipes IN and OUT.

    own_session: Ctrl-C is the parent's affair, and one kill reaches what the child starts. A child of such a child goes without,
    so that the same kill reaches it.
    """

    def __init__(self, module: str, *words: object, own_session: bool = True):
        self.own_session = own_session
        theirs_in, self.down = os.pipe()
        self.up, theirs_out = os.pipe()
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-m", module, *map(str, (theirs_in, theirs_out, *words))],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,  # a judge that prints says nothing to anybody
                stderr=None if os.environ.get("RLVR_POOL_DEBUG") else subprocess.DEVNULL,
                pass_fds=(theirs_in, theirs_out),
                start_new_session=own_session,
                env=clean_environment(),
            )
        except BaseException:
            os.close(self.down)
            os.close(self.up)
            raise
        finally:
            os.close(theirs_in)
            os.close(theirs_out)
        os.set_blocking(self.down, False)

    def send(self, message: Any, until: float | None = None) -> None:
        """See :func:`frames.send`."""
        frames.send(self.down, message, until)

    def receive(self, until: float | None = None) -> Any:
        """See :func:`frames.receive`."""
        return frames.receive(self.up, until)

    def ended(self, wait_s: float) -> int | None:
        """Exit status of a process that closed its pipe; waits a moment, since the pipe ends before the process does."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self.process.wait(wait_s)
        return None

    def kill(self) -> None:
        """SIGKILL for the process and, where it has a session of its own, that session's first process group."""
        if self.process.poll() is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                (os.killpg if self.own_session else os.kill)(self.process.pid, signal.SIGKILL)

    def close(self) -> None:
        """Kill, reap, close: nothing of the child is left."""
        self.kill()
        for fd in (self.down, self.up):
            os.close(fd)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(10)


def clean_environment() -> dict[str, str]:
    """Environment of a process that may run hostile things: what Python needs, no secret, and this package importable."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    kept = {name: os.environ[name] for name in ENVIRONMENT if name in os.environ}
    return {**kept, "PYTHONPATH": root, "PYTHONSAFEPATH": "1", "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
