"""Dynamic sampling and curricula in real runs: batches stay whole, every token is counted, ranks agree, a resume is exact."""

from __future__ import annotations

import importlib.util
import itertools
import json
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

pytestmark = [pytest.mark.real, pytest.mark.timeout(900)]
WORKER = Path(__file__).parent / "choosing_worker.py"
DYNAMIC = {"num_generations": 2, "dynamic_sampling": {"max_rounds": 3}}  # by the checksum reward half of all groups of two are dead
PASS_RATE = {"kind": "pass_rate", "rest_steps": 2, "replay": {"share": 0.25, "below": 0.8, "gap_steps": 1}}
DIFFICULTY = {"kind": "difficulty", "until": 0.5}
NUMBERS = ("loss", "grad_norm", "reward", "tokens/generated", "tokens/no_signal", "dynamic_sampling/rounds", "dynamic_sampling/dead_before",
           "dynamic_sampling/dead_after", "dynamic_sampling/put_aside", "curriculum/measured", "curriculum/replayed")  # fmt: skip


def train(config_file: Path) -> int:
    from rlvr_cli.training.worker import main

    return main([str(config_file)])


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_model(tmp_path_factory.mktemp("model"))


def coherent(run_dir: Path, size: int) -> None:
    """The rows of a group are one prompt's with its own answer, and their scores are those of the completions beside them."""
    samples = lines(run_dir, "samples.jsonl")
    for group in zip(*[iter(samples)] * size, strict=True):
        assert len({s["prompt"][-1]["content"] for s in group}) == 1
        for s in group:
            left, right = s["prompt"][-1]["content"].removesuffix("=?"), s["answer"]
            assert eval(left) == int(right)
            assert s["scores"]["right"] == float(sum(map(ord, s["completion"])) % 2)
        assert (len({s["scores"]["right"] for s in group}) == 1) == all(s["advantage"] == 0 for s in group)


def numbers(run_dir: Path) -> list[list]:
    return [[m["step"], *(m.get(name) for name in NUMBERS)] for m in lines(run_dir)]


def resumed(whole: Path, folder: Path, keep: int) -> Path:
    """A copy of a run whose checkpoints after ``step_<keep>`` are gone."""
    shutil.copytree(whole, folder)
    for late in (folder / "checkpoints").glob("step_*"):
        if int(late.name.split("_")[1]) > keep:
            shutil.rmtree(late)
    return folder


@pytest.mark.parametrize(
    ("algorithm", "curriculum"),
    [(DYNAMIC | {"num_iterations": 2}, {}), (DYNAMIC, PASS_RATE), (DYNAMIC | {"loss_type": "dr_grpo"}, DIFFICULTY)],
    ids=["dynamic_mu2", "pass_rate", "difficulty"],
)
def test_batches_are_whole_tokens_counted_and_a_resume_exact(model: Path, tmp_path: Path, algorithm: dict, curriculum: dict) -> None:
    groups = {"algorithm": algorithm, "curriculum": curriculum, "trainer": {"max_steps": 6, "save_steps": 2, "eval_steps": 0}}
    whole = tmp_path / "whole"
    assert train(freeze(whole, model, **groups)) == 0, (whole / "failure.json").read_text()
    coherent(whole, 2)
    steps = lines(whole)[1:]
    assert [m["step"] for m in steps if "tokens/generated" in m] == list(range(1, 7)), "also where a step trains on an earlier generation"
    asked = [m for m in steps if "dynamic_sampling/rounds" in m]
    assert len(asked) == 6 // algorithm.get("num_iterations", 1)
    assert any(m["dynamic_sampling/dead_before"] > m["dynamic_sampling/dead_after"] for m in asked)
    for m in asked:
        assert m["frac_reward_zero_std"] == pytest.approx(m["dynamic_sampling/dead_after"])
        assert (m["dynamic_sampling/put_aside"] > 0) == (m["dynamic_sampling/rounds"] > 0)
    spent = [m["tokens/generated"] for m in asked]
    assert all(a < b for a, b in itertools.pairwise(spent)) and 0 < asked[-1]["tokens/no_signal"] < spent[-1]
    assert len(lines(whole, "samples.jsonl")) == 16 * len(asked), "the batch keeps its size"
    again = resumed(whole, tmp_path / "again", 2)
    assert train(freeze(again, model, **groups)) == 0
    assert numbers(again) == numbers(whole)
    assert lines(again, "samples.jsonl")[-1]["completion"] == lines(whole, "samples.jsonl")[-1]["completion"]


def test_a_run_without_any_signal_ends_within_its_rounds_and_by_its_budget(model: Path, tmp_path: Path) -> None:
    (tmp_path / "same.py").write_text("def same(completions, **kwargs):\n    return [1.0 for _ in completions]\n")
    file = freeze(
        tmp_path, model,
        reward={"terms": {"same": {"fn": f"{tmp_path}/same.py:same"}}},
        algorithm=DYNAMIC,
        trainer={"max_steps": 50, "save_steps": 0, "eval_steps": 0, "max_generated_tokens": 600},
    )  # fmt: skip
    assert train(file) == 0, (tmp_path / "failure.json").read_text()
    steps = lines(tmp_path)[1:]
    assert steps[-1]["tokens/generated"] >= 600 > steps[-2]["tokens/generated"], "ends after the step that reached the budget"
    assert all(m["dynamic_sampling/dead_after"] == 1 and m["loss"] == 0 for m in steps)
    assert all(m["dynamic_sampling/rounds"] <= 3 and m["tokens/no_signal"] == m["tokens/generated"] for m in steps)
    assert "eval/accuracy" in steps[-1], "the last step is judged"


def ranks(file: Path) -> None:
    env = {**os.environ, "OMP_NUM_THREADS": "1", "DS_ACCELERATOR": "cpu", "GLOO_SOCKET_IFNAME": "lo", "CUDA_VISIBLE_DEVICES": ""}
    env["PYTHONPATH"] = str(Path(__file__).parents[2])
    words = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", str(WORKER), str(file)]
    done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.mark.parametrize("stage", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_two_ranks_choose_alike_share_groups_and_resume_exactly(model: Path, tmp_path: Path, stage: int) -> None:
    groups = {
        "algorithm": DYNAMIC, "curriculum": PASS_RATE, "hardware": {"ranks": 2, "zero_stage": stage},
        "trainer": {"max_steps": 5, "per_device_train_batch_size": 5, "save_steps": 2, "eval_steps": 0, "eval_at_start": False},
    }  # fmt: skip
    whole = tmp_path / "whole"  # five rows a rank: the third group lies on both
    ranks(freeze(whole, model, **groups))
    chosen = lines(whole, "chosen.0.jsonl")
    assert chosen == lines(whole, "chosen.1.jsonl") and {name for name, _, _ in chosen} == {"choose", "further"}
    coherent(whole, 2)
    assert any(m["dynamic_sampling/dead_before"] > m["dynamic_sampling/dead_after"] for m in lines(whole) if "loss" in m)
    again = resumed(whole, tmp_path / "again", 2)
    for file in again.glob("chosen.*"):
        file.unlink()
    ranks(freeze(again, model, **groups))
    assert numbers(again) == numbers(whole)
    assert lines(again, "chosen.0.jsonl") == [line for line in chosen if line[1] >= 2]


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="pip install 'rlvr[cpu]'")
def test_a_server_refills_too(tmp_path: Path) -> None:
    from ranks import server

    from rlvr_cli.config.compose import read_frozen
    from rlvr_cli.models import tiny

    path = tiny.build(0, steps=20, layers=4, heads=2)
    settings = {
        "algorithm": DYNAMIC, "curriculum": PASS_RATE,
        "trainer": {"max_steps": 3, "save_steps": 0, "eval_steps": 0, "eval_at_start": False},
        "generation": {"backend": "vllm_server", "max_completion_length": 16, "max_model_len": 128, "parity_every": 0},
    }  # fmt: skip
    file = freeze(tmp_path / "run", path, **settings)
    with server(read_frozen(file), path, tmp_path) as running:
        (tmp_path / "run" / "plan.json").write_text(json.dumps({"server": running.plan(), "model_path": str(path)}))
        assert train(file) == 0, (tmp_path / "run" / "failure.json").read_text()
    coherent(tmp_path / "run", 2)
    steps = lines(tmp_path / "run")[1:]
    assert any(m["dynamic_sampling/dead_before"] > m["dynamic_sampling/dead_after"] for m in steps)
    assert all("sampling/sampling_logp_difference/mean" in m for m in steps), "log-probs came along with the moved groups"
    assert steps[0]["sampling/sampling_logp_difference/mean"] < 0.05
