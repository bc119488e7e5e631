"""Every loss type that ``algorithm.loss_type`` offers, as value and slope, in NumPy.

Each is a sum over tokens of a weight times a token's loss; they differ in the token's loss and in the weight. The slope
is d loss / d log-prob of each token, written out by hand, so that a test can hold TRL's autograd to it (and it to TRL's).

Arrays: B completions, T tokens. ``log_prob``, ``old``, ``reference``, ``mask`` are [B, T], ``advantage`` is [B].

>>> ones = np.ones((2, 3))
>>> loss, slope = loss_and_slope("dapo", ones * -1.0, ones * -1.0, np.array([1.0, -1.0]), ones)
>>> round(abs(loss), 9), slope[0].round(3).tolist(), slope[1].round(3).tolist()
(0.0, [-0.167, -0.167, -0.167], [0.167, 0.167, 0.167])
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

CLIPPED = ("grpo", "bnpo", "dr_grpo", "dapo", "luspo")
LOSS_TYPES = (*CLIPPED, "cispo", "sapo", "vespo")
LOG_FLOOR, LOG_CEILING = float(np.log(1e-8)), 20.0  # bounds of VESPO's sequence log-ratio


@dataclass(frozen=True)
class Settings:
    """The constants of the losses; names and defaults are those of TRL's ``GRPOConfig``."""

    epsilon: float = 0.2
    epsilon_high: float = 0.2
    delta: float | None = None
    level: str = "token"
    beta: float = 0.0
    bias_correction_kl: bool = True
    max_completion_length: int = 512
    sapo_temperature_pos: float = 1.0
    sapo_temperature_neg: float = 1.05
    vespo_k_pos: float = 2.0
    vespo_lambda_pos: float = 3.0
    vespo_k_neg: float = 3.0
    vespo_lambda_neg: float = 2.0


def loss_and_slope(
    loss_type: str,
    log_prob: np.ndarray,
    old: np.ndarray,
    advantage: np.ndarray,
    mask: np.ndarray,
    settings: Settings | None = None,
    reference: np.ndarray | None = None,
) -> tuple[float, np.ndarray]:
    """(loss, d loss / d log_prob [B, T]) of one batch that is its own accumulation window."""
    s = settings or Settings()
    ratio, spread = ratios(log_prob, old, mask, s.level)
    token_loss, slope = token_terms(loss_type, log_prob, ratio, advantage[:, None], mask, old, s)
    weights = token_weights(loss_type, mask, s)
    own = loss_type in ("cispo", "vespo")  # their slope is in the token's own log-prob, not in the ratio's log
    slope = slope * weights if own else spread(slope * weights)
    loss = float((token_loss * weights).sum())
    if s.beta:
        value, direct, through_ratio = kl_terms(log_prob, reference, ratio, s)
        loss += float((s.beta * value * weights).sum())
        slope = slope + s.beta * direct * weights + spread(s.beta * through_ratio * weights)
    return loss, slope


def ratios(log_prob: np.ndarray, old: np.ndarray, mask: np.ndarray, level: str):
    """The ratio of each token (or of its sequence), and how a slope in its log spreads back over the tokens."""
    log_ratio = log_prob - old
    if level == "token":
        return np.exp(log_ratio), lambda slope: slope
    share = mask / np.maximum(mask.sum(axis=1, keepdims=True), 1)  # a mean over the sequence's tokens
    sequence = np.exp((log_ratio * share).sum(axis=1, keepdims=True))
    return np.broadcast_to(sequence, log_ratio.shape), lambda slope: slope.sum(axis=1, keepdims=True) * share


def token_terms(loss_type: str, log_prob, ratio, advantage, mask, old, s: Settings) -> tuple[np.ndarray, np.ndarray]:
    """(token loss, its slope in the log of the ratio; for cispo and vespo in the token's log-prob), each [B, T]."""
    if loss_type in CLIPPED:
        return clipped_terms(ratio, advantage, s)
    if loss_type == "cispo":
        weight = np.minimum(ratio, s.epsilon_high) * advantage
        return -weight * log_prob, -weight * np.ones_like(log_prob)
    if loss_type == "sapo":
        return sapo_terms(ratio, advantage, s)
    if loss_type == "vespo":
        weight = vespo_weight(log_prob - old, advantage, mask, s) * advantage
        return -weight * log_prob, -weight * np.ones_like(log_prob)
    raise ValueError(f"unknown loss type {loss_type!r}; one of {', '.join(LOSS_TYPES)}")


def clipped_terms(ratio: np.ndarray, advantage: np.ndarray, s: Settings) -> tuple[np.ndarray, np.ndarray]:
    """-min(r A, clip(r) A), with r bounded by ``delta`` in the first place (two-sided clip, arXiv:2505.07291)."""
    free = ratio if s.delta is None else np.minimum(ratio, s.delta)
    bound = np.clip(ratio, 1 - s.epsilon, 1 + s.epsilon_high)
    first, second = free * advantage, bound * advantage
    moves_first = np.ones_like(ratio, bool) if s.delta is None else ratio <= s.delta
    moves_second = (ratio >= 1 - s.epsilon) & (ratio <= 1 + s.epsilon_high)
    slope = ratio * advantage * np.where(first < second, moves_first, moves_second & moves_first)
    return -np.minimum(first, second), -slope


def sapo_terms(ratio: np.ndarray, advantage: np.ndarray, s: Settings) -> tuple[np.ndarray, np.ndarray]:
    """-(4 / tau) sigmoid(tau (r - 1)) A: a soft gate in place of the clip (arXiv:2511.20347)."""
    tau = np.where(advantage > 0, s.sapo_temperature_pos, s.sapo_temperature_neg)
    gate = 1 / (1 + np.exp(-tau * (ratio - 1)))
    return -4 / tau * gate * advantage, -4 * gate * (1 - gate) * ratio * advantage


def vespo_weight(log_ratio: np.ndarray, advantage: np.ndarray, mask: np.ndarray, s: Settings) -> np.ndarray:
    """phi(w) = e^lambda w^k e^(-lambda w) of the sequence's ratio w; a constant to the gradient. [B, 1]"""
    log_w = (np.clip(log_ratio, -20, 20) * mask).sum(axis=1, keepdims=True)
    log_w = np.clip(log_w, LOG_FLOOR, LOG_CEILING)
    k = np.where(advantage >= 0, s.vespo_k_pos, s.vespo_k_neg)
    lam = np.maximum(np.where(advantage >= 0, s.vespo_lambda_pos, s.vespo_lambda_neg), 1e-4)
    return np.exp(lam + k * log_w - lam * np.exp(log_w))


def kl_terms(log_prob, reference, ratio, s: Settings) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """k3, times the ratio when bias-corrected: (value, slope in log_prob, slope in the log of the ratio)."""
    d = reference - log_prob
    value, slope = np.exp(d) - d - 1, 1 - np.exp(d)
    if not s.bias_correction_kl:
        return value, slope, np.zeros_like(value)
    return value * ratio, slope * ratio, value * ratio


def token_weights(loss_type: str, mask: np.ndarray, s: Settings) -> np.ndarray:
    """What a token's loss is multiplied by: the whole difference between grpo, bnpo, dr_grpo, dapo and luspo. [B, T]"""
    rows = mask.shape[0]
    if loss_type in ("grpo", "sapo"):  # mean over a completion's tokens, then over completions: length-biased
        return mask / np.maximum(mask.sum(axis=1, keepdims=True), 1) / rows
    if loss_type == "dr_grpo":  # one constant for every token (arXiv:2503.20783)
        return mask / (rows * s.max_completion_length)
    if loss_type == "luspo":  # sum over a completion's tokens, mean over completions
        return mask / rows
    return mask / np.maximum(mask.sum(), 1)  # bnpo, dapo, cispo, vespo: mean over all tokens
