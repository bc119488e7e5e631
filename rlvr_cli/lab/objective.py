"""What makes GRPO GRPO, one function an idea (DeepSeekMath, arXiv:2402.03300, section 4.1).

The group's mean is the baseline, so no critic is trained; the ratio is clipped so that several steps on one batch stay
near the policy that wrote it; k3 keeps the policy near the reference; the length term (Kimi k1.5) orders equal rewards.
"""

from __future__ import annotations

import numpy as np

from rlvr_cli.lab.constants import ADVANTAGE_EPSILON, CLIP_EPSILON, LENGTH_CENTRE


def advantages(rewards: np.ndarray) -> np.ndarray:
    """(r - group mean) / (group deviation + epsilon). rewards: [B, G]; a tied group gives exactly 0.

    The deviation has Bessel's correction, as TRL's has. Ties are compared before the mean is subtracted: the mean of
    equal floats need not be that float, and its rounding, divided by ADVANTAGE_EPSILON, would look like a signal.
    """
    centred = rewards - rewards.mean(axis=1, keepdims=True)
    centred = np.where(np.ptp(rewards, axis=1, keepdims=True) == 0, 0.0, centred)
    return centred / (rewards.std(axis=1, ddof=1, keepdims=True) + ADVANTAGE_EPSILON)


def clipped(ratio: np.ndarray, advantage: np.ndarray, epsilon: float = CLIP_EPSILON) -> np.ndarray:
    """PPO's pessimistic bound: min(r A, clip(r, 1 - epsilon, 1 + epsilon) A). To be made large."""
    return np.minimum(ratio * advantage, np.clip(ratio, 1 - epsilon, 1 + epsilon) * advantage)


def clipped_slope(ratio: np.ndarray, advantage: np.ndarray, epsilon: float = CLIP_EPSILON) -> np.ndarray:
    """d clipped / d log-prob: r A where the bound is not active, 0 where it is."""
    active = np.where(advantage >= 0, ratio <= 1 + epsilon, ratio >= 1 - epsilon)
    return np.where(active, ratio * advantage, 0.0)


def k3(log_prob: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """exp(d) - d - 1 with d = reference - log_prob: never negative, unbiased for KL(policy || reference).

    John Schulman, "Approximating KL divergence" (2020).
    """
    d = reference - log_prob
    return np.exp(d) - d - 1


def k3_slope(log_prob: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """d k3 / d log-prob = 1 - exp(reference - log_prob)."""
    return 1 - np.exp(reference - log_prob)


def length_term(lengths: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Kimi k1.5's length reward over groups [B, G]: lambda for right answers, min(0, lambda) for wrong ones.

    lambda_i = 0.5 - (L_i - L_min) / (L_max - L_min); all 0 where the lengths of a group are equal.
    """
    low, span = lengths.min(axis=1, keepdims=True), np.ptp(lengths, axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        lam = np.where(span > 0, LENGTH_CENTRE - (lengths - low) / span, 0.0)
    return np.where(right, lam, np.minimum(0.0, lam))
