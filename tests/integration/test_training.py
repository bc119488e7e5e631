"""One rank, the real trainer: what it writes, that a resumed run is the uninterrupted one, that the tiny model learns."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1]))
sys.path.append(str(Path(__file__).parent))

from ranks import freeze, lines
from tiny_run import make_model

pytestmark = [pytest.mark.real, pytest.mark.timeout(600)]


def train(config_file: Path) -> int:
    from rlvr_cli.training.worker import main

    return main([str(config_file)])


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_model(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, model: Path) -> Path:
    run_dir = tmp_path_factory.mktemp("whole")
    assert train(freeze(run_dir, model)) == 0, (run_dir / "failure.json").read_text()
    return run_dir


def test_a_run_explains_itself(whole: Path) -> None:
    metrics, samples = lines(whole), lines(whole, "samples.jsonl")
    assert [m["step"] for m in metrics] == list(range(9))
    timed = {"step_time", "generation_s", "reward_s", "training_s", "tokens_per_s"}
    assert timed | {"reward", "rewards/right/mean", "frac_reward_zero_std"} <= set(metrics[1])
    assert all("eval/accuracy" in metrics[step] for step in (0, 4, 8))
    assert len(samples) == 8 * 16
    assert {"step", "prompt", "completion", "answer", "scores", "reasons", "extracted", "advantage"} <= set(samples[0])
    assert {s["step"] for s in samples} == set(range(1, 9))
    for name in ("final", "last", "checkpoints/step_6", "checkpoints/step_8"):
        assert (whole / name / "model.safetensors").is_file() and (whole / name / "metrics.json").is_file()
    assert not list(whole.glob(".*.part")) and not list((whole / "checkpoints").glob("checkpoint-*"))


def test_the_reward_that_is_logged_is_the_mean_of_the_samples(whole: Path) -> None:
    samples = lines(whole, "samples.jsonl")
    for m in lines(whole)[1:]:
        scores = [s["scores"]["right"] for s in samples if s["step"] == m["step"]]
        assert m["rewards/right/mean"] == pytest.approx(sum(scores) / len(scores))


def test_a_resumed_run_continues_the_uninterrupted_one_exactly(whole: Path, model: Path, tmp_path: Path) -> None:
    shutil.copytree(whole, tmp_path / "run")
    for late in ("step_6", "step_8"):
        shutil.rmtree(tmp_path / "run" / "checkpoints" / late)
    assert train(freeze(tmp_path / "run", model)) == 0
    again, before = lines(tmp_path / "run"), lines(whole)
    assert [m["step"] for m in again] == [m["step"] for m in before]
    for a, b in zip(again, before, strict=True):
        assert (a.get("loss"), a.get("grad_norm"), a.get("reward")) == (b.get("loss"), b.get("grad_norm"), b.get("reward"))
    assert [s["completion"] for s in lines(tmp_path / "run", "samples.jsonl")] == [s["completion"] for s in lines(whole, "samples.jsonl")]


def test_a_run_killed_after_its_last_checkpoint_only_ends(whole: Path, model: Path, tmp_path: Path) -> None:
    shutil.copytree(whole, tmp_path / "run")
    for name in ("final", "last"):
        shutil.rmtree(tmp_path / "run" / name)
    assert train(freeze(tmp_path / "run", model)) == 0
    assert lines(tmp_path / "run") == lines(whole), "no step more, no line twice"
    for name in ("last", "final"):
        assert json.loads((tmp_path / "run" / name / "metrics.json").read_text())["eval/accuracy"] is not None
    weights = [(run / "last" / "model.safetensors").read_bytes() for run in (whole, tmp_path / "run")]
    assert weights[0] == weights[1]


def test_too_few_prompts_for_one_generation_is_an_error_not_a_run_of_no_steps(model: Path, tmp_path: Path) -> None:
    assert train(freeze(tmp_path, model, dataset={"count": 3})) == 2
    assert "3 training prompts" in (tmp_path / "failure.json").read_text()


def test_lora_trains_on_cpu_and_qlora_is_refused(model: Path, tmp_path: Path) -> None:
    short = {"max_steps": 2, "save_steps": 0, "eval_steps": 0}
    lora = freeze(tmp_path / "lora", model, peft={"kind": "lora", "r": 4}, trainer={"per_device_train_batch_size": 16, **short})
    assert train(lora) == 0, (tmp_path / "lora" / "failure.json").read_text()
    assert (tmp_path / "lora" / "final" / "adapter_model.safetensors").is_file()
    assert train(freeze(tmp_path / "qlora", model, peft={"kind": "qlora"})) == 2
    assert "4-bit weights need a GPU" in (tmp_path / "qlora" / "failure.json").read_text()


def test_the_tiny_model_learns(tmp_path: Path) -> None:
    """The demo's learning on one seed, shortened: a decay over 25 steps instead of 150."""
    file = freeze(
        tmp_path,
        tmp_path,
        model={"path": "", "builder": "rlvr_cli.models.tiny.build"},
        dataset={"count": 4000, "eval_count": 500},
        reward={"terms": {"correct": {"fn": "rewards.math.correct"}}},
        algorithm={"num_generations": 8},
        generation={"max_completion_length": 32},
        optimizer={"learning_rate": 4e-4},
        trainer={"max_steps": 25, "per_device_train_batch_size": 128, "save_steps": 0, "eval_steps": 0, "per_device_eval_batch_size": 250},
    )
    assert train(file) == 0, (tmp_path / "failure.json").read_text()
    metrics = lines(tmp_path)
    before, after = metrics[0]["eval/accuracy"], metrics[-1]["eval/accuracy"]
    assert 0.30 <= before <= 0.50 and after >= before + 0.2, (before, after)
