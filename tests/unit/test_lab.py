"""What makes GRPO GRPO, pinned: precedence, baseline, clip, k3, length term, and the climb itself."""

import subprocess
import sys
from itertools import permutations, product

import numpy as np
import pytest

from rlvr_cli.commands import lab as command
from rlvr_cli.lab import constants as c
from rlvr_cli.lab.game import NUMBERS, OPERATORS, Prompt, all_prompts, judge, split, value
from rlvr_cli.lab.groups import measure
from rlvr_cli.lab.hack import ECHO, last_number_verifier
from rlvr_cli.lab.learn import learn
from rlvr_cli.lab.objective import advantages, clipped, clipped_slope, k3, k3_slope, length_term
from rlvr_cli.lab.plot import chart, save_png
from rlvr_cli.lab.policy import Table, gradient, log_softmax

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(("order", "operators"), list(product(permutations(NUMBERS), product(OPERATORS, repeat=2))))
def test_precedence_is_pythons(order, operators):
    """The only place where arithmetic is checked against Python's own: 24 fixed expressions written here."""
    a, b, d = order
    both = {("+", "+"): a + b + d, ("+", "*"): a + b * d, ("*", "+"): a * b + d, ("*", "*"): a * b * d}
    assert value(order, operators) == both[operators]


@pytest.mark.parametrize(
    "tokens",
    [
        (), ("2",), ("2", "+", "3", "*"), ("2", "+", "3", "*", "5", "+"), ("+", "2", "3", "*", "5"), ("2", "+", "2", "*", "5"),
        ("3", "+", "2", "*", "5"), ("2", "3", "3", "*", "5"), ("2", "+", "3", "*", "T"), ("5", "*", "3", "+", "2"),
    ],
)  # fmt: skip
def test_ill_formed_text_is_never_right(tokens):
    judged = judge(Prompt((2, 3, 5), 17), tokens)
    assert not judged.right and not judged.well_formed and judged.reward < c.REWARD_FORM


def test_seventeen():
    assert judge(Prompt((2, 3, 5), 17), ("2", "+", "3", "*", "5")).reward == c.REWARD_RIGHT
    assert judge(Prompt((2, 3, 5), 17), ("2", "*", "3", "+", "5")).reward == c.REWARD_FORM


def test_held_out_prompts_are_apart():
    train, held_out = split()
    assert not set(train) & set(held_out) and len(train) + len(held_out) == len(all_prompts()) == 24


def test_advantages_have_zero_mean_and_unit_deviation():
    rewards = RNG.random((50, 8))
    a = advantages(rewards)
    assert np.abs(a.mean(axis=1)).max() < 1e-9 and np.abs(a.std(axis=1, ddof=1) - 1).max() < 1e-2


@pytest.mark.parametrize("reward", [0.0, 1.0, 0.1, 1 / 3, 1e9])
def test_tied_groups_teach_exactly_nothing(reward):
    assert (advantages(np.full((4, 7), reward)) == 0).all()


@pytest.mark.parametrize(
    ("ratio", "advantage", "value", "slope"),
    [
        (10.0, 1.0, 1.2, 0.0),  # far above, good: bounded, no more push up
        (0.01, 1.0, 0.01, 0.01),  # far below, good: still pulled up
        (10.0, -1.0, -10.0, -10.0),  # far above, bad: still pushed down
        (0.01, -1.0, -0.8, 0.0),  # far below, bad: bounded
        (1.0, 1.0, 1.0, 1.0),
        (1.0, 0.0, 0.0, 0.0),
    ],
)
def test_clip_at_extreme_ratios_for_both_signs(ratio, advantage, value, slope):
    r, a = np.array([ratio]), np.array([advantage])
    assert clipped(r, a)[0] == pytest.approx(value) and clipped_slope(r, a)[0] == pytest.approx(slope)


def test_clip_slope_is_the_derivative():
    ratio, a, h = np.exp(RNG.normal(0, 0.5, 200)), RNG.normal(size=200), 1e-6
    numeric = (clipped(ratio * np.exp(h), a) - clipped(ratio * np.exp(-h), a)) / (2 * h)
    assert np.allclose(numeric, clipped_slope(ratio, a), atol=1e-4)


def test_k3_is_never_negative_and_zero_for_equal_policies():
    p, q = RNG.normal(size=1000) - 2, RNG.normal(size=1000) - 2
    assert (k3(p, q) >= 0).all() and (k3(p, p) == 0).all()
    h = 1e-6
    assert np.allclose((k3(p + h, q) - k3(p - h, q)) / (2 * h), k3_slope(p, q), atol=1e-3, rtol=1e-4)


def test_k3_is_unbiased():
    """Its expectation under the policy is KL(policy || reference), here summed exactly over the vocabulary."""
    for _ in range(20):
        p, q = log_softmax(RNG.normal(size=6)), log_softmax(RNG.normal(size=6))
        assert (np.exp(p) * k3(p, q)).sum() == pytest.approx((np.exp(p) * (p - q)).sum(), abs=1e-12)


def test_length_term_orders_right_answers_and_never_pays_wrong_ones():
    lengths = np.array([[10.0, 20, 30, 10, 30], [5, 5, 5, 5, 5]])
    right = np.array([[True, True, True, False, False], [True, False, True, False, True]])
    term = length_term(lengths, right)
    assert term[0].tolist() == [0.5, 0.0, -0.5, 0.0, -0.5] and (term[1] == 0).all()


def test_policy_gradient_is_the_derivative_of_log_prob():
    table = Table(RNG.normal(size=Table().logits.shape))
    states, tokens, weights = RNG.integers(0, 50, (3, 5)), RNG.integers(0, 5, (3, 5)), RNG.normal(size=(3, 5))
    exact, h = gradient(table.logits, states, tokens, weights), 1e-6
    row, column = states[0, 0], tokens[0, 0]
    table.logits[row, column] += h
    up = (weights * table.log_probs(states, tokens)).sum()
    table.logits[row, column] -= 2 * h
    down = (weights * table.log_probs(states, tokens)).sum()
    assert exact[row, column] == pytest.approx((up - down) / (2 * h), abs=1e-6)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_climb(seed):
    history = learn(seed=seed)
    assert history.before == 0 and history.after >= c.CLIMB_FLOOR
    assert history.rows[-1]["violations"] < 0.1 < 0.9 < history.rows[0]["violations"]


def test_same_seed_same_numbers():
    assert learn(seed=3, iterations=5).rows == learn(seed=3, iterations=5).rows


def test_a_last_number_reader_is_fooled():
    text = ("2", "2", "2", "2", ECHO)
    assert last_number_verifier(Prompt((2, 3, 5), 17), text).reward == 1.0 and judge(Prompt((2, 3, 5), 17), text).reward < 0.2


@pytest.mark.parametrize(("size", "rate"), [(2, 0.5), (8, 0.2), (16, 0.05)])
def test_group_size_measured_equals_formula(size, rate):
    m = measure(size, rate)
    assert m.variance == pytest.approx(m.expected_variance, rel=0.05) and m.dead == pytest.approx(m.expected_dead, abs=0.01)


def test_commands_exit_codes_and_words(capsys, tmp_path):
    assert command.run(["hack"]) == 0 and "both failures shown and cured" in capsys.readouterr().out
    assert command.run(["groups"]) == 0 and "dead groups" in capsys.readouterr().out


def test_lab_needs_neither_torch_nor_hydra():
    heavy = "[m for m in ('torch', 'hydra', 'trl') if m in sys.modules]"
    code = f"import sys; from rlvr_cli.main import main; code = main(['lab']); print(code, {heavy})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=55)
    assert done.stdout.splitlines()[-1] == "0 []" and "climbed: greedy solve rate" in done.stdout


def test_picture(tmp_path):
    pytest.importorskip("matplotlib")
    assert save_png(tmp_path / "a.png", {"reward": [0, 0.5, 1]}, "t").read_bytes().startswith(b"\x89PNG")
    assert len(chart(list(np.linspace(0, 1, 500)))) == 8
