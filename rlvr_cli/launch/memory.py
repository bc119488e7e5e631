"""How much memory a rank will want, before anything loads, and what each option changes of it. Estimates, said as such.

Three parts. *State*: mixed precision Adam keeps, for each trained parameter, 2 bytes of weights, 2 of gradient and 12 of
fp32 master and two moments (Rajbhandari et al. 2020, arXiv:1910.02054, section 3.1); ZeRO stage 1 shards the 12, stage 2
also the gradients, stage 3 also the weights. *Activations*: 34 values' bytes of 16 bits a token, layer and hidden unit
without the attention matrix, which is never stored, or 2 with recomputation (Korthikanti et al. 2022, arXiv:2205.05198).
*Head*: TRL never makes the logits of a whole micro-batch, but tiles of them::

    sizes = Sizes(parameters=7.6e9, shape=Shape(3584, 28, 18944, 512, 152064), tokens=8 * 1536, ranks=8, zero_stage=2)
    estimate(sizes).total                                             -> 67.9 GiB
    estimate(replace(sizes, recompute=True)).activations              -> 3.7 GiB, from 39.1
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

GIB = 1024**3
WEIGHT_BYTES, GRADIENT_BYTES, OPTIMIZER_BYTES = 2, 2, 12
FP32_STATE_BYTES = 16  # fp32 weights, gradient and two moments: 4 bytes each
ACTIVATION_BYTES, RECOMPUTED_BYTES = 34, 2  # a token, a layer and a hidden unit in 16 bits; twice that in fp32
NF4_BYTES = 0.5 + 4 / 64  # 4 bits, and an fp32 scale for each block of 64 (Dettmers et al. 2023, arXiv:2305.14314)
TILE_TOKENS, TILE_VOCABULARY = 4096, 32768  # trl/kernels/chunked_logprob.py and trl/trainer/utils.py
LOGIT_BYTES = 4 + 4  # fp32 logits and their gradient, where they are made whole
TYPICAL_ASPECT = 110  # hidden units a layer, where a model's shape is not known yet


@dataclass(frozen=True)
class Shape:
    """A decoder: hidden units, layers, units of the inner projection, of keys and of values, tokens of the vocabulary."""

    hidden: int
    layers: int
    inner: int
    key_value: int
    vocabulary: int

    @property
    def linear(self) -> int:
        """Weights of all layers' projections, which adapters go on and QLoRA stores in 4 bits."""
        return self.layers * (2 * self.hidden**2 + 2 * self.hidden * self.key_value + 3 * self.hidden * self.inner)

    def adapters(self, rank: int) -> int:
        """Weights of LoRA of this rank on all projections: rank x (in + out) each."""
        h, kv, inner = self.hidden, self.key_value, self.inner
        return self.layers * rank * (2 * (h + h) + 2 * (h + kv) + 3 * (h + inner))


@dataclass(frozen=True)
class Sizes:
    """What the estimate depends on. ``tokens``: of a micro-batch, prompts included; ``shape`` None: a typical one of that size;
    ``mixed``: arithmetic in 16 bits; ``wide``: by autocast over weights that stay fp32, as without DeepSpeed.
    """

    parameters: float
    shape: Shape | None = None
    tokens: int = 0
    mixed: bool = True
    wide: bool = False
    zero_stage: int = 0
    ranks: int = 1
    recompute: bool = False
    lora_rank: int | None = None
    four_bits: bool = False
    offload: str = "none"
    reference: bool = False

    @property
    def known(self) -> Shape:
        """The shape, or a typical one."""
        if self.shape:
            return self.shape
        layers = max(1, round((self.parameters / (12 * TYPICAL_ASPECT**2)) ** (1 / 3)))
        hidden = max(1, round((self.parameters / (12 * layers)) ** 0.5))
        return Shape(hidden, layers, 4 * hidden, hidden, 0)


@dataclass(frozen=True)
class Memory:
    """GiB a rank: model state with the reference model, activations of a micro-batch, tiles of the output head; and on the host."""

    state: float
    activations: float
    head: float
    host: float = 0.0

    @property
    def total(self) -> float:
        """GiB a rank on the device, without the allocator's overhead."""
        return self.state + self.activations + self.head


def estimate(sizes: Sizes) -> Memory:
    """Memory of one rank."""
    state, host = state_bytes(sizes)
    parts = (state + reference_bytes(sizes), activation_bytes(sizes), head_bytes(sizes), host)
    return Memory(*(round(part / GIB, 2) for part in parts))


def state_bytes(sizes: Sizes) -> tuple[float, float]:
    """(device, host) bytes of weights, gradients and optimizer of a rank."""
    trained = sizes.parameters if sizes.lora_rank is None else min(sizes.parameters, sizes.known.adapters(sizes.lora_rank))
    frozen = 0.0 if sizes.lora_rank is None else sizes.parameters
    shard = {stage: sizes.ranks if sizes.zero_stage >= stage else 1 for stage in (1, 2, 3)}
    if not sizes.mixed:
        return trained * FP32_STATE_BYTES + frozen * 4, 0.0
    weights = trained * WEIGHT_BYTES + frozen_bytes(sizes, frozen)
    optimizer = trained * OPTIMIZER_BYTES / shard[1]
    device = weights / shard[3] + trained * GRADIENT_BYTES / shard[2]
    if sizes.offload == "all":
        return trained * GRADIENT_BYTES / shard[2], optimizer + weights / shard[3]
    return (device, optimizer) if sizes.offload == "optimizer" else (device + optimizer, 0.0)


def frozen_bytes(sizes: Sizes, frozen: float) -> float:
    """Bytes of weights that are not trained: 16 bits, or 4 with their scales for the projections."""
    linear = min(frozen, sizes.known.linear) if sizes.four_bits else 0.0
    return (frozen - linear) * (4 if sizes.wide else WEIGHT_BYTES) + linear * NF4_BYTES


def reference_bytes(sizes: Sizes) -> float:
    """A second copy of the weights; with adapters the base model is the reference, so there is none."""
    if not sizes.reference or sizes.lora_rank is not None:
        return 0.0
    return sizes.parameters * (WEIGHT_BYTES if sizes.mixed and not sizes.wide else 4) / (sizes.ranks if sizes.zero_stage == 3 else 1)


def activation_bytes(sizes: Sizes) -> float:
    """What the backward pass needs of a micro-batch; with recomputation one layer's at a time."""
    shape, values = sizes.known, 1 if sizes.mixed else 2
    a_layer = sizes.tokens * shape.hidden * ACTIVATION_BYTES * values
    if not sizes.recompute:
        return shape.layers * a_layer
    return a_layer + shape.layers * sizes.tokens * shape.hidden * RECOMPUTED_BYTES * values


def head_bytes(sizes: Sizes) -> float:
    """TRL's tiles of logits, and the fp32 gradient of the head that they add up to."""
    shape = sizes.known
    tile = min(sizes.tokens, TILE_TOKENS) * min(shape.vocabulary, TILE_VOCABULARY) * (2 if sizes.mixed else 4)
    return tile + (shape.vocabulary * shape.hidden * 4 if sizes.tokens and sizes.lora_rank is None else 0)


def whole_logits(sizes: Sizes) -> float:
    """GiB that the logits of a micro-batch would take if they were made at once."""
    return sizes.tokens * sizes.known.vocabulary * LOGIT_BYTES / GIB


def saved(sizes: Sizes, **without: object) -> float:
    """GiB on the device that an option saves: the same sizes ``without`` it, minus as they are."""
    return estimate(replace(sizes, **without)).total - estimate(sizes).total


def read_shape(folder: str | Path) -> tuple[float | None, Shape | None]:
    """(parameters, shape) of a local Hugging Face folder from its ``config.json``; None where it does not say."""
    try:
        config = json.loads((Path(folder) / "config.json").read_text())
    except (OSError, ValueError):
        return None, None
    names = ("hidden_size", "num_hidden_layers", "intermediate_size", "vocab_size")
    hidden, layers, inner, vocabulary = (config.get(name) for name in names)
    if not all(isinstance(v, int) for v in (hidden, layers, inner, vocabulary)):
        return None, None
    heads = config.get("num_attention_heads") or 1
    key_value = hidden * (config.get("num_key_value_heads") or heads) // heads
    shape = Shape(hidden, layers, inner, key_value, vocabulary)
    embeddings = vocabulary * hidden * (1 if config.get("tie_word_embeddings", False) else 2)
    return float(shape.linear + embeddings), shape
