"""The run folder: nothing is overwritten, two launchers never share one, secrets stay out, cut checkpoints are passed over."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from rlvr_cli import checkpoints, masking, run_dir
from rlvr_cli.config.schema import Config
from rlvr_cli.errors import RunDirError


def config(name: str | None = "mine", **changes: object) -> Config:
    data = Config().model_dump()
    data["model"]["path"], data["dataset"]["generator"] = "owner/some-model", "arithmetic"
    data["reward"]["terms"] = {"correct": {"fn": "rewards.math.correct"}}
    data["run"]["name"] = name
    for key, value in changes.items():
        group, _, field = key.partition("__")
        if field:
            data[group][field] = value
        else:
            data[group] = value
    return Config.model_validate(data)


def test_a_run_explains_itself(here: Path) -> None:
    run = run_dir.start(config(), ["seed=3", "model.system_prompt='a b'"], choices={"model": "tiny"})
    assert run.path == Path("outputs/mine")
    assert (run.path / "command.txt").read_text() == "rlvr train seed=3 'model.system_prompt='\"'\"'a b'\"'\"''\n"
    assert json.loads((run.path / "env.json").read_text())["versions"]["pydantic"]
    assert json.loads((run.path / "fingerprint.json").read_text())["choices"] == {"model": "tiny"}
    assert run_dir.status_of(run.path)["state"] == "running"
    assert run.log("rank0") == Path("outputs/mine/logs/rank0.1.log")
    assert run.log("rank0").parent.is_dir() and run.checkpoints.is_dir()


def test_a_name_that_exists_is_refused_and_the_way_on_is_said(here: Path) -> None:
    run_dir.start(config(), []).release()
    with pytest.raises(RunDirError) as same:
        run_dir.start(config(), [])
    assert same.value.fix == "rlvr train --resume mine"
    with pytest.raises(RunDirError) as other:
        run_dir.start(config(seed=4), [])
    assert "another configuration" in other.value.what and "run.name=mine-2" in other.value.fix


def test_a_folder_that_is_no_run_is_never_removed(here: Path) -> None:
    (here / "outputs" / "mine").mkdir(parents=True)
    (here / "outputs" / "mine" / "thesis.txt").write_text("years of work")
    for clean in (False, True):
        with pytest.raises(RunDirError):
            run_dir.start(config(), [], clean=clean)
    assert (here / "outputs" / "mine" / "thesis.txt").exists()


def test_clean_does_not_follow_a_link(here: Path) -> None:
    run_dir.start(config("elsewhere"), []).release()
    (here / "outputs" / "mine").symlink_to(here / "outputs" / "elsewhere")
    with pytest.raises(RunDirError, match="not a run folder"):
        run_dir.start(config(), [], clean=True)
    assert (here / "outputs" / "elsewhere" / "config.yaml").exists()


def test_clean_removes_a_run_and_starts_again(here: Path) -> None:
    first = run_dir.start(config(), [])
    (first.path / "old").write_text("x")
    first.release()
    second = run_dir.start(config(seed=9), [], clean=True)
    assert not (second.path / "old").exists()


def test_two_launchers_do_not_share_a_run(here: Path) -> None:
    run = run_dir.start(config(), [])
    for kwargs in ({"clean": True}, {"resume": "mine"}):
        with pytest.raises(RunDirError, match=f"being written by process {os.getpid()}"):
            run_dir.start(config(), [], **kwargs)
    run.release()
    assert run_dir.start(config(), [], resume="mine").attempt == 2


def test_a_lock_dies_with_its_process(here: Path) -> None:
    code = (
        "import os, signal; from rlvr_cli import run_dir; from tests.unit.test_run_dir import config;"
        "run_dir.start(config(), []); os.kill(os.getpid(), signal.SIGKILL)"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(root)}, cwd=here)
    assert done.returncode == -9
    assert run_dir.status_of(Path("outputs/mine"))["state"] == "died"
    assert run_dir.start(config(), [], resume="mine").attempt == 2


@pytest.mark.parametrize(
    ("changes", "key"),
    [({"seed": 1}, "seed"), ({"trainer__max_steps": 7}, "trainer.max_steps"), ({"optimizer__learning_rate": 1.0}, "learning_rate")],
)
def test_resuming_with_other_learning_is_refused(changes: dict[str, object], key: str, here: Path) -> None:
    run_dir.start(config(), []).release()
    with pytest.raises(RunDirError) as caught:
        run_dir.start(config(**changes), [], resume="mine")
    assert key in caught.value.what
    run_dir.start(config(), [], resume="mine")  # and the lock was given back


@pytest.mark.parametrize(
    "changes", [{"trainer__timeout_s": 9.0}, {"guard__dead_group_patience": 1}, {"hardware__threads": 2}, {"run__dir": "elsewhere"}]
)
def test_resuming_with_other_records_is_fine(changes: dict[str, object], here: Path) -> None:
    run_dir.start(config(), []).release()
    run_dir.start(config(**changes), [], resume="outputs/mine")


def test_a_key_that_is_younger_than_the_run_does_not_hinder(here: Path) -> None:
    run = run_dir.start(config(), [])
    run.release()
    old = "".join(line for line in run.config.read_text().splitlines(keepends=True) if "unjudged_stop_share" not in line)
    run.config.write_text(old)
    assert run_dir.start(config(), [], resume="mine").attempt == 2


def test_names_made_for_a_person_are_unique(here: Path) -> None:
    names = {run_dir.start(config(None), [], choices={"model": "hf", "dataset": "a", "reward": "b"}).path.name for _ in range(3)}
    assert len(names) == 3
    assert all(name.startswith("some-model-a-b-") for name in names)


@pytest.mark.parametrize("name", ["../x", "a/b", ".hidden", "", "a b", "-x", "a..b"])
def test_a_name_is_one_folder(name: str, here: Path) -> None:
    with pytest.raises(RunDirError):
        run_dir.start(config(name), [])


def test_a_place_that_can_not_be_written_is_one_line(here: Path) -> None:
    (here / "outputs").write_text("a file")
    for name in ("mine", None):
        with pytest.raises(RunDirError) as caught:
            run_dir.start(config(name), [])
        assert "\n" not in str(caught.value)


def test_runs_are_found_as_people_name_them(here: Path) -> None:
    for name in ("alpha-1", "alpha-2", "beta-1"):
        run_dir.start(config(name), []).release()
    assert run_dir.find("outputs/beta-1").name == "beta-1"
    assert run_dir.find("beta").name == "beta-1"
    assert run_dir.find("latest").name == "beta-1"
    with pytest.raises(RunDirError, match="2 runs start with 'alpha'"):
        run_dir.find("alpha")
    with pytest.raises(RunDirError) as caught:
        run_dir.find("betta-1")
    assert caught.value.fix == "beta-1"


# ------------------------------------------------------------------------------------------------ secrets


def test_secrets_are_not_written(here: Path) -> None:
    spoken = ["tracker.options.WANDB_API_KEY=abc123", "model.path=hf_abcdefghijklmnopqrstuv", "tracker.project=mine"]
    run = run_dir.start(config(tracker={"options": {"WANDB_API_KEY": "abc123"}}), spoken)
    written = "".join(p.read_text() for p in run.path.rglob("*") if p.is_file())
    assert "abc123" not in written and "hf_abcdefghijklmnopqrstuv" not in written
    assert "tracker.project=mine" in written


@pytest.mark.parametrize("name", ["api_key", "OPENAI_API_KEY", "password", "hub-token", "aws_secret_access_key", "client_secret"])
def test_names_of_secrets(name: str) -> None:
    assert masking.masked({name: "v"}) == {name: "***"}


@pytest.mark.parametrize("name", ["eos_token", "stop_token_ids", "max_prompt_tokens", "tokens", "keys", "answer_column"])
def test_names_that_only_sound_like_secrets(name: str) -> None:
    assert masking.masked({name: "v"}) == {name: "v"}


# ------------------------------------------------------------------------------------------------ checkpoints


def tensor_file(path: Path, cut: int = 0) -> None:
    header = json.dumps({"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}).encode()
    data = len(header).to_bytes(8, "little") + header + bytes(8)
    path.write_bytes(data[: len(data) - cut])


def torch_file(path: Path, cut: bool = False) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data.pkl", b"x" * 100)
    if cut:
        path.write_bytes(path.read_bytes()[:60])


def checkpoint(run: Path, step: int, *, ranks: int = 0, name: str = "step") -> Path:
    """A whole checkpoint; with ``ranks``, DeepSpeed's."""
    folder = run / "checkpoints" / f"{name}_{step}"
    folder.mkdir(parents=True)
    (folder / "trainer_state.json").write_text(json.dumps({"global_step": step}))
    tensor_file(folder / "model.safetensors")
    torch_file(folder / "scheduler.pt")
    if ranks:
        shards = folder / f"global_step{step}"
        shards.mkdir()
        (folder / "latest").write_text(f"global_step{step}")
        torch_file(shards / "mp_rank_00_model_states.pt")
        for rank in range(ranks):
            torch_file(shards / f"zero_pp_rank_{rank}_mp_rank_00_optim_states.pt")
    else:
        torch_file(folder / "optimizer.pt")
    return folder


def test_the_newest_whole_checkpoint_is_taken(here: Path) -> None:
    assert checkpoints.latest_checkpoint(here) == (None, [])
    checkpoint(here, 9), checkpoint(here, 100)
    assert checkpoints.latest_checkpoint(here)[0].name == "step_100"


def test_a_save_that_did_not_get_its_name_is_passed_over_however_whole_it_looks(here: Path) -> None:
    """It was chosen, and then removed with the other leftovers before it was read: a run killed in that moment could not go on."""
    checkpoint(here, 2)
    saved = checkpoint(here, 3)
    saved.rename(saved.with_name("checkpoint-3"))
    found, passed_over = checkpoints.latest_checkpoint(here)
    assert found.name == "step_2" and passed_over == ["checkpoint-3: its save did not end"]


def spoil_state(folder: Path) -> None:
    (folder / "trainer_state.json").write_text("{")


def spoil_step(folder: Path) -> None:
    (folder / "trainer_state.json").write_text('{"global_step": 3}')


def spoil_weights(folder: Path) -> None:
    tensor_file(folder / "model.safetensors", cut=3)


def drop_weights(folder: Path) -> None:
    (folder / "model.safetensors").unlink()


def cut_optimizer(folder: Path) -> None:
    torch_file(folder / "optimizer.pt", cut=True)


def drop_scheduler(folder: Path) -> None:
    (folder / "scheduler.pt").unlink()


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (spoil_state, "trainer_state.json"),
        (spoil_step, "of another step"),
        (spoil_weights, "model.safetensors is cut short"),
        (drop_weights, "no weights"),
        (cut_optimizer, "optimizer.pt is missing or cut"),
        (drop_scheduler, "scheduler.pt is missing or cut"),
    ],
)
def test_a_spoilt_checkpoint_is_passed_over_aloud(spoil, says: str, here: Path) -> None:
    checkpoint(here, 10)
    spoil(checkpoint(here, 20))
    found, passed_over = checkpoints.latest_checkpoint(here)
    assert found.name == "step_10"
    assert len(passed_over) == 1 and passed_over[0].startswith("step_20: ") and says in passed_over[0]


def test_deepspeed_checkpoints_are_whole_and_fit_the_ranks(here: Path) -> None:
    folder = checkpoint(here, 20, ranks=2)
    assert checkpoints.latest_checkpoint(here, ranks=2, zero_stage=2)[0] == folder
    assert "written by 2 ranks, this run has 1" in checkpoints.latest_checkpoint(here, ranks=1, zero_stage=2)[1][0]
    torch_file(folder / "global_step20" / "zero_pp_rank_1_mp_rank_00_optim_states.pt", cut=True)
    assert "cut short" in checkpoints.latest_checkpoint(here, ranks=2, zero_stage=2)[1][0]


def test_deepspeed_latest_must_name_what_is_there(here: Path) -> None:
    folder = checkpoint(here, 20, ranks=1)
    (folder / "latest").write_text("global_step30")
    assert "latest names 'global_step30'" in checkpoints.latest_checkpoint(here)[1][0]


def test_plain_and_deepspeed_checkpoints_do_not_mix(here: Path) -> None:
    checkpoint(here, 20)
    assert "without DeepSpeed" in checkpoints.latest_checkpoint(here, ranks=1, zero_stage=2)[1][0]


# ------------------------------------------------------------------------------------------------ records


def test_a_write_that_fails_leaves_the_old_file(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = here / "a.json"
    run_dir.write_atomic(target, "old")

    def fail(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError):
        run_dir.write_atomic(target, "new")
    assert target.read_text() == "old"
    assert list(here.iterdir()) == [target]


def test_data_that_changed_changes_the_fingerprint(here: Path) -> None:
    (here / "rows.jsonl").write_text('{"prompt": "1+1", "answer": "2"}\n')
    one = config()
    one.dataset.generator, one.dataset.train = None, "rows.jsonl"
    before = run_dir.fingerprint(one)
    (here / "rows.jsonl").write_text('{"prompt": "1+1", "answer": "3"}\n')
    after = run_dir.fingerprint(one)
    assert before["config"] == after["config"] and before["data"] != after["data"]


def test_resuming_on_other_rows_is_refused(here: Path) -> None:
    (here / "rows.jsonl").write_text('{"prompt": "1+1", "answer": "2"}\n')
    one = config()
    one.dataset.generator, one.dataset.train = None, "rows.jsonl"
    run_dir.start(one, []).release()
    (here / "rows.jsonl").write_text('{"prompt": "1+1", "answer": "3"}\n')
    with pytest.raises(RunDirError, match=r"the content of dataset\.train was"):
        run_dir.start(one, [], resume="mine")


def test_a_full_disk_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(run_dir.os, "fsync", full)
    with pytest.raises(OSError) as caught:
        run_dir.write_atomic(tmp_path / "status.json", "{}")
    assert caught.value.filename == str(tmp_path / "status.json") and list(tmp_path.iterdir()) == []
