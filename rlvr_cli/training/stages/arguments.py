"""The run's configuration as TRL's ``SFTConfig``, ``DPOConfig`` or ``RewardConfig``: the shared fields, then the stage's own.

Most fields are named alike on both sides; what a stage's TRL class does not have is left out, what it refuses is one line.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rlvr_cli.config.schema import Config
from rlvr_cli.errors import ConfigError
from rlvr_cli.training import deepspeed_config
from rlvr_cli.training.grpo_config import OPTIMIZER, TRAINER, mixed_precision, of_the_run

OWN = {
    "sft": ("max_length", "loss_type", "packing", "completion_only_loss", "assistant_only_loss"),
    "dpo": ("max_length", "loss_type", "beta", "precompute_ref_log_probs"),
    "reward_model": ("max_length", "center_rewards_coefficient"),
}
OF_GRPO = ("generation_kwargs", "log_completions")  # what of_the_run says for GRPOConfig only


def make(config: Config, run_dir: Path) -> Any:
    """TRL's arguments of the stage. Build them before the model: under ZeRO-3 it loads sharded."""
    from trl import DPOConfig, RewardConfig, SFTConfig

    stage = config.stage
    kinds = {"sft": SFTConfig, "dpo": DPOConfig, "reward_model": RewardConfig}
    own = {name: getattr(stage, name) for name in OWN[stage.kind]}
    if own.get("loss_type") is None:
        own.pop("loss_type", None)
    elif stage.kind == "dpo":
        own["loss_type"] = [own["loss_type"]]
    settings: dict[str, Any] = {
        **{name: getattr(config.trainer, name) for name in TRAINER},
        **{name: getattr(config.optimizer, name) for name in OPTIMIZER},
        **{name: value for name, value in of_the_run(config, run_dir).items() if name not in OF_GRPO},
        **own,
        "remove_unused_columns": True,
        **stage.extra,
    }
    if config.hardware.zero_stage is not None:
        deepspeed_config.without_compiled_ops()
        mixed = mixed_precision(config)
        settings["deepspeed"] = deepspeed_config.make(config.hardware.zero_stage, mixed=mixed, offload=config.hardware.offload)
    try:
        return kinds[stage.kind](**settings)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"TRL refuses the settings: {' '.join(str(error).split())}", where="stage, trainer") from error
