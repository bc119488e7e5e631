"""A whole chain, shortened to a few steps of random weights: every stage, killed in between, gone on with, and its table."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1]))
sys.path.append(str(Path(__file__).parent))

import commands
from tiny_run import REWARD, make_model, make_rows

pytest.importorskip("trl")
pytestmark = [pytest.mark.real, pytest.mark.slow, pytest.mark.timeout(1800)]

PIPELINE = """\
# A chain of a few steps.
# Needs: ./model, ./train.jsonl, ./rows.jsonl, ./rewards/parity.py
# Command: rlvr train pipeline=short
common:
  - model=hf
  - model.path=model
  - model.dtype=float32
  - dataset=jsonl
  - dataset.train=train.jsonl
  - dataset.eval=rows.jsonl
  - "reward.terms={correct: {fn: rewards.parity.even}}"
  - reward.unjudged_stop_share=1
  - generation=hf
  - generation.max_completion_length=8
  - hardware=cpu
  - hardware.threads=1
  - guard.min_free_disk_gib=0
  - optimizer.learning_rate=1e-3
  - trainer.per_device_train_batch_size=16
  - trainer.gradient_accumulation_steps=1
  - trainer.max_steps=3
  - trainer.save_steps=1
  - trainer.eval_steps=0
  - trainer.bf16=false
stages:
  cold_start: {improves: format, words: [stage=sft, 'stage.template="<think>{prompt}</think>{answer}"']}
  reasoning: {improves: accuracy, words: [stage=rl, algorithm.num_generations=4]}
  accepted: {run: sample, words: [sample.k=8, sample.keep=accepted, sample.pick=random]}
  rejection:
    improves: general
    words: [stage=sft, "stage.data=@{accepted}", stage.general.data=data/general.jsonl, stage.general.share=0.5]
  pairs: {run: sample, words: [sample.k=8, sample.keep=pairs, sample.per_prompt=3]}
  reward_model: {policy: false, words: [stage=reward_model, "stage.data=@{pairs}"]}
  all_scenarios:
    improves: learned
    words:
      - stage=rl
      - stage.keep=last
      - algorithm.num_generations=4
      - "+reward.terms.liked={fn: rewards.hybrid.reward_model, weight: 0.3}"
      - "reward.terms.liked.options.model=@{reward_model}/final"
judge:
  tasks: {sums: []}
  limit: 12
  text: data/general_heldout.jsonl
  prompts: data/general_heldout.jsonl
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "conf" / "pipeline").mkdir(parents=True)
    (tmp_path / "conf" / "pipeline" / "short.yaml").write_text(PIPELINE)
    (tmp_path / "rewards").mkdir()
    (tmp_path / "rewards" / "parity.py").write_text(REWARD)
    make_rows(tmp_path / "rows.jsonl", 20)
    make_rows(tmp_path / "train.jsonl", 40, first=20)
    make_model(tmp_path / "model")
    return tmp_path


def start(cwd: Path) -> subprocess.Popen:
    return commands.background("train", "pipeline=short", cwd=cwd)


def left_of(cwd: Path) -> list[str]:
    return commands.processes_of(cwd, "pipeline=short")


def cut(cwd: Path, number: int, file: Path) -> tuple[int, str]:
    """Start the chain, wait until ``file`` is there, and send the signal."""
    parent = start(cwd)
    deadline = time.monotonic() + 600
    while not file.exists():
        assert parent.poll() is None, parent.stdout.read()
        assert time.monotonic() < deadline
        time.sleep(0.1)
    parent.send_signal(number)
    out, _ = parent.communicate(timeout=60)
    deadline = time.monotonic() + 20
    while left_of(cwd) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert left_of(cwd) == []
    return parent.returncode, out


def test_a_chain_survives_kills_and_ends_with_its_table(folder: Path) -> None:
    chain = folder / "outputs" / "pipeline-short"
    code, _ = cut(folder, signal.SIGKILL, chain / "1_cold_start" / "metrics.jsonl")
    assert code == -signal.SIGKILL
    code, out = cut(folder, signal.SIGINT, chain / "2_reasoning" / "checkpoints" / "step_2")
    assert code == 130 and "rlvr train --resume" in out
    assert json.loads((chain / "status.json").read_text())["state"] == "interrupted"
    last = start(folder)
    out, _ = last.communicate(timeout=1200)
    assert last.returncode == 0, out
    assert "1_cold_start: done before" in out and "2_reasoning: goes on" in out
    for name in ("1_cold_start", "2_reasoning", "3_rejection", "4_reward_model", "4_all_scenarios"):
        assert json.loads((chain / name / "status.json").read_text())["state"] == "finished"
        steps = [json.loads(line)["step"] for line in (chain / name / "metrics.jsonl").read_text().splitlines()]
        assert sorted(set(steps)) == [0, 1, 2, 3] or name == "4_reward_model"
    summary = json.loads((chain / "summary.json").read_text())
    assert [line["stage"] for line in summary["stages"]] == ["(start)", "1_cold_start", "2_reasoning", "3_rejection", "4_all_scenarios"]
    for line in summary["stages"]:
        assert line["accuracy"]["n"] == 12 and line["perplexity"] > 1 and 0 < line["learned"] < 1 and line["replies"]["n"] > 50
    verdicts = [line["verdict"] for line in summary["stages"][1:]]
    assert [v["improves"] for v in verdicts] == ["format", "accuracy", "general", "learned"]
    assert all(v["changes"]["general"]["n"] == v["changes"]["learned"]["n"] for v in verdicts)
    assert "the stage's aim" in out and "4_all_scenarios" in (chain / "table.txt").read_text()
    again = start(folder)
    out, _ = again.communicate(timeout=120)
    assert again.returncode == 0 and out.count("done before") == 7, "nothing runs twice"


def test_a_stage_that_fails_ends_the_chain_with_its_own_words(folder: Path) -> None:
    (folder / "rewards" / "parity.py").write_text(REWARD + "\n\ndef late(completions, **kwargs):\n    raise KeyError('no such thing')\n")
    text = PIPELINE.replace("{fn: rewards.parity.even}}", "{fn: rewards.parity.even}, late: {fn: rewards.parity.late, gate: correct}}")
    (folder / "conf" / "pipeline" / "short.yaml").write_text(text)
    failed = start(folder)
    out, _ = failed.communicate(timeout=900)
    assert failed.returncode in (1, 2), out
    assert "no such thing" in out and out.count("rlvr train:") == 1
