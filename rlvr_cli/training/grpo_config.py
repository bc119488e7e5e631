"""The run's configuration as TRL's ``GRPOConfig``: one table of where each field comes from, and the refusals.

TRL accepts some settings that then train wrongly without a word; those are errors here, each with the key to change.
Field names are TRL's own, so most of the translation is copying::

    args = make(config, run_dir)          # deepspeed= is in it, so build it before the model (ZeRO-3 loads sharded)
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rlvr_cli.config.schema import Config, Group
from rlvr_cli.errors import ConfigError
from rlvr_cli.training import deepspeed_config
from rlvr_cli.training.callbacks.entropy_guard import starting_coef
from rlvr_cli.training.callbacks.kl_control import starting_beta

GENERATION = ("temperature", "top_p", "top_k", "min_p", "repetition_penalty", "max_completion_length")
TRAINER = (
    "max_steps",
    "num_train_epochs",
    "per_device_train_batch_size",
    "per_device_eval_batch_size",
    "gradient_accumulation_steps",
    "logging_steps",
    "fp16",
    "gradient_checkpointing",
)
OPTIMIZER = (
    "optim",
    "learning_rate",
    "lr_scheduler_type",
    "warmup_steps",
    "weight_decay",
    "adam_beta1",
    "adam_beta2",
    "max_grad_norm",
)


def refuse_silent_traps(config: Config) -> None:
    """Settings that TRL takes and that then do something else than asked."""
    algorithm, generation = config.algorithm, config.generation
    if algorithm.loss_type == "cispo" and (algorithm.epsilon_high or 0) < 1:
        raise ConfigError(
            "cispo clamps every weight to epsilon_high, so below 1 it scales all of them down",
            where="algorithm.epsilon_high",
            fix="algorithm.epsilon_high=5.0",
        )
    if algorithm.sync_ref_model and not algorithm.loads_reference:
        what = "sync_ref_model needs a reference model, and beta=0 loads none"
        raise ConfigError(what, where="algorithm.beta", fix="algorithm.beta=0.001")
    if generation.backend != "hf" and generation.importance_sampling_correction and truncates(config):
        raise ConfigError(
            "the importance correction is biased when top_p, top_k or min_p cut the distribution",
            where="generation.top_p, generation.top_k, generation.min_p",
            fix="generation.top_p=1.0 generation.top_k=0 generation.min_p=null",
        )
    mode = generation.importance_sampling_mode
    if algorithm.loss_type == "vespo" and generation.backend != "hf" and not mode.startswith("token_"):
        key = "generation.importance_sampling_mode"
        raise ConfigError(f"vespo corrects tokens, not sequences: {mode}", where=key, fix=f"{key}=token_truncate")


def truncates(config: Config) -> bool:
    """Does sampling cut the distribution?"""
    generation = config.generation
    return generation.top_p < 1 or generation.top_k > 0 or bool(generation.min_p)


DTYPES = {"bf16": "bfloat16", "fp16": "float16", "fp32": "float32"}  # torch's names of the plan's


def mixed_precision(config: Config) -> str:
    """``fp32``, ``bf16`` or ``fp16``, as the plan decided."""
    return "fp16" if config.trainer.fp16 else "bf16" if config.trainer.bf16 else "fp32"


def weights_dtype(config: Config) -> str:
    """The type that weights load in. Only DeepSpeed keeps fp32 masters, so without it weights stay float32."""
    asked, half = config.model.dtype, ("bfloat16", "float16")
    if config.hardware.zero_stage is not None:
        return DTYPES[mixed_precision(config)] if asked == "auto" else asked
    if asked in half and config.peft.kind == "none":
        raise ConfigError(
            f"{asked} weights without DeepSpeed lose updates that are smaller than their rounding",
            where="model.dtype",
            fix="hardware.zero_stage=0, or model.dtype=float32 trainer.bf16=true",
        )
    return "float32" if asked == "auto" else asked


def make(config: Config, run_dir: Path, *, server: dict[str, Any] | None = None) -> Any:
    """``GRPOConfig`` of the run. ``server`` is plan.json's entry, needed for TRL's own NCCL client."""
    from trl import GRPOConfig

    refuse_silent_traps(config)
    ours = {"extra", *(k for k, v in config.algorithm if isinstance(v, Group))}  # nested groups steer TRL from outside
    algorithm = {k: v for k, v in config.algorithm.model_dump(exclude=ours).items() if v is not None}
    algorithm |= {"beta": starting_beta(config.algorithm), "entropy_coef": starting_coef(config)}
    settings: dict[str, Any] = {
        **algorithm,
        **{name: getattr(config.generation, name) for name in GENERATION},
        **{name: getattr(config.trainer, name) for name in TRAINER},
        **{name: getattr(config.optimizer, name) for name in OPTIMIZER},
        **of_the_run(config, run_dir),
        **of_vllm(config, server),
        "max_tool_calling_iterations": config.environment.max_turns,
    }
    if config.hardware.zero_stage is not None:
        deepspeed_config.without_compiled_ops()
        settings["deepspeed"] = deepspeed_config.make(
            config.hardware.zero_stage, mixed=mixed_precision(config), offload=config.hardware.offload
        )
    settings.update(config.algorithm.extra)
    try:
        return GRPOConfig(**settings)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"TRL refuses the settings: {' '.join(str(error).split())}", where="algorithm, trainer") from error


def of_the_run(config: Config, run_dir: Path) -> dict[str, Any]:
    """What is ours: folders, seeds, records; the held-out evaluation, the log and the rotation of checkpoints are callbacks."""
    on_cpu = config.hardware.device == "cpu"
    save = config.trainer.save_steps
    return {
        "output_dir": str(run_dir / "checkpoints"),
        "seed": config.seed,
        "use_cpu": on_cpu,
        "bf16": mixed_precision(config) == "bf16",
        "eval_strategy": "no",
        "save_strategy": "steps" if save else "no",
        "save_steps": save or 1,
        "save_total_limit": None,
        "logging_strategy": "steps",
        "logging_first_step": True,
        "logging_nan_inf_filter": False,
        "report_to": config.tracker.report_to or "none",
        "run_name": run_dir.name,
        "project": config.tracker.project or "rlvr",  # trackio's; the other trackers read the environment
        "disable_tqdm": True,
        "remove_unused_columns": False,
        "ddp_find_unused_parameters": False,
        "ddp_timeout": max(1800, int(config.trainer.timeout_s)),
        "generation_kwargs": config.generation.extra or None,
        "model_init_kwargs": model_init(config),
    }


def model_init(config: Config) -> dict[str, Any]:
    """Keyword arguments of ``from_pretrained`` for policy and reference."""
    model = config.model
    optional = {"attn_implementation": model.attn_implementation, "revision": None if model.builder else model.revision}
    return {
        "dtype": weights_dtype(config),
        "trust_remote_code": model.trust_remote_code,
        **{k: v for k, v in optional.items() if v is not None},
    }


def of_vllm(config: Config, server: dict[str, Any] | None) -> dict[str, Any]:
    """TRL's own vLLM arguments. The shared-memory backend does not set ``use_vllm``: its client is put in after construction."""
    generation = config.generation
    correction = {
        "vllm_importance_sampling_correction": generation.importance_sampling_correction,
        "vllm_importance_sampling_mode": generation.importance_sampling_mode,
        "vllm_importance_sampling_clip_max": generation.importance_sampling_clip_max,
    }
    if generation.backend == "vllm_colocate":
        return correction | {
            "use_vllm": True,
            "vllm_mode": "colocate",
            "vllm_gpu_memory_utilization": generation.gpu_memory_utilization,
            "vllm_tensor_parallel_size": generation.tensor_parallel_size,
            "vllm_max_model_length": generation.max_model_len,
        }
    if server and server["backend"] == "nccl":
        return correction | {
            "use_vllm": True,
            "vllm_mode": "server",
            "vllm_server_base_url": server["base_url"],
            "vllm_server_timeout": generation.startup_timeout_s,
            "vllm_group_port": server["group_port"],
        }
    return correction
