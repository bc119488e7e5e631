"""``rlvr train`` as a person uses it: a real run, each way it can end, and what is left of it afterwards."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))

import commands
from commands import processes_of

pytest.importorskip("trl")
pytestmark = [pytest.mark.real, pytest.mark.timeout(600)]

SHORT = ["trainer.max_steps=3", "trainer.eval_steps=0", "trainer.save_steps=2", "dataset.eval_limit=40", "dataset.limit=200"]


def rlvr(*words, cwd, background=False, **env):
    if background:
        return commands.background(*words, cwd=cwd, **env)
    argv = [sys.executable, "-m", "rlvr_cli.main", *words]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", **env}
    return subprocess.run(argv, cwd=cwd, env=environment, capture_output=True, text=True, timeout=500)


def wait_for_step(parent: subprocess.Popen, run: Path, step: int, timeout: float = 300) -> None:
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        assert parent.poll() is None, parent.stdout.read()
        if (run / "metrics.jsonl").exists() and f'"step": {step}' in (run / "metrics.jsonl").read_text():
            return
        time.sleep(0.2)
    raise AssertionError(f"no step {step}: {[(p.name, p.read_text()[-1500:]) for p in (run / 'logs').glob('*')]}")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """One short run of the embedded default, shared by the tests that look at what it left."""
    cwd = tmp_path_factory.mktemp("finished")
    done = rlvr("train", "run.name=short", *SHORT, cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr
    return cwd / "outputs" / "short", done


def test_run_folder_explains_itself(finished):
    run, _ = finished
    for name in ("config.yaml", "command.txt", "env.json", "fingerprint.json", "metrics.jsonl", "samples.jsonl", "plan.json"):
        assert (run / name).stat().st_size > 0, name
    assert (run / "checkpoints" / "step_2" / "metrics.json").exists()
    assert (run / "final" / "model.safetensors").exists() and (run / "last" / "model.safetensors").exists()
    assert (run / "logs" / "rank0.1.log").exists() and (run / "logs" / "launcher.1.log").exists()
    kept = json.loads((run / "final" / "metrics.json").read_text())
    assert json.loads((run / "status.json").read_text())["accuracy"] == kept["eval/accuracy"]
    assert "auto" not in (run / "config.yaml").read_text().split("seed:")[0]
    assert "rlvr train run.name=short" in (run / "command.txt").read_text()


def test_records_say_what_happened(finished):
    run, _ = finished
    steps = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    assert [s["step"] for s in steps if "reward" in s] == [1, 2, 3]
    assert all("rewards/correct/mean" in s for s in steps if "reward" in s)
    sample = json.loads((run / "samples.jsonl").read_text().splitlines()[0])
    assert set(sample) >= {"prompt", "completion", "answer", "scores", "reasons", "extracted", "advantage", "step"}
    assert sample["reasons"]["correct"]


def test_screen_shows_plan_steps_and_what_next(finished):
    _, done = finished
    for words in ("16 prompts x G 8 = 128 completions", "held-out accuracy", "step    3/3", "next: rlvr eval checkpoint="):
        assert words in done.stdout
    assert "\x1b" not in done.stdout


def test_a_finished_run_is_not_taken_up_again(finished):
    run, _ = finished
    before = (run / "status.json").read_text()
    done = rlvr("train", "--resume", str(run), cwd=run.parents[1])
    assert done.returncode == 0 and "is finished" in done.stdout and "trainer.max_steps=MORE" in done.stdout
    assert (run / "status.json").read_text() == before


def test_name_is_not_taken_twice(finished):
    run, _ = finished
    again = rlvr("train", "run.name=short", *SHORT, cwd=run.parent.parent)
    assert again.returncode == 2 and "exists" in again.stderr and len(again.stderr.splitlines()) == 1


def test_sigkill_of_the_parent_leaves_no_process_and_resume_goes_on(tmp_path):
    run = tmp_path / "outputs" / "killed"
    parent = rlvr("train", "run.name=killed", "trainer.max_steps=8", *SHORT[1:], cwd=tmp_path, background=True)
    wait_for_step(parent, run, 4)
    assert processes_of(run)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    deadline = time.monotonic() + 15
    while processes_of(run) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert processes_of(run) == []
    done = rlvr("train", "--resume", "killed", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    steps = [json.loads(line)["step"] for line in (run / "metrics.jsonl").read_text().splitlines() if '"reward"' in line]
    assert steps == list(range(1, 9))


def pids_of(mark: Path) -> list[int]:
    """Processes whose command line is that of a rank of the run in ``mark``."""
    found = subprocess.run(["pgrep", "-f", f"rlvr_cli.launch.rank {mark}"], capture_output=True, text=True).stdout.split()
    return [int(pid) for pid in found]


def test_sigkill_of_a_rank_is_said_and_the_last_checkpoint_stays(tmp_path):
    run = tmp_path / "outputs" / "lost"
    words = ["hardware=cpu_2rank", "trainer.per_device_train_batch_size=64", "trainer.max_steps=500", *SHORT[1:]]
    parent = rlvr("train", "run.name=lost", *words, cwd=tmp_path, background=True)
    wait_for_step(parent, run, 3)
    os.kill(next(pid for pid in pids_of(run) if "torch.distributed.run" not in Path(f"/proc/{pid}/cmdline").read_text()), signal.SIGKILL)
    out, _ = parent.communicate(timeout=120)
    assert parent.returncode == 1 and "a rank was killed with SIGKILL" in out, out
    assert "is the last whole checkpoint" in out and list((run / "checkpoints").glob("step_*"))
    assert processes_of(run) == []


def test_a_reader_that_leaves_loses_nothing(tmp_path):
    """``rlvr train | head -1``: one line of the plan is read, and the run goes on to its end."""
    argv = f"{sys.executable} -m rlvr_cli.main train run.name=unread {' '.join(SHORT)} 2>&1 | head -1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", argv], cwd=tmp_path, capture_output=True, text=True, timeout=500)
    assert (done.returncode, len(done.stdout.splitlines()), done.stderr) == (0, 1, "")
    run = tmp_path / "outputs" / "unread"
    assert json.loads((run / "status.json").read_text())["state"] == "finished"
    assert "step    3/3" in (run / "logs" / "launcher.1.log").read_text()


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 12 MiB: room for a few checkpoints of the tiny model."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", str(disk)], capture_output=True).returncode:
        pytest.skip("a file system can be mounted by root only")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


def test_a_disk_that_fills_up_leaves_the_last_whole_checkpoint(tmp_path, small_disk):
    words = [f"run.dir={small_disk}", "run.name=full", "guard.min_free_disk_gib=0", "trainer.save_steps=1", "trainer.save_total_limit=null"]
    done = rlvr("train", *words, "trainer.max_steps=40", "trainer.eval_steps=0", *SHORT[3:], cwd=tmp_path)
    assert done.returncode == 1 and "Traceback" not in done.stderr, done.stdout + done.stderr
    assert "No space left on device" in done.stderr or "disk" in done.stderr, done.stderr
    from rlvr_cli.checkpoints import latest_checkpoint

    whole, passed_over = latest_checkpoint(small_disk / "full")
    assert whole is not None and passed_over == [] and f"{whole.name} is the last whole checkpoint" in done.stderr
    assert processes_of(small_disk) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupt_exits_130_and_leaves_nothing(tmp_path, number):
    run = tmp_path / "outputs" / "cut"
    parent = rlvr("train", "run.name=cut", "trainer.max_steps=500", *SHORT[1:], cwd=tmp_path, background=True)
    wait_for_step(parent, run, 1)
    parent.send_signal(number)
    out, _ = parent.communicate(timeout=60)
    assert parent.returncode == 130 and "interrupted" in out
    assert processes_of(run) == []
    assert json.loads((run / "status.json").read_text())["state"] == "interrupted"


BREAKS = {
    "raises": ("def f(completions, **kwargs):\n    raise ValueError('my own fault')\n", "my own fault"),
    "short": ("def f(completions, **kwargs):\n    return [1.0]\n", "returned 1 scores"),
    "nan": ("def f(completions, **kwargs):\n    return [float('nan')] * len(completions)\n", "nan"),
}


@pytest.mark.parametrize("kind", BREAKS)
def test_a_broken_reward_is_one_named_line(tmp_path, kind):
    (tmp_path / "rewards").mkdir()
    code, says = BREAKS[kind]
    (tmp_path / "rewards" / "mine.py").write_text(code)
    words = ["reward.terms.mine={fn: rewards.mine.f}", "run.name=broken", "dataset.check_gold=false", *SHORT]
    done = rlvr("train", *words, cwd=tmp_path)
    assert done.returncode in (1, 2), done.stdout + done.stderr
    line = next(text for text in done.stderr.splitlines() if text.startswith("rlvr train:"))
    assert "mine" in line and says in line.lower()
    assert processes_of(tmp_path / "outputs") == []


def test_a_rank_that_leaves_early_is_no_success(tmp_path):
    """A reward that ends a rank with code 0 (not the trial call before) looks like a finished one; the run says that it was not done."""
    (tmp_path / "rewards").mkdir()
    leaves = "    if 'TORCHELASTIC_RUN_ID' in os.environ:\n        os._exit(0)\n    return [0.0 for _ in completions]\n"
    (tmp_path / "rewards" / "mine.py").write_text("import os\n\n\ndef f(completions, **kwargs):\n" + leaves)
    words = ["reward.terms.mine={fn: rewards.mine.f}", "run.name=left", "dataset.check_gold=false", *SHORT]
    done = rlvr("train", *words, cwd=tmp_path)
    assert done.returncode == 1 and "before the run was done" in done.stderr, done.stdout + done.stderr
    assert json.loads((tmp_path / "outputs" / "left" / "status.json").read_text())["state"] == "failed"


def test_prompts_over_the_context_are_dropped_aloud(tmp_path):
    """The tiny model reads 512 tokens; a file with long prompts trains on the short ones and says how many it left out."""
    rows = [{"prompt": f"{i}+1=?" if i % 2 else f"{i}+1=?" * 200, "answer": str(i + 1)} for i in range(10, 90)]
    (tmp_path / "train.jsonl").write_text("\n".join(map(json.dumps, rows[:60])))
    (tmp_path / "held.jsonl").write_text("\n".join(map(json.dumps, rows[60:])))
    words = ["dataset=jsonl", "dataset.train=train.jsonl", "dataset.eval=held.jsonl", "run.name=long"]
    done = rlvr("train", *words, *SHORT[:3], cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "prompts over 480 tokens were dropped" in done.stdout + (tmp_path / "outputs/long/logs/rank0.1.log").read_text()


def test_group_terms_see_whole_groups_over_two_ranks(tmp_path):
    """Two real ranks; the paper's length form, worked out again from samples.jsonl for every whole group of eight."""
    words = ["reward=length_kimi_paper", "hardware=cpu_2rank", "run.name=two", "trainer.per_device_train_batch_size=64"]
    done = rlvr("train", *words, "trainer.max_steps=1", *SHORT[1:], cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    groups: dict[str, list[dict]] = {}
    for line in (tmp_path / "outputs/two/samples.jsonl").read_text().splitlines():
        sample = json.loads(line)
        groups.setdefault(json.dumps(sample["prompt"]), []).append(sample)
    assert len(groups) == 16 and {len(group) for group in groups.values()} == {8}
    for group in groups.values():
        lengths = [int(sample["reasons"]["length"].split(", ")[1].split()[0]) for sample in group]
        low, high = min(lengths), max(lengths)
        for sample, length in zip(group, lengths, strict=True):
            lam = 0.5 - (length - low) / (high - low) if high > low else 0.0
            expected = lam if sample["scores"]["correct"] == 1.0 else min(0.0, lam)
            assert sample["scores"]["length"] == pytest.approx(expected, abs=1e-6), sample
