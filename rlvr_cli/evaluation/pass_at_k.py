"""pass@k: the chance that at least one of k draws is right, without bias, from n draws of which c were right.

The estimator is the HumanEval paper's (Chen et al. 2021, equation 1)::

    pass@k = 1 - C(n - c, k) / C(n, k)

Counting "any of the first k" instead throws draws away, and ``1 - (1 - c/n)**k`` is biased. pass@1 is mean@n.

>>> pass_at_k(n=4, c=1, k=1), pass_at_k(n=4, c=1, k=4), round(pass_at_k(n=8, c=2, k=4), 4)
(0.25, 1.0, 0.7857)
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from statistics import fmean
from typing import Any

from rlvr_cli.evaluation.intervals import share_or_bootstrap


def pass_at_k(*, n: int, c: int, k: int) -> float:
    """Chance that k of the n draws, taken without return, hold a right one; c of the n are right."""
    if not 0 <= c <= n or not 1 <= k <= n:
        raise ValueError(f"pass@{k} of {c} right in {n} draws does not exist")
    return 1.0 - comb(n - c, k) / comb(n, k)


def powers_of_two(k: int) -> list[int]:
    """1, 2, 4 ... up to k, and k itself.

    >>> powers_of_two(8), powers_of_two(6)
    ([1, 2, 4, 8], [1, 2, 4, 6])
    """
    powers = [2**i for i in range(k.bit_length()) if 2**i <= k]
    return powers if powers[-1] == k else [*powers, k]


def pass_at_k_table(right_of_each: Sequence[int], *, n: int, seed: int = 0) -> dict[str, dict[str, Any]]:
    """``{"1": {"value", "ci95"}, "2": ...}`` over prompts: ``right_of_each`` counts right draws of each prompt's ``n``.

    The interval is over prompts (what another set of questions would give), not over draws.
    """
    table = {}
    for k in powers_of_two(n):
        values = [pass_at_k(n=n, c=c, k=k) for c in right_of_each]
        low, high = share_or_bootstrap(values, seed=seed)
        table[str(k)] = {"value": fmean(values) if values else 0.0, "ci95": [low, high]}
    return table
