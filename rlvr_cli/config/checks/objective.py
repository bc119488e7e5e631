"""The objective as TRL would compute it, and as its paper means it."""

from __future__ import annotations

from rlvr_cli.config.checks.hardware import needs_module
from rlvr_cli.config.nearest import nearest
from rlvr_cli.config.schema import Config
from rlvr_cli.errors import ConfigError

TOKEN_MEAN_LOSSES = ("bnpo", "dr_grpo", "dapo", "cispo")

NARROW_CLIP = 0.005  # a clip range this small is meant for the mean ratio of a sequence

# Fields of GRPOConfig that this project sets itself; through `algorithm.extra` they would be set behind its back.
OURS = {
    "output_dir": "run.dir",
    "run_name": "run.name",
    "seed": "seed",
    "deepspeed": "hardware.zero_stage",
    "use_vllm": "generation.backend",
    "vllm_mode": "generation.backend",
    "vllm_server_base_url": "generation.backend",
    "vllm_gpu_memory_utilization": "generation.gpu_memory_utilization",
    "vllm_tensor_parallel_size": "generation.tensor_parallel_size",
    "vllm_max_model_length": "generation.max_model_len",
    "vllm_importance_sampling_correction": "generation.importance_sampling_correction",
    "vllm_importance_sampling_mode": "generation.importance_sampling_mode",
    "vllm_importance_sampling_clip_max": "generation.importance_sampling_clip_max",
    "report_to": "tracker.report_to",
    "use_cpu": "hardware.device",
    "eval_strategy": "trainer.eval_steps",
    "save_strategy": "trainer.save_steps",
    "remove_unused_columns": "dataset.columns",
    "reward_weights": "reward.terms.NAME.weight",
    "model_init_kwargs": "model.dtype",
    "generation_kwargs": "generation.extra",
    "resume_from_checkpoint": "--resume",
    "load_best_model_at_end": "trainer.eval_steps",
    "max_tool_calling_iterations": "environment.max_turns",
}

NEVER = {
    "auto_find_batch_size": "GRPO does not support it",
    "parallelism_config": "GRPO does not support context or sequence parallelism",
    "generation_batch_size": "it contradicts steps_per_generation",
    "ds3_gather_for_generation": "off, a ZeRO-3 run looks hung",
    "push_to_hub": "use `rlvr export`",
}


def cispo_bound(config: Config) -> str | None:
    """TRL clamps cispo's weight at epsilon_high, whose default is epsilon: 0.2."""
    algorithm = config.algorithm
    if algorithm.loss_type == "cispo" and (algorithm.epsilon_high or 0) < 1:
        raise ConfigError(
            f"cispo clamps every weight to algorithm.epsilon_high={algorithm.epsilon_high}; below 1 it scales all of them down",
            where="algorithm.loss_type, algorithm.epsilon_high",
            fix="algorithm.epsilon_high=5.0",
        )
    return None


def sequence_ratio(config: Config) -> str | None:
    """A ratio a sequence goes with a mean over sequences, and the reverse for LUSPO."""
    algorithm = config.algorithm
    level, loss = algorithm.importance_sampling_level, algorithm.loss_type
    if level == "sequence" and loss in TOKEN_MEAN_LOSSES:
        raise ConfigError(
            f"algorithm.importance_sampling_level=sequence with loss_type={loss} weights long completions twice; GSPO is loss_type=grpo",
            where="algorithm",
            fix="algorithm=gspo",
        )
    if level == "sequence" and loss == "vespo":
        raise ConfigError(
            "loss_type=vespo forms its own sequence weight; a sequence ratio beside it is not used, and only its KL would be",
            where="algorithm",
            fix="algorithm.importance_sampling_level=token",
        )
    if level == "token" and loss == "luspo":
        raise ConfigError(
            "loss_type=luspo is defined on a sequence ratio", where="algorithm", fix="algorithm.importance_sampling_level=sequence"
        )
    if level == "token" and loss == "grpo" and algorithm.epsilon < NARROW_CLIP:
        raise ConfigError(
            f"algorithm.epsilon={algorithm.epsilon:g} is GSPO's clip of a sequence ratio; on token ratios nearly every token is clipped",
            where="algorithm.importance_sampling_level",
            fix="algorithm.importance_sampling_level=sequence, or algorithm=grpo",
        )
    if level == "sequence" and loss == "grpo" and algorithm.epsilon > 0.05:
        return f"algorithm.epsilon={algorithm.epsilon:g} never clips a sequence ratio; GSPO uses about 3e-4"
    return None


def clip_range(config: Config) -> str | None:
    """The lower clip is above 0, the upper one not below the lower, delta outside both."""
    algorithm = config.algorithm
    if algorithm.loss_type in ("cispo", "sapo", "vespo"):
        return None
    if algorithm.epsilon >= 1:
        raise ConfigError(
            f"algorithm.epsilon={algorithm.epsilon:g} puts the lower clip at 0 or below",
            where="algorithm.epsilon",
            fix="algorithm.epsilon=0.2",
        )
    high = algorithm.epsilon if algorithm.epsilon_high is None else algorithm.epsilon_high
    if high < algorithm.epsilon:
        raise ConfigError(
            f"algorithm.epsilon_high={high:g} is below algorithm.epsilon={algorithm.epsilon:g}",
            where="algorithm",
            fix="algorithm.epsilon_high=0.28",
        )
    if algorithm.delta is not None and algorithm.delta <= 1 + high:
        raise ConfigError(
            f"algorithm.delta={algorithm.delta:g} lies inside the clip range (it must be above {1 + high:g})",
            where="algorithm.delta",
            fix="algorithm.delta=4.0",
        )
    return None


def reference_model(config: Config) -> str | None:
    """A reference that follows the policy needs to be loaded, and adapters have none of their own."""
    algorithm = config.algorithm
    if algorithm.sync_ref_model and not algorithm.loads_reference:
        raise ConfigError(
            "algorithm.sync_ref_model needs a reference model, and algorithm.beta=0 loads none",
            where="algorithm",
            fix="algorithm.beta=0.001",
        )
    if algorithm.sync_ref_model and config.peft.kind != "none":
        raise ConfigError(
            "algorithm.sync_ref_model does not work with peft: the reference is the base",
            where="peft",
            fix="algorithm.sync_ref_model=false",
        )
    return None


def kl_control(config: Config) -> str | None:
    """A controller that multiplies can not leave 0, and bands do not look at ``algorithm.beta``."""
    algorithm = config.algorithm
    if algorithm.kl_control.kind == "target" and algorithm.beta == 0:
        raise ConfigError(
            "algorithm.kl_control.kind=target scales algorithm.beta, and 0 stays 0",
            where="algorithm.kl_control.kind, algorithm.beta",
            fix="algorithm.beta=0.05",
        )
    if algorithm.kl_control.kind == "bands" and algorithm.beta:
        return f"algorithm.beta={algorithm.beta:g} is not used: algorithm.kl_control.kind=bands sets it by the mean reward"
    return None


def adaptive_entropy(config: Config) -> str | None:
    """The adaptive coefficient needs room to move."""
    a = config.algorithm
    if a.use_adaptive_entropy and not a.entropy_coef_min <= a.entropy_coef <= a.entropy_coef_max:
        raise ConfigError(
            f"algorithm.entropy_coef={a.entropy_coef:g} is outside [entropy_coef_min, entropy_coef_max] = "
            f"[{a.entropy_coef_min:g}, {a.entropy_coef_max:g}]",
            where="algorithm",
            fix=f"algorithm.entropy_coef={a.entropy_coef_min:g}",
        )
    if a.use_adaptive_entropy and config.guard.entropy.action == "raise_bonus":
        raise ConfigError(
            "algorithm.use_adaptive_entropy and guard.entropy.action=raise_bonus both move algorithm.entropy_coef",
            where="algorithm.use_adaptive_entropy, guard.entropy.action",
            fix="algorithm.use_adaptive_entropy=false",
        )
    return None


def early_stop(config: Config) -> str | None:
    """Stopping by held-out accuracy needs some, measured now and then."""
    if config.guard.early_stop_evals and not config.trainer.eval_steps:
        raise ConfigError(
            f"guard.early_stop_evals={config.guard.early_stop_evals} counts held-out evaluations, and trainer.eval_steps=0 makes none",
            where="guard.early_stop_evals, trainer.eval_steps",
            fix="trainer.eval_steps=25",
        )
    return None


def aggregation(config: Config) -> str | None:
    """normalize_then_sum has its own scale and ignores scale_rewards."""
    a = config.algorithm
    if a.multi_objective_aggregation == "normalize_then_sum" and a.scale_rewards not in ("group", True):
        raise ConfigError(
            f"algorithm.scale_rewards={a.scale_rewards} has no effect with multi_objective_aggregation=normalize_then_sum",
            where="algorithm",
            fix="algorithm.scale_rewards=group",
        )
    return None


def extra_fields(config: Config) -> str | None:
    """``algorithm.extra`` holds fields of GRPOConfig that have no key of their own here."""
    from rlvr_cli.config.fields import all_keys
    from rlvr_cli.config.trl_fields import grpo_fields

    own = {k.rsplit(".", 1)[-1]: k for k in all_keys() if k.split(".")[0] in ("algorithm", "generation", "optimizer", "trainer")}
    for name, value in config.algorithm.extra.items():
        where = f"algorithm.extra.{name}"
        if name in NEVER:
            raise ConfigError(f"algorithm.extra.{name}: {NEVER[name]}", where=where, fix=f"~{where}")
        if name in OURS or name in own:
            key = OURS.get(name) or own[name]
            raise ConfigError(f"{name} has a key of its own", where=where, fix=f"{key}={value}")
        known = grpo_fields()
        if known is not None and name not in known:
            near = nearest(name, sorted(known))
            raise ConfigError(
                f"algorithm.extra.{name} is not a field of GRPOConfig",
                where=where,
                fix=f"algorithm.extra.{near}={value}" if near else "rlvr config algorithm",
            )
    if config.algorithm.extra.get("use_liger_kernel"):
        needs_module("liger_kernel", "algorithm.extra.use_liger_kernel", "pip install liger-kernel")
    return None
