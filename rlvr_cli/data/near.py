"""Near duplicates by MinHash: rows whose three-word runs overlap by at least a share, found without comparing all pairs.

Candidates come from banded hashes; each is then compared exactly, so nothing is called a duplicate by chance.

>>> near_duplicates(["a b c d e f g h", "a b c d e f g h i", "quite another text of words"], 0.7)
{1: 0}
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Sequence

from rlvr_cli.data.normal import ngrams, tokens

BANDS, ROWS = 20, 4  # at an overlap of 0.8 a pair is missed once in 30,000
PRIME = (1 << 61) - 1


def shingles(text: str) -> frozenset[int]:
    """Hashes of the three-token runs; a shorter text is one run."""
    words = tokens(text)
    runs = ngrams(words, 3) or [tuple(words)]
    return frozenset(zlib.crc32(" ".join(run).encode("utf-8", "surrogatepass")) for run in runs)


def near_duplicates(texts: Sequence[str], share: float) -> dict[int, int]:
    """For each text that overlaps an earlier kept one by at least ``share`` (Jaccard, in (0, 1]): the index of that one."""
    import numpy as np

    rng = np.random.default_rng(0)
    a = rng.integers(1, PRIME >> 32, size=(BANDS * ROWS, 1), dtype=np.uint64)
    b = rng.integers(0, PRIME >> 32, size=(BANDS * ROWS, 1), dtype=np.uint64)
    buckets: dict[tuple[int, bytes], list[int]] = defaultdict(list)
    sets = [shingles(text) for text in texts]
    found: dict[int, int] = {}
    for index, mine in enumerate(sets):
        hashes = np.fromiter(mine, dtype=np.uint64, count=len(mine))
        signature = ((a * hashes + b) % np.uint64(PRIME)).min(axis=1)  # (BANDS*ROWS,)
        keys = [(band, signature[band * ROWS : band * ROWS + ROWS].tobytes()) for band in range(BANDS)]
        candidates = dict.fromkeys(other for key in keys for other in buckets[key])
        match = next((other for other in candidates if _overlap(mine, sets[other]) >= share), None)
        if match is not None:
            found[index] = match
            continue
        for key in keys:
            buckets[key].append(index)
    return found


def _overlap(one: frozenset[int], two: frozenset[int]) -> float:
    union = len(one | two)
    return len(one & two) / union if union else 0.0
