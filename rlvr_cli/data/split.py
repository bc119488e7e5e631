"""Which prompts are held out: decided by a hash of the prompt, so that no seed, order or process can mix the two sides.

The same tenth is held out for the training draw, the evaluation draw and a cold start, whatever their seeds::

    >>> train, held = split_prompts([{"prompt": f"{a}+1=?"} for a in range(1000)], share=0.1)
    >>> len(train), len(held)
    (907, 93)
    >>> held_out({"prompt": "37+48=?"}), held_out({"prompt": "37+48=?"})
    (False, False)

A row's ``split_key``, where it has one, stands for its prompt: ``48+37`` must not train when ``37+48`` is held out.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

Row = dict[str, Any]


def split_text(row: Row) -> str:
    """The text that decides a row's side: its ``split_key``, or the prompt (messages as JSON)."""
    key = row.get("split_key")
    key = row["prompt"] if key is None else key
    return key if isinstance(key, str) else json.dumps(key, ensure_ascii=False, sort_keys=True, default=str)


def rank(text: str) -> float:
    """A number in [0, 1) that only the text decides, the same in every process and version of Python."""
    digest = hashlib.blake2b(" ".join(text.split()).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64


def held_out(row: Row, *, share: float = 0.1) -> bool:
    """Whether a generated row belongs to the held-out share of all prompts."""
    return rank(split_text(row)) < share


def endless_training_rows(draw: Callable[..., Iterable[Row]], *, seed: int, share: float = 0.1, first: int = 500) -> Iterator[Row]:
    """Rows of a generator's training side, without end and with repeats: what a cold start may see.

    draw: called with ``count`` and ``seed``; the draws' seeds are ``1000 * seed + first`` and up. The held-out ``share`` is the one
    that ``dataset.eval_share`` keeps out of training, whatever the seeds.
    """
    rows = itertools.chain.from_iterable(draw(count=1000, seed=seed * 1000 + i) for i in itertools.count(first))
    return (row for row in rows if not held_out(row, share=share))


def split_prompts(rows: Iterable[Row], *, share: float = 0.1) -> tuple[list[Row], list[Row]]:
    """Rows to (training, held out); rows of the same prompt always stay together."""
    train: list[Row] = []
    held: list[Row] = []
    for row in rows:
        (held if held_out(row, share=share) else train).append(row)
    return train, held


def split_stratified(rows: list[Row], *, share: float = 0.1, by: str = "difficulty") -> tuple[list[Row], list[Row]]:
    """Hold out ``share`` of the prompts of each level of ``by``, so that both sides are equally hard.

    Within a level the prompts of the lowest hash go; a prompt that stands in several levels counts in its first one.
    """
    level_of: dict[str, str] = {}
    for row in rows:
        level_of.setdefault(split_text(row), _level(row.get(by)))
    levels: dict[str, list[str]] = defaultdict(list)
    for text, level in level_of.items():
        levels[level].append(text)
    held_texts = {text for texts in levels.values() for text in sorted(texts, key=rank)[: round(len(texts) * share)]}
    if share and rows and not held_texts:  # so few rows a level that each share rounds to nothing
        held_texts = set(sorted(level_of, key=rank)[: max(1, round(len(level_of) * share))]) if len(level_of) > 1 else set()
    train = [row for row in rows if split_text(row) not in held_texts]
    return train, [row for row in rows if split_text(row) in held_texts]


def _level(value: Any) -> str:
    """A difficulty as the name of its stratum: shares (pass rates) in tenths, whole numbers and words as they are."""
    if isinstance(value, float) and not value.is_integer():
        return f"{int(value * 10) / 10:.1f}"
    return str(int(value)) if isinstance(value, float) else str(value)
