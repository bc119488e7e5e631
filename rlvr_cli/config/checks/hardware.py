"""Adapters, offload, devices and nodes."""

from __future__ import annotations

from rlvr_cli.config.checks.generation import uses_vllm
from rlvr_cli.config.schema import Config
from rlvr_cli.errors import ConfigError


def adapters(config: Config) -> str | None:
    """Adapters go on inner modules, and the loss needs the output layer as it is."""
    peft, targets = config.peft, config.model.lora_target_modules
    if peft.kind == "none":
        return None
    names = [targets] if isinstance(targets, str) else targets
    if not names:
        raise ConfigError(
            "model.lora_target_modules is empty, and peft is on",
            where="model.lora_target_modules",
            fix="model.lora_target_modules=all-linear",
        )
    if "lm_head" in names:
        raise ConfigError(
            "LoRA on lm_head does not work with GRPO's fused log-probs",
            where="model.lora_target_modules",
            fix="model.lora_target_modules=all-linear",
        )
    if peft.kind == "lora" and uses_vllm(config) and config.model.dtype in ("bfloat16", "float16"):
        return "adapters are merged into half-precision weights for the server at each step; small rounding adds up over long runs"
    return None


def qlora(config: Config) -> str | None:
    """A 4-bit base needs a GPU, and can not be merged for a server without rounding."""
    if config.peft.kind != "qlora":
        return None
    if config.hardware.device == "cpu":
        raise ConfigError("peft=qlora needs a GPU, and hardware.device is cpu", where="peft.kind", fix="peft=lora")
    if uses_vllm(config):
        raise ConfigError(
            f"peft=qlora with generation.backend={config.generation.backend}: merging adapters into 4-bit weights rounds them away",
            where="peft.kind, generation.backend",
            fix="generation=hf, or peft=lora",
        )
    if config.hardware.zero_stage == 3:
        raise ConfigError(
            "peft=qlora with hardware.zero_stage=3: 4-bit weights are not sharded", where="hardware.zero_stage", fix="hardware.zero_stage=2"
        )
    return None


def offload(config: Config) -> str | None:
    """Offload moves memory from a GPU to the host, and needs a stage that shards what is moved."""
    h = config.hardware
    if h.offload == "none":
        return None
    if h.device == "cpu":
        raise ConfigError(f"hardware.offload={h.offload} on CPU moves nothing", where="hardware.offload", fix="hardware.offload=none")
    if h.offload == "all" and h.zero_stage != 3:
        raise ConfigError(
            f"hardware.offload=all needs ZeRO-3, hardware.zero_stage is {h.zero_stage}",
            where="hardware.offload",
            fix="hardware.zero_stage=3",
        )
    if h.zero_stage in (None, 0):
        raise ConfigError(
            f"hardware.offload={h.offload} needs DeepSpeed ZeRO, hardware.zero_stage is {h.zero_stage}",
            where="hardware.offload",
            fix="hardware.zero_stage=2",
        )
    return None


def devices(config: Config) -> str | None:
    """Device lists are for GPUs, without repeats, and not shared."""
    h = config.hardware
    for key in ("server_devices", "trainer_devices"):
        listed = getattr(h, key)
        if listed and h.device == "cpu":
            raise ConfigError(f"hardware.{key}={listed} with hardware.device=cpu", where=f"hardware.{key}", fix=f"hardware.{key}=null")
        if listed is not None and len(set(listed)) != len(listed):
            raise ConfigError(
                f"hardware.{key}={listed} names a GPU twice",
                where=f"hardware.{key}",
                fix=f"hardware.{key}={sorted(set(listed))}".replace(" ", ""),
            )
    both = sorted(set(h.server_devices or []) & set(h.trainer_devices or []))
    if both:
        raise ConfigError(
            f"GPU {both[0]} is in hardware.server_devices and in hardware.trainer_devices", where="hardware", fix="generation=vllm_colocate"
        )
    if config.generation.backend == "vllm_colocate" and h.ranks and h.ranks % config.generation.tensor_parallel_size:
        raise ConfigError(
            f"generation.tensor_parallel_size={config.generation.tensor_parallel_size} does not divide hardware.ranks={h.ranks}",
            where="generation.tensor_parallel_size",
            fix="generation.tensor_parallel_size=1",
        )
    if h.server_devices and len(h.server_devices) % config.generation.tensor_parallel_size:
        raise ConfigError(
            f"generation.tensor_parallel_size={config.generation.tensor_parallel_size} does not divide {len(h.server_devices)} server GPUs",
            where="generation.tensor_parallel_size",
            fix=f"generation.tensor_parallel_size={len(h.server_devices)}",
        )
    return None


def several_nodes(config: Config) -> str | None:
    """Nodes must find each other."""
    h = config.hardware
    if h.node_rank >= h.nodes:
        raise ConfigError(
            f"hardware.node_rank={h.node_rank} of hardware.nodes={h.nodes}; ranks count from 0",
            where="hardware",
            fix=f"hardware.nodes={h.node_rank + 1}",
        )
    if h.nodes > 1 and not (h.master_addr and h.master_port):
        raise ConfigError(
            "hardware.nodes above 1 needs an address and a port that all nodes know",
            where="hardware",
            fix="hardware.master_addr=HOST hardware.master_port=29500",
        )
    return None


def needs_module(module: str, where: str, fix: str) -> None:
    """Raise MissingDependency where an optional package is not there."""
    from rlvr_cli.errors import MissingDependency
    from rlvr_cli.machine import installed

    if not installed(module):
        raise MissingDependency(f"{where} needs the package {module}", where=where, fix=fix)
