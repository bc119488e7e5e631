"""Any task of the ``reasoning_gym`` library by name (extra ``logic``); its own scorer judges, through ``rewards.logic``.

The library draws and solves, this file only lays out the row: ``state`` is its metadata, which its scorer needs again::

    rlvr data generate reasoning_gym names=[chain_sum,mini_sudoku] count=3
"""

from __future__ import annotations

import difflib
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rlvr_cli.errors import DataError, MissingDependency

CHUNK = 64  # rows drawn from one task at a time


def generate(
    *, count: int, seed: int, names: Sequence[str] = ("chain_sum",), options: Mapping[str, Mapping[str, Any]] | None = None
) -> Iterator[dict[str, Any]]:
    """``count`` rows of the tasks ``names``, in turn. options: a task's own settings, by its name."""
    library = _library()
    for name in names:
        if name not in library.factory.DATASETS:
            close = difflib.get_close_matches(name, library.factory.DATASETS, n=1, cutoff=0.4)
            raise DataError(
                f"reasoning_gym has no task {name!r}", where="dataset.names", fix=f"dataset.names=[{(close or ['chain_sum'])[0]}]"
            )
    streams = [_stream(library, name, seed, dict((options or {}).get(name, {}))) for name in names]
    rng = random.Random(f"reasoning_gym-{seed}")
    for _ in range(count):
        yield next(rng.choice(streams))


def _library() -> Any:
    try:
        import reasoning_gym
    except ImportError as error:
        raise MissingDependency("this generator needs reasoning_gym", where="dataset.generator", fix="pip install 'rlvr[logic]'") from error
    return reasoning_gym


def _stream(library: Any, name: str, seed: int, options: dict[str, Any]) -> Iterator[dict[str, Any]]:
    chunk = 0
    while True:
        try:
            items = library.create_dataset(name, size=CHUNK, seed=seed * 10_007 + chunk, **options)
        except (AssertionError, TypeError, ValueError) as error:
            raise DataError(f"reasoning_gym refuses the options of {name!r}: {error}", where=f"dataset.options.{name}") from error
        for item in items:
            yield {
                "prompt": item["question"],
                "answer": None if item["answer"] is None else str(item["answer"]),
                "state": json.loads(json.dumps(item["metadata"], default=str)),
                "difficulty": 1,
                "task": name,
                "kind": "logic",
            }
        chunk += 1
