"""What this machine has, read without importing torch: a login node answers in milliseconds.

>>> facts = read_machine()
>>> facts.cores >= 1 and facts.memory_gib > 0
True
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

GIB = 1024**3


@dataclass(frozen=True)
class Gpu:
    """One NVIDIA device: ``index`` as CUDA counts, ``memory_gib`` in GiB, ``capability`` such as 9.0."""

    index: int
    name: str
    memory_gib: float
    capability: float


@dataclass(frozen=True)
class Machine:
    """Cores that this process may use, memory in GiB, GPUs, which parts of the stack are installed, and whether the CPU
    multiplies in bfloat16 itself."""

    cores: int
    memory_gib: float
    shm_gib: float
    gpus: list[Gpu] = field(default_factory=list)
    installed: dict[str, bool] = field(default_factory=dict)
    cpu_bf16: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Plain data for ``env.json``."""
        return asdict(self)


def read_machine() -> Machine:
    """Read cores, memory, shared memory, GPUs and installed packages; nothing here can fail for want of a GPU."""
    return Machine(
        cores=_cores(),
        memory_gib=round(_memory_bytes() / GIB, 1),
        shm_gib=round(_free_bytes("/dev/shm") / GIB, 1),
        gpus=_visible(_query_gpus()),
        installed={name: importlib.util.find_spec(name) is not None for name in ("torch", "trl", "deepspeed", "vllm", "peft")},
        cpu_bf16=_cpu_bf16(),
    )


def _cores() -> int:
    """Cores this process may run on: affinity, cut by a cgroup v2 quota when there is one."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return max(1, min(cores, int(quota) // int(period)))
    except (OSError, ValueError):  # no cgroup v2 here, or "max": no quota
        return cores


def _memory_bytes() -> int:
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        return min(total, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    except (OSError, ValueError):
        return total


def _free_bytes(path: str) -> int:
    return shutil.disk_usage(path).free if Path(path).exists() else 0


def _cpu_bf16() -> bool:
    """Whether the CPU has instructions for bfloat16 (AVX512-BF16, AMX, Arm's); emulating them is several times slower than float32."""
    try:
        words = set(Path("/proc/cpuinfo").read_text().split())
    except OSError:
        return False
    return not words.isdisjoint({"avx512_bf16", "amx_bf16", "bf16"})


def _query_gpus() -> list[Gpu]:
    """GPUs as ``nvidia-smi`` lists them; an empty list without the tool or the driver."""
    query = ["nvidia-smi", "--query-gpu=index,name,memory.total,compute_cap", "--format=csv,noheader,nounits"]
    try:
        text = subprocess.run(query, capture_output=True, text=True, timeout=10, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return []
    return [parse_gpu(line) for line in text.splitlines() if line.count(",") >= 3]


def parse_gpu(line: str) -> Gpu:
    """One line of the query: ``0, NVIDIA H200, 143771, 9.0``."""
    index, name, mib, capability = (part.strip() for part in line.split(",")[:4])
    return Gpu(int(index), name, round(float(mib) / 1024, 1), float(capability))


def _visible(gpus: list[Gpu]) -> list[Gpu]:
    """Only those that CUDA_VISIBLE_DEVICES leaves, when it is set to indexes."""
    chosen = os.environ.get("CUDA_VISIBLE_DEVICES")
    if chosen is None:
        return gpus
    wanted = [int(part) for part in chosen.split(",") if part.strip().isdigit()]
    return [gpu for gpu in gpus if gpu.index in wanted]
