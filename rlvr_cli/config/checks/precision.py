"""Number formats of weights and training, and the attention that needs one of them."""

from __future__ import annotations

from rlvr_cli.config.schema import Config
from rlvr_cli.errors import ConfigError


def without_deepspeed(config: Config) -> bool:
    """Whether no DeepSpeed engine will hold fp32 masters: one rank and no stage."""
    return config.hardware.zero_stage is None and (config.hardware.ranks or 1) * config.hardware.nodes == 1


def one_half_precision(config: Config) -> str | None:
    """bf16 and fp16 exclude each other."""
    if config.trainer.bf16 and config.trainer.fp16:
        raise ConfigError("trainer.bf16 and trainer.fp16 are both on", where="trainer", fix="trainer.fp16=false")
    return None


def fp16_needs_gpu(config: Config) -> str | None:
    """A loss scaler on CPU is slow and wrong."""
    if config.trainer.fp16 and config.hardware.device == "cpu":
        raise ConfigError(
            "trainer.fp16 needs a GPU; hardware.device is cpu", where="trainer.fp16", fix="trainer.fp16=false trainer.bf16=true"
        )
    return None


def half_weights_need_masters(config: Config) -> str | None:
    """Half-precision weights without fp32 masters lose updates smaller than their rounding."""
    half = config.model.dtype in ("bfloat16", "float16")
    if half and without_deepspeed(config) and config.peft.kind == "none":
        raise ConfigError(
            f"model.dtype={config.model.dtype} without DeepSpeed (hardware.zero_stage=null) has no fp32 masters: small updates vanish",
            where="model.dtype, hardware.zero_stage",
            fix="hardware.zero_stage=0, or model.dtype=float32 trainer.bf16=true",
        )
    return None


def dtype_fits_training(config: Config) -> str | None:
    """float16 weights and bf16 arithmetic, or the reverse, cast every tensor twice."""
    dtype, trainer = config.model.dtype, config.trainer
    if (dtype == "float16" and trainer.bf16) or (dtype == "bfloat16" and trainer.fp16):
        on = "bf16" if trainer.bf16 else "fp16"
        raise ConfigError(f"model.dtype={dtype} contradicts trainer.{on}=true", where="model.dtype", fix="model.dtype=auto")
    return None


def flash_attention(config: Config) -> str | None:
    """Flash attention is CUDA code for half precision."""
    attention = config.model.attn_implementation or ""
    if "flash" not in attention:
        return None
    if config.hardware.device == "cpu":
        raise ConfigError(
            f"model.attn_implementation={attention} needs a GPU, and hardware.device is cpu",
            where="model.attn_implementation",
            fix="model.attn_implementation=sdpa",
        )
    if config.model.dtype == "float32" and not (config.trainer.bf16 or config.trainer.fp16):
        raise ConfigError(
            f"model.attn_implementation={attention} does not take model.dtype=float32",
            where="model.attn_implementation, model.dtype",
            fix="model.attn_implementation=sdpa",
        )
    return None
