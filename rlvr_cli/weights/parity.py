"""Does the server compute with the trainer's weights? A probe that can tell, whatever the learning rate.

Comparing log-probs after an update says little when the update was small: one step moves them less than bfloat16 rounds.
So the probe makes a change that cannot be missed and that costs nothing to predict. Doubling what every block adds to the
residual stream (embeddings, attention output, MLP output) and the output head leaves a pre-norm model's hidden states as
they were, for RMSNorm undoes the doubling, and exactly doubles its logits; factors of two round nothing. The probe

1. sends weights doubled so, and expects the log-probs of doubled logits, from one ordinary forward pass of the trainer;
2. sends the true weights, and expects the true log-probs.

An update that was acknowledged and dropped leaves the logits as they were; a layer that was dropped adds half of what it
should; an output head that kept its old weights does not double. Each shows as tenths of nats, where rounding is hundredths.
Families whose blocks end in a norm of their own are probed with true weights only, and the log says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rlvr_cli.errors import TrainingError

# Mean absolute difference, nats a token. Healthy, measured with SmolLM2-135M, float32 trainer and bfloat16 server on CPU,
# 300 tokens: 0.032 with true weights, 0.042 doubled. The smallest fault, one of 30 layers dropped: 0.14.
BOUNDS = {"bfloat16": 0.10, "float16": 0.05, "float32": 0.01}
DOUBLED = ("embed_tokens.", "lm_head.", "o_proj.", "down_proj.")
PRE_NORM = ("llama", "qwen2", "qwen3", "mistral", "smollm3")


def doubling(name: str) -> float:
    """The probe's factor of a parameter.

    >>> doubling("model.layers.3.mlp.down_proj.weight"), doubling("model.layers.3.mlp.up_proj.weight")
    (2.0, 1.0)
    """
    return 2.0 if any(part in name for part in DOUBLED) else 1.0


def can_double(model: Any) -> bool:
    """Is this a family whose hidden states do not change?"""
    return getattr(model.config, "model_type", "") in PRE_NORM


def trainer_log_probs(trainer: Any, sequences: Sequence[Sequence[int]]) -> Any:
    """[2, tokens]: log-probs of every token after each sequence's first, with true and with doubled logits. A collective under ZeRO-3."""
    import torch

    device, found = trainer.accelerator.device, []
    model, was_training = trainer.model, trainer.model.training
    model.eval()
    try:
        for ids in sequences:
            tokens = torch.tensor([list(ids)], device=device)  # 1 T
            with torch.no_grad(), trainer.accelerator.autocast():
                logits = model(input_ids=tokens).logits[0, :-1].float()  # T-1 V
            both = torch.stack([(factor * logits).log_softmax(-1) for factor in (1.0, 2.0)])  # 2 T-1 V
            target = tokens[0, 1:].expand(2, -1)[..., None]  # 2 T-1 1
            found.append(both.gather(-1, target)[..., 0].cpu())
    finally:
        model.train(was_training)
    return torch.cat(found, dim=-1)


def probe(trainer: Any, sequences: Sequence[Sequence[int]], bound: float | None) -> dict[str, float]:
    """Run the probe; the server ends up with the true weights. Every rank must call it.

    Raises TrainingError when a difference is above ``bound`` (None: the recorded one). Returns the differences for the log.
    """
    import torch

    generation, model = trainer.vllm_generation, trainer.accelerator.unwrap_model(trainer.model)
    expected = trainer_log_probs(trainer, sequences)
    limit = bound or BOUNDS[generation.server_dtype()]
    differences = {}
    for name, row, factor in (("doubled", 1, doubling), ("true", 0, None)):
        if name == "doubled" and not can_double(model):
            continue
        generation.sync_weights(factor)
        seen = torch.tensor([value for sequence in generation.score(sequences) for value in sequence])
        differences[f"parity/{name}"] = (seen - expected[row]).abs().mean().item()
    stop_when_apart(differences, limit, trainer.state.global_step)
    return differences


def stop_when_apart(differences: dict[str, float], limit: float, step: int) -> None:
    """Name the first difference above the bound; one that is not a number is above it too."""
    for name, value in differences.items():
        if not value <= limit:
            apart = f"{name} is {value:.3f} nats a token, the bound is {limit:g}"
            raise TrainingError(
                f"the server does not have the trainer's weights at step {step}: {apart}",
                where="generation.parity_bound",
                fix="rlvr doctor RUN, or generation=hf",
            )
