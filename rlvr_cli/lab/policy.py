"""A policy that is a table: one row of logits a state, one column a token, nothing hidden.

A state is what a token may depend on. At an even place it is the place and the number shown there (so that the policy
must *learn* to copy); at an odd place the target, the first number and the operator already written. Permutations that
agree in these share states, which is how training prompts teach held-out ones.
"""

from __future__ import annotations

import numpy as np

from rlvr_cli.lab.game import LENGTH, NUMBERS, TOKENS, Prompt, all_prompts

TARGETS = sorted({p.target for p in all_prompts()})
V = len(TOKENS)
COPY_STATES = 3 * len(NUMBERS)
FIRST_STATES = len(TARGETS) * len(NUMBERS)


def rows(vocabulary: int = V) -> int:
    """S, the number of states when ``vocabulary`` tokens exist."""
    return COPY_STATES + FIRST_STATES + FIRST_STATES * vocabulary


def state(prompt: Prompt, prefix: list[int], vocabulary: int = V) -> int:
    """Row of the table for the next token after ``prefix`` (token ids)."""
    place = len(prefix)
    if place % 2 == 0:
        return (place // 2) * len(NUMBERS) + NUMBERS.index(prompt.numbers[place // 2])
    question = TARGETS.index(prompt.target) * len(NUMBERS) + NUMBERS.index(prompt.numbers[0])
    if place == 1:
        return COPY_STATES + question
    return COPY_STATES + FIRST_STATES + question * vocabulary + prefix[1]


def log_softmax(logits: np.ndarray) -> np.ndarray:
    """Row-wise log-probabilities, shifted by the maximum so that nothing overflows."""
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


class Table:
    """Logits [S, V]; uniform at first."""

    def __init__(self, logits: np.ndarray | None = None, *, tokens: tuple[str, ...] = TOKENS):
        self.tokens = tokens
        self.logits = np.zeros((rows(len(tokens)), len(tokens))) if logits is None else logits  # [S, V]

    def copy(self) -> Table:
        """The same numbers, independent: the old policy, or the reference."""
        return Table(self.logits.copy(), tokens=self.tokens)

    def sample(self, prompt: Prompt, rng: np.random.Generator) -> tuple[list[int], list[int]]:
        """One answer: (states [T], tokens [T])."""
        states, tokens = [], []
        for _ in range(LENGTH):
            states.append(state(prompt, tokens, len(self.tokens)))
            tokens.append(draw_token(self.logits[states[-1]], rng))
        return states, tokens

    def greedy(self, prompt: Prompt) -> tuple[str, ...]:
        """The likeliest token at every place."""
        tokens: list[int] = []
        for _ in range(LENGTH):
            tokens.append(int(self.logits[state(prompt, tokens, len(self.tokens))].argmax()))
        return tuple(self.tokens[t] for t in tokens)

    def log_probs(self, states: np.ndarray, tokens: np.ndarray) -> np.ndarray:
        """log pi(token | state), the shape of ``states``."""
        return log_probs(self.logits, states, tokens)


def draw_token(logits: np.ndarray, rng: np.random.Generator) -> int:
    """One token from a row of logits, by Gumbel's maximum: argmax of logits plus Gumbel noise is a softmax draw."""
    return int((logits - np.log(-np.log(rng.random(logits.shape)))).argmax())


def log_probs(logits: np.ndarray, states: np.ndarray, tokens: np.ndarray) -> np.ndarray:
    """log pi(token | state) of a table of logits, the shape of ``states``."""
    return np.take_along_axis(log_softmax(logits[states]), tokens[..., None], axis=-1)[..., 0]


def gradient(logits: np.ndarray, states: np.ndarray, tokens: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Sum of weights * d log pi(token | state) / d logits: one-hot minus pi, scattered to the states. [S, V]"""
    slopes = -np.exp(log_softmax(logits[states])) * weights[..., None]  # [N, T, V]
    np.put_along_axis(slopes, tokens[..., None], np.take_along_axis(slopes, tokens[..., None], -1) + weights[..., None], -1)
    out = np.zeros_like(logits)
    np.add.at(out, states, slopes)
    return out
