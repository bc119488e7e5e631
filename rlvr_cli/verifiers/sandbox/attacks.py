"""The attacks that a tier must withstand, run inside it. Each function tries one thing and returns True when it worked.

``many`` runs the quick ones in one job and reports the names of those that worked; ``fork_bomb``, ``memory``, ``disk`` and
``daemon`` are jobs of their own. All are bounded, so that a machine without walls survives them too.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import socket
import sys
import time
from collections.abc import Callable

_BOUND = 300


def many() -> None:
    """Report the names of the attacks that worked."""
    target = _spec()
    worked = []
    for name, attack in ATTACKS.items():
        try:
            if attack(target):
                worked.append(name)
        except (OSError, ValueError, AttributeError):
            continue  # refused: as it should be
    os.write(4, json.dumps(worked).encode())
    os._exit(0)


def fork_bomb() -> None:
    """Start processes until refused; far too many is a success."""
    made = 0
    try:
        while made < _BOUND:
            if os.fork() == 0:
                time.sleep(1)
                os._exit(0)
            made += 1
    except OSError:
        pass  # refused, and counted below
    os.write(1, b"unlimited" if made >= _BOUND else b"stopped")
    os._exit(0)


def memory() -> None:
    """Take 1 GB in one process."""
    try:
        block = bytearray(1 << 30)
        os.write(1, b"unlimited" if len(block) else b"")
    except MemoryError:
        os.write(1, b"stopped")
    os._exit(0)


def disk() -> None:
    """Write 64 MB in files of 2 MB."""
    try:
        for i in range(32):
            with open(f"fill{i}", "wb") as file:
                file.write(b"x" * (2 << 20))
            time.sleep(0.005)
        os.write(1, b"unlimited")
    except OSError:
        os.write(1, b"stopped")
    os._exit(0)


def daemon() -> None:
    """Leave a process in a session of its own."""
    marker = _spec()["marker"]
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execv(sys.executable, [sys.executable, "-S", "-c", "import time; time.sleep(30)", marker])
        os._exit(0)
    time.sleep(0.05)
    os._exit(0)


def _spec() -> dict:
    with open(3, "rb", closefd=True) as file:
        return json.loads(file.read())


def _read_file(t: dict) -> bool:
    with open(t["secret"]) as file:
        return t["canary"] in file.read()


def _write_file(t: dict) -> bool:
    with open(os.path.join(t["folder"], "pwned"), "w") as file:
        return file.write("x") == 1


def _through_link(t: dict) -> bool:
    os.symlink(t["folder"], "out")
    return os.path.exists("out/secret") and bool(os.listdir("out"))


def _host_files(t: dict) -> bool:
    return any(_readable(p) for p in ("/etc/passwd", "/etc/hostname", "/proc/1/environ", "/root/.bashrc", "/etc/shadow"))


def _readable(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return (len(file.read(16)) > 0 and path != "/proc/1/environ") or b"rlvr" in file.read()
    except OSError:
        return False


def _environment(t: dict) -> bool:
    return len(os.environ) > 14 or any("rlvr" in k.lower() or "token" in k.lower() for k in os.environ)


def _other_processes(t: dict) -> bool:
    own = {str(os.getpid()), "1"}
    return any(_readable(f"/proc/{pid}/environ") for pid in os.listdir("/proc") if pid.isdigit() and pid not in own)


def _signal_caller(t: dict) -> bool:
    """Signal 0 only asks. In a pid namespace the caller's number does not exist."""
    os.kill(t["pid"], 0)
    return True


def _signal_parent(t: dict) -> bool:
    if os.getppid() < 2:
        return False  # the first process of a pid namespace: the kernel drops what its own children send
    os.kill(os.getppid(), 0)
    return True


def _tcp(t: dict) -> bool:
    with socket.socket() as s:
        s.settimeout(1)
        return s.connect_ex(("127.0.0.1", t["tcp"])) == 0


def _abstract(t: dict) -> bool:
    with socket.socket(socket.AF_UNIX) as s:
        return s.connect_ex("\0" + t["abstract"]) == 0


def _far_sockets(t: dict) -> bool:
    for family in (40, 17, 16):  # vsock, packet, netlink
        try:
            socket.socket(family, socket.SOCK_RAW if family == 17 else socket.SOCK_STREAM if family == 40 else socket.SOCK_RAW).close()
            return True
        except OSError:
            continue
    return False


def _call(name: str, *args: object) -> Callable[[dict], bool]:
    return lambda t: getattr(ctypes.CDLL(None, use_errno=True), name)(*args) == 0


def _raise_limit(t: dict) -> bool:
    for which in (resource.RLIMIT_CPU, resource.RLIMIT_AS, resource.RLIMIT_NPROC, resource.RLIMIT_FSIZE):
        try:
            resource.setrlimit(which, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            return True
        except (ValueError, OSError):
            continue
    return False


def _become_root(t: dict) -> bool:
    os.setuid(0)
    return os.geteuid() == 0


def _spare_descriptors(t: dict) -> bool:
    return bool([fd for fd in range(5, 64) if _is_open(fd)])


def _is_open(fd: int) -> bool:
    try:
        os.fstat(fd)
        return True
    except OSError:
        return False


def _read_parent_memory(t: dict) -> bool:
    with open(f"/proc/{os.getppid()}/mem", "rb"):
        return True


def _server_limits(t: dict) -> bool:
    """Its own limits again, which harms nothing; lower ones would end every later job."""
    parent = os.getppid() or 1
    resource.prlimit(parent, resource.RLIMIT_CORE, resource.prlimit(parent, resource.RLIMIT_CORE))
    return True


def _server_priority(t: dict) -> bool:
    parent = os.getppid() or 1
    os.setpriority(os.PRIO_PROCESS, parent, os.getpriority(os.PRIO_PROCESS, parent))
    return True


def _start_python(t: dict) -> bool:
    """Not an attack: a program may start its interpreter. Reported under its own name when it cannot."""
    import subprocess

    done = subprocess.run([sys.executable, "-S", "-c", "print(7)"], capture_output=True, timeout=5)
    return done.stdout != b"7\n"


def _ignore_kill(t: dict) -> bool:
    signal.signal(signal.SIGKILL, signal.SIG_IGN)
    return True


ATTACKS: dict[str, Callable[[dict], bool]] = {
    "read a file of the caller": _read_file, "write beside it": _write_file, "follow a link out": _through_link,
    "read system files": _host_files, "see the caller's environment": _environment, "read other processes": _other_processes,
    "signal the caller": _signal_caller, "signal the server": _signal_parent, "connect by TCP": _tcp,
    "connect to an abstract socket": _abstract,
    "open a socket of another family": _far_sockets, "make a namespace": _call("unshare", 0x10000000),
    "change the root": _call("chroot", b"."), "mount": _call("mount", b"none", b".", b"tmpfs", 0, None),
    "trace a process": _call("ptrace", 0, 0, 0, 0),
    "change the server's limits": _server_limits, "change the server's priority": _server_priority,
    "raise a limit": _raise_limit, "become root": _become_root, "use the server's descriptors": _spare_descriptors,
    "read the server's memory": _read_parent_memory, "ignore SIGKILL": _ignore_kill, "an interpreter that does not start": _start_python,
}  # fmt: skip
