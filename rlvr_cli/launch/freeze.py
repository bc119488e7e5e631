"""The configuration that really ran: every ``auto`` replaced by what the plan decided, and where the weights lie.

Ranks read only this and ``plan.json``; they decide nothing, so all ranks decide the same.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rlvr_cli.config.schema import Config
from rlvr_cli.launch.plan import Plan


def freeze(config: Config, plan: Plan) -> Config:
    """A copy of ``config`` with the plan's decisions written in."""
    frozen = config.model_copy(deep=True)
    hardware = frozen.hardware
    hardware.device, hardware.ranks, hardware.zero_stage, hardware.threads = plan.device, plan.ranks, plan.zero_stage, plan.threads
    hardware.trainer_devices, hardware.server_devices = plan.trainer_devices, plan.server_devices
    frozen.generation.backend = plan.backend
    frozen.trainer.bf16, frozen.trainer.fp16 = plan.mixed_precision == "bf16", plan.mixed_precision == "fp16"
    return frozen


def plan_file(plan: Plan, model_path: Path, server: dict[str, Any] | None, attempt: int) -> dict[str, Any]:
    """What ``plan.json`` holds: the plan, the folder of the prepared weights, and how to reach the server."""
    return {**plan.as_dict(), "model_path": str(model_path), "server": server, "attempt": attempt}
