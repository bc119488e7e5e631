"""rlvr runs and rlvr show: what became of a run, from its files alone, also when it died half-way through a line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from rlvr_cli import run_dir
from rlvr_cli.config.compose import compose


def make_run(name: str, *, state: str = "finished", steps: int = 10) -> Path:
    """A run folder as training leaves it."""
    composed = compose([f"run.name={name}"])
    run = run_dir.start(composed.config, composed.overrides, choices=composed.choices)
    lines = [{"step": 0, "eval/accuracy": 0.4}]
    lines += [{"step": s, "reward": 0.1 * s, "rewards/correct/mean": 0.1 * s, "entropy": 1 / s} for s in range(1, steps + 1)]
    lines += [{"step": steps, "eval/accuracy": 0.95}]
    run.metrics.write_text("".join(json.dumps(line) + "\n" for line in lines) + '{"step": 11, "rew')
    run.samples.write_text(
        json.dumps(
            {
                "step": steps,
                "prompt": [{"role": "user", "content": "1+1=?"}],
                "completion": "<answer>2</answer>",
                "answer": "2",
                "scores": {"correct": 1.0},
                "reasons": {"correct": "gold 2"},
                "advantage": 0.5,
            }
        )
        + "\n"
    )
    (run.checkpoints / f"step_{steps}").mkdir()
    (run.path / "final").mkdir()
    (run.path / "eval" / "held").mkdir(parents=True)
    summary = {"n": 500, "greedy": {"accuracy": 0.95, "ci95": [0.93, 0.97]}, "pass_at_k": {"8": 0.99}, "paired": {"diff": 0.5, "p": 1e-9}}
    (run.path / "eval" / "held" / "summary.json").write_text(json.dumps(summary))
    if state != "running":
        run.set_status(state, seconds=90.0)
    run.release()
    return run.path


def test_no_runs_yet(rlvr: Callable, here: Path) -> None:
    done = rlvr("runs")
    assert done.code == 0 and "Type: rlvr train" in done.out


def test_runs_lists_what_became_of_each(rlvr: Callable, here: Path) -> None:
    make_run("one")
    make_run("two", state="failed")
    make_run("three", state="running")
    lines = rlvr("runs").out.splitlines()
    assert lines[0].split() == ["run", "state", "steps", "accuracy", "reward", "minutes", "started"]
    assert lines[1].split()[:6] == ["one", "finished", "10", "0.400", "->", "0.950"]
    assert lines[2].split()[1] == "failed"
    assert lines[3].split()[1] == "died", "a run without a launcher that says running has died"
    told = [json.loads(line) for line in rlvr("runs", "--json").out.splitlines()]
    assert [t["run"] for t in told] == ["one", "two", "three"]
    assert told[0]["accuracy"] == told[0]["best_accuracy"] == 0.95


def test_show_is_a_page_of_the_run(rlvr: Callable, here: Path) -> None:
    make_run("one")
    out = rlvr("show", "latest").out
    assert "outputs/one  finished, 1.5 minutes" in out
    assert "rlvr train run.name=one" in out
    assert "model=tiny" in out
    assert "0.1 -> 1" in out and "█" in out
    assert "eval held: n 500, greedy 0.950 [0.930, 0.970], pass@8 0.990, against the baseline +0.500 (p 1e-09)" in out
    assert "next: rlvr eval checkpoint=outputs/one" in out


def test_show_tells_a_failure_and_the_way_on(rlvr: Callable, here: Path) -> None:
    path = make_run("one", state="failed")
    (path / "failure.json").write_text(json.dumps({"what": "loss is not finite", "step": 7, "fix": "optimizer.learning_rate=5e-5"}))
    out = rlvr("show", "one").out
    assert "failed at step 7: loss is not finite. Type: optimizer.learning_rate=5e-5" in out
    assert "next: rlvr doctor outputs/one" in out


def test_show_one_metric_and_samples(rlvr: Callable, here: Path) -> None:
    make_run("one", steps=3)
    assert rlvr("show", "one", "--metric", "reward").out.split() == ["1", "0.1", "2", "0.2", "3", "0.30000000000000004"]
    done = rlvr("show", "one", "--metric", "rewards")
    assert done.code == 2 and "--metric reward" in done.err
    out = rlvr("show", "one", "--samples", "2").out
    assert "1+1=?" in out and "correct: 1.0 (gold 2)" in out
    assert json.loads(rlvr("show", "one", "--json").out)["steps"] == 3


@pytest.mark.parametrize("spoil", ["metrics.jsonl", "status.json", "fingerprint.json"])
def test_a_spoilt_record_does_not_stop_the_page(spoil: str, rlvr: Callable, here: Path) -> None:
    path = make_run("one")
    (path / spoil).write_text("{ not json\n[1, 2]\n")
    assert rlvr("show", "outputs/one").code == 0
    assert rlvr("runs").code == 0


def test_what_a_run_came_to_is_its_final_model_everywhere(rlvr: Callable, here: Path) -> None:
    """A stage that keeps its last model: ``rlvr runs``, the closing line and a sweep's row all say what ``final/`` holds, not the peak."""
    from rlvr_cli.commands.train import gain

    path = make_run("one")
    with (path / "metrics.jsonl").open("a") as file:
        file.write('\n{"step": 12, "eval/accuracy": 0.6}\n')
    (path / "final" / "metrics.json").write_text(json.dumps({"step": 12, "eval/accuracy": 0.6, "eval/n": 100}))
    assert run_dir.kept(path) == (12, 0.6)
    assert rlvr("runs").out.splitlines()[1].split()[3:6] == ["0.400", "->", "0.600"]
    told = json.loads(rlvr("runs", "--json").out)
    assert (told["accuracy"], told["last_accuracy"], told["best_accuracy"]) == (0.6, 0.6, 0.95)
    assert gain(path) == "held-out accuracy 0.400 -> 0.600 (step 12)"
    (path / "final" / "metrics.json").write_text(json.dumps({"step": 10, "eval/accuracy": 0.95, "eval/n": 100}))
    assert gain(path) == "held-out accuracy 0.400 -> 0.950 (step 10)"
    assert rlvr("runs").out.splitlines()[1].split()[3:6] == ["0.400", "->", "0.950"]
