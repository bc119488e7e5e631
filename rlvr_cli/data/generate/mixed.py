"""Rows of several generators in one set; the column ``kind`` tells a reward's ``when`` which judge each row belongs to.

>>> rows = list(generate(count=200, seed=0, mix={"arithmetic": 3, "multiple_choice": 1}))
>>> sum(row["kind"] == "math" for row in rows) / len(rows)
0.765
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import Any

from rlvr_cli.data.generate import generator, generator_names
from rlvr_cli.errors import DataError

MIX = {"arithmetic": 4, "programs": 1, "sql": 1, "json_extraction": 1, "multiple_choice": 1}
CHUNK = 200  # rows drawn from one generator at a time


def generate(
    *, count: int, seed: int, mix: Mapping[str, float] = MIX, options: Mapping[str, Mapping[str, Any]] | None = None
) -> Iterator[dict[str, Any]]:
    """``count`` rows. mix: weight of each generator; options: a generator's own keys, by its name (``{arithmetic: {max: 20}}``)."""
    mix = {name: weight for name, weight in mix.items() if weight}
    if not mix or any(weight < 0 for weight in mix.values()) or "mixed" in mix:
        raise DataError("mix needs generators with weights above 0", where="dataset.mix", fix="'dataset.mix={arithmetic:3,sql:1}'")
    strange = set(options or {}) - set(generator_names())
    if strange:
        raise DataError(f"options name {sorted(strange)[0]!r}, which is no generator", where="dataset.options")
    rng = random.Random(f"mixed-{seed}")
    streams = {name: _stream(name, seed, dict((options or {}).get(name, {}))) for name in mix}
    for name in rng.choices(list(mix), weights=list(mix.values()), k=count):
        yield next(streams[name])


def _stream(name: str, seed: int, keys: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A generator's rows without end."""
    make, chunk = generator(name), 0
    while True:
        yield from make(count=CHUNK, seed=seed * 10_007 + chunk, **keys)
        chunk += 1
