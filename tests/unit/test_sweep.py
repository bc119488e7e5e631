"""The sweep with a stand-in for training: expansion, ranking, skipping, failures, interruption."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rlvr_cli.errors import ConfigError, LaunchError
from rlvr_cli.sweep import run, task
from rlvr_cli.sweep import sweep as sweep_module
from rlvr_cli.sweep.expand import expand, folder_name

pytestmark = pytest.mark.real  # process trees of real commands
# What `rlvr train` leaves behind, without a model: a locked run folder, an accuracy that depends on the seed, an exit code.
STAND_IN = """
import json, sys, time
from pathlib import Path
from rlvr_cli import run_dir
from rlvr_cli.config.compose import compose
from rlvr_cli.launch.freeze import freeze
from rlvr_cli.launch.machine import read_machine
from rlvr_cli.launch.plan import solve

words = sys.argv[1:]
Path("calls.txt").open("a").write(" ".join(words) + "\\n")
flags = [w for w in words if w.startswith("--")]
config = compose([w for w in words if not w.startswith("--")]).config
config = freeze(config, solve(config, read_machine()))
run = run_dir.start(config, words, clean="--clean" in flags)
if config.seed == 9:
    print("rlvr train: the weather is bad. Type: an umbrella", file=sys.stderr)
    run.set_status("failed", sentence="the weather is bad")
    sys.exit(1)
if config.seed == 8:
    time.sleep(60)
(run.path / "final").mkdir()
accuracy = 0.5 + 0.1 * config.seed
(run.path / "final" / "metrics.json").write_text(json.dumps({"eval/accuracy": accuracy, "eval/n": 100}))
run.set_status("finished", accuracy=accuracy, seconds=1.0)
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    (tmp_path / "stand_in.py").write_text(STAND_IN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sweep_module, "TRAIN", [sys.executable, str(tmp_path / "stand_in.py")])
    monkeypatch.setenv("PYTHONPATH", str(Path(sweep_module.__file__).parents[2]))
    return tmp_path


def rows_of(folder: Path) -> list[dict[str, str]]:
    (table,) = folder.glob("outputs/*/sweep.csv")
    return list(csv.DictReader(table.open()))


def calls(folder: Path) -> int:
    path = folder / "calls.txt"
    return len(path.read_text().splitlines()) if path.exists() else 0


def test_expansion_is_hydras():
    words = [job.words for job in expand(["seed=range(1,3)", "model=tiny", "reward=choice(math,random)"])]
    assert words == [
        ["seed=1", "model=tiny", "reward=math"],
        ["seed=1", "model=tiny", "reward=random"],
        ["seed=2", "model=tiny", "reward=math"],
        ["seed=2", "model=tiny", "reward=random"],
    ]
    assert [job.name for job in expand(["model=tiny"])] == ["job"]
    assert expand(["dataset.operators=[+,-],[*]"])[0].words == ["dataset.operators=[+,-]"]
    assert expand(['dataset.prompt_template="a,b","c"'])[0].words == ['dataset.prompt_template="a,b"']


def test_glob_over_options():
    names = [job.words[0] for job in expand(["reward=glob(*mat*)"])]
    assert "reward=math" in names
    assert "reward=format" in names
    with pytest.raises(ConfigError, match="matches no option"):
        expand(["reward=glob(zz*)"])


@pytest.mark.parametrize(("words", "said"), [(["seed=1,"], "can not be read"), (["optimizer.learning_rate=interval(0,1)"], "interval")])
def test_expansion_names_the_word(words, said):
    with pytest.raises(ConfigError, match=said):
        expand(words)


def test_folder_names_are_legal_and_distinct():
    from rlvr_cli.run_dir import check_name

    names = [
        folder_name(t) for t in ("model.path=../../x", "model.path=.././x", "dataset.operators=[+,-]", "a" * 300, "..", "x=$(rm -rf /)")
    ]
    assert len(set(names)) == len(names)
    for name in names:
        check_name(name)
        assert len(name) < 120


@pytest.mark.real
def test_ranked_table_and_skipping(here, capsys):
    assert run(["seed=1,3", "reward=math"], here) == 0
    rows = rows_of(here)
    assert [row["accuracy"] for row in rows] == ["0.8000", "0.6000"]
    assert {row["status"] for row in rows} == {"finished"}
    assert rows[0]["overrides"].startswith("seed=3")
    low, high = json.loads(rows[0]["ci95"])
    assert low < 0.8 < high
    assert all(float(row["seconds"]) > 0 for row in rows)
    assert calls(here) == 2
    assert run(["seed=1,3", "reward=math"], here) == 0
    assert calls(here) == 2
    assert "0 to run, 2 finished before" in capsys.readouterr().out
    assert run(["seed=1,3,2", "reward=math"], here) == 0
    assert calls(here) == 3
    assert len(rows_of(here)) == 3


@pytest.mark.real
def test_another_configuration_is_another_job(here):
    words = ["run.name=mine", "seed=2", "reward=math,format_only"]
    assert run(words, here) == 0
    assert run([*words, "trainer.max_steps=7"], here) == 0
    assert calls(here) == 4
    names = sorted(p.name for p in (here / "outputs" / "mine").iterdir() if p.name.startswith("reward"))
    assert names == ["reward-format_only", "reward-format_only-2", "reward-math", "reward-math-2"]


@pytest.mark.real
def test_a_failed_job_is_a_row_and_is_tried_again(here, capsys):
    assert run(["seed=9,1"], here) == 1
    rows = rows_of(here)
    assert [(r["status"], r["accuracy"]) for r in rows] == [("finished", "0.6000"), ("failed", "")]
    assert "the weather is bad" in rows[1]["error"]
    shown = capsys.readouterr().out
    assert "failed  outputs/sweep-seed/seed-9: the weather is bad. Type: an umbrella" in shown, "its folder and its whole sentence"
    assert shown.rstrip().endswith("next: rlvr report outputs/sweep-seed/seed-1   rlvr doctor outputs/sweep-seed/seed-9")
    assert run(["seed=9,1"], here) == 1
    assert calls(here) == 3


@pytest.mark.real
def test_a_combination_that_cannot_work_is_refused_and_the_rest_runs(here, capsys):
    words = ["algorithm.num_generations=7,8", "trainer.per_device_train_batch_size=8", "seed=1"]
    assert run(words, here) == 1
    rows = rows_of(here)
    assert [row["status"] for row in rows] == ["finished", "refused"]
    assert "multiple of G" in rows[1]["error"]
    with pytest.raises(ConfigError, match="none of the 2 jobs can run"):
        run(["algorithm.num_generations=7,9", *words[1:]], here)


@pytest.mark.real
def test_wrong_words_stop_the_sweep_before_it_starts(here):
    with pytest.raises(ConfigError, match="reward=maths"):
        run(["reward=math,maths"], here)
    with pytest.raises(ConfigError, match=r"sweep\.jobs"):
        run(["seed=1,2", "sweep.job=2"], here)
    assert calls(here) == 0


@pytest.mark.real
def test_jobs_at_once(here):
    assert run(["seed=1,2,3", "sweep.jobs=3"], here) == 0
    assert calls(here) == 3


@pytest.mark.real
def test_task_returns_one_float_and_reads_a_finished_job(here):
    assert task(["seed=2"], here) == pytest.approx(0.7)
    assert task(["seed=2"], here) == pytest.approx(0.7)
    assert calls(here) == 1
    with pytest.raises(LaunchError, match="the weather is bad"):
        task(["seed=9"], here)
    with pytest.raises(ConfigError, match="one job"):
        task(["seed=1,2"], here)


@pytest.mark.real
def test_optimising_needs_its_extra(here, monkeypatch):
    from rlvr_cli.errors import MissingDependency

    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(MissingDependency, match="optuna"):
        run(["seed=1,2", "sweep.trials=2"], here)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.real
def test_interruption_kills_the_running_tree(here, number):
    code = "import sys; from pathlib import Path; from rlvr_cli.sweep import sweep; sweep.TRAIN = [sys.executable, 'stand_in.py']\n"
    code += "sys.exit(sweep.run(['seed=8,1'], Path.cwd()))"
    process = subprocess.Popen([sys.executable, "-c", code], cwd=here, env=dict(os.environ), start_new_session=True, preexec_fn=heard)
    deadline = time.monotonic() + 40
    while calls(here) < 1 and time.monotonic() < deadline:
        time.sleep(0.1)
    time.sleep(1.0)
    process.send_signal(number)
    assert process.wait(30) == 130
    assert children_in(here) == []
    assert [row["status"] for row in rows_of(here)] == ["interrupted", "waiting"]


def heard() -> None:
    """A background job of a shell starts with SIGINT ignored, and so would what the tests start from it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def children_in(folder: Path) -> list[str]:
    """Command lines of living processes that run the stand-in of this folder."""
    found = []
    for proc in Path("/proc").iterdir():
        if proc.name.isdigit():
            try:
                if (proc / "cwd").resolve() == folder and b"stand_in" in (proc / "cmdline").read_bytes():
                    found.append(proc.name)
            except OSError:
                continue
    return found
