"""The matrix that TRL gets: weights not counted twice, rows that could not be judged out in every column, broken rewards named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rlvr_cli import rewards_api
from rlvr_cli.errors import RewardError, TrainingError
from rlvr_cli.training.rewards_bridge import RewardBridge

FUNCTIONS = """
def right(completions, answer, **kw):
    return [None if a is None else float(c == a) for c, a in zip(completions, answer)]
def short(completions, **kw):
    return [1.0 if len(c) < 3 else 0.0 for c in completions]
def ranked(completions, group_id, correct, **kw):
    return [float(g) + (c or 0.0) / 10 for g, c in zip(group_id, correct)]
def broken(completions, **kw):
    raise KeyError("oops")
"""


@pytest.fixture
def bridge(tmp_path: Path):
    (tmp_path / "mine.py").write_text(FUNCTIONS)

    def make(stop: float = 0.5, **terms: dict) -> RewardBridge:
        settings = {name: {"fn": f"mine.py:{name}", **term} for name, term in terms.items()}
        return RewardBridge(rewards_api.bind({"terms": settings}, ["answer"], search=tmp_path), unjudged_stop_share=stop)

    return make


def score(made: RewardBridge, completions: list[str], answers: list[str | None], groups: int = 2):
    rows = [{"prompt": "q", "answer": a} for a in answers]
    return made.score(rows, ["q"] * len(rows), completions, groups, {"completion_ids": [[1]] * len(rows)})


def test_columns_hold_unweighted_scores_so_that_trls_weights_make_the_total(bridge) -> None:
    made = bridge(right={"weight": 2.0}, short={"weight": 0.5})
    scored = score(made, ["4", "long"], ["4", "4"])
    assert scored.matrix.tolist() == [[1.0, 1.0], [0.0, 0.0]]
    assert scored.matrix.dtype == np.float32
    assert scored.term_means() == {"right": 0.5, "short": 0.5}


def test_a_row_that_could_not_be_judged_is_nan_in_every_column_and_counted_by_reason(bridge) -> None:
    scored = score(bridge(right={}, short={}), ["4", "4"], ["4", None])
    assert scored.matrix[0].tolist() == [1.0, 1.0] and np.isnan(scored.matrix[1]).all()
    assert scored.left_out == 1 and sum(scored.unjudged.values()) == 1 and "right" in next(iter(scored.unjudged))
    assert scored.term_means()["right"] == 1.0


def test_too_many_unjudged_rows_stop_the_run(bridge) -> None:
    with pytest.raises(TrainingError, match="2 of 2 completions could not be judged"):
        score(bridge(stop=0.5, right={}), ["4", "4"], [None, None])


def test_group_terms_see_whole_groups_and_what_was_right(bridge) -> None:
    scored = score(bridge(right={}, ranked={"correct": "right"}), ["4", "5", "4", "4"], ["4"] * 4)
    assert scored.matrix[:, 1].tolist() == pytest.approx([0.1, 0.0, 1.1, 1.1])


def test_a_gate_that_is_shut_adds_nothing(bridge) -> None:
    scored = score(bridge(right={}, short={"gate": "right"}), ["4", "5"], ["4", "4"])
    assert scored.matrix[:, 1].tolist() == [1.0, 0.0]


def test_a_reward_that_raises_is_one_named_line(bridge) -> None:
    with pytest.raises(RewardError, match="broken"):
        score(bridge(broken={}), ["4"], ["4"])


def test_functions_carry_the_terms_names(bridge) -> None:
    made = bridge(right={}, short={})
    assert [f.__name__ for f in made.functions()] == ["right", "short"]
    assert made.functions()[0](["q"], ["4"], answer=["4"]) == [1.0]


def test_the_pools_work_reaches_the_metrics() -> None:
    """Nothing for a run that never used it; counts and the cache's hit rate after a verdict."""
    from rlvr_cli.training.callbacks.record import pool_counts
    from rlvr_cli.verifiers.pool import pay_pooled

    before = pool_counts().get("pool/judged", 0)
    pay_pooled("rlvr_cli.verifiers.json_schema:judge", ["1"], [{"schema": '{"type": "integer"}'}])
    after = pool_counts()
    assert set(after) == {"pool/judged", "pool/timeouts", "pool/restarts", "pool/cache_hit_rate"}
    assert after["pool/judged"] > before or after["pool/cache_hit_rate"] > 0
