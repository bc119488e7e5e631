"""Two real ranks with ZeRO-2: an exact resume, a row that nobody could judge, a reward that breaks on one of them."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1]))
sys.path.append(str(Path(__file__).parent))

from ranks import freeze, lines, torchrun
from tiny_run import make_model

pytestmark = [pytest.mark.real, pytest.mark.timeout(900)]
HARDWARE = {"ranks": 2, "zero_stage": 2}
TRAINER = {"max_steps": 5, "per_device_train_batch_size": 8, "save_steps": 2, "eval_steps": 0, "bf16": False}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_model(tmp_path_factory.mktemp("model"))


def freeze_with_blanks(run_dir: Path, model: Path) -> Path:
    """Rows of which one in four has an unknown answer, so that its completions cannot be judged."""
    run_dir.mkdir(parents=True, exist_ok=True)
    rows = [{"prompt": f"{i}+1=?", "answer": "unknown" if i % 4 == 0 else str(i + 1)} for i in range(16)]
    (run_dir / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    dataset = {"generator": None, "train": str(run_dir / "rows.jsonl"), "eval_share": 0.0, "count": None, "eval_count": None}
    file = freeze(run_dir, model, hardware=HARDWARE, trainer=TRAINER, reward={"unjudged_stop_share": 0.9})
    import yaml

    settings = yaml.safe_load(file.read_text())
    settings["dataset"] = {k: v for k, v in dataset.items() if v is not None}
    file.write_text(yaml.safe_dump(settings))
    return file


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, model: Path) -> Path:
    run_dir = tmp_path_factory.mktemp("whole")
    assert torchrun(freeze_with_blanks(run_dir, model), 2) == 0, (run_dir / "out.log").read_text()[-3000:]
    return run_dir


def test_rows_that_could_not_be_judged_never_train(whole: Path) -> None:
    samples = lines(whole, "samples.jsonl")
    blank = [s for s in samples if s["answer"] == "unknown"]
    assert len(samples) == 5 * 16 and blank
    assert all(s["advantage"] == 0 and s["scores"]["right"] is None for s in blank)
    assert any(s["advantage"] != 0 for s in samples if s["answer"] != "unknown")
    for m in lines(whole)[1:]:
        here = [s for s in samples if s["step"] == m["step"]]
        judged = [s["scores"]["right"] for s in here if s["answer"] != "unknown"]
        assert m["unjudged"] == len(here) - len(judged)
        assert m["reward"] == pytest.approx(sum(judged) / len(judged))


def test_two_ranks_resume_exactly(whole: Path, model: Path, tmp_path: Path) -> None:
    shutil.copytree(whole, tmp_path / "run")
    for late in ("step_4", "step_5"):
        shutil.rmtree(tmp_path / "run" / "checkpoints" / late)
    assert torchrun(freeze_with_blanks(tmp_path / "run", model), 2) == 0, (tmp_path / "run" / "out.log").read_text()[-3000:]
    again, before = ([(m["step"], m.get("loss"), m.get("grad_norm")) for m in lines(run)] for run in (tmp_path / "run", whole))
    assert again == before


def test_a_reward_that_breaks_on_one_rank_ends_both_with_one_reason(model: Path, tmp_path: Path) -> None:
    broken = {"terms": {"broken": {"fn": f"{tmp_path}/mine.py:broken"}}}
    file = freeze(tmp_path, model, hardware=HARDWARE, trainer=TRAINER, reward=broken)
    assert torchrun(file, 2, timeout=300) != 0
    record = json.loads((tmp_path / "failure.json").read_text())
    assert record["kind"] == "RewardError" and "broken" in record["what"] and "no such thing" in record["what"]
