"""The caller's side: borrow a server, start a job on it, read what it writes, never wait for ever.

Any thread may call; nothing here uses signals, forks this process or keeps a lock while it waits. One whole example::

    with pool(tier).borrow("solution") as jail:
        job = jail.start("rlvr_cli.verifiers.code.inside:script", spec={"code": "print(input())"}, stdin=b"7\\n", limits=Limits())
        outcome = finish(job)[0]        # Outcome(code=0, stdout=b"7\\n", ...)
"""

from __future__ import annotations

import json
import os
import select
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from rlvr_cli.verifiers.sandbox import cage, rooms
from rlvr_cli.verifiers.sandbox.limits import Limits

PRELOAD = ("rlvr_cli.verifiers.code.inside", "rlvr_cli.verifiers.sandbox.attacks")
JOBS_PER_SERVER = 2000
_STDERR_KEPT = 1 << 16
_NOISE = 64 << 20  # of what is thrown away (stderr beyond what is kept); a program that writes more is stopped, reading on costs a core
_REPORT_KEPT = 1 << 22
_START_S = 20.0
_CLEAN = {
    "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": rooms.BOX, "LANG": "C.UTF-8", "TZ": "UTC", "PYTHONHASHSEED": "0", "PYTHONUTF8": "1",
    "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1",
}  # fmt: skip
# The packages are entered as empty shells: what their __init__ imports for callers would only make every fork heavier.
_BOOT = """
import sys, types
sys.path.insert(0, sys.argv[2])
for name in ("rlvr_cli", "rlvr_cli.verifiers", "rlvr_cli.verifiers.sandbox", "rlvr_cli.verifiers.code"):
    shell = sys.modules[name] = types.ModuleType(name)
    shell.__path__ = [sys.argv[2] + "/" + name.replace(".", "/")]
from rlvr_cli.verifiers.sandbox.keeper import main
main()
"""


class SandboxFailure(Exception):
    """The machinery failed, not the program: retry, then None."""


@dataclass
class Outcome:
    """How a job ended. ``reason`` is None when it ended by itself, else the limit: cpu, wall, memory, disk, output, stopped."""

    code: int
    signal: int
    reason: str | None
    cpu_s: float
    wall_s: float
    rss_mb: float
    stdout: bytes = b""
    stderr: bytes = b""
    report: bytes = b""


@dataclass
class Job:
    """A running job and this side's ends of its pipes."""

    jail: Jail
    limits: Limits
    deadline: float
    to_write: dict[int, memoryview] = field(default_factory=dict)
    to_read: dict[int, bytearray] = field(default_factory=dict)
    caps: dict[int, int] = field(default_factory=dict)
    order: list[int] = field(default_factory=list)
    over: bool = False
    thrown_away: int = 0
    reply: dict | None = None

    def write(self, fd: int) -> None:
        """Push what fits; a reader that has gone is the job's own choice."""
        try:
            n = os.write(fd, self.to_write[fd][:65536])
            self.to_write[fd] = self.to_write[fd][n:]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self.to_write[fd] = memoryview(b"")
        if not self.to_write[fd]:
            del self.to_write[fd]
            os.close(fd)

    def read(self, fd: int) -> bool:
        """Take what is there; False at the end or when nothing is there now. Beyond its cap stdout stops the job; others are cut, and
        stop it when what is cut off grows without end."""
        try:
            data = os.read(fd, 65536)
        except BlockingIOError:
            return False
        kept = self.to_read[fd]
        room = self.caps[fd] - len(kept)
        kept += data[: max(room, 0)]
        self.thrown_away += max(0, len(data) - max(room, 0))
        if len(data) > room and (fd == self.order[0] or self.thrown_away > _NOISE) and not self.over:
            self.over = True
            self.jail.stop()
        return bool(data)

    def outcome(self) -> Outcome:
        """Close everything and put the result together."""
        for fd in self.to_write:
            os.close(fd)
        if self.reply is not None and "error" not in self.reply:
            for fd in self.order:
                while self.read(fd) and not self.over:
                    continue
        for fd in self.order:
            os.close(fd)
        if self.reply is None or "error" in self.reply:
            raise SandboxFailure((self.reply or {}).get("error", "the sandbox server died or did not answer"))
        r, (out, err, report) = self.reply, (bytes(self.to_read[fd]) for fd in self.order)
        if b'"infrastructure"' in report[:20]:
            raise SandboxFailure(report.decode("utf-8", "replace"))
        return Outcome(r["code"], r["signal"], "output" if self.over else r["reason"], r["cpu"], r["wall"], r["rss_mb"], out, err, report)


class Jail:
    """One server, used by one job at a time."""

    def __init__(self, pool: Pool, number: int, box: str | None):
        self.pool, self.number, self.box, self.jobs = pool, number, box, 0
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        pool.jails[number] = self
        with theirs:
            pool.command({"spawn": number, "tier": pool.tier, "uid": pool.uid(number), "box": box or rooms.BOX}, [theirs.fileno()])
        self.control.settimeout(_START_S)
        answer = self.answer()
        self.layers = answer.get("layers", [])
        if "ready" not in answer:
            self.close()
            raise SandboxFailure(answer.get("error", "no answer from the sandbox server"))

    def answer(self) -> dict:
        """The server's next line; an error line when it is gone."""
        try:
            data = self.control.recv(1 << 16)
        except OSError as error:
            return {"error": f"the sandbox server does not answer: {error}"}
        return json.loads(data) if data else {"error": "the sandbox server died"}

    def start(self, entry: str, *, spec: dict, stdin: bytes, limits: Limits, peer: int | None = None) -> Job:
        """Start a job. ``peer`` is a socket that it gets as descriptor 5."""
        self.jobs += 1
        (in_r, in_w), (out_r, out_w), (err_r, err_w), (spec_r, spec_w), (rep_r, rep_w) = (_pipe() for _ in range(5))
        job = Job(self, limits, time.monotonic() + 3 * limits.wall_s + _START_S)
        job.to_write = {in_w: memoryview(stdin), spec_w: memoryview(json.dumps(spec).encode())}
        job.order = [out_r, err_r, rep_r]
        job.to_read = {fd: bytearray() for fd in job.order}
        job.caps = dict(zip(job.order, (int(limits.output_mb * 2**20), _STDERR_KEPT, _REPORT_KEPT), strict=True))
        given = [in_r, out_w, err_w, spec_r, rep_w] + ([peer] if peer is not None else [])
        try:
            socket.send_fds(self.control, [json.dumps({"entry": entry, "limits": limits.as_dict()}).encode()], given)
        except OSError as error:
            job.reply = {"error": f"the sandbox server is gone: {error}"}
        finally:
            for fd in given:
                os.close(fd)
        for fd in (in_w, spec_w):
            os.set_blocking(fd, False)
            job.write(fd)
        for fd in job.order:
            os.set_blocking(fd, False)
        return job

    def stop(self) -> None:
        try:
            self.control.send(b'{"stop": 1}')
        except OSError:
            return  # the server is gone; the main loop will see it

    def close(self) -> None:
        """End the server. It ends by itself when this socket closes; the keeper makes sure."""
        self.control.close()
        self.pool.jails.pop(self.number, None)
        self.pool.command({"kill": self.number}, [])
        if self.box:
            shutil.rmtree(self.box, ignore_errors=True)


def _pipe() -> tuple[int, int]:
    """A pipe that a job under another uid can open again as /dev/stdin."""
    ends = os.pipe()
    if os.geteuid() == 0:
        os.fchmod(ends[0], 0o666)
    return ends


def finish(*jobs: Job) -> list[Outcome]:
    """Feed and read jobs until all have ended; raises SandboxFailure when the machinery failed for one of them."""
    poller = select.poll()
    owner: dict[int, Job] = {}
    for job in jobs:
        for fd in job.to_write:
            poller.register(fd, select.POLLOUT)
        for fd in (*job.order, job.jail.control.fileno()):
            poller.register(fd, select.POLLIN)
        owner |= dict.fromkeys([*job.to_write, *job.order, job.jail.control.fileno()], job)
    while any(job.reply is None for job in jobs):
        left = max(job.deadline for job in jobs if job.reply is None) - time.monotonic()
        ready = poller.poll(max(left, 0) * 1000)
        for fd, _ in ready:
            if not _serve(fd, owner[fd]):
                poller.unregister(fd)
        if left <= 0:
            break
    return _outcomes(jobs)


def _serve(fd: int, job: Job) -> bool:
    """Handle one ready descriptor; False when it needs no more looking at."""
    if fd in job.to_write:
        job.write(fd)
        return fd in job.to_write
    if fd in job.to_read:
        return job.read(fd)
    job.reply = job.jail.answer()
    return False


def _outcomes(jobs: tuple[Job, ...]) -> list[Outcome]:
    """Close all jobs before the first failure is raised."""
    results: list[Outcome] = []
    failure: SandboxFailure | None = None
    for job in jobs:
        try:
            results.append(job.outcome())
        except SandboxFailure as error:
            failure = error
    if failure:
        raise failure
    return results


class Pool:
    """The keeper of one tier and the servers that wait for work."""

    def __init__(self, tier: str):
        self.tier, self.lock, self.count = tier, threading.Lock(), 0
        self.idle: dict[str, list[Jail]] = {}
        self.jails: dict[int, Jail] = {}
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        room, home = rooms.plan(), str(Path(__file__).resolve().parents[3])
        quiet = None if os.environ.get("RLVR_SANDBOX_DEBUG") else subprocess.DEVNULL
        with theirs:
            self.keeper = subprocess.Popen(
                [room.python, "-s", "-S", "-c", _BOOT, str(theirs.fileno()), home], pass_fds=(theirs.fileno(),), env=_CLEAN, cwd="/",
                stdin=subprocess.DEVNULL, stdout=quiet, stderr=quiet, start_new_session=True)  # fmt: skip
        self.control.send(json.dumps({"room": asdict(room), "preload": PRELOAD, "home": home}).encode())

    def command(self, message: dict, fds: list[int]) -> None:
        """Tell the keeper something. A keeper that is gone took its servers along, and the next borrow starts a new one."""
        try:
            with self.lock:
                socket.send_fds(self.control, [json.dumps(message).encode()], fds)
        except OSError as error:
            if "spawn" in message:
                raise SandboxFailure(f"the sandbox keeper is gone: {error}") from error

    def uid(self, number: int) -> int:
        """A uid of its own for every server, as far as a range of four thousand goes."""
        return 60000 + (self.keeper.pid * 16 + number) % 4096

    @contextmanager
    def borrow(self, role: str) -> Iterator[Jail]:
        """A server that only ever runs jobs of this role. After a failure it is not used again."""
        jail = self._take(role)
        try:
            yield jail
        except BaseException:
            jail.close()
            raise
        if jail.jobs >= JOBS_PER_SERVER:
            jail.close()
        else:
            with self.lock:
                self.idle.setdefault(role, []).append(jail)

    def _take(self, role: str) -> Jail:
        with self.lock:
            if self.idle.get(role):
                return self.idle[role].pop()
            self.count += 1
            number = self.count
        box = None if self.tier == cage.NAMESPACES else tempfile.mkdtemp(prefix="rlvr-box-")
        return Jail(self, number, box)

    def close(self) -> None:
        """End all servers and the keeper."""
        with self.lock:
            jails, self.idle = list(self.jails.values()), {}
        for jail in jails:
            jail.close()
        self.control.close()
        try:
            self.keeper.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.keeper.kill()
            self.keeper.wait()

    def forget(self) -> None:
        """In a forked child: close the copies of the sockets, touch nothing of the parent's."""
        self.control.close()
        for jail in self.jails.values():
            jail.control.close()
