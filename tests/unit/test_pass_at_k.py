"""pass@k against brute force: the chance over every choice of k draws."""

from __future__ import annotations

from itertools import combinations
from statistics import fmean

import pytest

from rlvr_cli.evaluation.pass_at_k import pass_at_k, pass_at_k_table, powers_of_two


@pytest.mark.parametrize("n", [1, 3, 6, 8])
def test_equals_the_share_of_choices_that_hold_a_right_draw(n):
    for c in range(n + 1):
        draws = [i < c for i in range(n)]
        for k in range(1, n + 1):
            brute = fmean(any(chosen) for chosen in combinations(draws, k))
            assert pass_at_k(n=n, c=c, k=k) == pytest.approx(brute)


def test_pass_at_1_is_the_mean_and_grows_with_k():
    assert pass_at_k(n=16, c=5, k=1) == pytest.approx(5 / 16)
    curve = [pass_at_k(n=16, c=5, k=k) for k in range(1, 17)]
    assert curve == sorted(curve)
    assert curve[-1] == 1.0


def test_large_n_stays_exact():
    assert pass_at_k(n=10_000, c=1, k=5_000) == pytest.approx(0.5)


@pytest.mark.parametrize(("n", "c", "k"), [(4, 5, 1), (4, 1, 5), (4, 1, 0), (4, -1, 1)])
def test_refuses_what_does_not_exist(n, c, k):
    with pytest.raises(ValueError, match="does not exist"):
        pass_at_k(n=n, c=c, k=k)


@pytest.mark.parametrize(("k", "powers"), [(1, [1]), (2, [1, 2]), (8, [1, 2, 4, 8]), (6, [1, 2, 4, 6])])
def test_powers_of_two(k, powers):
    assert powers_of_two(k) == powers


def test_table_has_a_value_and_an_interval_for_each_k():
    table = pass_at_k_table([0, 1, 2, 4, 0, 3], n=4, seed=1)
    assert list(table) == ["1", "2", "4"]
    assert table["1"]["value"] == pytest.approx(10 / 24)
    assert table["4"]["value"] == pytest.approx(4 / 6)
    for entry in table.values():
        low, high = entry["ci95"]
        assert 0 <= low <= entry["value"] <= high <= 1
    assert table == pass_at_k_table([0, 1, 2, 4, 0, 3], n=4, seed=1)
