"""What the group's size buys: a steadier baseline and fewer dead groups, for G times the completions.

For a prompt solved with probability p, the baseline (the mean of G rewards) has variance p (1 - p) / G, and a group is
dead, all right or all wrong, with probability p^G + (1 - p)^G. The table shows both, measured beside the formula.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rlvr_cli.lab.constants import SEED

SIZES = (2, 4, 8, 16, 32)
SOLVE_RATES = (0.05, 0.2, 0.5, 0.8)
DRAWS = 20_000


@dataclass(frozen=True)
class Measured:
    """One cell: measured and expected variance of the baseline, measured and expected share of dead groups."""

    size: int
    solve_rate: float
    variance: float
    expected_variance: float
    dead: float
    expected_dead: float


def measure(size: int, solve_rate: float, *, seed: int = SEED, draws: int = DRAWS) -> Measured:
    """Draw ``draws`` groups of right/wrong rewards and look."""
    rewards = (np.random.default_rng(seed).random((draws, size)) < solve_rate).astype(float)  # [draws, G]
    expected_dead = solve_rate**size + (1 - solve_rate) ** size
    variance = float(rewards.mean(axis=1).var())
    dead = float((np.ptp(rewards, axis=1) == 0).mean())
    return Measured(size, solve_rate, variance, solve_rate * (1 - solve_rate) / size, dead, expected_dead)


def table(seed: int = SEED) -> list[Measured]:
    """Every size at every solve rate."""
    return [measure(size, rate, seed=seed) for rate in SOLVE_RATES for size in SIZES]
