"""The three worked cases: each recipe builds its model and trains; one of them, shortened, learns."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.real, pytest.mark.timeout(900)]
SHORT = ["model.builder_options.steps=20", "trainer.max_steps=2", "trainer.eval_steps=2", "trainer.save_steps=2", "dataset.eval_count=8"]


def trained(recipe: str, folder: Path, *words: str) -> list[dict]:
    """The metrics of a run of the recipe, made in ``folder`` with a cache of its own."""
    environment = os.environ | {"XDG_CACHE_HOME": str(folder / "cache"), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "rlvr_cli.main", "train", f"recipe={recipe}", "run.name=case", *words]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=850)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return [json.loads(line) for line in (folder / "outputs" / "case" / "metrics.jsonl").read_text().splitlines()]


SLOW = [pytest.param(recipe, marks=pytest.mark.slow) for recipe in ("maths_assistant", "code_completer")]  # the same path, more seconds


@pytest.mark.parametrize("recipe", ["science_answerer", *SLOW])
def test_a_case_builds_its_model_and_trains(recipe: str, tmp_path: Path) -> None:
    metrics = trained(recipe, tmp_path, *SHORT, "trainer.per_device_train_batch_size=16")
    assert [m["step"] for m in metrics] == [0, 1, 2]
    assert all("eval/accuracy" in metrics[step] for step in (0, 2))
    built = next((tmp_path / "cache" / "rlvr").glob("tiny-*/built.json"))
    assert json.loads(built.read_text())["parameters"] < 400_000
    assert (tmp_path / "outputs" / "case" / "final" / "model.safetensors").is_file()


@pytest.mark.slow
def test_the_science_answerer_learns(tmp_path: Path) -> None:
    metrics = trained("science_answerer", tmp_path, "trainer.max_steps=40", "trainer.eval_steps=40", "dataset.eval_count=300")
    before, after = (m["eval/accuracy"] for m in metrics if "eval/accuracy" in m)
    assert before < 0.7 and after > before + 0.15
