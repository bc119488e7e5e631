"""How much memory a rank will want, before anything loads. An estimate, said as one.

Mixed precision Adam keeps, for each trained parameter, 2 bytes of weights, 2 of gradient and 12 of fp32 master, first
and second moment (Rajbhandari et al. 2020, "ZeRO: Memory Optimizations Toward Training Trillion Parameter Models",
arXiv:1910.02054, section 3.1); ZeRO stage 1 shards the 12, stage 2 also the gradients, stage 3 also the weights.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

GIB = 1024**3
WEIGHT_BYTES, GRADIENT_BYTES, OPTIMIZER_BYTES = 2, 2, 12
FP32_STATE_BYTES = 16  # fp32 weights, gradient and two moments: 4 bytes each
LOGIT_BYTES = 4 + 4  # fp32 logits and their gradient


@dataclass(frozen=True)
class Memory:
    """GiB a rank: model state, and the logits of one micro-batch, which dominate activations for small models."""

    state: float
    logits: float

    @property
    def total(self) -> float:
        """GiB a rank, without the allocator's overhead."""
        return self.state + self.logits


def estimate(parameters: float, *, trained_share: float, mixed: bool, zero_stage: int, ranks: int, tokens: int, vocabulary: int) -> Memory:
    """Memory of one rank. ``parameters``: count; ``trained_share``: 1 without adapters; ``tokens``: of a micro-batch."""
    trained = parameters * trained_share
    shard = {stage: ranks if zero_stage >= stage else 1 for stage in (1, 2, 3)}
    if mixed:
        state = parameters * WEIGHT_BYTES / shard[3] + trained * (GRADIENT_BYTES / shard[2] + OPTIMIZER_BYTES / shard[1])
    else:
        state = trained * FP32_STATE_BYTES + (parameters - trained) * 4
    return Memory(round(state / GIB, 2), round(tokens * vocabulary * LOGIT_BYTES / GIB, 2))


def read_size(folder: str | Path) -> tuple[float | None, int | None]:
    """(parameters, vocabulary) of a local Hugging Face folder from its ``config.json``; None where it does not say."""
    try:
        config = json.loads((Path(folder) / "config.json").read_text())
    except (OSError, ValueError):
        return None, None
    hidden, layers = config.get("hidden_size"), config.get("num_hidden_layers")
    vocabulary, inner = config.get("vocab_size"), config.get("intermediate_size")
    if not all(isinstance(v, int) for v in (hidden, layers, vocabulary, inner)):
        return None, vocabulary if isinstance(vocabulary, int) else None
    heads = config.get("num_attention_heads") or 1
    key_value = hidden * (config.get("num_key_value_heads") or heads) / heads
    layer = 2 * hidden * hidden + 2 * hidden * key_value + 3 * hidden * inner
    embeddings = vocabulary * hidden * (1 if config.get("tie_word_embeddings", False) else 2)
    return float(layers * layer + embeddings), vocabulary
