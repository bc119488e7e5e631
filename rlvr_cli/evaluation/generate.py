"""Batched completions from a Hugging Face model whose every draw has a seed of its own.

``model.generate(do_sample=True)`` takes all its randomness from one global stream, so a completion changes with the
batch it happens to sit in. Here each draw owns a stream made of (seed, prompt id, sample number), and a logits
processor picks the token that stream asks for. So sample 3 of prompt "gsm8k-17" is the same text alone, in a batch of
64, or in a run that stopped after ten prompts::

    draws = [Draw("gsm8k-17", messages, sample=i) for i in range(8)]
    texts = generate(model, tokenizer, draws, Sampling(max_new_tokens=256, temperature=0.8, seed=1), batch_size=32)

What that rests on: logits equal but for rounding. In float32 left padding moves a logit by about 1e-6, and only a draw
that falls so close to a boundary changes; in bfloat16 padding can change a near tie. The same batch size on the same
machine gives the same text always.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Prompt = str | list[dict[str, Any]]


@dataclass(frozen=True)
class Sampling:
    """How completions are drawn. ``greedy`` ignores temperature, nucleus and seed."""

    max_new_tokens: int
    greedy: bool = False
    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float | None = None
    repetition_penalty: float = 1.0
    seed: int = 0
    stop_ids: tuple[int, ...] = ()
    template_options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Draw:
    """One completion wanted: of which prompt, and the how-many-eth."""

    prompt_id: str
    prompt: Prompt
    sample: int = 0


@dataclass(frozen=True)
class Completion:
    """What came back. ``truncated``: the limit cut it, no stop token did. With tools also the turns, the calls, the environment's end."""

    text: str
    tokens: int
    truncated: bool
    messages: list[dict[str, Any]] | None = None
    calls: int = 0
    environment: Any = None


def draw_seed(seed: int, prompt_id: str, sample: int) -> int:
    """A 63-bit seed of one draw; the vLLM server gets the same one.

    >>> draw_seed(0, "a", 0) == draw_seed(0, "a", 0) != draw_seed(0, "a", 1)
    True
    """
    digest = hashlib.sha256(f"{seed}\0{prompt_id}\0{sample}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def prompt_ids(tokenizer: Any, prompt: Prompt, template_options: dict[str, Any] | None = None) -> list[int]:
    """Token ids of a prompt as the trainer makes them: the chat template for messages, the plain tokenizer for text."""
    if isinstance(prompt, str):
        return list(tokenizer(prompt)["input_ids"])
    text = tokenizer.apply_chat_template(prompt, add_generation_prompt=True, tokenize=False, **(template_options or {}))
    return list(tokenizer(text, add_special_tokens=False)["input_ids"])


def generate(
    model: Any,
    tokenizer: Any,
    draws: Sequence[Draw],
    sampling: Sampling,
    *,
    batch_size: int = 32,
    on_batch: Callable[[int, int], None] | None = None,
) -> list[Completion]:
    """Completions in the order of ``draws``. Batches go by prompt length, so that little is padded."""
    ids = [prompt_ids(tokenizer, d.prompt, sampling.template_options) for d in draws]
    stops = set(stop_tokens(model, tokenizer, sampling.stop_ids))
    drawn = draw_ids(model, tokenizer, ids, draws, sampling, batch_size=batch_size, on_batch=on_batch)
    return [cut(tokenizer, row, stops) for row in drawn]


def draw_ids(
    model: Any,
    tokenizer: Any,
    ids: Sequence[Sequence[int]],
    draws: Sequence[Draw],
    sampling: Sampling,
    *,
    batch_size: int = 32,
    on_batch: Callable[[int, int], None] | None = None,
) -> list[list[int]]:
    """Token ids of a completion of each prompt ``ids[i]``, up to and with its stop token, in order."""
    order = sorted(range(len(draws)), key=lambda i: (len(ids[i]), draws[i].prompt_id, draws[i].sample))
    out: list[list[int]] = [[] for _ in draws]
    with quiet_eval(model):
        for start in range(0, len(order), batch_size):
            batch = order[start : start + batch_size]
            rows = generate_batch(model, tokenizer, [ids[i] for i in batch], [draws[i] for i in batch], sampling)
            for i, row in zip(batch, rows, strict=True):
                out[i] = row
            if on_batch:
                on_batch(min(start + batch_size, len(order)), len(order))
    return out


@contextmanager
def quiet_eval(model: Any):
    """Evaluation mode with the key-value cache on, and whatever was set before put back."""
    import torch

    training, cache = model.training, getattr(model.config, "use_cache", None)
    checkpointing = bool(getattr(model, "is_gradient_checkpointing", False))
    model.eval()
    model.config.use_cache = True
    if checkpointing:
        model.gradient_checkpointing_disable()
    try:
        with torch.no_grad():
            yield
    finally:
        model.config.use_cache = cache
        model.train(training)
        if checkpointing:
            model.gradient_checkpointing_enable()


def stop_tokens(model: Any, tokenizer: Any, extra: Iterable[int] = ()) -> list[int]:
    """Every id that ends a completion: the tokenizer's, the model's own and the configured ones."""
    found = set(extra)
    for value in (tokenizer.eos_token_id, getattr(model.generation_config, "eos_token_id", None)):
        found.update([value] if isinstance(value, int) else value or [])
    return sorted(found)


def left_pad(rows: Sequence[Sequence[int]], pad: int) -> tuple[Any, Any]:
    """Token ids and attention mask, padded on the left to the longest row."""
    import torch

    width = max(map(len, rows))
    ids = torch.tensor([[pad] * (width - len(r)) + list(r) for r in rows])  # B T
    mask = torch.tensor([[0] * (width - len(r)) + [1] * len(r) for r in rows])  # B T
    return ids, mask


def generate_batch(model: Any, tokenizer: Any, ids: Sequence[Sequence[int]], draws: Sequence[Draw], sampling: Sampling) -> list[list[int]]:
    """One call of ``model.generate``: left-padded prompts in, token ids that end with their stop token out."""
    stops = stop_tokens(model, tokenizer, sampling.stop_ids)
    pad = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else (stops[0] if stops else 0)
    input_ids, mask = left_pad(ids, pad)
    output = model.generate(
        input_ids=input_ids.to(model.device),
        attention_mask=mask.to(model.device),
        generation_config=plain_greedy(sampling, stops, pad),
        logits_processor=None if sampling.greedy else [SeededChoice(sampling, draws, width=input_ids.shape[1])],
    )
    return [ended(row, set(stops)) for row in output[:, input_ids.shape[1] :].tolist()]


def ended(ids: list[int], stops: set[int]) -> list[int]:
    """Token ids up to and with their first stop token."""
    end = next((i for i, token in enumerate(ids) if token in stops), None)
    return ids if end is None else ids[: end + 1]


def plain_greedy(sampling: Sampling, stops: list[int], pad: int) -> Any:
    """Greedy settings with every field that a checkpoint's own generation_config.json could smuggle in pinned."""
    from transformers import GenerationConfig

    return GenerationConfig(
        do_sample=False,
        num_beams=1,
        max_new_tokens=sampling.max_new_tokens,
        min_new_tokens=0,
        repetition_penalty=sampling.repetition_penalty,
        no_repeat_ngram_size=0,
        eos_token_id=stops or None,
        pad_token_id=pad,
        use_cache=True,
    )


def cut(tokenizer: Any, ids: list[int], stops: set[int]) -> Completion:
    """Token ids up to their first stop token, as text. No stop token means that the limit cut it."""
    end = next((i for i, token in enumerate(ids) if token in stops), None)
    kept = ids if end is None else ids[:end]
    text = tokenizer.decode(kept, skip_special_tokens=True)
    return Completion(text=text, tokens=len(kept) + (end is not None), truncated=end is None)


class SeededChoice:
    """A logits processor that leaves exactly one token possible: the one that the draw's own stream picks.

    The choice inverts the cumulative distribution at one uniform number a token, after temperature, top-k, top-p and
    min-p in transformers' order.
    """

    def __init__(self, sampling: Sampling, draws: Sequence[Draw], *, width: int):
        self.warpers = warpers(sampling)
        self.width = width
        streams = [np.random.default_rng(draw_seed(sampling.seed, d.prompt_id, d.sample)) for d in draws]
        self.uniforms = np.stack([s.random(sampling.max_new_tokens) for s in streams])  # B T

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        import torch

        for warp in self.warpers:
            scores = warp(input_ids, scores)
        cumulative = scores.double().softmax(-1).cumsum(-1)  # B V
        u = torch.as_tensor(self.uniforms[:, input_ids.shape[1] - self.width], device=scores.device)  # B
        target = u[:, None] * cumulative[:, -1:]
        chosen = torch.searchsorted(cumulative, target, right=True).clamp(max=scores.shape[1] - 1)  # B 1
        only = torch.full_like(scores, float("-inf"))
        return only.scatter(1, chosen, 0.0)


def warpers(sampling: Sampling) -> list[Any]:
    """transformers' own warpers for the settings that are on, in its order."""
    from transformers import MinPLogitsWarper, TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

    chain: list[Any] = []
    if sampling.temperature != 1.0:
        chain.append(TemperatureLogitsWarper(float(sampling.temperature)))
    if sampling.top_k:
        chain.append(TopKLogitsWarper(sampling.top_k))
    if sampling.top_p < 1.0:
        chain.append(TopPLogitsWarper(float(sampling.top_p)))
    if sampling.min_p:
        chain.append(MinPLogitsWarper(sampling.min_p))
    return chain
