"""The base of ``pipeline=r1_tiny``: the tiny model before anybody taught it to think aloud.

A language model that comes out of pretraining talks, knows a little, and answers a sum at once and often wrongly. This one
learns everyday talk (the generator ``general``) and bare answers of the sloppy pupil (:mod:`.tiny`), no tag and no work
shown, so that each later stage has something to add::

    <|user|>What colour is a lemon?<|end|><|assistant|>A lemon is yellow.<|end|>
    <|user|>47+38=?<|end|><|assistant|>75<|end|>

Held-out rows of both generators never enter it.
"""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from typing import Any

from rlvr_cli.models.cache import cached, digest
from rlvr_cli.models.tiny import make

FORMAT = 1  # raise when this file would build a different model from the same options


def build(
    seed: int,
    *,
    task: dict[str, Any] | None = None,
    forget: float = 0.6,
    talk: float = 0.5,
    steps: int = 500,
    batch_size: int = 16,
    learning_rate: float = 3e-3,
    hidden_size: int = 64,
    layers: int = 3,
    heads: int = 4,
    max_position_embeddings: int = 512,
) -> Path:
    """Folder of the base, built in the user's cache at the first call and found there afterwards.

    task: keys of the arithmetic generator; forget: chance that a bare answer drops a carry; talk: share of everyday rows;
    steps, batch_size, learning_rate: AdamW with a cosine to zero.
    """
    settings = {name: value for name, value in locals().items()} | {"format": FORMAT}
    settings["texts"] = digest({"texts": [text for pair in pairs_of(settings, 64) for text in pair]})
    return cached("tiny-base", settings, lambda folder: make(folder, settings, pairs=pairs_of(settings, steps * batch_size)))


def pairs_of(settings: dict[str, Any], n: int) -> list[tuple[str, str]]:
    """``n`` (prompt, reply): everyday rows and bare sums, from training rows only."""
    from rlvr_cli.data.generate.arithmetic import training_rows, worked

    rng = random.Random(settings["seed"])
    sums = training_rows(n, seed=settings["seed"], **(settings["task"] or {}))
    talk = everyday(settings["seed"])
    pairs = []
    for _ in range(n):
        if rng.random() < settings["talk"]:
            pairs.append(next(talk))
        else:
            row = next(sums)
            pairs.append((row["prompt"], bare(worked(row, forget=settings["forget"], rng=rng))))
    return pairs


def everyday(seed: int) -> Any:
    """Everyday rows of the training side, without end."""
    from rlvr_cli.data.generate.general import generate
    from rlvr_cli.data.split import held_out

    endless = itertools.chain.from_iterable(generate(count=1000, seed=seed * 1000 + i) for i in itertools.count())
    return ((row["prompt"], row["reply"]) for row in endless if not held_out(row))


def bare(answer: str) -> str:
    """A worked answer's result alone.

    >>> bare("<think>7+8=15,3+4+1=8</think><answer>85</answer>")
    '85'
    """
    return answer.partition("<answer>")[2].removesuffix("</answer>")
