"""What a job can see of the machine: a plan of paths, and the small root file system that is built from it.

The plan names the system's libraries, this interpreter and a few packages that answers use (numpy ...). Installed
packages at large stay out: they hold this project's own sample answers. Inside::

    /usr /bin /lib /lib64   read-only          /packages/numpy   read-only
    /dev/null ...  /proc (own processes only)  /home/job         16 MB of tmpfs, the working folder
"""

from __future__ import annotations

import contextlib
import os
import struct
import sys
import sysconfig
from dataclasses import dataclass, field

from rlvr_cli.verifiers.sandbox import syscalls
from rlvr_cli.verifiers.sandbox.syscalls import MS_BIND, MS_NODEV, MS_NOEXEC, MS_NOSUID, MS_PRIVATE, MS_RDONLY, MS_REC, MS_REMOUNT

PACKAGES = (
    "numpy", "numpy.libs", "scipy", "scipy.libs", "sympy", "mpmath", "networkx", "sortedcontainers", "more_itertools",
    "bitarray", "gmpy2", "regex", "dateutil", "six.py", "pytz", "typing_extensions.py",
)  # fmt: skip
DEVICES = ("null", "zero", "full", "random", "urandom")
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
BOX = "/home/job"  # a mount point; Landlock looks for rules in the folder that holds it


@dataclass
class Plan:
    """Paths that travel from the caller to the keeper as JSON."""

    python: str
    stdlib: str
    prefix: str
    packages: list[str] = field(default_factory=list)
    sites: list[str] = field(default_factory=list)

    @property
    def package_homes(self) -> list[str]:
        """The folders that hold the packages."""
        return list(dict.fromkeys(os.path.dirname(p) for p in self.packages))

    @property
    def readable(self) -> list[str]:
        """The same room for Landlock, which can only allow: the standard library without its site-packages, system libraries."""
        libraries = [f"/usr/lib/{d}" for d in _listed("/usr/lib") if not d.startswith("python")]
        inside = [os.path.join(self.stdlib, d) for d in _listed(self.stdlib) if d not in ("site-packages", "dist-packages")]
        shared = [os.path.join(self.prefix, "lib", f) for f in _listed(os.path.join(self.prefix, "lib")) if ".so" in f]
        fixed = ["/usr/bin", "/bin", "/lib64", "/usr/lib64", "/lib", "/etc/ld.so.cache", "/usr/share/zoneinfo", self.python]
        return [os.path.realpath(p) for p in fixed if p != "/lib" or not os.path.islink(p)] + libraries + inside + shared + self.packages


def _listed(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def plan() -> Plan:
    """This interpreter and the packages that stand beside it."""
    python = os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)
    sites = [p for p in sys.path if p.endswith(("site-packages", "dist-packages")) and os.path.isdir(p)]
    found = {name: os.path.join(p, name) for p in reversed(sites) for name in PACKAGES if os.path.exists(os.path.join(p, name))}
    stdlib, prefix = sysconfig.get_path("stdlib"), os.path.realpath(sys.base_prefix)
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    masked = [f"{prefix}/lib/{version}/site-packages", "/usr/lib/python3/dist-packages", f"/usr/local/lib/{version}/dist-packages",
              f"/usr/local/lib/{version}/site-packages"]  # fmt: skip
    return Plan(python, os.path.realpath(stdlib), prefix, list(found.values()), masked)


def build(room: Plan, uid: int) -> int | None:
    """Make the root of this mount namespace out of the plan and move into it.

    Called as the first process of new namespaces, before it takes its new uid: only the old one may be able to reach the
    interpreter (a home folder is 0700), so everything is opened first, by O_PATH, and bound through the open files.
    Returns a descriptor of a /proc of this pid namespace for the server alone, None where that is refused.
    """
    sources = _open_sources(room)
    _become(uid)
    syscalls.mount("none", "/", None, MS_REC | MS_PRIVATE)
    syscalls.mount("tmpfs", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,nr_inodes=4k,mode=755")
    new = "/tmp"
    for target, fd, link in sources:
        _place(new + target, fd, link)
    _mask(new, room.sites)
    for folder in ("/proc", BOX, "/tmp"):
        os.makedirs(new + folder, exist_ok=True)
    os.symlink(f"{BOX}/.shm", f"{new}/dev/shm")
    os.symlink("/proc/self/fd", f"{new}/dev/fd")
    for i, name in enumerate(("stdin", "stdout", "stderr")):
        os.symlink(f"/proc/self/fd/{i}", f"{new}/dev/{name}")
    proc = _own_proc(f"{new}/proc")
    _enter(new)
    return proc


def _open_sources(room: Plan) -> list[tuple[str, int | None, str | None]]:
    """(target, descriptor, link): what to bind where, or the link to recreate."""
    sources: list[tuple[str, int | None, str | None]] = []
    for path in SYSTEM:
        if os.path.islink(path):
            sources.append((path, None, os.readlink(path)))
        elif os.path.isdir(path):
            sources.append((path, os.open(path, os.O_PATH), None))
    if not room.prefix.startswith("/usr"):
        sources.append((room.prefix, os.open(room.prefix, os.O_PATH), None))
    sources += [(f"/packages/{os.path.basename(p)}", os.open(p, os.O_PATH), None) for p in room.packages]
    sources += [(f"/dev/{d}", os.open(f"/dev/{d}", os.O_PATH), None) for d in DEVICES if os.path.exists(f"/dev/{d}")]
    return sources


def _become(uid: int) -> None:
    """Take the namespace's own unprivileged uid; the capabilities over this namespace stay."""
    with contextlib.suppress(OSError):  # a plain user's namespace forbids setgroups
        os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def _place(target: str, fd: int | None, link: str | None) -> None:
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if link is not None:
        os.symlink(link, target)
        return
    source = f"/proc/self/fd/{fd}"
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    else:
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o644))
    syscalls.mount(source, target, None, MS_BIND | MS_REC)
    os.close(fd)
    _read_only(target, devices=target.startswith("/tmp/dev/"))


def _read_only(target: str, *, devices: bool = False) -> None:
    """Read-only, no set-uid, no devices, for the mount and all below it; one by one on kernels before 5.12."""
    attributes = 2 if devices else 1 | 2 | 4  # MOUNT_ATTR_RDONLY, NOSUID, NODEV
    try:
        request = struct.pack("QQQQ", attributes, 0, 0, 0)
        syscalls.syscall(442, -100, target.encode(), 0x8000, request, len(request), what="mount_setattr")
    except OSError:
        kept = os.statvfs(target).f_flag & (MS_NOSUID | MS_NODEV | MS_NOEXEC | 1024)  # flags that are locked in a user namespace
        wanted = MS_NOSUID if devices else MS_RDONLY | MS_NOSUID | MS_NODEV
        syscalls.mount("none", target, None, MS_REMOUNT | MS_BIND | wanted | kept)


def _mask(new: str, folders: list[str]) -> None:
    """Cover installed packages with an empty folder."""
    empty = f"{new}/empty"
    os.makedirs(empty, exist_ok=True)
    for folder in folders:
        if os.path.isdir(new + folder):
            syscalls.mount(empty, new + folder, None, MS_BIND)


def _own_proc(target: str) -> int | None:
    """/proc of this pid namespace: for jobs only what is theirs, for the server a descriptor on all of it."""
    options = MS_NOSUID | MS_NODEV | MS_NOEXEC
    try:
        syscalls.mount("proc", target, "proc", options)
        whole = os.open(target, os.O_PATH | os.O_DIRECTORY)
    except OSError:
        return None
    for limited in ("subset=pid,hidepid=2", "hidepid=2"):
        try:
            syscalls.mount("proc", target, "proc", options | MS_RDONLY, limited)
            return whole
        except OSError:
            continue
    syscalls.mount("tmpfs", target, "tmpfs", MS_NOSUID | MS_NODEV | MS_RDONLY, "size=4k,mode=555")
    return whole


def _enter(new: str) -> None:
    """Make ``new`` the root and let the old one go."""
    os.chdir(new)
    syscalls.pivot_root(".", ".")
    syscalls.umount(".")
    os.chdir("/")
    syscalls.mount("none", "/", None, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV)


def mount_box(megabytes: int) -> None:
    """The working folder of a server's jobs: empty, and limited in size as a whole."""
    syscalls.mount("tmpfs", BOX, "tmpfs", MS_NOSUID | MS_NODEV, f"size={megabytes}m,nr_inodes=4k,mode=700")
