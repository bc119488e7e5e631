"""How an attempt that went wrong is told: the cause before what followed from it, and what is left to go on from."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from rlvr_cli.config.schema import Config
from rlvr_cli.launch import supervise
from rlvr_cli.launch.supervise import Attempt, kept_words, remove_torn

TORCHRUN = """\
rlvr_cli.launch.rank FAILED
------------------------------------------------------------
Failures:
[1]:
  rank      : 0 (local_rank: 0)
  exitcode  : {other} (pid: 11)
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  rank      : 1 (local_rank: 1)
  exitcode  : {first} (pid: 12)
"""


def ended(folder: Path, *, first: int, other: int, failure: dict | None = None) -> supervise.Outcome:
    """What an attempt says when torchrun ended with 1, as its log tells."""
    (folder / "logs").mkdir()
    (folder / "logs" / "torchrun.1.log").write_text(TORCHRUN.format(first=first, other=other))
    (folder / "logs" / "rank0.1.log").write_text("all well\n")
    if failure:
        (folder / "failure.json").write_text(json.dumps(failure))
    view = SimpleNamespace(say=print)
    return Attempt(Config(), SimpleNamespace(), folder, attempt=1, view=view)._ended(1)


def test_a_killed_rank_is_the_cause_and_not_the_peer_that_lost_it(tmp_path: Path) -> None:
    lost = {"kind": "RuntimeError", "what": "RuntimeError: Connection closed by peer", "rank": 0, "step": 4}
    outcome = ended(tmp_path, first=-9, other=1, failure=lost)
    assert outcome.code == 1 and "a rank was killed with SIGKILL" in outcome.sentence


def test_a_rank_that_raised_is_the_cause_although_the_others_were_killed(tmp_path: Path) -> None:
    own = {"kind": "RuntimeError", "what": "RuntimeError: my own fault", "rank": 1, "step": 4}
    assert "my own fault" in ended(tmp_path, first=1, other=-9, failure=own).sentence


def test_a_full_disk_is_said_where_no_rank_could_write_it_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervise.shutil, "disk_usage", lambda path: SimpleNamespace(free=0))
    assert "No space left on device" in ended(tmp_path, first=1, other=-15).sentence


def test_what_is_left_is_named_and_half_a_save_is_removed(tmp_path: Path) -> None:
    def checkpoint(name: str, step: int) -> None:
        folder = tmp_path / "checkpoints" / name
        folder.mkdir(parents=True)
        header = json.dumps({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
        (folder / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + bytes(4))
        (folder / "latest").write_text("global")
        (folder / "global").mkdir()
        shutil.make_archive(str(folder / "global" / "x"), "zip", folder, "latest")
        (folder / "global" / "x.zip").rename(folder / "global" / "bf16_zero_pp_rank_0_mp_rank_00_optim_states.pt")
        (folder / "trainer_state.json").write_text(json.dumps({"global_step": step}))

    assert kept_words(tmp_path) == "no checkpoint was written yet"
    checkpoint("step_2", 2)
    checkpoint("checkpoint-4", 4)
    (tmp_path / "checkpoints" / "checkpoint-4" / "trainer_state.json").unlink()
    (tmp_path / ".last.part").mkdir()
    remove_torn(tmp_path)
    assert kept_words(tmp_path) == "step_2 is the last whole checkpoint"
    assert sorted(p.name for p in tmp_path.rglob("*") if p.name.startswith(("step_", "checkpoint-", "."))) == ["step_2"]


def test_a_rank_without_room_for_its_reason_keeps_its_exit_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from rlvr_cli.training import failure

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with failure.recorded(tmp_path) as outcome:
        raise OSError(28, "No space left on device")
    assert outcome.exit_code == 1
