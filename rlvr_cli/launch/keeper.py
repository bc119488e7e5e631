"""The process that no child outlives: ``python -m rlvr_cli.launch.keeper COMMAND...``.

torchrun and vLLM start processes of their own, and those sit in other process groups; killing a group, or asking the
kernel to signal a child when its parent dies, misses them. So every child of a run stands under a keeper, which

- is a *subreaper*: descendants that lose their parent become its children, so it can find and kill every one;
- reads a pipe whose other end only the launcher holds: end of file means the launcher is gone, also by SIGKILL;
- passes SIGTERM on, waits ``GRACE_S``, and then kills whatever is left;
- ends with its command's exit code, when no descendant is left.

Standard library only, and it imports nothing of the package: it must start at once and never fail.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import subprocess
import sys
import time

GRACE_S = 8.0
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36


def main(argv: list[str]) -> int:
    """Run ``argv`` until it ends, the launcher ends, or SIGTERM comes; then leave no descendant."""
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    stop = _signal_pipe()
    child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, start_new_session=True, preexec_fn=_die_with_keeper)
    code = _wait(child, stop)
    if code is None:
        _terminate(child)
        code = child.poll()
    _kill_descendants()
    return 143 if code is None else code if code >= 0 else 128 - code


def _wait(child: subprocess.Popen[bytes], stop: int) -> int | None:
    """Exit code of the command, or None when we were told to stop or the launcher's end of the pipe closed."""
    while True:
        ready, _, _ = select.select([0, stop], [], [], 0.1)
        if stop in ready or (0 in ready and not os.read(0, 4096)):
            return None
        code = child.poll()
        if code is not None:
            return code
        _reap_others(child.pid)


def _terminate(child: subprocess.Popen[bytes]) -> None:
    """SIGTERM to the command's group, and up to ``GRACE_S`` seconds for it to end by itself."""
    _signal_group(child.pid, signal.SIGTERM)
    deadline = time.monotonic() + GRACE_S
    while child.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)


def _kill_descendants() -> None:
    """SIGKILL until none is left: a process may fork between the listing and the kill, so look again each time."""
    while pids := _children(os.getpid()):
        for pid in _tree(pids):
            _kill(pid)
        _reap_others(None)
        time.sleep(0.01)


def _tree(pids: list[int]) -> list[int]:
    found = list(pids)
    for pid in found:
        found.extend(_children(pid))
    return found


def _children(pid: int) -> list[int]:
    """Direct children of ``pid``, over all its threads; zombies included until they are reaped."""
    pids: list[int] = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children") as file:
                pids.extend(map(int, file.read().split()))
    except OSError:  # it ended while we looked
        return pids
    return pids


def _reap_others(spare: int | None) -> None:
    """Collect orphans that ended. The command itself is left for ``Popen`` to collect."""
    for pid in _children(os.getpid()):
        if pid != spare:
            try:
                os.waitpid(pid, os.WNOHANG)
            except ChildProcessError:
                continue


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _signal_group(pgid: int, number: int) -> None:
    try:
        os.killpg(pgid, number)
    except ProcessLookupError:
        return


def _signal_pipe() -> int:
    """File descriptor that becomes readable on SIGTERM, SIGINT or SIGHUP."""
    reader, writer = os.pipe()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: os.write(writer, b"x"))
    return reader


def _die_with_keeper() -> None:
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
