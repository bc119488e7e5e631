"""The zygote: one clean process that forks a job in two milliseconds instead of starting Python for forty.

It takes one request at a time from its control socket, a line of JSON with the job's descriptors beside it::

    {"entry": "rlvr_cli.verifiers.code.inside:script", "limits": {"cpu_s": 4.0, ...}}   + [stdin, stdout, stderr, spec, report]

and answers with :mod:`watch`'s line when no process of the job is left. The job's text travels through the ``spec`` pipe
straight into the fork, so this process, whose memory every later job inherits, never holds a program or a test.
"""

from __future__ import annotations

import gc
import io
import json
import os
import random
import signal
import socket
import sys
import time

from rlvr_cli.verifiers.sandbox import cage, rooms, syscalls, watch
from rlvr_cli.verifiers.sandbox.limits import Limits

MAX_MESSAGE, MAX_FDS = 1 << 16, 6


class Server:
    """One worker: a cage, a working folder, a stream of jobs."""

    def __init__(self, control: socket.socket, walls: cage.Cage, tree: watch.Tree):
        self.control, self.walls, self.tree = control, walls, tree
        self.counted = (0.0, 0)

    def serve(self) -> None:
        """Until the caller closes its end."""
        standard_streams()
        gc.collect()
        gc.freeze()
        self._say({"ready": True, "layers": self.walls.layers()})
        while True:
            try:
                data, fds, _, _ = socket.recv_fds(self.control, MAX_MESSAGE, MAX_FDS)
            except OSError:
                return
            if not data:
                return
            request = json.loads(data)
            if "stop" in request:  # came after the job had ended
                continue
            self._say(self._job(request, fds))

    def _say(self, message: dict) -> None:
        try:
            self.control.send(json.dumps(message).encode())
        except OSError:
            sys.exit(0)

    def _job(self, request: dict, fds: list[int]) -> dict:
        """Fork, watch, clean up. What the machine refuses (no memory, no process) is an ``error``, never a verdict."""
        limits = Limits(**request["limits"])
        try:
            self._fresh_folder()
            pid = self._fork(request["entry"], limits, fds)
        except OSError as error:
            return {"error": f"could not start the job: {error}"}
        finally:
            for fd in fds:
                os.close(fd)
        folder = self.walls.box if self.walls.tier != cage.NAMESPACES else None  # a tmpfs needs no watching
        outcome = watch.Watch(self.tree, pid, limits, folder).run(self.control.fileno())
        return outcome

    def _fork(self, entry: str, limits: Limits, fds: list[int]) -> int:
        processes = self._process_cap(limits)
        pid = syscalls.clone(0)  # fork() without the interpreter's hooks: there is one thread, and no lock is held
        if pid:
            return pid
        try:
            random.seed()
            cage.close_around(self.walls, limits, processes, fds)
        except BaseException as error:
            os.write(4 if len(fds) > 4 else 2, json.dumps({"infrastructure": f"{type(error).__name__}: {error}"}).encode() + b"\n")
            os._exit(121)
        try:
            run_entry(entry)
        except BaseException as error:  # our own code failed before the program ran; a program's errors are its entry's business
            os.write(2, f"{type(error).__name__}: {error}".encode())
        finally:
            os._exit(120)

    def _fresh_folder(self) -> None:
        """The job's folder is empty. What cannot be removed is an error, and the caller takes another server."""
        sweep(self.walls.box)
        if self.walls.uid is not None:
            os.chown(self.walls.box, self.walls.uid, self.walls.uid)
        if self.walls.tier == cage.NAMESPACES:
            os.mkdir(f"{rooms.BOX}/.shm", 0o777)  # /dev/shm points here

    def _process_cap(self, limits: Limits) -> int:
        """RLIMIT_NPROC counts per uid: alone in a user namespace or under a spare uid, else beside all that the user runs."""
        if self.walls.tier == cage.NAMESPACES or self.walls.uid is not None:
            return limits.processes
        now = time.monotonic()
        if now - self.counted[0] > 2:
            self.counted = (now, _tasks_of(os.getuid()))
        return limits.processes + self.counted[1]


def run_entry(entry: str) -> None:
    """Call the function that the request names; its module was imported before the walls went up."""
    module, _, function = entry.partition(":")
    getattr(sys.modules[module], function)()


def sweep(folder: str) -> None:
    """Empty a folder, also when the job took its own rights away."""
    try:
        names = os.listdir(folder)
    except PermissionError:
        os.chmod(folder, 0o700)
        names = os.listdir(folder)
    for name in names:
        path = f"{folder}/{name}"
        try:
            os.unlink(path)
        except (IsADirectoryError, PermissionError):
            if os.path.isdir(path) and not os.path.islink(path):
                sweep(path)
                os.rmdir(path)
            else:  # the folder was made read-only
                os.chmod(folder, 0o700)
                os.unlink(path)


def _tasks_of(uid: int) -> int:
    """Processes and threads of a user."""
    total = 0
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                if os.stat(f"/proc/{name}").st_uid == uid:
                    total += len(os.listdir(f"/proc/{name}/task"))
            except OSError:
                continue
    return total


def standard_streams() -> None:
    """Text streams on descriptors 0, 1 and 2 as a fresh interpreter with UTF-8 has them, made once and inherited by every job."""
    sys.stdin = sys.__stdin__ = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, "r", closefd=False)), encoding="utf-8")
    sys.stdout = sys.__stdout__ = io.TextIOWrapper(io.BufferedWriter(io.FileIO(1, "w", closefd=False)), encoding="utf-8", newline="\n")
    errors = io.BufferedWriter(io.FileIO(2, "w", closefd=False))
    sys.stderr = sys.__stderr__ = io.TextIOWrapper(errors, encoding="utf-8", errors="backslashreplace", line_buffering=True)


def quiet_signals() -> None:
    """A Ctrl-C at the terminal is the caller's business; jobs get the defaults back that Python programs expect."""
    for which in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(which, signal.SIG_DFL)
