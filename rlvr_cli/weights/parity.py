"""Does the server compute with the trainer's weights? A probe that can tell, whatever the learning rate.

Comparing log-probs after an update says little when the update was small: one step moves them less than bfloat16 rounds.
So the probe makes a change that cannot be missed and that costs nothing to predict. Multiply what every block adds to the
residual stream (embeddings, attention output, MLP output) by 16: a pre-norm model's norms divide it out again. With the
last norm's weight an eighth and the output head 16 times its own, the logits are exactly doubled, and powers of two round
nothing. The probe

1. sends weights scaled so, and expects the log-probs of doubled logits, from one ordinary forward pass of the trainer;
2. sends the true weights, and expects the true log-probs.

An update that was acknowledged and dropped leaves the logits as they were; a layer that was dropped adds a sixteenth of
what it should; an output head that kept its old weights does not double. Each shows as tenths of nats, where rounding is
hundredths. The trainer's float32 weights are rounded to the server's type for the comparison, for the update rounds them.
Families whose blocks end in a norm of their own are probed with true weights only, and the log says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rlvr_cli.errors import TrainingError

# Mean absolute difference, nats a token. Healthy with SmolLM2-135M, float32 trainer and bfloat16 server on CPU, 300 tokens:
# 0.03 with true weights, 0.06 to 0.08 with doubled logits; equal types differ less.
BOUNDS = {"bfloat16": 0.12, "float16": 0.06, "float32": 0.01}
BLOCK, LAST_NORM = 16.0, 0.125
SCALED = ("embed_tokens.", "lm_head.", "o_proj.", "down_proj.")
PRE_NORM = ("llama", "qwen2", "qwen3", "mistral", "smollm3")


def doubling(name: str) -> float:
    """The probe's factor of a parameter; all of them together double the logits.

    >>> [doubling(f"model.{name}.weight") for name in ("layers.3.mlp.down_proj", "layers.3.mlp.up_proj", "norm")]
    [16.0, 1.0, 0.125]
    """
    if name.endswith(("model.norm.weight", "model.norm.bias")):
        return LAST_NORM
    return BLOCK if any(part in name for part in SCALED) else 1.0


def can_double(model: Any) -> bool:
    """Is this a family whose hidden states do not change?"""
    return getattr(model.config, "model_type", "") in PRE_NORM


def rounded(model: Any, dtype: Any) -> dict[str, Any]:
    """The parameters as the server gets them, to compute with instead of the model's own; empty where they are the same."""
    from peft import PeftModel

    if isinstance(model, PeftModel):
        return {}  # what is rounded there are the merged weights
    own = {name: p for name, p in model.named_parameters() if p.dtype != dtype and not hasattr(p, "ds_id")}
    return {name: p.detach().to(dtype).to(p.dtype) for name, p in own.items()}


def trainer_log_probs(trainer: Any, sequences: Sequence[Sequence[int]], dtype: Any) -> Any:
    """[2, tokens]: log-probs of every token after each sequence's first, with true and with doubled logits.

    A collective under ZeRO-3. dtype: the server's.
    """
    import torch

    device, found = trainer.accelerator.device, []
    model, was_training = trainer.model, trainer.model.training
    model.eval()
    try:
        parameters = rounded(model, dtype)
        for ids in sequences:
            tokens = torch.tensor([list(ids)], device=device)  # 1 T
            with torch.no_grad(), trainer.accelerator.autocast():
                output = torch.func.functional_call(model, parameters, kwargs={"input_ids": tokens})
            logits = output.logits[0, :-1].float()  # T-1 V
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
    dtype = generation.server_dtype()
    expected = trainer_log_probs(trainer, sequences, getattr(torch, dtype))
    limit = bound or BOUNDS[dtype]
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
