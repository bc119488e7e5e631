"""What each option for memory and speed does to this run, a line each in the plan: GiB on a rank's device, or passes saved.

An option that is on says what it saves; one that is off and would save a tenth of the memory or more says so too, with
what to type. Nothing is said of what would not matter: the tiny model's plan stays short. As in a plan of a 1.5B model::

    option      gradient checkpointing saves 41.9 GiB of activations, for one more forward pass in the update
    option      no reference model (algorithm.beta=0) saves 2.9 GiB
    option      peft=lora would save 20.6 GiB
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from rlvr_cli.config.schema import Config
from rlvr_cli.errors import RlvrError
from rlvr_cli.launch.memory import Sizes, estimate, saved, whole_logits

LITTLE = 0.05  # GiB: less is not worth a line
WORTH = 0.1  # of the whole: what an option that is off must save to be named


def effects(config: Config, sizes: Sizes | None, precision: str, backend: str) -> list[str]:
    """The lines of one plan. ``sizes`` None: the model's size is not known, so nothing is said of memory."""
    rl = config.stage.kind == "rl"
    lines = list(memory_effects(config, sizes, precision, rl)) if sizes else []
    return lines + (list(pass_effects(config, backend)) if rl else [])


def memory_effects(config: Config, sizes: Sizes, precision: str, rl: bool) -> Iterator[str]:
    """Options that change how much a rank holds."""
    yield from precision_words(precision, masters=not sizes.wide)
    yield from on_or_off(sizes, sizes.recompute, {"recompute": not sizes.recompute}, "gradient checkpointing", "of activations",
                         "trainer.gradient_checkpointing=true", "one more forward pass in the update")  # fmt: skip
    yield from adapter_effects(config, sizes)
    yield from offload_effects(config, sizes)
    if rl and sizes.lora_rank is None:
        copy = abs(saved(sizes, reference=not sizes.reference))
        if copy >= LITTLE and sizes.reference:
            yield f"the reference model (algorithm.beta={config.algorithm.beta:g}) takes {copy:.1f} GiB; peft=lora needs none"
        elif copy >= LITTLE:
            yield f"no reference model (algorithm.beta=0) saves {copy:.1f} GiB"
    if rl and whole_logits(sizes) - estimate(sizes).head >= LITTLE:
        yield f"log-probs in tiles (TRL's fused head, always on) save {whole_logits(sizes) - estimate(sizes).head:.1f} GiB of logits"


def precision_words(precision: str, *, masters: bool) -> Iterator[str]:
    """What the arithmetic is, where it is not plain fp32."""
    kept = "with fp32 masters" if masters else "by autocast over fp32 weights"
    if precision == "bf16":
        yield f"bf16 {kept}: 16 bytes a trained parameter as in fp32, half the activations"
    if precision == "fp16":
        yield f"fp16 {kept} and a loss scaler: for GPUs without bf16, the same memory"


def on_or_off(sizes: Sizes, on: bool, other: dict, name: str, what: str, typed: str, price: str) -> Iterator[str]:
    """A line for an option that is on, or for one that is off and would be worth it."""
    gain = abs(saved(sizes, **other))
    if on and gain >= LITTLE:
        yield f"{name} saves {gain:.1f} GiB {what}, for {price}"
    elif not on and gain >= max(LITTLE, WORTH * estimate(sizes).total):
        yield f"{typed} would save {gain:.1f} GiB {what}, for {price}"


def adapter_effects(config: Config, sizes: Sizes) -> Iterator[str]:
    """LoRA and QLoRA."""
    full = replace(sizes, lora_rank=None, four_bits=False)
    if sizes.lora_rank is None:
        gain = -saved(sizes, lora_rank=config.peft.r)
        if gain >= max(LITTLE, WORTH * estimate(sizes).total):
            yield f"peft=lora would save {gain:.1f} GiB, for adapters instead of full weights"
        return
    gain = saved(sizes, lora_rank=None, four_bits=False)
    name = "4-bit base and adapters (peft=qlora) save" if sizes.four_bits else "adapters (peft=lora) save"
    if gain >= LITTLE:
        yield f"{name} {gain:.1f} GiB of {estimate(full).total:.1f}"
    quarter = -saved(sizes, four_bits=True)
    if not sizes.four_bits and config.hardware.device != "cpu" and quarter >= max(LITTLE, WORTH * estimate(sizes).total):
        yield f"peft=qlora would save {quarter:.1f} GiB more, for slower passes (GPU, generation=hf)"


def offload_effects(config: Config, sizes: Sizes) -> Iterator[str]:
    """Offload moves state to the host; only a sharded GPU run has something to move."""
    if sizes.offload != "none":
        host = estimate(sizes).host
        yield f"hardware.offload={sizes.offload} moves {host:.1f} GiB a rank to host memory, for traffic at each step"
    elif sizes.zero_stage >= 1 and config.hardware.device != "cpu":
        gain = -saved(sizes, offload="optimizer")
        if gain >= max(LITTLE, WORTH * estimate(sizes).total):
            yield f"hardware.offload=optimizer would move {gain:.1f} GiB a rank to host memory, for traffic at each step"


def pass_effects(config: Config, backend: str) -> Iterator[str]:
    """Forward passes and generations that are saved or spent."""
    algorithm, trainer = config.algorithm, config.trainer
    feeds = algorithm.steps_per_generation or trainer.gradient_accumulation_steps
    cycle = feeds * algorithm.num_iterations
    if cycle > trainer.gradient_accumulation_steps:
        yield f"one generation feeds {cycle / trainer.gradient_accumulation_steps:g} optimizer steps"
    if backend != "hf" and config.generation.importance_sampling_correction:
        yield "old log-probs take one more forward pass a generation: they correct the server's samples (importance sampling)"
    elif trainer.gradient_accumulation_steps % cycle:
        yield "old log-probs take one more forward pass a generation, for it feeds more than one optimizer step"
    if backend == "vllm_server" and (names := names_ahead(config, backend)):
        yield f"answers are judged while others are still being drawn (reward.pool.ahead): {', '.join(names)}"
    if algorithm.beta or algorithm.kl_control.kind != "none":
        yield "the reference's log-probs take one more forward pass a generation (beta)"


def names_ahead(config: Config, backend: str) -> list[str]:
    """Names of the terms that judge ahead; none where the reward does not bind, which preflight says."""
    from rlvr_cli import rewards_api

    with suppress(RlvrError):
        return [term.name for term in rewards_api.terms_ahead(config, backend, rewards_api.bind(config.reward))]
    return []
