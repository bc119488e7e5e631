"""The training ranks of this node: one torchrun on the frozen configuration, each rank's output in its own log.

torchrun on one node picks its own free port (``--standalone``); over several nodes all meet at ``hardware.master_addr``.
"""

from __future__ import annotations

import os
from pathlib import Path

from rlvr_cli.config.schema import Config
from rlvr_cli.interpreter import python
from rlvr_cli.launch import trackers
from rlvr_cli.launch.plan import Plan
from rlvr_cli.launch.processes import Kept


def command(config: Config, plan: Plan, config_file: Path) -> list[str]:
    """The torchrun command line of this node."""
    hardware = config.hardware
    meet = ["--standalone"]
    if plan.nodes > 1:
        meet = [f"--nnodes={plan.nodes}", f"--node-rank={hardware.node_rank}"]
        meet += [f"--master-addr={hardware.master_addr}", f"--master-port={hardware.master_port or 29500}"]
    entry = python("-u", "-m", "rlvr_cli.launch.rank", str(config_file))  # --no-python: torchrun's own call would lose -P
    return python("-m", "torch.distributed.run", *meet, f"--nproc-per-node={plan.ranks}", "--no-python", *entry)


def environment(plan: Plan, run_dir: Path, attempt: int) -> dict[str, str]:
    """The ranks' environment: quiet, offline telemetry, the threads and devices of the plan."""
    env = {
        **os.environ,
        "OMP_NUM_THREADS": str(plan.threads),
        "TOKENIZERS_PARALLELISM": "false",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "PYTHONUNBUFFERED": "1",
        "RLVR_RUN_DIR": str(run_dir),
        "RLVR_ATTEMPT": str(attempt),
    }
    if plan.nodes == 1:
        env["GLOO_SOCKET_IFNAME"] = "lo"
    if plan.device == "cpu":
        env |= {"DS_ACCELERATOR": "cpu", "CUDA_VISIBLE_DEVICES": ""}
    else:
        env["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, plan.trainer_devices))
    return env


def start(config: Config, plan: Plan, run_dir: Path, log: Path, attempt: int) -> Kept:
    """Start this node's ranks."""
    run_dir = run_dir.resolve()  # absolute, so that a list of processes says whose they are
    env = environment(plan, run_dir, attempt) | trackers.environment(config, run_dir)
    return Kept.start(command(config, plan, run_dir / "config.yaml"), log, env=env)
