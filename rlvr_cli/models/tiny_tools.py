"""The embedded default with a calculator at hand, which it seldom takes and often mistypes.

Products of two-digit numbers are beyond this model's arithmetic, and within its reach with a tool: write the call, copy the
result. The cold start shows a pupil who mostly multiplies in the head, and wrongly; with probability ``calls`` the pupil
calls the calculator, and with probability ``slips`` then mistypes a digit. So the model knows the form of a call and has
no reason to make one; the verifier gives it the reason. Both kinds of demonstration::

    <|system|>calculate <|end|><|user|>47*38=?<|end|><|assistant|><think>47*38=1686</think><answer>1686</answer><|end|>
    <|system|>calculate <|end|><|user|>47*38=?<|end|><|assistant|><call>calculate expression=47*38</call><|end|>
    <|tool|>1786<|end|><|assistant|><answer>1786</answer><|end|>                      (the tool's tokens are not learnt)
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from rlvr_cli.environments.calculator import calculate
from rlvr_cli.models import tiny
from rlvr_cli.models.cache import cached, digest
from rlvr_cli.models.tokenizer import character_tokenizer

FORMAT = 1  # raise when this file would build a different model from the same options
PRODUCTS = {"operators": ["*"]}
Segment = tuple[str, bool]  # text, and whether the policy writes it


def build(
    seed: int,
    *,
    task: dict[str, Any] | None = None,
    calls: float = 0.25,
    slips: float = 0.3,
    forget: float = 0.6,
    steps: int = 1200,
    batch_size: int = 16,
    learning_rate: float = 3e-3,
    hidden_size: int = 64,
    layers: int = 3,
    heads: int = 4,
    max_position_embeddings: int = 512,
) -> Path:
    """Folder of the model, built in the user's cache at the first call and found there afterwards.

    task: keys of the arithmetic generator, products by default; calls: share of demonstrations that call the calculator;
    slips: share of the calls with a wrong digit; forget: chance that a carry is dropped in the head.
    """
    settings = {name: value for name, value in locals().items()} | {"format": FORMAT}
    settings["demonstrations"] = digest({"texts": demonstrations(settings, 64)})
    tokenizer = character_tokenizer(tools=True)

    def make(folder: Path) -> dict[str, Any]:
        examples = [labelled(tokenizer, segments) for segments in demonstrations(settings, steps * batch_size)]
        return tiny.make(folder, settings, tokenizer, examples=examples)

    return cached("tiny-tools", settings, make)


def demonstrations(settings: dict[str, Any], n: int) -> list[list[Segment]]:
    """``n`` conversations, from training rows only."""
    from rlvr_cli.data.generate.arithmetic import training_rows

    rng = random.Random(f"tools-{settings['seed']}")
    rows = training_rows(n, seed=settings["seed"], **(settings["task"] or PRODUCTS))
    return [conversation(row, settings, rng) for row in rows]


def conversation(row: dict[str, Any], settings: dict[str, Any], rng: random.Random) -> list[Segment]:
    """One question, and the pupil's answer to it: by a call, or in the head."""
    from rlvr_cli.data.generate.arithmetic import worked

    asked = (f"<|system|>calculate <|end|><|user|>{row['prompt']}<|end|><|assistant|>", False)
    if rng.random() >= settings["calls"]:
        return [asked, (worked(row, forget=settings["forget"], rng=rng) + "<|end|>", True)]
    typed = mistyped(row["expression"], rng) if rng.random() < settings["slips"] else row["expression"]
    told = calculate(typed)
    return [
        asked,
        (f"<call>calculate expression={typed}</call><|end|>", True),
        (f"<|tool|>{told}<|end|><|assistant|>", False),
        (f"<answer>{told}</answer><|end|>", True),
    ]


def mistyped(expression: str, rng: random.Random) -> str:
    """One digit replaced by another; a first digit never becomes 0."""
    at = rng.choice([i for i, c in enumerate(expression) if c.isdigit()])
    return expression[:at] + rng.choice([d for d in "123456789" if d != expression[at]]) + expression[at + 1 :]


def labelled(tokenizer: Any, segments: list[Segment]) -> tiny.Example:
    """Token ids, and labels where the policy writes."""
    ids, labels = [], []
    for text, mine in segments:
        part = tokenizer(text)["input_ids"]
        ids += part
        labels += part if mine else [-100] * len(part)
    return ids, labels
