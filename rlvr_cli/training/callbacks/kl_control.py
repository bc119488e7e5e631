"""Moves beta, the weight of the KL term, while the run goes on: by the reward (bands) or by the KL itself (a target).

A fixed beta is either too weak late or too strong early. Two rules, chosen by ``algorithm.kl_control.kind``::

    bands    mean reward < target/2: 0.05    < target: 0.1    else: 0.2          (target 0.8; all four are options)
    target   beta <- beta (1 + gain clip(KL / KL_target - 1, -0.2, 0.2))          Ziegler et al. 2019, arXiv 1909.08593, section 2.2

Bands let a policy that still fails move, and hold on to one that succeeds. The target keeps the distance to the reference
instead, whatever the rewards' scale. The KL is TRL's k3 in nats a token, where the paper's is in nats a completion.

beta never is 0: TRL decides at construction whether there is a reference, and a beta that rises from 0 later has none.
The line of a step in ``metrics.jsonl`` carries the ``beta`` that weighted it.
"""

from __future__ import annotations

from typing import ClassVar

from rlvr_cli.config import schema
from rlvr_cli.training.callbacks.controller import Controller

SMALLEST = 1e-9  # small enough to change nothing, large enough that TRL loads a reference


def band(settings: schema.KLControl, reward: float) -> float:
    """beta for this mean reward.

    >>> [band(schema.KLControl(), reward) for reward in (0.0, 0.39, 0.4, 0.79, 0.8, 1.0)]
    [0.05, 0.05, 0.1, 0.1, 0.2, 0.2]
    """
    if reward < settings.reward_target / 2:
        return settings.low
    return settings.middle if reward < settings.reward_target else settings.high


def proportional(settings: schema.KLControl, beta: float, kl: float) -> float:
    """The next beta, after a step whose KL was ``kl`` nats a token (Ziegler et al. 2019, section 2.2).

    >>> on, twice, half = (proportional(schema.KLControl(kl_target=0.1), 0.05, kl) for kl in (0.1, 0.2, 0.05))
    >>> round(on, 6), round(twice, 6), round(half, 6)
    (0.05, 0.051, 0.049)
    """
    error = kl / settings.kl_target - 1
    bounded = max(-settings.error_clip, min(settings.error_clip, error))
    return beta * (1 + settings.gain * bounded)


def starting_beta(algorithm: schema.Algorithm) -> float:
    """beta of the first step; above 0 whenever it may rise later."""
    control = algorithm.kl_control
    if control.kind == "none":
        return algorithm.beta
    return max(SMALLEST, control.low if control.kind == "bands" else algorithm.beta)


class KLControl(Controller):
    """Sets ``trainer.beta`` after each step for the next one."""

    remembered: ClassVar[tuple[str, ...]] = ("beta",)

    def __init__(self, algorithm: schema.Algorithm):
        super().__init__()
        self.settings = algorithm.kl_control
        self.beta = starting_beta(algorithm)

    def on_step_begin(self, args, state, control, **kwargs):
        super().on_step_begin(args, state, control, **kwargs)
        self.trainer.extras["beta"] = self.beta

    def on_step_end(self, args, state, control, **kwargs):
        measured = self.measured("reward" if self.settings.kind == "bands" else "kl")
        if measured is None:
            return
        next_beta = band(self.settings, measured) if self.settings.kind == "bands" else proportional(self.settings, self.beta, measured)
        self.beta = max(SMALLEST, next_beta)
        self.apply()

    def apply(self) -> None:
        self.trainer.beta = self.beta
