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
    """Each file; the working folder as a whole has 16 MB."""
    processes: int = 48
    """Processes and threads at once."""
    files: int = 256
    """Open files of each process."""

    def as_dict(self) -> dict[str, float]:
        return asdict(self)


STACK = 120 << 20  # the kernel keeps 128 MB below the main stack free, whatever the limit was at exec


_FIXED = ("CORE", "MEMLOCK", "MSGQUEUE", "RTPRIO", "NICE")


def apply_fixed() -> None:
    """What no job needs, given up by the server once for all its jobs."""
    for name in _FIXED:
        which = getattr(resource, f"RLIMIT_{name}", None)
        if which is not None:
            resource.setrlimit(which, (0, 0))
    hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
    soft = STACK if hard == resource.RLIM_INFINITY else min(STACK, hard)
    resource.setrlimit(resource.RLIMIT_STACK, (soft, hard))


def apply(limits: Limits, *, processes: int) -> None:
    """Set this process's own limits, hard and soft alike: nothing can raise them again. ``processes`` is the uid's cap."""
    _set(resource.RLIMIT_AS, limits.memory_mb << 20)
    _set(resource.RLIMIT_FSIZE, limits.disk_mb << 20)
    _set(resource.RLIMIT_CPU, math.ceil(limits.cpu_s) + 1)
    _set(resource.RLIMIT_NOFILE, limits.files)
    _set(resource.RLIMIT_NPROC, processes)


def _set(which: int, value: int) -> None:
    """Lower a limit; one that is lower already stays."""
    try:
        resource.setrlimit(which, (value, value))
    except ValueError:
        hard = resource.getrlimit(which)[1]
        resource.setrlimit(which, (hard, hard))
