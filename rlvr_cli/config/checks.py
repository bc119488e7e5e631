"""Settings that contradict each other, each a small function: it raises one line that names both keys and what to type.

No files, no torch, no machine: a rule sees only the typed configuration, so every rule runs each time one is composed.
Several are settings that TRL takes without a word and then trains something else (cispo with TRL's own epsilon, a reference
that is never loaded). A rule may also return a sentence: nothing is wrong, but a person should know::

    check(config)        # raises ConfigError: trainer.bf16 and trainer.fp16 are both on (set in: ...). Type: trainer.fp16=false
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from rlvr_cli.config.nearest import nearest
from rlvr_cli.config.schema import Config
from rlvr_cli.errors import ConfigError, RlvrError

Rule = Callable[[Config], "str | None"]

TOKEN_MEAN_LOSSES = ("bnpo", "dr_grpo", "dapo", "cispo")
TRACKERS = (
    "azure_ml", "clearml", "codecarbon", "comet_ml", "dagshub", "dvclive", "flyte", "kubeflow", "mlflow", "neptune", "swanlab",
    "tensorboard", "trackio", "wandb",
)  # fmt: skip
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
SERVER_OURS = {
    "model", "host", "port", "served_model_name", "weight_transfer_config", "logprobs_mode", "max_logprobs", "max_model_len",
    "tensor_parallel_size", "dtype", "seed",
}  # fmt: skip


def check(config: Config) -> list[str]:
    """Apply every rule; raises the first contradiction, returns the sentences worth reading."""
    return [said for _, rule in rules_of(config) if (said := rule(config))]


def rules_of(config: Config) -> list[tuple[str, Rule]]:
    """The rules that apply: those of the objective only where the stage has one."""
    return [(name, rule) for name, rule in RULES.items() if config.stage.kind == "rl" or name not in OF_THE_OBJECTIVE]


def faults(config: Config) -> Iterator[tuple[str, str | None, RlvrError | None]]:
    """(rule, sentence or None, error or None) of every rule, for a list of all that is wrong."""
    for name, rule in rules_of(config):
        try:
            yield name, rule(config), None
        except RlvrError as error:
            yield name, None, error


def uses_vllm(config: Config) -> bool:
    """Whether completions certainly come from vLLM (``auto`` is judged once the plan has settled it)."""
    return config.generation.backend in ("vllm_server", "vllm_colocate")


def without_deepspeed(config: Config) -> bool:
    """Whether no DeepSpeed engine will hold fp32 masters: one rank and no stage."""
    return config.hardware.zero_stage is None and (config.hardware.ranks or 1) * config.hardware.nodes == 1


# ------------------------------------------------------------------------------------------------ what is there at all


def has_model(config: Config) -> str | None:
    """A model comes from a path or from a builder."""
    model = config.model
    if not model.path and not model.builder:
        raise ConfigError("model.path is empty", where="model", fix="model.path=FOLDER_OR_HUB_ID, or model=tiny")
    if model.path and model.builder:
        raise ConfigError("model.path and model.builder are both set; one makes the weights", where="model", fix="model.builder=null")
    return None


def has_data(config: Config) -> str | None:
    """Rows come from a generator or from a source."""
    data = config.dataset
    if data.generator and data.train:
        raise ConfigError(
            "dataset.generator and dataset.train are both set", where="dataset", fix=f"dataset=jsonl dataset.train={data.train}"
        )
    if not data.generator and not data.train and data.eval:
        raise ConfigError("this data set has held-out rows only", where="dataset.train", fix="rlvr eval ..., or dataset.train=FILE.jsonl")
    if not data.generator and not data.train:
        raise ConfigError("dataset.train is empty", where="dataset", fix="dataset.train=FILE.jsonl, or dataset=arithmetic")
    return None


def has_reward(config: Config) -> str | None:
    """Something must be paid for."""
    terms = config.reward.terms
    if not terms:
        raise ConfigError("the reward has no terms", where="reward.terms", fix="reward=math")
    if not any(term.weight for term in terms.values()):
        raise ConfigError(
            "every reward weight is 0, so nothing is learnt", where="reward.terms", fix=f"reward.terms.{next(iter(terms))}.weight=1"
        )
    if all(term.gate for term in terms.values()):
        raise ConfigError(
            "every term is gated by another, so none can be first", where="reward.terms", fix=f"reward.terms.{next(iter(terms))}.gate=null"
        )
    if all(term.fn.startswith("rewards.control.") for term in terms.values() if term.weight):
        return "this reward is a control arm: it teaches nothing, on purpose"
    return None


def hostile_inline(config: Config) -> str | None:
    """Model-written code and SQL are judged in killable workers only."""
    hostile = [n for n, t in config.reward.terms.items() if t.fn.startswith(("rewards.code.", "rewards.sql."))]
    if hostile and config.reward.pool.backend == "inline":
        raise ConfigError(
            f"reward.pool.backend=inline would run the model's own code in the trainer (term {hostile[0]})",
            where="reward.pool.backend",
            fix="reward.pool.backend=process",
        )
    return None


# ------------------------------------------------------------------------------------------------ precision


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


# ------------------------------------------------------------------------------------------------ the objective


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


NARROW_CLIP = 0.005  # a clip range this small is meant for the mean ratio of a sequence


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


# ------------------------------------------------------------------------------------------------ generation


def untruncated_sampling(config: Config) -> str | None:
    """The importance correction assumes that the server sampled from the whole distribution."""
    g = config.generation
    cut = [f"{k}={v:g}" for k, v, plain in (("top_p", g.top_p, 1), ("top_k", g.top_k, 0), ("min_p", g.min_p or 0, 0)) if v != plain]
    if uses_vllm(config) and g.importance_sampling_correction and cut:
        raise ConfigError(
            f"generation.{cut[0]} cuts the distribution, and generation.importance_sampling_correction is biased by that",
            where="generation",
            fix="generation.top_p=1.0 generation.top_k=0 generation.min_p=null",
        )
    return None


def vespo_mode(config: Config) -> str | None:
    """VESPO has a sequence weight already."""
    g = config.generation
    if (
        config.algorithm.loss_type == "vespo"
        and uses_vllm(config)
        and g.importance_sampling_correction
        and "sequence" in g.importance_sampling_mode
    ):
        raise ConfigError(
            f"algorithm.loss_type=vespo needs a token mode, generation.importance_sampling_mode is {g.importance_sampling_mode}",
            where="generation.importance_sampling_mode",
            fix="generation.importance_sampling_mode=token_truncate",
        )
    return None


def long_sequences(config: Config) -> str | None:
    """A product over many tokens leaves the bound, and a masked sequence teaches nothing."""
    g = config.generation
    if (
        uses_vllm(config)
        and g.importance_sampling_correction
        and "sequence" in g.importance_sampling_mode
        and g.max_completion_length > 500
    ):
        return f"generation.importance_sampling_mode={g.importance_sampling_mode} zeroes long completions; token_truncate does not"
    return None


def context_length(config: Config) -> str | None:
    """Prompt and completion must fit the server's context."""
    g, prompt = config.generation, config.dataset.max_prompt_tokens
    if g.max_model_len is None:
        return None
    if prompt is not None and prompt + g.max_completion_length > g.max_model_len:
        raise ConfigError(
            f"dataset.max_prompt_tokens={prompt} + generation.max_completion_length={g.max_completion_length} exceed "
            f"generation.max_model_len={g.max_model_len}",
            where="generation.max_model_len",
            fix=f"generation.max_model_len={prompt + g.max_completion_length}",
        )
    if g.max_completion_length >= g.max_model_len:
        raise ConfigError(
            f"generation.max_completion_length={g.max_completion_length} leaves no prompt in generation.max_model_len={g.max_model_len}",
            where="generation.max_model_len",
            fix=f"generation.max_model_len={g.max_completion_length + 512}",
        )
    return None


def length_stages(config: Config) -> str | None:
    """A first stage longer than the last, or one that any share of cut completions ends, is no stage."""
    start, longest = config.generation.length_stages.start, config.generation.max_completion_length
    if start is None:
        return None
    if start > longest:
        raise ConfigError(
            f"generation.length_stages.start={start} is above generation.max_completion_length={longest}, the last stage",
            where="generation.length_stages.start, generation.max_completion_length",
            fix=f"generation.length_stages.start={max(1, longest // 4)}",
        )
    if start == longest:
        return f"generation.length_stages.start={start} is the last stage already: nothing will grow"
    return None


def server_flags(config: Config) -> str | None:
    """The launcher sets some of vLLM's flags; the others may be given without dashes in front."""
    for name, value in config.generation.server_args.items():
        plain = name.lstrip("-").replace("-", "_")
        if plain in SERVER_OURS:
            raise ConfigError(
                f"generation.server_args.{name} is set by the launcher",
                where="generation.server_args",
                fix=f"~generation.server_args.{name}",
            )
        if name.startswith("-"):
            raise ConfigError(
                f"generation.server_args.{name} has dashes", where="generation.server_args", fix=f"+generation.server_args.{plain}={value}"
            )
    return None


# ------------------------------------------------------------------------------------------------ tools and turns


def has_turns(config: Config) -> bool:
    """Whether a completion may have several turns."""
    return bool(config.environment.tools or config.environment.fn)


def environment(config: Config) -> str | None:
    """An environment is named, its options are for it, and the model can write a call."""
    made = config.environment
    if made.fn == "":
        raise ConfigError("environment=custom needs the class", where="environment.fn", fix="environment.fn=my_module.MyEnvironment")
    if made.options and not made.fn:
        fix = f"environment.tools.{next(iter(made.tools), 'NAME')}.options"
        what = "environment.options are for environment.fn, which is null; a tool has its own"
        raise ConfigError(what, where="environment.options", fix=fix)
    if has_turns(config) and config.model.builder == "rlvr_cli.models.tiny.build":
        raise ConfigError("model=tiny has no tokens for a tool call", where="environment", fix="model=tiny_tools")
    judged = [name for name, term in config.reward.terms.items() if term.fn == "rewards.environment.end_state"]
    if judged and not made.fn:
        what = f"reward.terms.{judged[0]} asks the environment for its verdict, and there is none"
        raise ConfigError(what, where="environment.fn", fix="environment=custom environment.fn=my_module.MyEnvironment")
    return None


def turns_on_ranks(config: Config) -> str | None:
    """TRL's tool loop has a length of its own on each rank: what all ranks must do together would wait for ever in it."""
    if not has_turns(config):
        return None
    h, backend, world = config.hardware, config.generation.backend, (config.hardware.ranks or 1) * config.hardware.nodes
    together = (
        (backend == "vllm_server" and world > 1, f"a vLLM server serves {world} ranks at once", "generation=hf, or hardware.ranks=1"),
        (backend == "vllm_colocate" and config.generation.tensor_parallel_size > 1, "vLLM over several GPUs generates for all of them",
         "generation.tensor_parallel_size=1"),
        (h.zero_stage == 3 and world > 1 and backend == "hf", "ZeRO-3 gathers the weights on all ranks to generate",
         "hardware.zero_stage=2"),
    )  # fmt: skip
    for broken, why, fix in together:
        if broken:
            what = f"{why}, and with tools the ranks do not generate equally often: TRL would hang"
            raise ConfigError(what, where="environment, hardware, generation", fix=fix)
    return None


# ------------------------------------------------------------------------------------------------ adapters and machine


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


# ------------------------------------------------------------------------------------------------ length and cadence


def curriculum_band(config: Config) -> str | None:
    """A band has a width, and pass rates need groups that can tell them apart."""
    c, size = config.curriculum, config.algorithm.num_generations
    if c.kind == "pass_rate" and c.low >= c.high:
        raise ConfigError(
            f"curriculum.low={c.low:g} is not below curriculum.high={c.high:g}, so no pass rate is kept",
            where="curriculum.low, curriculum.high",
            fix="curriculum.low=0.1 curriculum.high=0.9",
        )
    if c.kind != "difficulty" and (c.order or c.levels):
        key = "order" if c.order else "levels"
        raise ConfigError(
            f"curriculum.{key} is read by curriculum.kind=difficulty only, and the kind is {c.kind}",
            where=f"curriculum.{key}",
            fix="curriculum=difficulty",
        )
    if c.order and c.levels:
        raise ConfigError(
            "curriculum.order names levels of text, curriculum.levels cuts numbers", where="curriculum", fix="curriculum.levels=null"
        )
    if c.kind == "pass_rate" and c.low > 0 and 1 / size > c.low:
        return f"with algorithm.num_generations={size} the lowest pass rate above 0 is {1 / size:.2g}, above curriculum.low={c.low:g}"
    return None


def dynamic_sampling(config: Config) -> str | None:
    """A refill asks new prompts in the middle of a generation; an environment was reset for the old ones."""
    d = config.algorithm.dynamic_sampling
    if d.max_rounds and config.environment.fn:
        raise ConfigError(
            "algorithm.dynamic_sampling replaces prompts after environment.fn was reset for others",
            where="algorithm.dynamic_sampling.max_rounds, environment.fn",
            fix="algorithm.dynamic_sampling.max_rounds=0, and curriculum=pass_rate instead",
        )
    if not d.max_rounds and d.oversample > 1:
        raise ConfigError(
            f"algorithm.dynamic_sampling.oversample={d.oversample:g} does nothing while max_rounds is 0",
            where="algorithm.dynamic_sampling",
            fix="algorithm.dynamic_sampling.max_rounds=3",
        )
    return None


def save_on_boundary(config: Config) -> str | None:
    """A checkpoint inside a generation cycle would resume with other completions than the run that went on."""
    a, t = config.algorithm, config.trainer
    cycle = (a.steps_per_generation or t.gradient_accumulation_steps) * a.num_iterations
    micro = t.save_steps * t.gradient_accumulation_steps
    if t.save_steps and micro % cycle:
        unit = next(n for n in range(1, cycle + 1) if n * t.gradient_accumulation_steps % cycle == 0)
        legal = max(unit, round(t.save_steps / unit) * unit)
        raise ConfigError(
            f"trainer.save_steps={t.save_steps} falls inside a generation cycle of {unit} steps "
            f"(algorithm.num_iterations={a.num_iterations}, steps_per_generation={a.steps_per_generation})",
            where="trainer.save_steps",
            fix=f"trainer.save_steps={legal}",
        )
    return None


def steps_per_generation(config: Config) -> str | None:
    """The token mean of dapo is exact over a step only if one generation feeds one step."""
    a, t = config.algorithm, config.trainer
    spg = a.steps_per_generation
    if spg is None or spg == t.gradient_accumulation_steps:
        return None
    if spg % t.gradient_accumulation_steps and t.gradient_accumulation_steps % spg:
        low = max(t.gradient_accumulation_steps, spg // t.gradient_accumulation_steps * t.gradient_accumulation_steps)
        raise ConfigError(
            f"algorithm.steps_per_generation={spg} and trainer.gradient_accumulation_steps={t.gradient_accumulation_steps} "
            "do not divide each other",
            where="algorithm.steps_per_generation",
            fix=f"algorithm.steps_per_generation={low}",
        )
    if a.loss_type in ("dapo", "cispo", "vespo"):
        return f"with steps_per_generation={spg} the token mean of {a.loss_type} is taken over a generation, not over each step"
    return None


def length(config: Config) -> str | None:
    """A run has steps, and one that ends before its warm-up never reaches its learning rate."""
    t, o = config.trainer, config.optimizer
    if t.max_steps == 0:
        raise ConfigError("trainer.max_steps=0 trains nothing", where="trainer.max_steps", fix="trainer.max_steps=100, or rlvr eval")
    if 0 < t.max_steps < o.warmup_steps:
        return f"the run ends in its warm-up: trainer.max_steps={t.max_steps}, optimizer.warmup_steps={o.warmup_steps}"
    return None


def learning_rate(config: Config) -> str | None:
    """Rates that published runs never use are worth a word."""
    real = (config.model.parameters or 0) >= 5e7 and not config.model.builder
    if real and config.peft.kind == "none" and config.optimizer.learning_rate > 1e-4:
        return f"optimizer.learning_rate={config.optimizer.learning_rate:g} is high for full fine-tuning; published runs use 1e-6 to 5e-6"
    return None


def trackers(config: Config) -> str | None:
    """transformers takes these names only."""
    for name in config.tracker.report_to:
        if name not in TRACKERS:
            near = nearest(name, TRACKERS)
            raise ConfigError(
                f"tracker.report_to: {name!r} is not a tracker",
                where="tracker.report_to",
                fix=f"tracker={near}" if near else "rlvr ls tracker",
            )
    return None


def no_secrets(config: Config) -> str | None:
    """A run's folder is shared; secrets belong in the environment. ``tracker.options`` become environment variables and may hold them."""
    from rlvr_cli.masking import MASK, masked

    data = config.model_dump(mode="json", exclude={"tracker"})
    for key, value in masked_keys(data, masked(data)):
        if value != MASK:
            raise ConfigError(
                f"{key} looks like a secret, and config.yaml is for everyone", where=key, fix=f"~{key}, and export it in the environment"
            )
    return None


def masked_keys(data: Any, hidden: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted keys whose value masking changed."""
    if isinstance(data, dict):
        for name in data:
            yield from masked_keys(data[name], hidden[name], f"{prefix}{name}.")
    elif data != hidden:
        yield prefix.rstrip("."), data


def run_name(config: Config) -> str | None:
    """A run's name is one folder name."""
    from rlvr_cli.run_dir import check_name

    if config.run.name is not None:
        check_name(config.run.name)
    return None


def remote_code(config: Config) -> str | None:
    """Worth a word each time."""
    if config.model.trust_remote_code:
        return "model.trust_remote_code runs Python from the model's repository on this machine"
    return None


def template_text(config: Config) -> str | None:
    """A template that looks like a file must be one; Jinja text has braces."""
    from pathlib import Path

    template = config.model.chat_template
    if template and not re.search(r"\{[{%]", template) and not Path(template).is_file():
        raise ConfigError(
            f"model.chat_template: there is no file {template!r}", where="model.chat_template", fix="model.chat_template=null"
        )
    return None


def needs_module(module: str, where: str, fix: str) -> None:
    """Raise MissingDependency where an optional package is not there."""
    from rlvr_cli.errors import MissingDependency
    from rlvr_cli.machine import installed

    if not installed(module):
        raise MissingDependency(f"{where} needs the package {module}", where=where, fix=fix)


def stage(config: Config) -> str | None:
    """A stage has the rows it trains on, and no setting that it would ignore."""
    from rlvr_cli.stages.check import rule

    return rule(config)


OF_THE_OBJECTIVE = {
    "cispo_bound", "sequence_ratio", "clip_range", "reference_model", "kl_control", "adaptive_entropy", "early_stop", "aggregation",
    "extra_fields", "untruncated_sampling", "vespo_mode", "long_sequences", "context_length", "length_stages", "server_flags",
    "save_on_boundary", "steps_per_generation", "curriculum_band", "dynamic_sampling",
}  # fmt: skip
RULES: dict[str, Rule] = {
    rule.__name__: rule
    for rule in (
        stage, has_model, has_data, has_reward,
        hostile_inline, one_half_precision, fp16_needs_gpu, half_weights_need_masters, dtype_fits_training,
        flash_attention,
        cispo_bound, sequence_ratio, clip_range, reference_model, kl_control, adaptive_entropy, early_stop, aggregation, extra_fields,
        untruncated_sampling, vespo_mode, long_sequences, context_length, length_stages, server_flags, adapters, qlora, offload, devices,
        several_nodes, curriculum_band, dynamic_sampling, save_on_boundary, steps_per_generation, length, learning_rate, trackers,
        no_secrets, run_name, remote_code, template_text, environment, turns_on_ranks,
    )
}  # fmt: skip
