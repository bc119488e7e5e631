"""The loop: draw a group for every prompt, judge, compare within the group, take a few clipped steps.

>>> history = learn(seed=0, iterations=3)
>>> len(history.rows), sorted(history.rows[0])
(3, ['dead_groups', 'iteration', 'kl', 'mean_reward', 'solve_rate', 'violations'])
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from rlvr_cli.lab import constants as c
from rlvr_cli.lab.game import TOKENS, Judged, Prompt, judge, split
from rlvr_cli.lab.objective import advantages, clipped_slope, k3, k3_slope
from rlvr_cli.lab.policy import Table, gradient

Row = dict[str, float]
Judge = Callable[[Prompt, tuple[str, ...]], Judged]


@dataclass
class History:
    """The trained table, statistics of every iteration, and greedy held-out solve rates before and after."""

    before: float
    policy: Table
    after: float = 0.0
    rows: list[Row] = field(default_factory=list)


def solve_rate(policy: Table, prompts: list[Prompt]) -> float:
    """Share of prompts that the greedy answer solves."""
    return float(np.mean([judge(p, policy.greedy(p)).right for p in prompts]))


@dataclass(frozen=True)
class Batch:
    """One batch of answers: ``states`` and ``tokens`` [B*G, T], ``rewards`` and ``formed`` [B, G]."""

    states: np.ndarray
    tokens: np.ndarray
    rewards: np.ndarray
    formed: np.ndarray


def draw(policy: Table, prompts: list[Prompt], rng: np.random.Generator, group: int, verifier: Judge = judge) -> Batch:
    """``group`` answers to each prompt, judged."""
    drawn = [(p, *policy.sample(p, rng)) for p in prompts for _ in range(group)]
    judged = [verifier(p, tuple(policy.tokens[t] for t in tokens)) for p, _, tokens in drawn]
    shape = (len(prompts), group)
    rewards = np.array([j.reward for j in judged]).reshape(shape)  # [B, G]
    formed = np.array([j.well_formed for j in judged]).reshape(shape)  # [B, G]
    return Batch(np.array([s for _, s, _ in drawn]), np.array([t for _, _, t in drawn]), rewards, formed)


def step(policy: Table, batch: Batch, old: np.ndarray, reference: np.ndarray, advantage: np.ndarray) -> None:
    """One ascent step on mean_t[ clipped(ratio, A) - beta k3 ], in place. old, reference: [N, T]; advantage: [N, 1]."""
    log_prob = policy.log_probs(batch.states, batch.tokens)  # [N, T]
    slope = clipped_slope(np.exp(log_prob - old), advantage) - c.KL_BETA * k3_slope(log_prob, reference)
    policy.logits += c.LEARNING_RATE * gradient(policy.logits, batch.states, batch.tokens, slope / slope.size)


def learn(
    *,
    seed: int = c.SEED,
    iterations: int = c.ITERATIONS,
    group: int = c.GROUP_SIZE,
    tokens: tuple[str, ...] = TOKENS,
    verifier: Judge = judge,
    watch: Callable[[Row], None] | None = None,
) -> History:
    """Train a table from uniform; ``watch`` sees every iteration's statistics as they come.

    ``verifier`` pays during training; the solve rate is always the true verifier's (they differ in ``rlvr lab hack``).
    """
    rng = np.random.default_rng(seed)
    train, held_out = split()
    policy = Table(tokens=tokens)
    reference = policy.copy()
    history = History(before=solve_rate(policy, held_out), policy=policy)
    for iteration in range(iterations):
        batch = draw(policy, train, rng, group, verifier)
        old, anchor = policy.log_probs(batch.states, batch.tokens), reference.log_probs(batch.states, batch.tokens)
        advantage = advantages(batch.rewards).reshape(-1, 1)
        for _ in range(c.INNER_EPOCHS):
            step(policy, batch, old, anchor, advantage)
        history.rows.append(statistics(iteration + 1, policy, batch, anchor, held_out))
        if watch:
            watch(history.rows[-1])
    history.after = solve_rate(policy, held_out)
    return history


def statistics(iteration: int, policy: Table, batch: Batch, anchor: np.ndarray, held_out: list[Prompt]) -> Row:
    """What one iteration did. ``kl``: k3 summed over a text's tokens, in nats, averaged over the batch."""
    return {
        "iteration": iteration,
        "mean_reward": float(batch.rewards.mean()),
        "violations": float(1 - batch.formed.mean()),
        "kl": float(k3(policy.log_probs(batch.states, batch.tokens), anchor).sum(axis=1).mean()),
        "dead_groups": float((np.ptp(batch.rewards, axis=1) == 0).mean()),
        "solve_rate": solve_rate(policy, held_out),
    }
