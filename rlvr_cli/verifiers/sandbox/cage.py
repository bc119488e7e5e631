"""What a forked job does to itself before it touches a line of model code.

The order matters: limits while still allowed, then the point of no return (no_new_privs, Landlock, no capabilities), the
filter last because it forbids some of the calls before it. Afterwards the job has descriptors 0 to 5 and nothing else::

    0 stdin  1 stdout  2 stderr  3 spec (read, then closed)  4 report (closed before model code)  5 peer socket, if any
"""

from __future__ import annotations

import fcntl
import os
import signal
from dataclasses import dataclass

from rlvr_cli.verifiers.sandbox import landlock, limits, rooms, seccomp, syscalls

SPEC, REPORT, PEER = 3, 4, 5
NAMESPACES, LANDLOCK, UNSAFE = "namespaces", "landlock", "unsafe"
INSIDE_UID, SPARE_UID = 1000, 64999
_KEEP_DAC_READ_SEARCH = 2


@dataclass
class Cage:
    """The walls of one server, prepared once and closed by each job around itself."""

    tier: str
    box: str
    ruleset: int | None = None
    filter: tuple | None = None
    filtered: bool = False
    """True when the server itself stands behind the filter, so that its forks need not take the step."""
    powerless: bool = False
    """The same for its capabilities."""
    uid: int | None = None

    def layers(self) -> list[str]:
        named = {"namespaces": ["user, pid, mount, network, ipc, uts and cgroup namespaces", "own read-only root", "size-limited tmpfs"]}
        found = list(named.get(self.tier, []))
        found += [f"Landlock ABI {landlock.abi()}"] if self.ruleset is not None else []
        found += ["seccomp filter"] if self.filter is not None else []
        found += [f"uid {self.uid}"] if self.uid is not None else []
        return [*found, "rlimits", "process-tree watch"]


def prepare(tier: str, box: str, room: rooms.Plan) -> Cage:
    """Build the rules and the filter of a tier. Raises OSError where the kernel refuses one that the tier cannot do without."""
    cage = Cage(tier, box)
    if tier == UNSAFE:
        return cage
    inside = tier == NAMESPACES
    scoped = landlock.abi() >= 6
    devices = [f"/dev/{d}" for d in rooms.DEVICES]
    if inside and landlock.abi() >= 1:
        cage.ruleset = landlock.ruleset(["/"], [os.path.dirname(box)], devices)
    if not inside:
        cage.ruleset = landlock.ruleset(room.readable, [box], devices, [*room.package_homes, room.stdlib])
        cage.uid = SPARE_UID if os.geteuid() == 0 else None
    if cage.ruleset is not None:
        cage.ruleset = move_up(cage.ruleset)
    cage.filter = seccomp.prepare(seccomp.program(sockets=inside, signals=inside or scoped))
    return cage


def close_around(cage: Cage, allowed: limits.Limits, processes: int, fds: list[int]) -> None:
    """Turn this freshly forked process into a job: only ``fds`` survive, as 0, 1, 2 and so on."""
    os.setsid()
    os.chdir(cage.box)
    for place, fd in enumerate(fds):
        os.dup2(fd, place)
    limits.apply(allowed, processes=processes)
    _drop_uid(cage)
    syscalls.prctl(syscalls.PR_SET_PDEATHSIG, signal.SIGKILL)
    syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)
    if cage.ruleset is not None:
        landlock.restrict(cage.ruleset)
    if cage.tier != UNSAFE and not cage.powerless:
        _drop_capabilities(cage)
    syscalls.prctl(syscalls.PR_SET_DUMPABLE, 1)  # the server is not dumpable; /dev/stdin needs /proc/self, which needs this
    if cage.filter is not None and not cage.filtered:
        seccomp.install(cage.filter)
    os.closerange(len(fds), 4096)  # the server's control socket and /proc among them


def close_early(cage: Cage) -> None:
    """Settle for the server what its jobs then inherit. It needs nothing that the filter forbids, unless that forbids every signal;
    in namespaces, where it is pid 1 and so safe from its jobs, it needs no capability either."""
    if cage.tier == UNSAFE or (cage.tier == LANDLOCK and landlock.abi() < 6):
        return
    syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)
    if cage.tier == NAMESPACES:
        syscalls.set_capabilities(0)
        cage.powerless = True
    seccomp.install(cage.filter)
    cage.filtered = True


def reserve_places() -> None:
    """Let the server's own descriptors start above those of a job, so that a received one is never in another's way."""
    null = move_up(os.open("/dev/null", os.O_RDWR))
    for place in range(PEER + 1):
        os.dup2(null, place, inheritable=False)
    os.close(null)


def move_up(fd: int) -> int:
    """The same descriptor with a number above the places of a job."""
    high = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 16)
    os.close(fd)
    return high


def _drop_uid(cage: Cage) -> None:
    """Real root leaves its uid. It keeps the right to read files past their mode, which Landlock then narrows to the plan:
    the interpreter may stand in a home folder that only root can enter."""
    if cage.uid is None:
        return
    syscalls.prctl(8, 1)  # PR_SET_KEEPCAPS
    os.setgroups([])
    os.setresgid(cage.uid, cage.uid, cage.uid)
    os.setresuid(cage.uid, cage.uid, cage.uid)


def _drop_capabilities(cage: Cage) -> None:
    if cage.uid is None:
        syscalls.set_capabilities(0)
        return
    syscalls.set_capabilities(1 << _KEEP_DAC_READ_SEARCH)
    syscalls.prctl(syscalls.PR_CAP_AMBIENT, 2, _KEEP_DAC_READ_SEARCH)  # PR_CAP_AMBIENT_RAISE, so that sys.executable starts too
