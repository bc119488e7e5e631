"""Intervals for shares and means, and the exact test for two models judged on the same prompts.

Plain arithmetic on plain numbers, no numpy, so that a table can always say how sure it is::

    wilson(90, 100)                  -> (0.8256..., 0.9447...)      90 of 100 right
    mcnemar_exact(only_a=1, only_b=9) -> 0.0214...                  of the prompts where they differ, b won 9 of 10

A share without an interval is not shown anywhere in this project; `wilson` is the one that holds at 0 and at n.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from statistics import NormalDist, fmean


def z_of(level: float) -> float:
    """The normal quantile of a two-sided interval: 0.95 -> 1.96."""
    return NormalDist().inv_cdf(0.5 + level / 2)


def wilson(right: float, n: int, level: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval of a share (Wilson 1927). ``n`` = 0 knows nothing: (0, 1).

    >>> [round(x, 4) for x in wilson(90, 100)], wilson(0, 0)
    ([0.8256, 0.9448], (0.0, 1.0))
    """
    if n == 0:
        return 0.0, 1.0
    if not 0 <= right <= n:
        raise ValueError(f"{right} right of {n} is no share")
    z = z_of(level)
    share = right / n
    centre = share + z * z / (2 * n)
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    low = 0.0 if right == 0 else max(0.0, (centre - half) / scale)
    return low, 1.0 if right == n else min(1.0, (centre + half) / scale)


def bootstrap(
    values: Sequence[float], *, seed: int = 0, draws: int = 2000, level: float = 0.95, statistic: Callable[..., float] = fmean
) -> tuple[float, float]:
    """Percentile bootstrap over prompts (Efron 1979): for means of values that are no shares, such as pass@k.

    >>> low, high = bootstrap([0.0, 0.5, 1.0, 1.0] * 25)
    >>> round(low, 1), round(high, 1)
    (0.5, 0.7)
    """
    if not values:
        return 0.0, 1.0
    rng = random.Random(seed)
    means = sorted(statistic(rng.choices(values, k=len(values))) for _ in range(draws))
    tail = (1 - level) / 2
    return means[int(tail * draws)], means[min(draws - 1, math.ceil((1 - tail) * draws) - 1)]


def share_or_bootstrap(values: Sequence[float], *, seed: int = 0) -> tuple[float, float]:
    """The interval of a mean in [0, 1]: Wilson where every value is 0 or 1, or all are alike; the bootstrap otherwise.

    A bootstrap of equal values has no width, which would claim certainty; Wilson does not.
    """
    if len(set(values)) <= 1 or all(v in (0, 1) for v in values):
        return wilson(sum(values), len(values))
    return bootstrap(values, seed=seed)


def binomial_two_sided(hits: int, n: int) -> float:
    """Exact two-sided p of ``hits`` of ``n`` fair coin flips.

    >>> round(binomial_two_sided(1, 10), 6), binomial_two_sided(0, 0)
    (0.021484, 1.0)
    """
    tail = sum(math.comb(n, i) for i in range(min(hits, n - hits) + 1))
    return float(min(1.0, 2 * tail / 2**n)) if n < 1000 else min(1.0, 2 * math.exp(math.log(tail) - n * math.log(2)))


def mcnemar_exact(only_a: int, only_b: int) -> float:
    """McNemar's exact test (1947): p that two models are alike, from the prompts that only one of them got right."""
    return binomial_two_sided(only_a, only_a + only_b)


def paired_difference(only_a: int, only_b: int, n: int, level: float = 0.95) -> tuple[float, float, float]:
    """Difference b - a of two shares on the same ``n`` prompts, with its interval (Agresti and Min 2005: half a prompt added to each cell).

    >>> [round(x, 3) for x in paired_difference(2, 12, 100)]
    [0.1, 0.026, 0.17]
    """
    if n == 0:
        return 0.0, -1.0, 1.0
    diff = (only_b - only_a) / n
    m, b, c = n + 2, only_a + 0.5, only_b + 0.5
    centre = (c - b) / m
    half = z_of(level) * math.sqrt(max(0.0, (b + c) - (c - b) ** 2 / m)) / m
    return diff, max(-1.0, min(diff, centre - half)), min(1.0, max(diff, centre + half))


def points(share: float, ci: Sequence[float], n: int | None = None) -> str:
    """A share as a person reads it: ``41.5% [34.9, 48.4], n=200``."""
    text = f"{100 * share:.1f}% [{100 * ci[0]:.1f}, {100 * ci[1]:.1f}]"
    return text if n is None else f"{text}, n={n}"
