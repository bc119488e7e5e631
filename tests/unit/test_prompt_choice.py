"""Which prompts are asked: the schedule by difficulty, the band of pass rates, replay, refills; always the same on every rank."""

from __future__ import annotations

import json

import numpy as np
import pytest

from rlvr_cli.config.checks import check
from rlvr_cli.config.compose import compose
from rlvr_cli.config.schema import Curriculum
from rlvr_cli.errors import ConfigError
from rlvr_cli.training.curriculum import by_difficulty, levels_of, prior_of
from rlvr_cli.training.prompt_choice import PromptChoice
from rlvr_cli.training.prompt_table import PromptTable

LEVELS = np.repeat([0, 1, 2, 3], 25)


def choice(kind: str = "pass_rate", size: int = 100, **settings) -> PromptChoice:
    levels = LEVELS if kind == "difficulty" else None
    return PromptChoice(size, Curriculum(kind=kind, **settings), seed=3, levels=levels)


def run(made: PromptChoice, steps: int, prompts: int = 8, solved=lambda row: row % 5, begin: int = 0) -> list[list[int]]:
    """Choose and observe: ``solved(row)`` of 4 completions are right."""
    asked = []
    for step in range(begin, begin + steps):
        rows = made.choose(list(range(prompts)), step=step, max_steps=40)
        made.table.observe(rows, [solved(row) for row in rows], [4] * len(rows), step)
        asked.append(rows)
    return asked


# ---------------------------------------------------------------------------------------------- difficulty


def test_the_levels_open_in_order_and_the_newest_gets_its_share() -> None:
    asked = run(choice("difficulty", focus=0.75, until=0.6), 40)
    of = [LEVELS[rows].tolist() for rows in asked]
    assert set(of[0]) == {0}, "only the easiest at first"
    opened = {level: next(step for step, levels in enumerate(of) if level in levels) for level in range(4)}
    assert opened == {0: 0, 1: 8, 2: 16, 3: 24}, "level k opens at until * k / (L - 1) of the run"
    assert all(levels.count(1) == 6 for levels in of[8:16]), "three quarters of a batch of 8"
    assert {level for levels in of[24:] for level in levels} == {0, 1, 2, 3}


def test_until_zero_opens_everything_at_once_and_one_level_is_no_schedule() -> None:
    (rows, share), = by_difficulty(Curriculum(kind="difficulty", until=0.0), LEVELS, 0.0)  # fmt: skip
    assert len(rows) == 100 and share == 1
    assert sum(len(rows) for rows, _ in by_difficulty(Curriculum(kind="difficulty"), np.zeros(9, dtype=int), 0.0)) == 9


def test_levels_come_from_numbers_names_or_cuts() -> None:
    rows = [{"difficulty": d} for d in (5, 1, 3, 3)]
    assert levels_of(rows, Curriculum(kind="difficulty")).tolist() == [2, 0, 1, 1]
    assert levels_of(rows, Curriculum(kind="difficulty", levels=2)).max() == 1
    named = [{"level": name} for name in ("hard", "easy")]
    assert levels_of(named, Curriculum(kind="difficulty", column="level", order=["easy", "hard"])).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("rows", "settings", "says"),
    [
        ([{"x": 1}], {}, "1 of 1 training rows have no 'difficulty'"),
        ([{"difficulty": "easy"}], {}, "holds text such as 'easy'"),
        ([{"difficulty": "odd"}], {"order": ["easy"]}, "leaves out 'odd'"),
    ],
)
def test_a_column_that_is_not_as_asked_is_one_line(rows: list, settings: dict, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        levels_of(rows, Curriculum(kind="difficulty", **settings))


# ---------------------------------------------------------------------------------------------- pass rates


def test_solved_and_hopeless_prompts_rest_and_come_back() -> None:
    made = choice(size=40, rest_steps=10)
    asked = run(made, 30, solved=lambda row: {0: 0, 1: 4}.get(row % 4, 2))  # a quarter hopeless, a quarter solved, half in the band
    seen = {row: [step for step, rows in enumerate(asked) if row in rows] for row in range(40)}
    for row in range(40):
        gaps = np.diff(seen[row])
        if row % 4 in (0, 1):
            assert len(gaps) and gaps.min() >= 10, "rested, then asked again"
        else:
            assert gaps.min() < 10, "the band is drawn again and again"


def test_a_prompt_that_becomes_solvable_joins_the_band_again() -> None:
    made = choice(size=16, rest_steps=3)
    run(made, 6, solved=lambda row: 0)
    assert made.measured()["hopeless"] == 1
    run(made, 20, solved=lambda row: 2, begin=6)
    assert made.measured()["hopeless"] == 0


def test_rates_known_before_the_run_count_at_once() -> None:
    made = PromptChoice(4, Curriculum(kind="pass_rate", explore=0.01), seed=0, prior=[0.0, 1.0, 0.5, None])
    assert made.table.rates()[:3].tolist() == [0.0, 1.0, 0.5] and np.isnan(made.table.rates()[3])
    assert made.choose([0], step=0, max_steps=9) == [2], "the only one in the band"
    with pytest.raises(ConfigError, match="no training row has the column 'pass_rate'"):
        prior_of([{"a": 1}], "pass_rate")
    with pytest.raises(ConfigError, match="holds 40, which is no share"):
        prior_of([{"pass_rate": 40}], "pass_rate")


def test_older_groups_fade() -> None:
    table = PromptTable(1)
    table.observe([0], [0], [8], 0)
    table.observe([0], [8], [8], 1)
    assert table.rates()[0] == pytest.approx(8 / 12)
    table.observe([0], [0], [0], 2)
    assert table.rates()[0] == pytest.approx(8 / 12) and table.last[0] == 2, "a group nobody could judge says nothing"


# ---------------------------------------------------------------------------------------------- replay


def test_hard_prompts_come_back_after_the_gap_within_their_share_and_not_for_ever() -> None:
    made = choice("none", size=100, replay={"share": 0.25, "below": 0.3, "gap_steps": 3, "times": 2})
    asked = []
    for step in range(24):
        rows = made.choose([step * 4 % 100 + i for i in range(4)], step=step, max_steps=40)
        made.table.observe(rows, [1 if row == 1 else 0 if row % 2 else 4 for row in rows], [4] * 4, step)
        asked.append(rows)
    assert [step for step, rows in enumerate(asked) if 1 in rows] == [0, 3, 6], "rate 0.25: twice more, three steps apart"
    assert all(len(set(rows)) == 4 for rows in asked)
    others = [row for rows in asked for row in rows if row != 1]
    assert len(others) == len(set(others)), "solved (rate 1) and hopeless (rate 0) prompts are not replayed"


def test_replay_never_takes_more_than_its_share() -> None:
    made = choice("none", size=64, replay={"share": 0.5, "below": 0.9, "gap_steps": 1, "times": 99})
    for step in range(8):
        proposed = [step * 8 + i for i in range(8)]
        rows = made.choose(proposed, step=step, max_steps=40)
        made.table.observe(rows, [1] * 8, [4] * 8, step)
        assert len(set(rows) - set(proposed)) <= 4 and len(rows) == 8


# ---------------------------------------------------------------------------------------------- the same everywhere


@pytest.mark.parametrize("kind", ["none", "difficulty", "pass_rate"])
def test_ranks_agree_and_a_resumed_run_goes_on_as_the_whole_one(kind: str) -> None:
    settings = {"rest_steps": 4, "replay": {"share": 0.25, "below": 0.5, "gap_steps": 2}}
    whole = run(choice(kind, **settings), 20)
    assert run(choice(kind, **settings), 20) == whole, "no state outside, so every rank does the same"
    first, second = choice(kind, **settings), choice(kind, **settings)
    run(first, 11)
    second.table.load(json.loads(json.dumps(first.table.state())))
    assert run(second, 9, begin=11) == whole[11:]


def test_a_refill_asks_prompts_that_the_step_has_not_asked_until_none_is_left() -> None:
    made = choice("none", size=12)
    for step in range(2):  # the second generation starts anew
        proposed = [0, 1, 2, 3]
        made.began(proposed)
        further = made.further(5, step=step, max_steps=9) + made.further(5, step=step, max_steps=9)
        assert sorted(proposed + further) == list(range(12)), "the last refill got the three that were left"
        assert made.further(1, step=step, max_steps=9) == []


def test_a_batch_is_always_full_even_when_every_prompt_rests() -> None:
    made = choice(size=8, rest_steps=1000)
    assert all(len(rows) == 8 for rows in run(made, 5, solved=lambda row: 0))
    small = choice(size=3)
    assert len(small.choose([0, 1, 2, 0, 1], step=0, max_steps=9)) == 5


# ---------------------------------------------------------------------------------------------- settings


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["curriculum=pass_rate", "curriculum.low=0.9", "curriculum.high=0.5"], "no pass rate is kept"),
        (["curriculum.levels=4"], "read by curriculum.kind=difficulty only"),
        (["algorithm.dynamic_sampling.oversample=2"], "does nothing while max_rounds is 0"),
        (["algorithm.dynamic_sampling.max_rounds=2", "environment.fn=a.B"], "after environment.fn was reset"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(words: list[str], says: str, here) -> None:
    with pytest.raises(ConfigError, match=says):
        check(compose(words, rules=False).config)


def test_a_wrong_kind_and_a_wrong_key_name_the_nearest(here) -> None:
    with pytest.raises(ConfigError, match="pass_rate"):
        compose(["curriculum.kind=pas_rate"])
    with pytest.raises(ConfigError, match=r"curriculum\.rest_steps"):
        compose(["curriculum.rest_step=3"])


def test_coarse_groups_get_a_word(here) -> None:
    config = compose(["curriculum=pass_rate", "algorithm.num_generations=4"], rules=False).config
    assert any("lowest pass rate above 0 is 0.25" in said for said in check(config))
