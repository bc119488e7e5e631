"""Each stage by its real trainer on a random tiny model: what it writes, that it resumes exactly, that its model is usable."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parents[1]))
sys.path.append(str(Path(__file__).parent))

from ranks import freeze, lines
from tiny_run import make_model

pytest.importorskip("trl")
pytestmark = [pytest.mark.real, pytest.mark.timeout(600)]

TRAINER = {"max_steps": 6, "save_steps": 3, "eval_steps": 3, "per_device_train_batch_size": 8}
GENERAL = str(Path(__file__).parents[2] / "data" / "general.jsonl")


def train(config_file: Path) -> int:
    from rlvr_cli.training.worker import main

    return main([str(config_file)])


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_model(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("pairs") / "pairs.jsonl"
    rows = [{"prompt": f"{i}+1=?", "chosen": str(i + 1), "rejected": "x"} for i in range(60)]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(file)


def stage(run_dir: Path, model: Path, **own: Any) -> Path:
    assert train(freeze(run_dir, model, stage=own, trainer=TRAINER)) == 0, (run_dir / "failure.json").read_text()
    return run_dir


@pytest.fixture(scope="module")
def supervised(tmp_path_factory: pytest.TempPathFactory, model: Path) -> Path:
    return stage(tmp_path_factory.mktemp("sft"), model, kind="sft", general={"data": GENERAL, "share": 0.2})


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory, model: Path, pairs: str) -> Path:
    return stage(tmp_path_factory.mktemp("judge"), model, kind="reward_model", data=pairs)


def test_supervised_learns_and_leaves_what_a_run_leaves(supervised: Path) -> None:
    metrics = lines(supervised)
    assert [m["step"] for m in metrics] == list(range(7))
    assert metrics[6]["eval/loss"] < metrics[0]["eval/loss"] and metrics[6]["loss"] < metrics[1]["loss"]
    assert all("eval/accuracy" in metrics[step] for step in (0, 3, 6))
    between = metrics[3]["elapsed_s"] - metrics[2]["elapsed_s"]
    assert metrics[3]["step_time"] + metrics[3]["eval/seconds"] <= between + 0.1, "a step's seconds are not those of an evaluation"
    for name in ("final", "last", "checkpoints/step_3", "checkpoints/step_6"):
        assert (supervised / name / "model.safetensors").is_file() and (supervised / name / "metrics.json").is_file()
    assert json.loads((supervised / "final" / "metrics.json").read_text())["step"] == 6, "final/ is the last, not the best"
    told = json.loads((supervised / "training.json").read_text())
    assert told["general_rows"] / told["rows"] == pytest.approx(0.2, abs=0.02)


def test_the_loss_is_on_completions_only(model: Path, tmp_path: Path) -> None:
    """The prompts are all alike and the completions empty but for the end: with the prompts in the loss it could not be this low."""
    data = tmp_path / "same.jsonl"
    data.write_text("".join(json.dumps({"prompt": f"{i * 7919 % 997}?", "completion": "a"}) + "\n" for i in range(200)))
    own = {"kind": "sft", "data": str(data), "eval_share": 0.2}
    file = freeze(tmp_path / "run", model, stage=own, trainer={**TRAINER, "max_steps": 30}, optimizer={"learning_rate": 1e-2})
    assert train(file) == 0, (tmp_path / "run" / "failure.json").read_text()
    assert lines(tmp_path / "run")[-1]["eval/loss"] < 0.2, "random three-digit prompts alone cost more than a nat a token"


def test_a_resumed_stage_is_the_uninterrupted_one(supervised: Path, model: Path, tmp_path: Path) -> None:
    shutil.copytree(supervised, tmp_path / "run")
    shutil.rmtree(tmp_path / "run" / "checkpoints" / "step_6")
    stage(tmp_path / "run", model, kind="sft", general={"data": GENERAL, "share": 0.2})
    again, before = ([(m["step"], m.get("loss"), m.get("eval/loss")) for m in lines(run)] for run in (tmp_path / "run", supervised))
    assert again == before


def test_a_stage_killed_after_its_last_checkpoint_only_ends(supervised: Path, model: Path, tmp_path: Path) -> None:
    shutil.copytree(supervised, tmp_path / "run")
    shutil.rmtree(tmp_path / "run" / "final")
    stage(tmp_path / "run", model, kind="sft", general={"data": GENERAL, "share": 0.2})
    assert lines(tmp_path / "run") == lines(supervised)
    told = [json.loads((run / "final" / "metrics.json").read_text()) for run in (supervised, tmp_path / "run")]
    assert told[1] == told[0] and told[0]["step"] == 6 and "eval/loss" in told[0]


def test_preferences_are_learnt(model: Path, pairs: str, tmp_path: Path) -> None:
    metrics = lines(stage(tmp_path / "dpo", model, kind="dpo", data=pairs))
    assert metrics[1]["loss"] == pytest.approx(0.6931, abs=1e-3), "the policy starts as its own reference"
    assert metrics[6]["loss"] < 0.5 and metrics[6]["eval/pair_accuracy"] == 1.0
    assert "eval/accuracy" in metrics[6]


def test_a_reward_model_is_a_term(judge: Path) -> None:
    from rlvr_cli.rewards_api import bind, compose, score_batch

    assert lines(judge)[-1]["eval/pair_accuracy"] == 1.0
    assert json.loads((judge / "final" / "metrics.json").read_text())["eval/pair_accuracy"] == 1.0
    liked = {"fn": "rewards.hybrid.reward_model", "when": {"kind": "chat"}, "options": {"model": str(judge / "final")}}
    terms = bind({"terms": {"correct": {"fn": "rewards.math.correct", "when": {"kind": "math"}}, "liked": liked}})
    columns = {"kind": ["chat", "chat", "math"], "answer": [None, None, "4"]}
    prompts = [[{"role": "user", "content": "3+1=?"}]] * 3
    completions = [[{"role": "assistant", "content": text}] for text in ("4", "x", "4")]
    results = score_batch(terms, prompts, completions, columns)
    totals = compose(results, terms).total
    assert totals[0] > totals[1] and totals[2] == 1.0


def test_the_reward_model_reads_what_the_trainer_taught(judge: Path, pairs: str) -> None:
    """The term's text of a conversation and the trainer's tokens of it are the same."""
    from transformers import AutoTokenizer

    from rlvr_cli.stages.rows import as_pair
    from rlvr_cli.verifiers.hybrid import pair_text

    tokenizer = AutoTokenizer.from_pretrained(judge / "final")
    row = as_pair(json.loads(Path(pairs).read_text().splitlines()[0]), None)
    trained = tokenizer.apply_chat_template([*row["prompt"], *row["chosen"]], tokenize=True, return_dict=True)["input_ids"]
    assert tokenizer(pair_text(tokenizer, row["prompt"], row["chosen"]))["input_ids"] == trained


def test_mistakes_stop_before_the_model(model: Path, pairs: str, tmp_path: Path) -> None:
    file = freeze(tmp_path / "run", tmp_path / "no-model-here", stage={"kind": "sft", "data": pairs}, trainer=TRAINER)
    assert train(file) == 2
    assert "holds pairs" in (tmp_path / "run" / "failure.json").read_text()
