"""Watch one job until it ends or breaks a limit, then leave no process of it alive.

Kernel limits are per process; a program may have many. So every few milliseconds the whole tree is summed up from /proc:
CPU of all, resident memory of all, size of the working folder. Example of the reply::

    {"code": 0, "signal": 0, "reason": null, "cpu": 0.004, "wall": 0.005, "rss_mb": 11.2}
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from dataclasses import dataclass, field

from rlvr_cli.verifiers.sandbox.limits import Limits

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_OWN_MB = 24  # what a forked job shows as its own although it shares it with the server
_FIRST_LOOK, _LATER_LOOKS = 0.03, 0.06


@dataclass
class Tree:
    """Reads the processes of a job from a /proc descriptor. ``root`` is the server's pid as that /proc shows it."""

    proc: int | None
    root: int
    alone: bool
    """True in a pid namespace: every process but pid 1 belongs to the job."""

    def pids(self, skip: frozenset[int] = frozenset()) -> list[int]:
        """All processes of the job; ``skip`` cuts off those and what is below them."""
        if self.proc is None:
            return []
        listing = os.open(".", os.O_RDONLY | os.O_DIRECTORY, dir_fd=self.proc)
        try:
            everyone = [int(name) for name in os.listdir(listing) if name.isdigit()]
        finally:
            os.close(listing)
        if self.alone:
            return [pid for pid in everyone if pid != 1]
        parents = {pid: parent for pid in everyone if (parent := self._parent(pid)) is not None}
        family, grown = {self.root}, True
        while grown:
            new = {pid for pid, parent in parents.items() if parent in family and pid not in family and pid not in skip}
            family |= new
            grown = bool(new)
        return sorted(family - {self.root})

    def read(self, pid: int, name: str) -> bytes:
        try:
            fd = os.open(f"{pid}/{name}", os.O_RDONLY, dir_fd=self.proc)
        except OSError:
            return b""
        try:
            return os.read(fd, 4096)
        except OSError:
            return b""
        finally:
            os.close(fd)

    def _parent(self, pid: int) -> int | None:
        stat = self.read(pid, "stat").rpartition(b")")[2].split()
        return int(stat[1]) if len(stat) > 2 else None

    def usage(self) -> tuple[float, float]:
        """CPU seconds and resident MB of the whole tree."""
        cpu, memory = 0.0, 0.0
        for pid in self.pids():
            stat = self.read(pid, "stat").rpartition(b")")[2].split()
            if len(stat) < 22:
                continue
            cpu += sum(map(int, stat[11:15])) / _TICKS
            shared = self.read(pid, "statm").split()
            if len(shared) > 2:
                memory += max(0.0, (int(shared[1]) - int(shared[2])) * _PAGE / 2**20 - _OWN_MB)
        return cpu, memory

    def waited_s(self, pid: int) -> float:
        """How long the process stood in the queue for a core."""
        fields = self.read(pid, "schedstat").split()
        return int(fields[1]) / 1e9 if len(fields) > 1 else 0.0

    def kill(self) -> None:
        """SIGKILL to all of the job. In a pid namespace one call reaches everyone at once; elsewhere until none is seen."""
        if self.alone:
            _signal(-1)
            return
        for pid in self.pids():
            _signal(pid)


def _signal(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):  # gone already
        os.kill(pid, signal.SIGKILL)


@dataclass
class Watch:
    """One job's clock and limits."""

    tree: Tree
    pid: int
    limits: Limits
    box: str | None
    start: float = field(default_factory=time.monotonic)
    busy: float = 0.0
    last_busy: float = 0.0

    def run(self, control: int) -> dict:
        """Wait for the end of the main process, end all the others, and say what happened."""
        reason = self._until_over(control)
        wall = time.monotonic() - self.start
        status, cpu, rss = self._reap(kill_first=reason is not None)
        code = os.waitstatus_to_exitcode(status)
        if reason is None and code in (-signal.SIGXCPU, -signal.SIGKILL) and cpu >= self.limits.cpu_s:
            reason = "cpu"
        return {"code": max(code, 0), "signal": max(-code, 0), "reason": reason, "cpu": cpu, "wall": wall, "rss_mb": rss / 1024}

    def _until_over(self, control: int) -> str | None:
        ended = os.pidfd_open(self.pid)
        poller = select.poll()
        poller.register(ended, select.POLLIN)
        poller.register(control, select.POLLIN | select.POLLHUP)
        look = _FIRST_LOOK
        try:
            while True:
                ready = {fd for fd, _ in poller.poll(look * 1000)}
                if ended in ready:
                    return None
                if control in ready:
                    return "stopped"
                reason = self._over()
                if reason:
                    return reason
                look = _LATER_LOOKS
        finally:
            os.close(ended)

    def _over(self) -> str | None:
        elapsed = time.monotonic() - self.start
        cpu, memory = self.tree.usage()
        if cpu >= self.limits.cpu_s:
            return "cpu"
        if memory > self.limits.memory_mb:
            return "memory"
        if self.box and _folder_mb(self.box) > self.limits.disk_mb:
            return "disk"
        if elapsed > self.limits.wall_s and elapsed - self.tree.waited_s(self.pid) > self.limits.wall_s:
            return "wall"
        return "wall" if elapsed > 3 * self.limits.wall_s or self._asleep(cpu, elapsed) else None

    def _asleep(self, cpu: float, elapsed: float) -> bool:
        """True when the tree has neither computed nor waited for a core for ``idle_s``."""
        busy = cpu + self.tree.waited_s(self.pid)
        if busy > self.busy + 0.02:
            self.busy, self.last_busy = busy, elapsed
        return 0 < self.limits.idle_s < elapsed - self.last_busy

    def _reap(self, kill_first: bool) -> tuple[int, float, int]:
        """Collect every child, ending those that outlive the main process. Returns its status, CPU of all, largest RSS in kB."""
        if kill_first:
            self.tree.kill()
            _signal(self.pid)
        _, status, used = os.wait4(self.pid, 0)
        cpu, rss = used.ru_utime + used.ru_stime, used.ru_maxrss
        while True:
            try:
                pid, _, used = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return status, cpu, rss
            if pid == 0:
                self.tree.kill()
                time.sleep(0.0005)
            else:
                cpu += used.ru_utime + used.ru_stime
                rss = max(rss, used.ru_maxrss)


def _folder_mb(folder: str, most: int = 2000) -> float:
    """Megabytes below a folder, of at most ``most`` entries (beyond that it is over any limit)."""
    total, seen, stack = 0, 0, [folder]
    while stack:
        try:
            with os.scandir(stack.pop()) as entries:
                for entry in entries:
                    seen += 1
                    if seen > most:
                        return float("inf")
                    if entry.is_dir(follow_symlinks=False):
                        stack.append(entry.path)
                    total += entry.stat(follow_symlinks=False).st_blocks * 512
        except OSError:
            continue
    return total / 2**20
