"""The dozen Linux calls that confinement needs and Python does not wrap, by ctypes alone.

No package and no compiler: the sandbox must work where only a plain Python stands. Every wrapper raises OSError with the
kernel's errno, so that a layer that is refused says why::

    unshare(CLONE_NEWNET)   ->   OSError: [Errno 1] unshare: Operation not permitted
"""

from __future__ import annotations

import ctypes
import os
import platform

MACHINE = platform.machine()

CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC = 0x00020000, 0x02000000, 0x04000000, 0x08000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
ALL_NAMESPACES = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 1, 2, 4, 8, 32, 4096, 16384, 1 << 18
MNT_DETACH = 2

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_CAPBSET_DROP, PR_SET_SECCOMP = 1, 4, 24, 22
PR_SET_SECUREBITS, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 28, 36, 38, 47
SECCOMP_MODE_FILTER = 2

# name: (x86_64, aarch64)
_NUMBERS = {"clone": (56, 220), "pivot_root": (155, 41), "capset": (126, 91)}
_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def number(pair: tuple[int, int]) -> int:
    """The syscall number for this machine out of (x86_64, aarch64)."""
    if MACHINE not in ("x86_64", "aarch64"):
        raise OSError(38, f"no syscall table for {MACHINE}")
    return pair[MACHINE == "aarch64"]


def _checked(result: int, what: str) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result


def syscall(nr: int, *args: object, what: str = "syscall") -> int:
    """A raw system call; integers are passed as longs."""
    longs = [ctypes.c_long(a) if isinstance(a, int) else a for a in args]
    return _checked(_libc.syscall(ctypes.c_long(nr), *longs), what)


def prctl(option: int, a: int = 0, b: object = 0, c: int = 0, d: int = 0) -> int:
    second = ctypes.c_ulong(b) if isinstance(b, int) else b
    return _checked(_libc.prctl(option, ctypes.c_ulong(a), second, ctypes.c_ulong(c), ctypes.c_ulong(d)), f"prctl {option}")


def clone(flags: int) -> int:
    """fork() into new namespaces. Only for a process with one thread: Python's own fork hooks do not run."""
    return syscall(number(_NUMBERS["clone"]), flags | 17, 0, 0, 0, 0, what="clone")  # 17 = SIGCHLD


def mount(source: str, target: str, kind: str | None = None, flags: int = 0, data: str | None = None) -> None:
    def text(value: str | None) -> bytes | None:
        return value.encode() if value is not None else None

    _checked(_libc.mount(text(source), text(target), text(kind), ctypes.c_ulong(flags), text(data)), f"mount {target}")


def umount(target: str) -> None:
    _checked(_libc.umount2(target.encode(), MNT_DETACH), f"umount {target}")


def pivot_root(new: str, old: str) -> None:
    syscall(number(_NUMBERS["pivot_root"]), new.encode(), old.encode(), what="pivot_root")


def drop_bounding_set() -> None:
    """No exec can ever give a capability back. Needs CAP_SETPCAP; the loop ends at the kernel's last capability."""
    for capability in range(64):
        try:
            prctl(PR_CAPBSET_DROP, capability)
        except OSError as error:
            if error.errno == 22:
                return
            raise


def set_capabilities(mask: int = 0) -> None:
    """Keep only the capabilities of ``mask``, by default none; giving up is allowed to anyone."""
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    sets = (ctypes.c_uint32 * 6)(mask, mask, mask, 0, 0, 0)  # effective, permitted, inheritable
    syscall(number(_NUMBERS["capset"]), ctypes.byref(header), ctypes.byref(sets), what="capset")
