"""The keeper: started once by exec, imports what jobs use, makes servers and sweeps up behind them.

It stands between a trainer that may have threads and CUDA (which must never fork) and the servers, which must fork from
something small and clean. The caller talks to it over one socket and it dies with the caller, taking everything along::

    python -s -S -c "<bootstrap>" FD    then on FD:  {"spawn": 3, "tier": "namespaces", "box": "/box"} + [control socket]
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import select
import signal
import socket
import sys
import time

from rlvr_cli.verifiers.sandbox import cage, limits, rooms, server, syscalls, watch

# What short programs import most. Every module here costs each job a little (its pages are mapped at the fork and unmapped
# at the end), and a module that is missing here costs only the jobs that import it.
PRELOAD = (
    "ast", "bisect", "builtins", "cmath", "collections", "contextlib", "copy", "dataclasses", "datetime", "decimal", "enum", "fractions",
    "functools", "heapq", "io", "itertools", "json", "linecache", "math", "operator", "random", "re", "string", "struct",
    "time", "traceback", "types", "typing", "_sitebuiltins", "encodings.latin_1",
)  # fmt: skip


class Keeper:
    """Owns the servers: their pids, and the folders that those without a namespace use."""

    def __init__(self, control: socket.socket, room: rooms.Plan):
        self.control, self.room = control, room
        self.servers: dict[int, int] = {}
        self.boxes: set[str] = set()

    def run(self) -> None:
        """Until the caller goes away."""
        caller = os.getppid()
        poller = select.poll()
        poller.register(self.control, select.POLLIN)
        while os.getppid() == caller:
            if poller.poll(1000):
                data, fds, _, _ = socket.recv_fds(self.control, server.MAX_MESSAGE, 1)
                if not data:
                    break
                self._do(json.loads(data), fds)
            self._reap()
        self._end()

    def _end(self) -> None:
        """The caller is gone: end the servers, and remove the folders that it can not remove any more."""
        for pid in self.servers:
            os.kill(pid, signal.SIGKILL)
        while self.servers:
            self._reap()
            time.sleep(0.005)
        for box in self.boxes:
            with contextlib.suppress(OSError):  # removed by the caller when it closed the server
                server.sweep(box)
                os.rmdir(box)

    def _do(self, command: dict, fds: list[int]) -> None:
        if "kill" in command:
            for pid, number in self.servers.items():
                if number == command["kill"]:
                    os.kill(pid, signal.SIGKILL)
            return
        with socket.socket(fileno=fds[0]) as control:
            try:
                pid = spawn(control, self, command)
                self.servers[pid] = command["spawn"]
                if command["box"] != rooms.BOX:
                    self.boxes.add(command["box"])
            except OSError as error:
                control.send(json.dumps({"error": f"{error}"}).encode())

    def _reap(self) -> None:
        """Collect dead servers, and end what a server that was killed has left to us."""
        while True:
            try:
                pid, _ = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if self.servers.pop(pid, None) is not None:
                self._orphans()

    def _orphans(self) -> None:
        proc = os.open("/proc", os.O_PATH | os.O_DIRECTORY)
        try:
            tree = watch.Tree(proc, os.getpid(), alone=False)
            for pid in tree.pids(skip=frozenset(self.servers)):
                os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass  # it ended by itself
        finally:
            os.close(proc)


def spawn(control: socket.socket, keeper: Keeper, command: dict) -> int:
    """Start a server of the wanted tier; returns its pid as the keeper sees it."""
    tier, uid = command["tier"], command["uid"]
    ours, theirs = socket.socketpair()
    with ours, theirs:
        pid = syscalls.clone(syscalls.ALL_NAMESPACES) if tier == cage.NAMESPACES else os.fork()
        if pid == 0:
            _server(control, keeper, command, theirs)
        try:
            if tier == cage.NAMESPACES:
                _map_ids(pid, uid)
            ours.send(b"%d" % pid)
        except OSError:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            raise
        return pid


def _map_ids(pid: int, uid: int) -> None:
    """One id inside, neither root inside nor, where we are root, root outside."""
    root = os.geteuid() == 0
    outside_uid, outside_gid = (uid, uid) if root else (os.geteuid(), os.getegid())
    if not root:
        _write(f"/proc/{pid}/setgroups", "deny")
    _write(f"/proc/{pid}/gid_map", f"{cage.INSIDE_UID} {outside_gid} 1")
    _write(f"/proc/{pid}/uid_map", f"{cage.INSIDE_UID} {outside_uid} 1")


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


def _server(control: socket.socket, keeper: Keeper, command: dict, start: socket.socket) -> None:
    """The server's whole life; never returns into the keeper's code."""
    try:
        keeper.control.close()
        host_pid = int(start.recv(32))
        start.close()
        control = socket.socket(fileno=cage.move_up(control.detach()))
        cage.reserve_places()
        syscalls.prctl(syscalls.PR_SET_PDEATHSIG, signal.SIGKILL)
        walls, tree = _raise_walls(keeper.room, command, host_pid)
        server.Server(control, walls, tree).serve()
    except BaseException as error:
        control.send(json.dumps({"error": f"{type(error).__name__}: {error}"}).encode())
    finally:
        os._exit(0)


def _raise_walls(room: rooms.Plan, command: dict, host_pid: int) -> tuple[cage.Cage, watch.Tree]:
    tier = command["tier"]
    server.quiet_signals()
    if tier == cage.NAMESPACES:
        proc = rooms.build(room, cage.INSIDE_UID)
        syscalls.drop_bounding_set()
        tree = watch.Tree(None if proc is None else cage.move_up(proc), 1, alone=True)
        syscalls.prctl(syscalls.PR_SET_PDEATHSIG, signal.SIGKILL)  # a change of uid clears it
    else:
        syscalls.prctl(syscalls.PR_SET_CHILD_SUBREAPER, 1)
        tree = watch.Tree(cage.move_up(os.open("/proc", os.O_PATH | os.O_DIRECTORY)), host_pid, alone=False)
    limits.apply_fixed()
    walls = cage.prepare(tier, command["box"], room)
    if tier == cage.NAMESPACES:
        rooms.mount_box(16)  # the rules hold for the folder above it, and so for every later mount there
    sys.path += ["/packages"] if tier == cage.NAMESPACES else room.package_homes
    if walls.uid is not None:
        walls.uid = command["uid"]
    cage.close_early(walls)
    syscalls.prctl(syscalls.PR_SET_DUMPABLE, 0)
    return walls, tree


def main() -> None:
    """Import, then serve. Runs with an environment that holds nothing of the caller's."""
    control = socket.socket(fileno=int(sys.argv[1]))
    config = json.loads(control.recv(server.MAX_MESSAGE))
    for name in [*PRELOAD, *config["preload"]]:
        try:
            importlib.import_module(name)
        except ImportError:
            continue  # a Python without this module; a job that wants it will say so
    sys.path[:] = [p for p in sys.path if "site-packages" not in p and p != config["home"]]
    syscalls.prctl(syscalls.PR_SET_CHILD_SUBREAPER, 1)
    Keeper(control, rooms.Plan(**config["room"])).run()
