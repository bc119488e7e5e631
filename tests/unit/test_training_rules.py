"""What training refuses, and the small parts that a whole run rests on: order of prompts, records, kept models, failures."""

from __future__ import annotations

import json
import math
from pathlib import Path
from types import SimpleNamespace

import pytest

from rlvr_cli.config.schema import Config
from rlvr_cli.errors import ConfigError, RunDirError, TrainingError
from rlvr_cli.training import failure, grpo_config, records, resume
from rlvr_cli.training.callbacks import guard, keep


def config(**groups: dict) -> Config:
    base = {"hardware": {"device": "cpu"}, "generation": {"backend": "hf"}, "trainer": {"bf16": False}}
    for name, values in groups.items():
        base[name] = {**base.get(name, {}), **values}
    return Config.model_validate(base)


@pytest.mark.parametrize(
    ("groups", "says"),
    [
        ({"algorithm": {"loss_type": "cispo"}}, "epsilon_high"),
        ({"algorithm": {"loss_type": "cispo", "epsilon_high": 0.28}}, "epsilon_high"),
        ({"algorithm": {"sync_ref_model": True}}, "beta"),
        ({"generation": {"backend": "vllm_server", "top_p": 0.9}}, "top_p"),
        ({"generation": {"backend": "vllm_server", "top_k": 20}}, "top_k"),
        ({"generation": {"backend": "vllm_server", "min_p": 0.1}}, "min_p"),
        (
            {"algorithm": {"loss_type": "vespo"}, "generation": {"backend": "vllm_server", "importance_sampling_mode": "sequence_mask"}},
            "token",
        ),
    ],
)
def test_settings_that_trl_takes_and_trains_wrongly_are_refused(groups: dict, says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        grpo_config.refuse_silent_traps(config(**groups))
    assert says in str(caught.value) and caught.value.fix


@pytest.mark.parametrize(
    "groups",
    [
        {"algorithm": {"loss_type": "cispo", "epsilon_high": 5.0}},
        {"generation": {"backend": "hf", "top_p": 0.9}},
        {"generation": {"backend": "vllm_server", "top_p": 0.9, "importance_sampling_correction": False}},
    ],
)
def test_the_right_form_of_the_same_settings_passes(groups: dict) -> None:
    grpo_config.refuse_silent_traps(config(**groups))


def test_half_precision_weights_need_deepspeeds_masters() -> None:
    with pytest.raises(ConfigError, match="lose updates"):
        grpo_config.weights_dtype(config(model={"dtype": "bfloat16"}))
    assert grpo_config.weights_dtype(config(model={"dtype": "bfloat16"}, peft={"kind": "lora"})) == "bfloat16"
    sharded = config(model={"dtype": "auto"}, hardware={"zero_stage": 2}, trainer={"bf16": True})
    assert grpo_config.weights_dtype(sharded) == "bfloat16"
    assert grpo_config.weights_dtype(config()) == "float32"


def test_every_algorithm_field_is_trls_own(tmp_path: Path) -> None:
    """The schema copies names: each must exist in GRPOConfig, and arrive there."""
    made = grpo_config.make(config(algorithm={"beta": 0.02, "epsilon_high": 0.28, "extra": {"log_unique_prompts": True}}), tmp_path)
    assert (made.beta, made.epsilon_high, made.log_unique_prompts) == (0.02, 0.28, True)
    assert made.logging_nan_inf_filter is False and made.remove_unused_columns is False and made.use_cpu


def test_what_trl_refuses_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="TRL refuses"):
        grpo_config.make(config(algorithm={"num_generations": 7}), tmp_path)


def test_prompt_order_after_a_resume_is_the_uninterrupted_one() -> None:
    from rlvr_cli.training.sampler import EpochRepeatSampler

    at = {"epoch": 0}
    settings = {"mini_repeat_count": 2, "batch_size": 2, "repeat_count": 2, "seed": 3}
    whole = EpochRepeatSampler([None] * 7, epoch=lambda: at["epoch"], **settings)
    seen = []
    for epoch in range(3):
        at["epoch"] = epoch
        seen.append(list(whole))
    for epoch in range(3):
        assert list(EpochRepeatSampler([None] * 7, epoch=lambda e=epoch: e, **settings)) == seen[epoch]
    assert len({tuple(order) for order in seen}) == 3
    assert all(len(order) == 6 * 2 * 2 for order in seen)


def test_records_are_cut_back_to_the_resumed_step_and_torn_lines_go(tmp_path: Path) -> None:
    file = tmp_path / records.METRICS
    records.append(file, [{"step": s, "loss": float("nan") if s == 2 else 0.5} for s in range(5)], sync=True)
    with file.open("ab") as torn:
        torn.write(b'{"step": 5, "lo')
    assert records.cut_back(file, 2) == 3
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [line["step"] for line in lines] == [0, 1, 2] and lines[2]["loss"] is None
    assert records.cut_back(file, 2) == 0 and records.cut_back(tmp_path / "none", 2) == 0


def checkpoint(folder: Path, step: int, **facts: object) -> Path:
    made = folder / "checkpoints" / f"step_{step}"
    made.mkdir(parents=True)
    (made / "trainer_state.json").write_text("{}")
    (made / "metrics.json").write_text(json.dumps({"step": step, **facts}))
    return made


def test_rotation_spares_the_best_and_ignores_strangers(tmp_path: Path) -> None:
    for step in (10, 20, 100, 30):
        checkpoint(tmp_path, step)
    (tmp_path / "checkpoints" / "step_torn").mkdir()
    keep.rotate(tmp_path / "checkpoints", 2, spare=10)
    assert sorted(p.name for p in (tmp_path / "checkpoints").iterdir()) == ["step_10", "step_100", "step_30", "step_torn"]


def test_a_checkpoint_of_another_shape_is_refused(tmp_path: Path) -> None:
    made = checkpoint(tmp_path, 4, world_size=2, zero_stage=2)
    resume.refuse_other_shape(made, config(hardware={"zero_stage": 2}), SimpleNamespace(world_size=2))
    with pytest.raises(RunDirError, match=r"hardware\.ranks=2"):
        resume.refuse_other_shape(made, config(hardware={"zero_stage": 2}), SimpleNamespace(world_size=1))


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_number_that_is_not_finite_stops_the_run_by_name(value: float) -> None:
    with pytest.raises(TrainingError, match="grad_norm"):
        guard.stop_when_not_finite({"loss": 0.1, "grad_norm": value}, 7)
    guard.stop_when_not_finite({"loss": 0.1, "grad_norm": 1.0, "reward": None}, 7)


def test_the_first_failure_is_kept_and_carries_what_a_person_needs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with failure.recorded(tmp_path) as first:
        raise TrainingError("loss is nan", where="metrics.jsonl", fix="optimizer.learning_rate=1e-5")
    with failure.recorded(tmp_path) as second:
        raise ValueError("the other rank is gone")
    record = json.loads((tmp_path / failure.FILE).read_text())
    assert (record["kind"], record["what"], record["fix"]) == ("TrainingError", "loss is nan", "optimizer.learning_rate=1e-5")
    assert first.exit_code == 1 and second.exit_code == 1
    assert "the other rank is gone" in capsys.readouterr().err
    with failure.recorded(tmp_path) as usage:
        raise ConfigError("no")
    assert usage.exit_code == 2
