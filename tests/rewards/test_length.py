"""The length forms, against the formulas written out again from the papers, at their edges."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rewards import length
from rlvr_cli.errors import ConfigError
from rlvr_cli.rewards_api import bind, compose, consecutive_groups, score_batch


def ids(*sizes):
    return [list(range(n)) for n in sizes]


def paper(sizes, right):
    """Kimi k1.5, 2.3.3, as it stands there."""
    low, high = min(sizes), max(sizes)
    if low == high:
        return [0] * len(sizes)
    lam = [0.5 - (size - low) / (high - low) for size in sizes]
    return [value if ok else min(0, value) for value, ok in zip(lam, right, strict=True)]


@given(st.lists(st.tuples(st.integers(0, 50), st.booleans()), min_size=1, max_size=9))
@settings(max_examples=200, deadline=None)
def test_kimi_paper_is_the_papers_formula(rows):
    sizes, right = [n for n, _ in rows], [ok for _, ok in rows]
    got = length.kimi_paper(["x"] * len(rows), [7] * len(rows), right, completion_ids=ids(*sizes))
    assert got == pytest.approx(paper(sizes, right))
    assert all(score <= 0 for score, ok in zip(got, right, strict=True) if not ok)


def test_kimi_paper_compares_within_a_group_only():
    groups = ["a", "b", "a", "b"]
    assert length.kimi_paper(["x"] * 4, groups, [1, 1, 1, 0], completion_ids=ids(1, 100, 3, 300)) == [0.5, 0.5, -0.5, -0.5]


def test_kimi_paper_edges():
    assert length.kimi_paper(["x"], [0], [True], completion_ids=ids(5)) == [0.0]  # a group of one
    assert length.kimi_paper(["x", "y"], [0, 0], [True, False], completion_ids=ids(5, 5)) == [0.0, 0.0]  # a tie
    assert length.kimi_paper([], [], []) == []
    # partly right is not right; a row that could not be judged is no measure for the others
    scores = length.kimi_paper(["x"] * 4, [0] * 4, [1.0, 0.5, None, 1.0], completion_ids=ids(10, 10, 99, 20))
    assert scores == [0.5, 0.0, None, -0.5]


@pytest.mark.parametrize(
    ("sizes", "right", "scale", "target", "scores"),
    [
        ((10, 20, 30), (1, 1, 1), 2.0, 15, (2.0, 1.0, 0.0)),
        ((10, 20, 30), (0, 0, 0), 2.0, 10, (0.0, -1.0, -2.0)),
        ((10, 20, 30), (0, 0, 0), 1.0, 20, (0.0, 0.0, -1.0)),
        ((10, 20, 30), (0, 1, 0), 1.0, 30, (0.0, 0.5, 0.0)),  # L_max == L_target: nobody is over it
        ((10, 20, 30), (0, 0, 0), 1.0, 100, (0.0, 0.0, 0.0)),  # all under it: no penalty, whatever the quotient of negatives says
        ((20, 20), (1, 0), 1.0, 10, (0.0, -1.0)),  # a tie over the target
        ((20,), (1,), 1.0, 10, (0.0,)),
        ((20,), (0,), 0.5, 10, (-0.5,)),
    ],
)
def test_kimi_lesson(sizes, right, scale, target, scores):
    got = length.kimi_lesson(["x"] * len(sizes), [0] * len(sizes), list(right), scale=scale, target=target, completion_ids=ids(*sizes))
    assert got == pytest.approx(list(scores))


@given(st.lists(st.tuples(st.integers(0, 50), st.booleans()), min_size=1, max_size=9), st.integers(0, 60))
@settings(max_examples=200, deadline=None)
def test_kimi_lesson_is_bounded_and_monotone(rows, target):
    sizes, right = [n for n, _ in rows], [ok for _, ok in rows]
    got = length.kimi_lesson(["x"] * len(rows), [0] * len(rows), right, scale=1.0, target=target, completion_ids=ids(*sizes))
    assert all((0 <= s <= 1) if ok else (-1 <= s <= 0) for s, ok in zip(got, right, strict=True))
    for (a, ok_a), s in zip(rows, got, strict=True):
        for (b, ok_b), t in zip(rows, got, strict=True):
            assert not (ok_a == ok_b and a < b) or s >= t


def test_lengths_are_tokens_words_or_characters_and_the_reason_says_which():
    groups, right = [0, 0], [1, 1]
    assert "tokens" in length.kimi_paper(["a", "b"], groups, right, completion_ids=ids(2, 4)).verdicts[0].reason
    assert "2 words" in length.kimi_paper(["a bbbbbbbb", "c d e"], groups, right).verdicts[0].reason
    scores = length.kimi_paper(["aaa", "aaaaaa"], groups, right)
    assert scores == [0.5, -0.5] and "3 characters" in scores.verdicts[0].reason
    assert "4 words" in length.kimi_paper(["这是 四 。", "这 是"], groups, right).verdicts[0].reason


def test_groups_cross_the_rank_border_and_the_correct_term_decides():
    terms = bind(
        {
            "terms": {
                "tag": {"fn": "rewards.format.answer_tag", "weight": 0.1},
                "correct": {"fn": "rewards.format.boxed"},
                "length": {"fn": "rewards.length.kimi_paper"},
            }
        }
    )
    completions = ["\\boxed{4}", "\\boxed{4} and on", "no box at all here", "\\boxed{4}"]
    results = score_batch(terms, None, completions, {}, group_id=consecutive_groups(4, 2), extra={"completion_ids": ids(1, 3, 5, 2)})
    assert results["length"].scores == [0.5, -0.5, -0.5, 0.5]
    assert compose(results, terms).total == pytest.approx([1.5, 0.5, -0.5, 1.5])


def test_overlong_is_daposs_three_pieces():
    sizes = (0, 80, 81, 90, 100, 101, 500)
    got = length.overlong(["x"] * 7, max_length=100, cache=20, completion_ids=ids(*sizes))
    assert got == pytest.approx([0.0, 0.0, -0.05, -0.5, -1.0, -1.0, -1.0])
    assert length.overlong(["x"], max_length=100, completion_ids=ids(90)) == [-0.5]  # a fifth by default
    with pytest.raises(ConfigError, match="cache"):
        length.overlong(["x"], max_length=10, cache=20)


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("a b c d e f", 0, 0),
        ("go " * 300, -1.0, -0.98),
        ("", 0, 0),
        ("one two", 0, 0),
        ("好好好好好好", -0.8, -0.7),
        ("The the THE the", -0.5, -0.5),
    ],
)
def test_repetition(text, low, high):
    assert low <= length.repetition([text])[0] <= high


def test_per_word_is_a_tenth_for_ten_words():
    assert length.per_word(["w " * n for n in (0, 10, 25, 100)]) == pytest.approx([0.0, -0.1, -0.25, -1.0])
    assert length.per_word(["w " * 1000], floor=-0.5) == [-0.5]
    assert length.per_word(["w " * 30], free=20) == pytest.approx([-0.1])


@pytest.mark.parametrize(
    ("text", "bonus"),
    [
        ("Step 1: a\nStep 2: b", 0.2),
        ("**Step 1** a\n**Step 2** b", 0.2),
        ("1. a\n2) b", 0.2),
        ("第一步：甲\n第二步：乙", 0.2),
        ("First, a\nThen, b", 0.2),
        ("1. a", 0.0),
        ("3.5\n4.5", 0.0),  # decimals are no list
        ("step by step", 0.0),
        ("", 0.0),
    ],
)
def test_step_bonus(text, bonus):
    assert length.step_bonus([text]) == [bonus]
