"""The tiny model for tasks in words: the same Llama, with a vocabulary and demonstrations made from a generator's rows.

What ``tiny`` is to sums, this is to word problems, number facts and small programs: the vocabulary is the words (and, in
Chinese, the characters) that the generator writes, and the cold start imitates a sloppy pupil of :mod:`rlvr_cli.models.pupils`.
Rows that the split holds out, at the ``eval_share`` of the recipe, never enter it. The options of one recipe::

    builder: rlvr_cli.models.worded.build
    builder_options: {generator: word_problems, task: {steps_max: 2, max: 30}, slip: 0.6, eval_share: 0.1}
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from rlvr_cli.errors import ConfigError
from rlvr_cli.models import pupils, tiny
from rlvr_cli.models.cache import cached, digest
from rlvr_cli.models.tokenizer import word_tokenizer

FORMAT = 1  # raise when this file would build a different model from the same options
VOCABULARY_ROWS = 4000  # drawn to find the words; a word that only later rows have would be <|unknown|>


def build(
    seed: int,
    *,
    generator: str = "word_problems",
    task: dict[str, Any] | None = None,
    slip: float = 0.6,
    eval_share: float = 0.1,
    whole_numbers: bool = False,
    steps: int = 1200,
    batch_size: int = 16,
    learning_rate: float = 3e-3,
    hidden_size: int = 64,
    layers: int = 3,
    heads: int = 4,
    max_position_embeddings: int = 512,
) -> Path:
    """Folder of a tiny model for one generator's task, built in the user's cache at the first call.

    generator: word_problems, number_facts or programs; task: its own keys, the same as under ``dataset``;
    slip: the pupil's chance of each mistake, in [0, 1]; eval_share: the held-out share of prompts, in [0, 1];
    whole_numbers: a number is one token (calculated by heart, needs small ranges) and not its digits;
    steps, batch_size, learning_rate: the cold start, AdamW with a cosine to zero.
    """
    settings = {name: value for name, value in locals().items()} | {"format": FORMAT}
    if generator not in pupils.PUPILS:
        raise ConfigError(f"no pupil works {generator!r}; there are {', '.join(pupils.PUPILS)}", where="model.builder_options.generator",
                          fix="model.builder_options.generator=word_problems")  # fmt: skip
    settings["demonstrations"] = digest({"texts": [text for pair in demonstrations(settings, 64) for text in pair]})
    return cached(f"tiny-{generator.replace('_', '-')}", settings, lambda folder: make(folder, settings))


def make(folder: Path, settings: dict[str, Any]) -> dict[str, Any]:
    """Vocabulary, demonstrations, cold start; returns what ``built.json`` keeps."""
    pairs = demonstrations(settings, settings["steps"] * settings["batch_size"])
    texts = (text for pair in (*vocabulary_rows(settings), *pairs) for text in pair)
    tokenizer = word_tokenizer(texts, whole_numbers=settings["whole_numbers"])
    return tiny.make(folder, settings, tokenizer, pairs)


def vocabulary_rows(settings: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Pairs that the vocabulary is read from, without slips: what a right answer needs must be sayable."""
    return iter(demonstrations(settings | {"seed": 0, "slip": 0.0}, VOCABULARY_ROWS))


def demonstrations(settings: dict[str, Any], n: int) -> list[tuple[str, str]]:
    """``n`` (question, the pupil's answer), from training rows only."""
    pupil, rng = pupils.PUPILS[settings["generator"]], random.Random(settings["seed"])
    return [(row["prompt"], pupil(row, settings["slip"], rng)) for row in training_rows(settings, n)]


def training_rows(settings: dict[str, Any], n: int) -> list[dict[str, Any]]:
    """``n`` rows of the training side, repeats allowed, whatever the seeds of the run."""
    from rlvr_cli.data.generate import generator
    from rlvr_cli.data.split import endless_training_rows

    draw = partial(generator(settings["generator"]), **(settings["task"] or {}))
    return list(itertools.islice(endless_training_rows(draw, seed=settings["seed"], share=settings["eval_share"]), n))
