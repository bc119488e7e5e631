"""Take away from this process what a query never needs: files, sockets, other processes, other programs.

For the process that runs model-written SQL, once its modules are loaded. Layers, each of which may be missing on a machine:
resource limits, no new privileges, an ordinary uid where we are root, Landlock with an empty rule set (no file can be opened),
the sandbox's seccomp filter, and on top of it one that opens no file and starts nothing. ``confine`` names those that hold::

    ["rlimits", "no_new_privs", "uid 65534", "landlock 7", "seccomp"]
"""

from __future__ import annotations

import contextlib
import os
import resource
import struct
import sys

NOBODY = 65534
# name: (x86_64, aarch64); None where the machine has no such call
REFUSED: dict[str, tuple[int | None, int]] = {
    "open": (2, 56), "creat": (85, 56), "openat": (257, 56), "openat2": (437, 437), "truncate": (76, 45), "unlink": (87, 35),
    "unlinkat": (263, 35), "rename": (82, 38), "renameat": (264, 38), "renameat2": (316, 276), "mkdir": (83, 34), "mkdirat": (258, 34),
    "rmdir": (84, 35), "link": (86, 37), "linkat": (265, 37), "symlink": (88, 36), "symlinkat": (266, 36), "mknod": (133, 33),
    "mknodat": (259, 33), "chmod": (90, 53), "fchmodat": (268, 53), "chown": (92, 54), "fchownat": (260, 54), "chdir": (80, 49),
    "execve": (59, 221), "execveat": (322, 281), "fork": (57, None), "vfork": (58, None), "socketpair": (53, 199),
    "connect": (42, 203), "bind": (49, 200), "setuid": (105, 146), "setresuid": (117, 147), "inotify_init1": (294, 26),
}  # fmt: skip
CLONE, CLONE3 = (56, 220), (435, 435)
CLONE_THREAD = 0x00010000
LOAD, IF_EQUAL, IF_SET, GIVE = 0x20, 0x15, 0x45, 0x06
OPENS = frozenset({"open", "creat", "openat", "openat2"})
ALLOW, EPERM, ENOENT, ENOSYS = 0x7FFF0000, 0x00050001, 0x00050002, 0x00050026


def confine(memory: int, threads: bool = False) -> list[str]:
    """Confine this process for good. ``memory``: bytes of address space; ``threads``: whether it may start threads."""
    held = []
    with contextlib.suppress(OSError, ValueError):
        _limit(memory)
        held.append("rlimits")
    if not sys.platform.startswith("linux"):
        return held
    from rlvr_cli.verifiers.sandbox import landlock, seccomp, syscalls

    with contextlib.suppress(OSError):
        syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)
        held.append("no_new_privs")
    with contextlib.suppress(OSError):
        held += _leave_root()
    with contextlib.suppress(OSError):
        syscalls.prctl(syscalls.PR_SET_DUMPABLE, 0)
        rules = landlock.ruleset((), (), ())
        landlock.restrict(rules)
        os.close(rules)
        held.append(f"landlock {landlock.abi()}")
    with contextlib.suppress(OSError, KeyError):
        for program in (_nothing_new(syscalls, threads), seccomp.program(sockets=False, signals=False)):
            seccomp.install(seccomp.prepare(program))
        held.append("seccomp")
    return held


def _limit(memory: int) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard == resource.RLIM_INFINITY or memory < hard:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def _leave_root() -> list[str]:
    if os.geteuid() != 0:
        return []
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    return [f"uid {NOBODY}"]


def _nothing_new(syscalls, threads: bool) -> bytes:
    """A filter under which no file is opened and no process started; threads pass when asked for (DuckDB)."""
    code = [(LOAD, 0, 0, 0)]
    for name, pair in REFUSED.items():
        if (number := pair[syscalls.MACHINE == "aarch64"]) is not None:
            # A file that is "not there" is taken calmly: the C library looks for the number of cores.
            code += [(IF_EQUAL, 0, 1, number), (GIVE, 0, 0, ENOENT if name in OPENS else EPERM)]
    code += [(IF_EQUAL, 0, 1, syscalls.number(CLONE3)), (GIVE, 0, 0, ENOSYS)]  # it hides its flags; the C library falls back
    flag = CLONE_THREAD if threads else 0
    code += [(IF_EQUAL, 0, 3, syscalls.number(CLONE)), (LOAD, 0, 0, 16), (IF_SET, 1, 0, flag), (GIVE, 0, 0, EPERM)]
    code.append((GIVE, 0, 0, ALLOW))
    return b"".join(struct.pack("HBBI", *line) for line in code)
