"""How much one job may use, and how the kernel is told.

CPU time decides "too slow"; wall time is a backstop a few times longer, and the time a job waited for a core does not
count against it::

    Limits(cpu_s=4, wall_s=14)   4 s of computing; 14 s on the clock of a machine that is not overbooked
"""

from __future__ import annotations

import math
import resource
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Limits:
    """Of one run of one program and all its children."""

    cpu_s: float = 4.0
    """CPU seconds of the whole process tree."""
    wall_s: float = 14.0
    """Seconds on the clock, waiting for a core not counted."""
    idle_s: float = 0.0
    """Seconds without computing after which a run is over as if the wall limit had passed; 0 is off."""
    memory_mb: int = 512
    """Address space of each process, and resident memory of the tree."""
    output_mb: float = 1.0
    """Standard output that is read before the run is stopped."""
    disk_mb: int = 16
    """The working folder, and each file."""
    processes: int = 64
    """Processes and threads at once."""
    files: int = 256
    """Open files of each process."""

    def as_dict(self) -> dict[str, float]:
        return asdict(self)


STACK = 120 << 20  # the kernel keeps 128 MB below the main stack free, whatever the limit was at exec


def apply(limits: Limits, *, processes: int) -> None:
    """Set this process's own limits, hard and soft alike: nothing can raise them again. ``processes`` is the uid's cap."""
    memory, disk, cpu = limits.memory_mb << 20, limits.disk_mb << 20, math.ceil(limits.cpu_s) + 1
    table = (
        ("AS", memory), ("CPU", cpu), ("FSIZE", disk), ("NOFILE", limits.files), ("CORE", 0), ("NPROC", processes),
        ("MEMLOCK", 0), ("MSGQUEUE", 0), ("SIGPENDING", 1024), ("RTPRIO", 0), ("NICE", 0),
    )  # fmt: skip
    for name, value in table:
        which = getattr(resource, f"RLIMIT_{name}", None)
        if which is not None:
            hard = resource.getrlimit(which)[1]
            value = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(which, (value, value))
    hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
    soft = STACK if hard == resource.RLIM_INFINITY else min(STACK, hard)
    resource.setrlimit(resource.RLIMIT_STACK, (soft, hard))
