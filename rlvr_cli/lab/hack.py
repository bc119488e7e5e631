"""The two classic failures, live, and their cures.

**A hacked verifier.** A sixth token writes the target itself. The naive verifier reads the last number of the text, as
many do; the policy learns to end every text with the target: full pay, nothing solved. The cure judges the whole text.

**Length collapse.** Here a text is some thoughts and then one of the four operator pairs. The first thought reads the
target, the second the first number, so without thoughts an answer is a guess. A naive reward pays for form and fines
length, whether or not the answer is right: the policy stops thinking, the reward rises, the accuracy falls to a guess.
The cure pays for being right and lets length decide only among right answers (Kimi k1.5's length term).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np

from rlvr_cli.lab import constants as c
from rlvr_cli.lab.game import NUMBERS, OPERATORS, TOKENS, Judged, Prompt, all_prompts, judge, value
from rlvr_cli.lab.learn import History, learn
from rlvr_cli.lab.objective import advantages, clipped_slope, length_term
from rlvr_cli.lab.policy import TARGETS, draw_token, gradient, log_probs

Pay = Callable[[np.ndarray, np.ndarray], np.ndarray]
ECHO = "T"
ANSWERS = tuple(product(OPERATORS, repeat=2))  # four operator pairs
THINK = 0  # token 0 thinks; tokens 1..4 answer


def last_number_verifier(prompt: Prompt, tokens: tuple[str, ...]) -> Judged:
    """The naive verifier: the last token is the target, so the answer is right; otherwise the true verifier's word."""
    if tokens[-1] == ECHO:
        return Judged(c.REWARD_RIGHT, True, True)
    return judge(prompt, tokens)


def hacked_verifier(*, naive: bool, seed: int = c.SEED) -> History:
    """Train with the echo token under the naive or the whole-text verifier."""
    verifier = last_number_verifier if naive else judge
    return learn(seed=seed, iterations=c.HACK_ITERATIONS, tokens=(*TOKENS, ECHO), verifier=verifier)


@dataclass
class Thinking:
    """One arm of the length game over its iterations."""

    reward: list[float]
    accuracy: list[float]
    thoughts: list[float]


def knows(prompt: Prompt, thoughts: int) -> int:
    """State after ``thoughts`` thoughts, by what has been read: nothing, the target, the target and the first number."""
    target = TARGETS.index(prompt.target)
    if thoughts == 0:
        return 0
    if thoughts == 1:
        return 1 + target
    deeper = 1 + len(TARGETS) + target * len(NUMBERS) + NUMBERS.index(prompt.numbers[0])
    return deeper + (thoughts - 2) * len(TARGETS) * len(NUMBERS)


STATES = 1 + len(TARGETS) + (c.MOST_THOUGHTS - 1) * len(TARGETS) * len(NUMBERS)


def think(logits: np.ndarray, prompt: Prompt, rng: np.random.Generator) -> tuple[list[int], list[int]]:
    """One text: (states, tokens), the last token an answer. After the last allowed thought only answers remain."""
    states: list[int] = []
    tokens: list[int] = []
    while not tokens or tokens[-1] == THINK:
        states.append(knows(prompt, len(tokens)))
        row = logits[states[-1]]
        free = len(tokens) < c.MOST_THOUGHTS
        tokens.append(draw_token(row, rng) if free else 1 + draw_token(row[1:], rng))
    return states, tokens


def rewards_of(lengths: np.ndarray, right: np.ndarray, *, naive: bool) -> np.ndarray:
    """Pay of groups [B, G]: the naive sum, or right answers first and length only among them."""
    if naive:
        return c.NAIVE_FORM + c.NAIVE_RIGHT * right + c.NAIVE_PER_THOUGHT * (lengths - 1)
    return c.CURED_RIGHT * right + c.CURED_LENGTH * length_term(lengths, right)


def able_policy(rng: np.random.Generator) -> np.ndarray:
    """Where both arms start: a policy inclined to think and trained on right and wrong alone, so it thinks and is right."""
    logits = np.zeros((STATES, 1 + len(ANSWERS)))
    logits[:, THINK] = c.THINKING_HABIT
    for _ in range(c.HACK_ITERATIONS):
        iterate(logits, rng, lambda lengths, right: right.astype(float))
    return logits


def length_game(*, naive: bool, seed: int = c.SEED) -> Thinking:
    """Go on from the able policy under one of the two rewards."""
    rng = np.random.default_rng(seed)
    logits, arm = able_policy(rng), Thinking([], [], [])
    for _ in range(c.GAME_ITERATIONS):
        lengths, right, pay = iterate(logits, rng, lambda lengths, right: rewards_of(lengths, right, naive=naive))
        arm.reward.append(float(pay.mean()))
        arm.accuracy.append(float(right.mean()))
        arm.thoughts.append(float(lengths.mean() - 1))
    return arm


def iterate(logits: np.ndarray, rng: np.random.Generator, pay_of: Pay) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """One batch over all prompts and its steps, in place; (lengths, right, pay), each [B, G]."""
    prompts = all_prompts()
    texts = [think(logits, p, rng) for p in prompts for _ in range(c.GROUP_SIZE)]
    owners = [p for p in prompts for _ in range(c.GROUP_SIZE)]
    shape = (len(prompts), c.GROUP_SIZE)
    lengths = np.array([len(tokens) for _, tokens in texts]).reshape(shape)  # [B, G]
    right = np.array([solved(p, tokens) for p, (_, tokens) in zip(owners, texts, strict=True)]).reshape(shape)  # [B, G]
    pay = pay_of(lengths, right)
    improve(logits, texts, advantages(pay).reshape(-1))
    return lengths, right, pay


def solved(prompt: Prompt, tokens: list[int]) -> bool:
    """Whether the text's operator pair gives the target."""
    return value(prompt.numbers, ANSWERS[tokens[-1] - 1]) == prompt.target


def improve(logits: np.ndarray, texts: list[tuple[list[int], list[int]]], advantage: np.ndarray) -> None:
    """``INNER_EPOCHS`` clipped steps on one batch of texts of different lengths, in place."""
    states = np.concatenate([np.array(s) for s, _ in texts])
    tokens = np.concatenate([np.array(t) for _, t in texts])
    each = np.repeat(advantage, [len(t) for _, t in texts])  # a text's advantage stands at each of its tokens
    old = log_probs(logits, states, tokens)
    for _ in range(c.INNER_EPOCHS):
        slope = clipped_slope(np.exp(log_probs(logits, states, tokens) - old), each)
        logits += c.LEARNING_RATE * gradient(logits, states, tokens, slope / slope.size)
