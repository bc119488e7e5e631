"""DeepSpeed's settings for a stage, and the two traps around them.

No ``optimizer`` block: transformers' own AdamW needs no compiler, where DeepSpeed's would build C++ for minutes.
``deepspeed_shm_comm`` is built at every first start on CPU, and a kill during that build leaves a lock file on which every
later run waits for ever without a word; gloo does the same work, so the op is declared unavailable.

>>> make(2, mixed="fp32")["zero_optimization"]
{'stage': 2}
"""

from __future__ import annotations

from typing import Any

GATHER = {
    "stage3_gather_16bit_weights_on_model_save": True,  # else ZeRO-3 saves no weights at all
    "reduce_bucket_size": "auto",
    "stage3_prefetch_bucket_size": "auto",
    "stage3_param_persistence_threshold": "auto",
}


def make(stage: int, *, mixed: str, offload: str = "none") -> dict[str, Any]:
    """The mapping for ``TrainingArguments(deepspeed=...)``.

    mixed: ``fp32``, ``bf16`` or ``fp16``; offload: ``none``, ``optimizer`` or ``all``.
    """
    zero: dict[str, Any] = {"stage": stage}
    if stage == 3:
        zero |= GATHER
    if offload in ("optimizer", "all"):
        zero["offload_optimizer"] = {"device": "cpu", "pin_memory": True}
    if offload == "all" and stage == 3:
        zero["offload_param"] = {"device": "cpu", "pin_memory": True}
    settings: dict[str, Any] = {
        "zero_optimization": zero,
        "train_micro_batch_size_per_gpu": "auto",
        "gradient_accumulation_steps": "auto",
        "gradient_clipping": "auto",
        "zero_force_ds_cpu_optimizer": False,
    }
    if mixed != "fp32":
        settings[mixed] = {"enabled": True}
    return settings


def without_compiled_ops() -> None:
    """Declare DeepSpeed's shared-memory all-reduce unavailable in this process; call before the trainer is made."""
    import deepspeed.ops as ops

    ops.__compatible_ops__["deepspeed_shm_comm"] = False
