"""KL control, length stages and entropy guard in real runs: they move, a resume goes on exactly, both ranks hold the same values."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1]))
sys.path.append(str(Path(__file__).parent))

from ranks import freeze, lines
from tiny_run import make_model

pytestmark = [pytest.mark.real, pytest.mark.timeout(600)]
WORKER = Path(__file__).parent / "traced_worker.py"
# A random model is uncertain and its groups are not tied: the floor and the shares are set so that every step counts.
GUARD = {"entropy": {"action": "raise_bonus", "floor": 99, "dead_share": 0.0, "patience": 2, "fallen_to": 1}, "min_free_disk_gib": 0}
STAGES = {"backend": "hf", "max_completion_length": 8, "length_stages": {"start": 2, "clipped_share": 0.1, "patience": 2}}
TARGET = {"num_generations": 2, "beta": 0.1, "kl_control": {"kind": "target", "kl_target": 1e-4, "gain": 1.0}}
BANDS = {"num_generations": 2, "kl_control": {"kind": "bands", "reward_target": 0.5, "low": 0.0}}
TRAINER = {"max_steps": 7, "per_device_train_batch_size": 16, "save_steps": 3, "eval_steps": 4}


def train(config_file: Path) -> int:
    from rlvr_cli.training.worker import main

    return main([str(config_file)])


def frozen(run_dir: Path, model: Path, algorithm: dict, **groups: dict) -> Path:
    return freeze(run_dir, model, **{"algorithm": algorithm, "generation": STAGES, "guard": GUARD, "trainer": TRAINER, **groups})


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_model(tmp_path_factory.mktemp("model"))


NUMBERS = ("loss", "grad_norm", "reward", "kl", "entropy", "beta", "completions/limit", "entropy_coef", "eval/accuracy")


@pytest.mark.parametrize("algorithm", [TARGET, BANDS], ids=["target", "bands"])
def test_each_controller_moves_and_a_resumed_run_is_the_uninterrupted_one(model: Path, tmp_path: Path, algorithm: dict) -> None:
    whole, again = tmp_path / "whole", tmp_path / "again"
    assert train(frozen(whole, model, algorithm)) == 0, (whole / "failure.json").read_text()
    before = [[m.get(name) for name in NUMBERS] for m in lines(whole)]
    steps = lines(whole)[1:]
    assert [m["completions/limit"] for m in steps][:5] == [2, 2, 4, 4, 8]  # nearly every completion is cut
    assert len({m["beta"] for m in steps}) > 1 and all(m["beta"] > 0 and m["kl"] is not None for m in steps)
    assert steps[-1]["entropy_coef"] > steps[0]["entropy_coef"]
    shutil.copytree(whole, again)
    for late in ("step_6", "step_7"):
        shutil.rmtree(again / "checkpoints" / late, ignore_errors=True)
    assert train(frozen(again, model, algorithm)) == 0
    assert [[m.get(name) for name in NUMBERS] for m in lines(again)] == before


def test_bands_in_a_run_are_the_formula(model: Path, tmp_path: Path) -> None:
    from rlvr_cli.config.schema import KLControl
    from rlvr_cli.training.callbacks.kl_control import band

    settings = BANDS["kl_control"]
    assert train(frozen(tmp_path, model, BANDS)) == 0
    steps = lines(tmp_path)[1:]
    expected = [1e-9, *(max(1e-9, band(KLControl(**settings), m["reward"])) for m in steps[:-1])]
    assert [m["beta"] for m in steps] == expected


def test_a_collapse_ends_the_run_with_a_judged_peak(model: Path, tmp_path: Path) -> None:
    stop = {**GUARD, "entropy": {**GUARD["entropy"], "action": "stop_at_best", "patience": 3}}
    assert train(frozen(tmp_path, model, {"num_generations": 2}, guard=stop)) == 0
    metrics = lines(tmp_path)
    assert metrics[-1]["step"] < TRAINER["max_steps"] and "eval/accuracy" in metrics[-1]
    assert (tmp_path / "final" / "model.safetensors").is_file() and (tmp_path / "last" / "model.safetensors").is_file()


def test_both_ranks_hold_the_same_values(model: Path, tmp_path: Path) -> None:
    hardware = {"ranks": 2, "zero_stage": 2}
    file = frozen(tmp_path, model, TARGET, hardware=hardware, trainer={**TRAINER, "per_device_train_batch_size": 8, "max_steps": 4})
    env = {**os.environ, "OMP_NUM_THREADS": "1", "DS_ACCELERATOR": "cpu", "GLOO_SOCKET_IFNAME": "lo", "CUDA_VISIBLE_DEVICES": ""}
    words = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", str(WORKER), str(file)]
    done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=400, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    first, second = (lines(tmp_path, f"trace.{rank}.jsonl") for rank in (0, 1))
    assert first == second and len(first) == 4
    assert len({line["beta"] for line in first}) == 4 and first[-1]["limit"] > first[0]["limit"]
