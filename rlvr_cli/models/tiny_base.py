"""The base of ``pipeline=r1_tiny``: the tiny model before anybody taught it to think aloud.

A language model that comes out of pretraining talks, has seen sums worked out, and uses no asked form. This one learns
everyday talk (the generator ``general``) from somebody who often goes on after the answer, and the work of the sloppy pupil
(:mod:`.tiny`), most of it written down without a tag, some of it a bare answer, so that each later stage has something to add::

    <|user|>What colour is a lemon?<|end|><|assistant|>A lemon is yellow. And so it is.<|end|>
    <|user|>47+38=?<|end|><|assistant|>7+8=15,3+4=7 so 75<|end|>
    <|user|>47+38=?<|end|><|assistant|>75<|end|>

Held-out rows of both generators never enter it.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from rlvr_cli.models.cache import cached, digest
from rlvr_cli.models.tiny import make

FORMAT = 3  # raise when this file would build a different model from the same options


def build(
    seed: int,
    *,
    task: dict[str, Any] | None = None,
    forget: float = 0.6,
    talk: float = 0.4,
    bare: float = 0.2,
    rambles: float = 0.6,
    steps: int = 1200,
    batch_size: int = 16,
    learning_rate: float = 3e-3,
    hidden_size: int = 64,
    layers: int = 3,
    heads: int = 4,
    max_position_embeddings: int = 512,
) -> Path:
    """Folder of the base, built in the user's cache at the first call and found there afterwards.

    task: keys of the arithmetic generator; forget: chance that the pupil drops a carry; talk: share of everyday rows;
    bare: share of sums that show no work; rambles: share of everyday replies that go on after the answer;
    steps, batch_size, learning_rate: AdamW with a cosine to zero.
    """
    settings = {name: value for name, value in locals().items()} | {"format": FORMAT}
    settings["texts"] = digest({"texts": [text for pair in pairs_of(settings, 64) for text in pair]})
    return cached("tiny-base", settings, lambda folder: make(folder, settings, pairs=pairs_of(settings, steps * batch_size)))


def pairs_of(settings: dict[str, Any], n: int) -> list[tuple[str, str]]:
    """``n`` (prompt, reply): everyday rows and sums without the asked form, from training rows only."""
    from rlvr_cli.data.generate.arithmetic import training_rows, worked

    rng = random.Random(settings["seed"])
    sums = training_rows(n, seed=settings["seed"], **(settings["task"] or {}))
    talk = everyday(settings["seed"], settings["rambles"])
    pairs = []
    for _ in range(n):
        if rng.random() < settings["talk"]:
            pairs.append(next(talk))
        else:
            row = next(sums)
            said = untagged(worked(row, forget=settings["forget"], rng=rng), bare=rng.random() < settings["bare"])
            pairs.append((row["prompt"], said))
    return pairs


def everyday(seed: int, rambles: float) -> Any:
    """Everyday rows of the training side, without end."""
    from functools import partial

    from rlvr_cli.data.generate.general import generate
    from rlvr_cli.data.split import endless_training_rows

    return ((row["prompt"], row["reply"]) for row in endless_training_rows(partial(generate, rambles=rambles), seed=seed, first=0))


def untagged(answer: str, *, bare: bool = False) -> str:
    """A worked answer without its tags, or its result alone.

    >>> untagged("<think>7+8=15,3+4+1=8</think><answer>85</answer>")
    '7+8=15,3+4+1=8 so 85'
    >>> untagged("<think>7+8=15,3+4+1=8</think><answer>85</answer>", bare=True)
    '85'
    """
    work, _, result = answer.removeprefix("<think>").removesuffix("</answer>").partition("</think><answer>")
    return result if bare else f"{work} so {result}"
