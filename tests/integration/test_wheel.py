"""The built wheel, installed elsewhere: shipped files inside the package, and the light commands from an empty folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(out), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    return next(out.glob("rlvr-*.whl"))


@pytest.fixture(scope="module")
def site(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel unpacked into a folder of its own, which comes before this checkout."""
    folder = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def run(site: Path, cwd: Path, *words: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
    """``rlvr WORDS`` of the unpacked wheel, from another folder."""
    code = "import sys; from rlvr_cli.main import main; sys.exit(main(sys.argv[1:]))"
    env = {**os.environ, "PYTHONPATH": str(site), "CUDA_VISIBLE_DEVICES": ""}
    argv = [sys.executable, "-P", "-c", code, *words]
    return subprocess.run(argv, capture_output=True, text=True, cwd=cwd, env=env, input=text, timeout=300)


def test_layout(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert tops <= {"rlvr_cli", "rewards"} | {t for t in tops if t.endswith(".dist-info")}, "no top-level conf, data or tests"
    assert "rewards/__init__.py" not in names, "so that a user's own ./rewards merges with it"
    shipped = {p.relative_to(ROOT / "conf").as_posix() for p in (ROOT / "conf").rglob("*.yaml")}
    assert {f"rlvr_cli/_conf/{name}" for name in shipped} <= set(names)
    samples = {p.relative_to(ROOT / "data").as_posix() for p in (ROOT / "data").rglob("*.jsonl")}
    assert {f"rlvr_cli/_data/{name}" for name in samples} <= set(names)
    assert not [name for name in names if "__pycache__" in name or name.endswith(".pyc")]


def test_every_module_of_the_checkout_is_inside(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    tracked = subprocess.run(["git", "ls-files", "rlvr_cli", "rewards"], capture_output=True, text=True, cwd=ROOT).stdout.split()
    assert {name for name in tracked if name.endswith(".py")} <= names


def test_light_commands_from_an_empty_folder(site: Path, tmp_path: Path) -> None:
    listed = run(site, tmp_path, "ls", "model", "--json")
    assert listed.returncode == 0, listed.stderr
    assert json.loads(listed.stdout)["tiny"]["file"] == str(site / "rlvr_cli" / "_conf" / "model" / "tiny.yaml")
    assert run(site, tmp_path, "config", "trainer").returncode == 0
    assert run(site, tmp_path, "cp", "reward/math").returncode == 0
    checked = run(site, tmp_path, "check", "dataset.count=200", "dataset.eval_count=20")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "it would run" in checked.stdout


def test_score_from_an_empty_folder(site: Path, tmp_path: Path) -> None:
    rows = [{"completion": "<answer>4</answer>", "answer": "4"}, {"completion": "<answer>5</answer>", "answer": "4"}]
    done = run(site, tmp_path, "score", "reward=math", "data=-", text="".join(json.dumps(r) + "\n" for r in rows))
    assert done.returncode == 0, done.stderr
    assert [json.loads(line)["total"] for line in done.stdout.splitlines()] == [1.0, 0.0]


def test_train_is_planned_from_an_empty_folder(site: Path, tmp_path: Path) -> None:
    done = run(site, tmp_path, "train", "--dry-run", "--json", "dataset.count=200", "dataset.eval_count=20")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["plan"]["prompts_per_generation"] == 16
    assert list(tmp_path.iterdir()) == []


def test_a_users_reward_is_found_beside_the_shipped_ones(site: Path, tmp_path: Path) -> None:
    (tmp_path / "rewards").mkdir()
    (tmp_path / "rewards" / "mine.py").write_text("def five(completions, **kwargs):\n    return [5.0 for _ in completions]\n")
    words = ["dataset.count=200", "dataset.eval_count=20", "+reward.terms.mine.fn=rewards.mine.five"]
    done = run(site, tmp_path, "check", *words)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "mine = 1 x rewards.mine.five" in done.stdout


def test_train_from_an_empty_folder(site: Path, tmp_path: Path) -> None:
    """Two real steps of a random model: launcher, ranks and rewards all come out of the wheel."""
    from tests.tiny_run import make_model

    make_model(tmp_path / "m")
    words = ["model=hf", "model.path=./m", "dataset=arithmetic", "dataset.count=200", "dataset.eval_count=20", "generation=hf"]
    done = run(site, tmp_path, "train", *words, "trainer=smoke", "generation.max_completion_length=8", "hardware=cpu", "run.name=w")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    steps = [json.loads(line) for line in (tmp_path / "outputs" / "w" / "metrics.jsonl").read_text().splitlines()]
    assert max(line["step"] for line in steps) == 2
    assert (tmp_path / "outputs" / "w" / "last").is_dir()
