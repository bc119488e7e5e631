"""Who gets which device, port and share of the batch: arithmetic on the configuration and the machine, printed first.

``solve`` resolves every ``auto`` and null of the launch *aloud* (``notes``), so that the frozen configuration holds what
really ran. Nothing here imports torch or starts a process, so ``rlvr train --dry-run`` answers on a login node::

    plan = solve(config, read_machine())
    plan.ranks, plan.trainer_devices, plan.server_devices, plan.completions_per_step
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any

from rlvr_cli.config.schema import Config
from rlvr_cli.errors import ConfigError
from rlvr_cli.launch.effects import effects
from rlvr_cli.launch.machine import Machine
from rlvr_cli.launch.memory import Memory, Sizes, estimate, read_shape

PROMPT_GUESS = 512  # tokens of prompt assumed where the configuration sets no limit and no prompt was looked at
LARGE_VOCABULARY = 150_000  # of a model on the hub that cannot be read yet


@dataclass(frozen=True)
class Plan:
    """A launch, decided. Device lists are empty on CPU; batch numbers are per optimizer step over all ranks and nodes."""

    device: str
    ranks: int
    nodes: int
    backend: str
    zero_stage: int | None
    threads: int
    trainer_devices: list[int]
    server_devices: list[int]
    micro_batch: int
    micro_steps: int
    completions_per_step: int
    completions_per_generation: int
    num_generations: int
    prompts_per_generation: int
    max_tokens_per_step: int
    mixed_precision: str
    memory: Memory | None
    prompt_tokens: int = PROMPT_GUESS
    options: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def world_size(self) -> int:
        """Ranks over all nodes."""
        return self.ranks * self.nodes

    @property
    def has_server(self) -> bool:
        """Whether this run starts a vLLM server."""
        return self.backend == "vllm_server"

    def as_dict(self) -> dict[str, Any]:
        """Plain data for ``plan.json`` and ``--dry-run --json``."""
        return {**asdict(self), "world_size": self.world_size}


def solve(config: Config, machine: Machine, *, longest_prompt: int | None = None) -> Plan:
    """Decide the launch. Raises ConfigError when the machine cannot carry what is asked.

    ``longest_prompt``: tokens, where somebody has looked at the rows.
    """
    notes: list[str] = []
    device = _device(config, machine, notes)
    backend = _backend(config, machine, device, notes)
    server, trainers = _devices(config, machine, device, backend, notes)
    ranks = _ranks(config, device, trainers, notes)
    stage = _zero_stage(config, device, ranks * config.hardware.nodes, notes)
    precision = _precision(config, machine, device, stage, notes)
    prompt = config.dataset.max_prompt_tokens or longest_prompt or PROMPT_GUESS
    batch = _batch(config, ranks * config.hardware.nodes, prompt)
    sizes = _sizes(config, stage, ranks * config.hardware.nodes, precision, prompt)
    return Plan(
        device=device,
        ranks=ranks,
        nodes=config.hardware.nodes,
        backend=backend,
        zero_stage=stage,
        threads=_threads(config, machine, ranks, backend),
        trainer_devices=trainers[:ranks] if device == "cuda" else [],
        server_devices=server,
        mixed_precision=precision,
        memory=estimate(sizes) if sizes else None,
        prompt_tokens=prompt,
        options=effects(config, sizes, precision, backend),
        notes=notes,
        **batch,
    )


def _device(config: Config, machine: Machine, notes: list[str]) -> str:
    asked = config.hardware.device
    if asked == "cuda" and not machine.gpus:
        raise ConfigError("no NVIDIA GPU here", where="hardware.device=cuda", fix="hardware=cpu")
    if asked == "auto":
        device = "cuda" if machine.gpus else "cpu"
        notes.append(f"device: {device} ({len(machine.gpus)} GPUs found)")
        return device
    return asked


def _backend(config: Config, machine: Machine, device: str, notes: list[str]) -> str:
    """``auto``: vLLM for real models where it is installed, the trainer itself otherwise."""
    backend = config.generation.backend
    if config.stage.kind != "rl":  # nothing is generated but the held-out answers
        return "hf"
    if backend == "auto":
        real = not config.model.builder and machine.installed.get("vllm", False)
        colocate = device == "cuda" and len(machine.gpus) == 1
        backend = ("vllm_colocate" if colocate else "vllm_server") if real else "hf"
        notes.append(f"generation: {backend}")
    if backend == "vllm_colocate" and device == "cpu":
        raise ConfigError("a colocated vLLM needs a GPU", where="generation.backend=vllm_colocate", fix="generation=vllm_server")
    if backend == "vllm_server" and device == "cuda" and len(machine.gpus) == 1 and config.hardware.nodes == 1:
        raise ConfigError(
            "a server and a trainer cannot share the only GPU (NCCL refuses one device twice)",
            where="generation.backend=vllm_server",
            fix="generation=vllm_colocate",
        )
    return backend


def _devices(config: Config, machine: Machine, device: str, backend: str, notes: list[str]) -> tuple[list[int], list[int]]:
    """(server GPUs, trainer GPUs): disjoint for a server, all for the trainer otherwise."""
    if device == "cpu":
        return [], []
    present = [gpu.index for gpu in machine.gpus]
    server, trainers = config.hardware.server_devices, config.hardware.trainer_devices
    for key, chosen in (("server_devices", server), ("trainer_devices", trainers)):
        missing = sorted(set(chosen or []) - set(present))
        if missing:
            raise ConfigError(f"GPU {missing[0]} is not here, only {present}", where=f"hardware.{key}", fix=f"hardware.{key}={present}")
    if backend != "vllm_server":
        return [], trainers or present
    if server is None:
        free = [i for i in present if i not in (trainers or [])]
        count = max(config.generation.tensor_parallel_size, len(present) // 4)
        server = free[-count:]
    trainers = [i for i in present if i not in server] if trainers is None else trainers
    both = sorted(set(server) & set(trainers))
    if both:
        raise ConfigError(
            f"GPU {both[0]} is given to the server and to the trainer", where="hardware.server_devices, hardware.trainer_devices"
        )
    if not trainers:
        raise ConfigError("no GPU is left for the trainer", where="hardware.server_devices", fix="generation=vllm_colocate")
    notes.append(f"GPUs: server {server}, trainer {trainers}, disjoint")
    return server, trainers


def _ranks(config: Config, device: str, trainers: list[int], notes: list[str]) -> int:
    asked = config.hardware.ranks
    if device == "cuda":
        if asked and asked > len(trainers):
            raise ConfigError(
                f"{asked} ranks for {len(trainers)} trainer GPUs", where="hardware.ranks", fix=f"hardware.ranks={len(trainers)}"
            )
        return asked or len(trainers)
    if asked is None:
        notes.append("ranks: 1 (CPU)")
    return asked or 1


def _zero_stage(config: Config, device: str, world: int, notes: list[str]) -> int | None:
    """Several ranks always go through DeepSpeed: plain DDP on CPU cannot resume. So does one GPU: it keeps fp32 masters."""
    stage = config.hardware.zero_stage
    if stage == "auto" or (stage is None and world > 1):
        stage = 2 if world > 1 or device == "cuda" else None
        notes.append(f"DeepSpeed: {'off' if stage is None else f'ZeRO-{stage}'} ({world} rank{'s' * (world > 1)})")
    return stage


def _precision(config: Config, machine: Machine, device: str, stage: int | None, notes: list[str]) -> str:
    """``fp32``, ``bf16`` or ``fp16``; null bf16 means bf16 where the device computes in it and float32 masters keep small updates."""
    if config.trainer.fp16:
        return "fp16"
    if config.trainer.bf16 is not None:
        return "bf16" if config.trainer.bf16 else "fp32"
    if device == "cuda":
        return "bf16" if all(gpu.capability >= 8 for gpu in machine.gpus) else "fp16"
    if stage is not None:
        return "bf16" if config.model.dtype == "bfloat16" else "fp32"
    notes.append("precision: " + ("bf16 autocast (this CPU computes in it)" if machine.cpu_bf16 else "fp32 (this CPU only emulates bf16)"))
    return "bf16" if machine.cpu_bf16 else "fp32"


def _threads(config: Config, machine: Machine, ranks: int, backend: str) -> int:
    """Compute threads a rank. A tiny model is quicker on one; a CPU server keeps one core to itself."""
    if config.hardware.threads:
        return config.hardware.threads
    spare = machine.cores - (1 if backend == "vllm_server" else 0)
    return max(1, spare // ranks)


def _batch(config: Config, world: int, prompt: int) -> dict[str, int]:
    """TRL's batch arithmetic (``GRPOConfig.__post_init__``), with the nearest legal value when it does not come out."""
    trainer, group = config.trainer, config.algorithm.num_generations if config.stage.kind == "rl" else 1
    micro, steps = trainer.per_device_train_batch_size, trainer.gradient_accumulation_steps
    feeds = (config.algorithm.steps_per_generation if config.stage.kind == "rl" else None) or steps
    generation = micro * world * feeds
    if generation % group:
        legal = _nearest_batch(micro, world * feeds, group)
        raise ConfigError(
            f"{micro} completions x {world} ranks x {feeds} micro-steps = {generation}, not a multiple of G = {group}",
            where="trainer.per_device_train_batch_size, algorithm.num_generations",
            fix=f"trainer.per_device_train_batch_size={legal}",
        )
    return {
        "micro_batch": micro,
        "micro_steps": steps,
        "completions_per_step": micro * world * steps,
        "completions_per_generation": generation,
        "num_generations": group,
        "prompts_per_generation": generation // group,
        "max_tokens_per_step": micro * world * steps * (prompt + config.generation.max_completion_length),
    }


def _nearest_batch(micro: int, factor: int, group: int) -> int:
    """The smallest micro-batch not below ``micro`` that makes ``micro * factor`` a multiple of ``group``."""
    return next(b for b in range(micro, micro + group + 1) if b * factor % group == 0)


def _sizes(config: Config, stage: int | None, world: int, precision: str, prompt: int) -> Sizes | None:
    """What the memory estimate depends on; None where nobody knows how large the model is."""
    found, shape = read_shape(config.model.path) if config.model.path else (None, None)
    parameters = config.model.parameters or found
    if not parameters:
        return None
    completion = config.generation.max_completion_length if config.stage.kind == "rl" else 0
    sizes = Sizes(
        parameters,
        shape,
        tokens=config.trainer.per_device_train_batch_size * (prompt + completion),
        mixed=precision != "fp32",
        wide=stage is None and config.model.dtype in ("auto", "float32"),
        zero_stage=stage or 0,
        ranks=world,
        recompute=config.trainer.gradient_checkpointing,
        lora_rank=None if config.peft.kind == "none" else config.peft.r,
        four_bits=config.peft.kind == "qlora",
        offload=config.hardware.offload,
        reference=config.algorithm.beta > 0 or config.algorithm.kl_control.kind != "none",
    )
    typical = 0 if config.model.builder else LARGE_VOCABULARY  # a built model's vocabulary is small
    return sizes if shape else replace(sizes, shape=replace(sizes.known, vocabulary=typical))


def lines(plan: Plan) -> list[str]:
    """The plan for a person, one fact a line."""
    server = f"vLLM server on {plan.server_devices or 'cpu'}" if plan.has_server else plan.backend
    server += " (held-out answers only)" if plan.num_generations == 1 else ""
    out = [f"trainer     {_trainer_words(plan)}", f"generation  {server}", f"batch       {_batch_words(plan)}"]
    if plan.memory:
        of = plan.memory
        parts = f"{of.state:.1f} state, {of.activations:.1f} activations, {of.head:.1f} output head"
        out.append(f"memory      about {of.total:.1f} GiB a rank ({parts}) at {plan.prompt_tokens} tokens of prompt, an estimate")
    return out + [f"option      {line}" for line in plan.options] + [f"chosen      {note}" for note in plan.notes]


def _trainer_words(plan: Plan) -> str:
    devices = f" {plan.trainer_devices}" if plan.trainer_devices else ""
    nodes = f" x {plan.nodes} nodes" if plan.nodes > 1 else ""
    stage = "no DeepSpeed" if plan.zero_stage is None else f"DeepSpeed ZeRO-{plan.zero_stage}"
    threads = f"{plan.threads} thread{'s' * (plan.threads > 1)} a rank"
    return f"{plan.ranks} rank{'s' * (plan.ranks > 1)} on {plan.device}{devices}{nodes}, {stage}, {plan.mixed_precision}, {threads}"


def batch_words(plan: Plan) -> str:
    """A generation in words, or a step where nothing is generated."""
    if plan.num_generations == 1:
        return f"{plan.completions_per_step} rows a step"
    return f"{plan.prompts_per_generation} prompts x G {plan.num_generations} = {plan.completions_per_generation} completions a generation"


def _batch_words(plan: Plan) -> str:
    shares = f"{plan.micro_batch} a micro-step x {plan.micro_steps} x {plan.world_size}"
    return f"{batch_words(plan)} ({shares}), at most {plan.max_tokens_per_step:,} tokens a step"
