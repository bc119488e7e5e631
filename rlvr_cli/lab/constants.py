"""Every constant of the mathematics, named once. docs/objective.md ties each symbol to its name here."""

GROUP_SIZE = 16
"""G: completions drawn for one prompt; their mean reward is the baseline."""
CLIP_EPSILON = 0.2
"""epsilon: the ratio's gradient stops outside [1 - epsilon, 1 + epsilon] (PPO, arXiv:1707.06347, equation 7)."""
KL_BETA = 0.005
"""beta: weight of the k3 estimate of KL(policy || reference)."""
ADVANTAGE_EPSILON = 1e-4
"""Added to a group's deviation before dividing; TRL's value. A tied group has numerator 0 exactly, so it stays 0."""
INNER_EPOCHS = 4
"""mu: gradient steps on one batch of completions; from the second on, ratios differ from 1 and the clip matters."""
LEARNING_RATE = 8.0
"""Step size of plain gradient descent on the table of logits; large because the loss is a mean over all tokens."""
ITERATIONS = 150
"""Batches of completions."""
REWARD_RIGHT = 1.0
"""The value is the target and the text is well formed."""
REWARD_FORM = 0.2
"""Well formed, wrong value. Without this step no first signal reaches a uniform policy: one text in 3,125 is right."""
REWARD_PREFIX = 0.1
"""Largest pay for ill-formed text: this much times the share of tokens before the first illegal one."""
LENGTH_CENTRE = 0.5
"""The k1.5 length term gives +0.5 to the shortest and -0.5 to the longest of a group (arXiv:2501.12599, section 2.3.3)."""
SEED = 0
"""Seeds sampling; the lab is exact to the bit for one seed."""
CLIMB_FLOOR = 0.9
"""`rlvr lab` exits 0 only if held-out greedy accuracy ends at or above this."""
HACK_ITERATIONS = 80
"""Batches in each arm of `rlvr lab hack`."""
GAME_ITERATIONS = 200
"""Batches in each arm of the length game: a collapse takes longer than a climb."""
MOST_THOUGHTS = 3
"""Longest thinking, in tokens, of the length game."""
NAIVE_FORM, NAIVE_RIGHT, NAIVE_PER_THOUGHT = 0.5, 0.3, -0.4
"""The naive reward of the length game: pay for form, a little for being right, a fine for each thought, nothing gated."""
THINKING_HABIT = 3.0
"""Logit by which the untrained policy of the length game prefers a thought to each answer."""
CURED_RIGHT, CURED_LENGTH = 1.0, 0.2
"""The cured one: full pay for being right, and the k1.5 length term times this."""
