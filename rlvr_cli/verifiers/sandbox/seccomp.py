"""A seccomp filter: calls that no solution of a programming task needs, and that have opened kernels before.

A deny list, not an allow list: the walls are the namespaces or Landlock, this takes attack surface off them, and an
allow list would give false zeros on a C library that nobody tried. Example of what a job sees::

    ctypes.CDLL(None).unshare(0x10000000)   ->   -1, EPERM
"""

from __future__ import annotations

import ctypes
import struct

from rlvr_cli.verifiers.sandbox import syscalls

# name: (x86_64, aarch64); None where the machine has no such call
DENIED: dict[str, tuple[int | None, int | None]] = {
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "process_madvise": (440, 440),
    "kcmp": (312, 272), "pidfd_getfd": (438, 438), "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "setns": (308, 268), "unshare": (272, 97),
    "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432),
    "fspick": (433, 433), "mount_setattr": (442, 442), "keyctl": (250, 219), "add_key": (248, 217), "request_key": (249, 218),
    "open_by_handle_at": (304, 265), "name_to_handle_at": (303, 264), "settimeofday": (164, 170), "clock_settime": (227, 112),
    "adjtimex": (159, 171), "clock_adjtime": (305, 266), "reboot": (169, 142), "swapon": (167, 224), "swapoff": (168, 225),
    "sethostname": (170, 161), "setdomainname": (171, 162), "acct": (163, 89), "quotactl": (179, 60), "quotactl_fd": (443, 443),
    "iopl": (172, None), "ioperm": (173, None), "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106),
    "kexec_load": (246, 104), "kexec_file_load": (320, 294), "move_pages": (279, 239), "migrate_pages": (256, 238),
    "mbind": (237, 235), "set_mempolicy": (238, 237), "vhangup": (153, 58), "syslog": (103, 116), "fanotify_init": (300, 262),
    "fanotify_mark": (301, 263), "shmget": (29, 194), "shmctl": (31, 195), "shmat": (30, 196), "msgget": (68, 186),
    "semget": (64, 190), "mq_open": (240, 180), "memfd_create": (319, 279), "memfd_secret": (447, 447), "personality": (135, 92),
    "lookup_dcookie": (212, 18), "nfsservctl": (180, 42), "modify_ldt": (154, None), "uselib": (134, None), "sysfs": (139, None),
    "ioprio_set": (251, 30),
}  # fmt: skip
CLONE, CLONE3, SOCKET, IOCTL, KILL = (56, 220), (435, 435), (41, 198), (16, 29), (62, 129)
KILLERS = (KILL, (200, 130), (129, 138), (297, 240), (424, 424))  # kill tkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_send_signal

# Calls that change another process of the same user, its server and the caller among them: (numbers, which arguments must be 0).
# Zero is the program itself, and PRIO_PROCESS; what the server is given, every later job would inherit.
OWN_ONLY: dict[str, tuple[tuple[int, int], tuple[int, ...]]] = {
    "setpriority": ((141, 140), (0, 1)), "sched_setaffinity": ((203, 122), (0,)), "sched_setscheduler": ((144, 119), (0,)),
    "sched_setparam": ((142, 118), (0,)), "sched_setattr": ((314, 274), (0,)), "prlimit64": ((302, 261), (0,)),
}  # fmt: skip

_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_LOAD, _JEQ, _JGE, _JSET, _RET = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL = 0x7FFF0000, 0x80000000
_ARG0, _ARG1 = 16, 24  # low halves of the first two arguments, little endian
_EPERM, _ENOSYS, _EACCES = 1, 38, 13
_AF_UNIX, _AF_INET, _AF_INET6 = 1, 2, 10
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C


def _op(code: int, k: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, k)


def _errno(code: int) -> bytes:
    return _op(_RET, 0x00050000 | code)


def _deny(nr: int, code: int = _EPERM) -> list[bytes]:
    return [_op(_JEQ, nr, 0, 1), _errno(code)]


def _clone_without_namespaces() -> list[bytes]:
    """Threads and forks pass; clone with a CLONE_NEW* flag does not. clone3 hides its flags, so the C library must fall back."""
    nr, spaces = syscalls.number(CLONE), syscalls.ALL_NAMESPACES
    check = [_op(_JEQ, nr, 0, 4), _op(_LOAD, _ARG0), _op(_JSET, spaces, 0, 1), _errno(_EPERM), _op(_RET, _ALLOW)]
    return _deny(syscalls.number(CLONE3), _ENOSYS) + check


def _no_signal_to_all() -> list[bytes]:
    """kill(-1) answers "done" even when every single signal was refused; here it says no."""
    nr = syscalls.number(KILL)
    return [_op(_JEQ, nr, 0, 4), _op(_LOAD, _ARG0), _op(_JEQ, 0xFFFFFFFF, 0, 1), _errno(_EPERM), _op(_RET, _ALLOW)]


def _only_oneself() -> list[bytes]:
    """The calls of ``OWN_ONLY`` pass when a program makes them on itself."""
    ops = []
    for pair, places in OWN_ONLY.values():
        test = [op for place in places for op in (_op(_LOAD, (_ARG0, _ARG1)[place]), _op(_JEQ, 0, 1, 0), _errno(_EPERM))]
        ops += [_op(_JEQ, syscalls.number(pair), 0, len(test) + 1), *test, _op(_RET, _ALLOW)]
    return ops


def _sockets(allowed: bool) -> list[bytes]:
    """In an own network namespace the common families are harmless; vsock, netlink, packet and the like never are."""
    nr = syscalls.number(SOCKET)
    if not allowed:
        return _deny(nr, _EACCES)
    families = [_op(_JEQ, family, 3 - i, 0) for i, family in enumerate((_AF_UNIX, _AF_INET, _AF_INET6))]
    return [_op(_JEQ, nr, 0, 6), _op(_LOAD, _ARG0), *families, _errno(_EACCES), _op(_RET, _ALLOW)]


def _terminal() -> list[bytes]:
    """No typing into a terminal (TIOCSTI), the oldest escape there is."""
    nr = syscalls.number(IOCTL)
    tests = [_op(_JEQ, _TIOCSTI, 1, 0), _op(_JEQ, _TIOCLINUX, 0, 1), _errno(_EPERM), _op(_RET, _ALLOW)]
    return [_op(_JEQ, nr, 0, 5), _op(_LOAD, _ARG1), *tests]


def program(*, sockets: bool, signals: bool) -> bytes:
    """The filter as bytes. ``sockets``: allow local families; ``signals``: allow kill() (Landlock or a pid namespace bounds it)."""
    load_nr = _op(_LOAD, 0)
    ops = [_op(_LOAD, 4), _op(_JEQ, _ARCH[syscalls.MACHINE], 1, 0), _op(_RET, _KILL), load_nr]
    if syscalls.MACHINE == "x86_64":
        ops += [_op(_JGE, 0x40000000, 0, 1), _errno(_ENOSYS)]  # the x32 table would walk around every number above
    for pair in DENIED.values():
        nr = pair[syscalls.MACHINE == "aarch64"]
        ops += _deny(nr) if nr is not None else []
    for pair in () if signals else KILLERS:
        ops += _deny(syscalls.number(pair))
    ops += [] if sockets else _no_signal_to_all()  # a pid namespace has nobody else in it, and its server ends jobs that way
    ops += _only_oneself() + _clone_without_namespaces() + _sockets(sockets) + _terminal()
    return b"".join([*ops, _op(_RET, _ALLOW)])


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def prepare(code: bytes) -> tuple[_Program, ctypes.Array]:
    """Build the kernel's argument once, in the server, so that a job only has to hand it over."""
    buffer = ctypes.create_string_buffer(code, len(code))
    return _Program(len(code) // 8, ctypes.addressof(buffer)), buffer


def install(prepared: tuple[_Program, ctypes.Array]) -> None:
    """Filter this process and all that come from it. Needs no_new_privs."""
    syscalls.prctl(syscalls.PR_SET_SECCOMP, syscalls.SECCOMP_MODE_FILTER, ctypes.byref(prepared[0]))
