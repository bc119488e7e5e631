"""Landlock: which files a process may open, no TCP, no signals or abstract sockets out of its own domain, without privilege.

Three raw calls. What the kernel's version does not know is left out and reported: ABI 1 files, 2 links across folders,
3 truncate, 4 TCP, 5 device ioctl, 6 signals and abstract sockets (Linux 6.12).
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterable

from rlvr_cli.verifiers.sandbox import syscalls

_CREATE, _ADD_RULE, _RESTRICT = 444, 445, 446
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
_ALL_FILES_BY_ABI = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1}
_ALL_FILES = (1 << 16) - 1
_FILE_ONLY = EXECUTE | WRITE_FILE | READ_FILE | (1 << 14) | (1 << 15)
_NET_ALL, _SCOPE_ALL = 3, 3


def abi() -> int:
    """The kernel's Landlock version; 0 where there is none."""
    try:
        return syscalls.syscall(_CREATE, None, 0, 1, what="landlock")
    except OSError:
        return 0


def ruleset(readable: Iterable[str], writable: Iterable[str], devices: Iterable[str], listable: Iterable[str] = ()) -> int:
    """A descriptor of rules: read and execute ``readable``, all below ``writable``, read/write ``devices``, names in ``listable``."""
    version = abi()
    files = _ALL_FILES_BY_ABI.get(version, _ALL_FILES)
    net = _NET_ALL if version >= 4 else 0
    scoped = _SCOPE_ALL if version >= 6 else 0
    attribute = struct.pack("QQQ", files, net, scoped)[: 8 if version < 4 else 16 if version < 6 else 24]
    fd = syscalls.syscall(_CREATE, ctypes.c_char_p(attribute), len(attribute), 0, what="landlock_create_ruleset")
    for path in readable:
        _allow(fd, path, (EXECUTE | READ_FILE | READ_DIR) & files)
    for path in writable:
        _allow(fd, path, files)
    for path in listable:
        _allow(fd, path, READ_DIR)
    for path in devices:
        _allow(fd, path, (READ_FILE | WRITE_FILE | (1 << 14)) & files)
    return fd


def _allow(ruleset_fd: int, path: str, rights: int) -> None:
    """Add one path; a path that is not there needs no rule."""
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not os.path.isdir(path):
            rights &= _FILE_ONLY
        rule = struct.pack("=Qi", rights, fd)
        syscalls.syscall(_ADD_RULE, ruleset_fd, 1, ctypes.c_char_p(rule), 0, what=f"landlock rule for {path}")
    finally:
        os.close(fd)


def restrict(ruleset_fd: int) -> None:
    """Put this process and all that come from it under the rules. Needs no_new_privs."""
    syscalls.syscall(_RESTRICT, ruleset_fd, 0, what="landlock_restrict_self")
