"""Intervals against published values, exact enumeration and simulation."""

from __future__ import annotations

import itertools
import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlvr_cli.evaluation import intervals


@pytest.mark.parametrize(
    ("right", "n", "low", "high"),
    [
        (15, 148, 0.0624, 0.1605),  # Newcombe 1998, table I, method 3
        (81, 263, 0.2553, 0.3662),
        (1, 29, 0.0061, 0.1718),
        (0, 20, 0.0, 0.1611),
        (20, 20, 0.8389, 1.0),
    ],
)
def test_wilson_agrees_with_newcombes_table(right, n, low, high):
    got = intervals.wilson(right, n)
    assert got == pytest.approx((low, high), abs=1e-4)


def test_wilson_of_nothing_knows_nothing():
    assert intervals.wilson(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize(("right", "n"), [(-1, 5), (6, 5)])
def test_wilson_refuses_what_is_no_share(right, n):
    with pytest.raises(ValueError, match="no share"):
        intervals.wilson(right, n)


@given(st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_holds_the_share_and_mirrors(pair):
    right, n = pair
    low, high = intervals.wilson(right, n)
    assert 0 <= low <= right / n <= high <= 1
    assert intervals.wilson(n - right, n) == pytest.approx((1 - high, 1 - low))


def test_wilson_covers_the_truth_about_as_often_as_it_says():
    rng = random.Random(0)
    for share in (0.05, 0.5, 0.9):
        hits = 0
        for _ in range(1500):
            low, high = intervals.wilson(sum(rng.random() < share for _ in range(60)), 60)
            hits += low <= share <= high
        assert 0.92 < hits / 1500 < 0.985


def test_bootstrap_is_seeded_and_narrows_with_n():
    values = [0.0, 0.25, 1.0, 0.5] * 10
    assert intervals.bootstrap(values, seed=3) == intervals.bootstrap(values, seed=3)
    wide = intervals.bootstrap(values)
    narrow = intervals.bootstrap(values * 16)
    assert narrow[1] - narrow[0] < 0.4 * (wide[1] - wide[0])
    assert wide[0] <= sum(values) / len(values) <= wide[1]


def test_equal_values_do_not_claim_certainty():
    low, high = intervals.share_or_bootstrap([1.0] * 12)
    assert low < 0.8
    assert high == 1.0
    low, high = intervals.share_or_bootstrap([0.5] * 12)
    assert low < 0.5 < high


@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_binomial_p_is_the_sum_over_all_outcomes_as_extreme(n):
    for hits in range(n + 1):
        extreme = abs(hits - n / 2)
        total = sum(abs(sum(flips) - n / 2) >= extreme for flips in itertools.product((0, 1), repeat=n)) / 2**n
        assert intervals.binomial_two_sided(hits, n) == pytest.approx(total)


def test_mcnemar_known_values_and_symmetry():
    assert intervals.mcnemar_exact(0, 0) == 1.0
    assert intervals.mcnemar_exact(5, 5) == 1.0
    assert intervals.mcnemar_exact(1, 9) == pytest.approx(22 / 1024)
    assert intervals.mcnemar_exact(9, 1) == intervals.mcnemar_exact(1, 9)
    assert intervals.mcnemar_exact(0, 3000) < 1e-300 or intervals.mcnemar_exact(0, 3000) == 0.0
    assert math.isfinite(intervals.mcnemar_exact(1400, 1600))


def test_paired_difference_covers_and_keeps_its_bounds():
    assert intervals.paired_difference(0, 0, 0) == (0.0, -1.0, 1.0)
    diff, low, high = intervals.paired_difference(0, 0, 50)
    assert diff == 0.0
    assert low < 0 < high
    diff, low, high = intervals.paired_difference(0, 50, 50)
    assert diff == 1.0
    assert high == 1.0
    assert low > 0.8
    rng = random.Random(1)
    hits = 0
    for _ in range(1500):
        outcomes = [rng.random() for _ in range(80)]
        lost, gained = sum(o < 0.1 for o in outcomes), sum(0.1 <= o < 0.3 for o in outcomes)
        _, low, high = intervals.paired_difference(lost, gained, 80)
        hits += low <= 0.1 <= high
    assert 0.92 < hits / 1500 < 0.985


def test_points_reads_well():
    assert intervals.points(0.415, (0.349, 0.484), 200) == "41.5% [34.9, 48.4], n=200"
