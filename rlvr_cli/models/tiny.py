"""The embedded default: a Llama of a few hundred thousand weights that can write a sum down, but forgets the carry.

Reinforcement learning can only strengthen what a model sometimes does. So the cold start is supervised by a *sloppy
pupil*: worked solutions of the arithmetic generator in which a carry or borrow is forgotten with probability ``forget``.
The model learns the asked form and about half of the sums; the verifier then teaches the carry, and greedy accuracy goes
from 40-50% to above 90%. With demonstrations that are always right there would be nothing left to reinforce. Example::

    <|user|>47 + 38 = ?<|end|><|assistant|><think>...</think><answer>85</answer><|end|>

Rows of the held-out split never enter the cold start: the generator keeps them apart.
"""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import Any

from rlvr_cli.models.cache import cached, digest
from rlvr_cli.models.tokenizer import character_tokenizer

Pairs = list[tuple[str, str]]
Example = tuple[list[int], list[int]]  # token ids, and the same with -100 where nothing is learnt
FORMAT = 1  # raise when this file would build a different model from the same options


def build(
    seed: int,
    *,
    task: dict[str, Any] | None = None,
    forget: float = 0.6,
    steps: int = 1200,
    batch_size: int = 16,
    learning_rate: float = 3e-3,
    hidden_size: int = 64,
    layers: int = 3,
    heads: int = 4,
    max_position_embeddings: int = 512,
) -> Path:
    """Folder of a tiny model, built in the user's cache at the first call and found there afterwards.

    task: keys of the arithmetic generator (operators, ranges); forget: chance that a demonstration drops a carry;
    steps, batch_size, learning_rate: the cold start, AdamW with a cosine to zero.
    """
    settings = {name: value for name, value in locals().items()} | {"format": FORMAT}
    settings["demonstrations"] = digest({"texts": [text for pair in demonstrations(settings, 64) for text in pair]})
    return cached("tiny", settings, lambda folder: make(folder, settings))


def make(
    folder: Path, settings: dict[str, Any], tokenizer: Any = None, pairs: Pairs | None = None, examples: list[Example] | None = None
) -> dict[str, Any]:
    """Build, cold-start and save; returns what ``built.json`` keeps: loss at the end, seconds, parameters.

    ``tokenizer`` and ``pairs`` (or ``examples``, token ids with labels) are another task's; without them the model learns
    the sloppy pupil's sums.
    """
    import torch

    tokenizer = tokenizer or character_tokenizer()
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # one thread beats two at this size
    try:
        model = untrained(settings, tokenizer)
        started = time.perf_counter()
        loss = cold_start(model, tokenizer, settings, pairs, examples)
    finally:
        torch.set_num_threads(threads)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    parameters = sum(p.numel() for p in model.parameters())
    return {"cold_start_seconds": round(time.perf_counter() - started, 1), "loss": loss, "parameters": parameters}


def untrained(settings: dict[str, Any], tokenizer: Any) -> Any:
    """A Llama with random weights, tied embeddings and the tokenizer's special ids."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(settings["seed"])
    width = settings["hidden_size"]
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=width,
        intermediate_size=4 * width,
        num_hidden_layers=settings["layers"],
        num_attention_heads=settings["heads"],
        num_key_value_heads=settings["heads"],
        max_position_embeddings=settings["max_position_embeddings"],
        tie_word_embeddings=True,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=None,
    )
    return LlamaForCausalLM(config)


def demonstrations(settings: dict[str, Any], n: int) -> list[tuple[str, str]]:
    """``n`` (question, worked answer), from training rows only, worked by the sloppy pupil."""
    from rlvr_cli.data.generate.arithmetic import training_rows, worked

    rng = random.Random(settings["seed"])
    rows = training_rows(n, seed=settings["seed"], **(settings["task"] or {}))
    return [(row["prompt"], worked(row, forget=settings["forget"], rng=rng)) for row in rows]


def tokenized(tokenizer: Any, pairs: Pairs) -> list[Example]:
    """Each pair as (token ids, labels), through the chat template; the prompt has no labels."""
    questions = [[{"role": "user", "content": question}] for question, _ in pairs]
    prompts = tokenizer.apply_chat_template(questions, add_generation_prompt=True, tokenize=False)
    ids = tokenizer([prompt + answer + tokenizer.eos_token for prompt, (_, answer) in zip(prompts, pairs, strict=True)])["input_ids"]
    starts = [len(p) for p in tokenizer(prompts)["input_ids"]]
    return [(row, [-100] * start + row[start:]) for row, start in zip(ids, starts, strict=True)]


def cold_start(
    model: Any, tokenizer: Any, settings: dict[str, Any], pairs: Pairs | None = None, examples: list[Example] | None = None
) -> float:
    """Supervised steps on the labelled tokens; returns the last loss in nats a token."""
    import torch

    steps, size = settings["steps"], settings["batch_size"]
    examples = examples or tokenized(tokenizer, demonstrations(settings, steps * size) if pairs is None else pairs)
    optimizer = torch.optim.AdamW(model.parameters(), lr=settings["learning_rate"], weight_decay=0.0, fused=True)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    loss = torch.zeros(())
    for step in range(steps):
        input_ids, labels = padded(examples[step * size : (step + 1) * size], tokenizer.pad_token_id)
        loss = model(input_ids=input_ids, labels=labels).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad(set_to_none=True)
    return round(float(loss.detach()), 4)


def padded(examples: list[Example], pad: int) -> tuple[Any, Any]:
    """Right-padded ids and labels, (B, T) each. No mask is needed: attention is causal and padding has no label."""
    import torch

    longest = max(len(ids) for ids, _ in examples)
    input_ids = torch.full((len(examples), longest), pad)
    labels = torch.full((len(examples), longest), -100)
    for i, (ids, wanted) in enumerate(examples):
        input_ids[i, : len(ids)] = torch.tensor(ids)
        labels[i, : len(ids)] = torch.tensor(wanted)
    return input_ids, labels
