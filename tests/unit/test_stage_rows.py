"""What a stage trains on: forms, shares, what falls out and why, and each wrong file in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rlvr_cli.config.schema import Config
from rlvr_cli.data import load
from rlvr_cli.errors import ConfigError, DataError
from rlvr_cli.stages.check import rule
from rlvr_cli.stages.rows import read


def config(**stage: Any) -> Config:
    dataset = {"generator": "arithmetic", "count": 40, "eval_count": 10}
    terms = {"correct": {"fn": "rewards.math.correct"}}
    groups = {"stage": {"kind": "sft", **stage}, "dataset": dataset, "reward": {"terms": terms}, "model": {"path": "x"}}
    return Config.model_validate(groups)


def rows_of(asked: Config) -> Any:
    return read(asked, load(asked.dataset, seed=0))


def write(path: Path, rows: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def answers(n: int, **more: Any) -> list[dict[str, Any]]:
    return [{"prompt": f"say {i}", "completion": str(i), **more} for i in range(n)]


def pairs(n: int) -> list[dict[str, Any]]:
    return [{"prompt": f"say {i}", "chosen": str(i), "rejected": "no"} for i in range(n)]


def test_worked_answers_come_from_the_rows_own_columns() -> None:
    rows = rows_of(config())
    assert len(rows.train) == 40 and len(rows.held) == 10
    text = rows.train[0]["completion"][0]["content"]
    assert text.startswith("<think>") and text.endswith("</answer>")
    assert {m["role"] for row in rows.train for m in row["prompt"]} == {"user"}


def test_a_function_writes_them_and_is_seeded() -> None:
    asked = config(worked="rlvr_cli.data.generate.arithmetic.worked", worked_options={"forget": 0.9})
    first, second = rows_of(asked), rows_of(asked)
    assert first.train == second.train
    assert first.train != rows_of(config(worked="rlvr_cli.data.generate.arithmetic.worked")).train


def test_without_a_worked_column_the_rewards_gold_is_written(tmp_path: Path) -> None:
    asked = config()
    source = write(tmp_path / "rows.jsonl", [{"prompt": f"{i}+1=?", "answer": str(i + 1)} for i in range(20)])
    asked.dataset = asked.dataset.model_copy(update={"generator": None, "train": source})
    rows = rows_of(asked)
    assert len(rows.train) + len(rows.held) == 20
    assert all(row["completion"][0]["content"] for row in rows.train)


def test_held_out_prompts_never_train(tmp_path: Path) -> None:
    asked = config()
    secret = load(asked.dataset, seed=0).eval[0]["prompt"]
    data = write(tmp_path / "a.jsonl", [*answers(30), {"prompt": secret, "completion": "4"}])
    rows = rows_of(config(data=data))
    assert len(rows.train) + len(rows.held) == 30
    assert "dropped 1 row: its prompt is held out by the data set" in rows.notes


def test_samples_of_a_generated_set_leave_something_to_hold_out(tmp_path: Path) -> None:
    """Its training side is cut by the same hash: with that hash again, a reward model had no held-out pair."""
    asked = config()
    asked.dataset = asked.dataset.model_copy(update={"count": 300})
    prompts = [row["prompt"] for row in load(asked.dataset, seed=0).train]
    asked.stage = asked.stage.model_copy(
        update={"data": write(tmp_path / "a.jsonl", [{"prompt": prompt, "completion": "4"} for prompt in prompts])}
    )
    rows = rows_of(asked)
    assert len(rows.held) / len(prompts) == pytest.approx(0.1, abs=0.05)
    assert not {json.dumps(row["prompt"]) for row in rows.held} & {json.dumps(row["prompt"]) for row in rows.train}


@pytest.mark.parametrize("share", [0.1, 0.25, 0.6])
def test_general_rows_are_the_stated_share(tmp_path: Path, share: float) -> None:
    general = write(tmp_path / "g.jsonl", [{"prompt": f"hello {i}", "reply": "hi"} for i in range(7)])
    rows = rows_of(config(general={"data": general, "share": share}))
    assert rows.general / len(rows.train) == pytest.approx(share, abs=0.02)
    assert sum(row["prompt"][0]["content"].startswith("hello") for row in rows.train) == rows.general
    assert any("general rows" in note and "times" in note for note in rows.notes) == (rows.general > 7)


def test_messages_stay_whole_and_general_rows_follow_their_form(tmp_path: Path) -> None:
    chat = [{"messages": [{"role": "user", "content": f"q{i}"}, {"role": "assistant", "content": "a"}]} for i in range(20)]
    general = write(tmp_path / "g.jsonl", answers(5))
    rows = rows_of(config(data=write(tmp_path / "m.jsonl", chat), general={"data": general, "share": 0.2}))
    assert all(list(row) == ["messages"] for row in rows.train)


def test_pairs_that_do_not_differ_fall_out(tmp_path: Path) -> None:
    data = write(tmp_path / "p.jsonl", [*pairs(20), {"prompt": "x", "chosen": "a", "rejected": "a"}])
    rows = read(config(kind="reward_model", data=data), None)
    assert len(rows.train) + len(rows.held) == 20
    assert rows.train[0]["chosen"][0]["role"] == "assistant"
    assert any("chosen and rejected are the same" in note for note in rows.notes)


@pytest.mark.parametrize(
    ("kind", "rows", "says"),
    [
        ("sft", pairs(3), "holds pairs, and stage=sft wants answers"),
        ("dpo", answers(3), "holds answers, and stage=dpo wants pairs"),
        ("reward_model", [{"prompt": "q", "chosen": "a"}], "row 1 has no 'rejected'; it has prompt, chosen"),
        ("sft", [{"question": "q", "completion": "a"}], "row 1 has no 'prompt'"),
        ("sft", answers(4, correct=False), "4 of 4 rows"),
        ("sft", [], "is empty"),
    ],
)
def test_a_wrong_file_is_one_line(tmp_path: Path, kind: str, rows: list[dict[str, Any]], says: str) -> None:
    with pytest.raises(DataError) as caught:
        rows_of(config(kind=kind, data=write(tmp_path / "rows.jsonl", rows)))
    assert says in str(caught.value) and "\n" not in str(caught.value) and caught.value.exit_code == 2


def test_an_absent_file_and_a_wrong_function_are_one_line() -> None:
    with pytest.raises(DataError, match="no file"):
        rows_of(config(data="absent.jsonl"))
    with pytest.raises(DataError, match="cannot be imported"):
        rows_of(config(worked="rlvr_cli.nothing.f"))
    with pytest.raises(DataError, match="'forgot' is not an option"):
        rows_of(config(worked="rlvr_cli.data.generate.arithmetic.worked", worked_options={"forgot": 1}))


@pytest.mark.parametrize(
    ("stage", "says"),
    [
        ({"kind": "dpo"}, "stage.data is empty"),
        ({"kind": "rl", "data": "a.jsonl"}, "stage.kind is rl"),
        ({"loss_type": "ipo"}, "no loss of stage=sft"),
        ({"general": {"share": 0.2}}, "stage.general.data is empty"),
        ({"worked_options": {"forget": 0.5}}, "stage.worked is null"),
        ({"kind": "dpo", "data": "p.jsonl", "general": {"data": "g.jsonl"}}, "only stage=sft"),
        ({"extra": {"packing_stratgy": "bfd"}}, "not a field of SFTConfig"),
        ({"extra": {"learning_rate": 1}}, "has a key of its own"),
    ],
)
def test_rules(stage: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        rule(config(**stage))
    assert says in str(caught.value)


def test_nothing_mixed_in_is_said() -> None:
    assert "nothing is mixed in" in str(rule(config(general={"data": "g.jsonl"})))
    assert rule(config()) is None


def test_a_looser_balance_keeps_more_than_the_rarest_level_has() -> None:
    from rlvr_cli.evaluation.rejection import balanced

    levels = {str(i): 0 if i < 20 else 1 if i < 24 else 2 for i in range(26)}
    records = [{"row_id": name} for name in levels]
    sizes = {ratio: [sum(levels[r["row_id"]] == level for r in kept) for level in (0, 1, 2)]
             for ratio in (1.0, 3.0) for kept in [balanced(records, levels, seed=0, say=str, ratio=ratio)]}  # fmt: skip
    assert sizes == {1.0: [2, 2, 2], 3.0: [6, 4, 2]}


def test_every_wrong_answer_can_stand_against_the_one_right_one() -> None:
    from rlvr_cli.evaluation.rejection import pairs

    def record(i: int, text: str, right: bool) -> dict:
        shared = {"row_id": "a", "prompt": "1+1?", "tokens": 1, "answer": "2", "truncated": False, "unjudged": False}
        return {**shared, "sample": i, "completion": text, "correct": right, "total": float(right)}

    records = [record(i, text, text == "2") for i, text in enumerate(["2", "3", "2", "4", "5", "4"])]
    kept = {n: pairs(records, pick="all", per_prompt=n, seed=0, say=str) for n in (1, 2, 9)}
    assert {n: len(made) for n, made in kept.items()} == {1: 1, 2: 2, 9: 3}, "no pair twice"
    assert {line["chosen"] for line in kept[9]} == {"2"} and {line["rejected"] for line in kept[9]} == {"3", "4", "5"}
    assert pairs(records[:1], pick="all", per_prompt=3, seed=0, say=str) == []
