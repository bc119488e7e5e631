"""Files that a command writes: claimed before the work, whole or not at all, never over another; and what a child's path holds."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import rlvr_cli
from rlvr_cli.errors import ConfigError, RlvrError
from rlvr_cli.evaluation.evaluate import free_folder
from rlvr_cli.interpreter import python, refuse_shadows
from rlvr_cli.outputs import claim, need_writable, writing

RLVR = [sys.executable, "-m", "rlvr_cli.main"]
ENV = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}


def test_a_file_is_claimed_before_the_work(here: Path) -> None:
    (here / "old.jsonl").write_text("kept")
    assert claim("new/folder/x.jsonl") == Path("new/folder/x.jsonl") and not (here / "new").exists()
    assert claim("old.jsonl", overwrite=True) == Path("old.jsonl")
    assert claim("/dev/null") == Path("/dev/null")
    for out, says in (("old.jsonl", "old.jsonl exists"), (".", "is a folder"), ("old.jsonl/x", "old.jsonl is not a folder")):
        with pytest.raises(ConfigError, match=says):
            claim(out)


def test_a_read_only_place_is_said(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(ConfigError, match="read-only") as found:
        need_writable(here / "a" / "b", where="run.dir", fix="run.dir=FOLDER")
    assert str(here) in str(found.value) and found.value.fix == "run.dir=FOLDER"


def test_a_file_is_whole_or_not_there(here: Path) -> None:
    with writing(Path("a/x.jsonl.gz")) as file:
        file.write("one\n")
    with gzip.open("a/x.jsonl.gz", "rt") as file:
        assert file.read() == "one\n"
    with pytest.raises(KeyError), writing(Path("a/y.jsonl")) as file:
        file.write("half")
        raise KeyError
    assert [p.name for p in (here / "a").iterdir()] == ["x.jsonl.gz"]


def test_a_full_device_is_a_failure_and_no_wrong_setting() -> None:
    with pytest.raises(RlvrError, match="No space left") as found, writing(Path("/dev/full")) as file:
        file.write("x")
    assert found.value.exit_code == 1


@pytest.mark.parametrize(
    ("shell", "code"),
    [
        ("ls > /dev/full", 1),
        ("ls | head -1", 0),
        ("config | head -1", 0),
        ("train --cfg | head -1", 0),
        ("ls >&-", 0),
        ("ls <&- >&- 2>&-", 0),
    ],
)
def test_standard_output_that_is_full_or_gone(shell: str, code: int, here: Path) -> None:
    line = f"set -o pipefail; {sys.executable} -m rlvr_cli.main {shell}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, env=ENV, cwd=here, timeout=60)
    assert done.returncode == code
    assert done.stderr == ("rlvr ls: No space left on device: standard output\n" if code else "")


WORKS_ON = """
import sys, time
from pathlib import Path
from rlvr_cli import main
from rlvr_cli.commands import train

def run(argv):
    for i in range(20):
        print("line", i, flush=True)
        print("said", i, file=sys.stderr, flush=True)
        time.sleep(0.02)
    Path("went-on").touch()
    return 1

train.run = run
sys.exit(main.main(["train"]))
"""


@pytest.mark.parametrize("shell", ["| head -1", "2>&1 | head -1", "2>&1 | true"])
def test_a_reader_that_leaves_ends_no_run(shell: str, here: Path) -> None:
    """The work goes on to its own end and keeps its own exit code."""
    (here / "works_on.py").write_text(WORKS_ON)
    line = f'{sys.executable} works_on.py {shell}; exit "${{PIPESTATUS[0]}}"'
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, env=ENV, cwd=here, timeout=60)
    assert done.returncode == 1 and (here / "went-on").exists() and "Traceback" not in done.stderr


def test_an_error_that_nobody_reads_keeps_its_code(here: Path) -> None:
    line = (
        f"{sys.executable} -c \"import time; time.sleep(1); from rlvr_cli.main import main; raise SystemExit(main(['nope']))\" 2>&1 | true"
    )
    done = subprocess.run(
        ["bash", "-c", f'{line}; exit "${{PIPESTATUS[0]}}"'], capture_output=True, text=True, env=ENV, cwd=here, timeout=60
    )
    assert (done.returncode, done.stderr) == (2, "")


def test_a_users_module_hides_nothing_in_a_child(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("random", "tempfile", "yaml"):
        (here / f"{name}.py").write_text("raise ImportError('the wrong one')")
    done = subprocess.run(python("-c", "import random, tempfile, yaml"), capture_output=True, text=True, cwd=here, timeout=60)
    assert done.returncode == 0, done.stderr
    monkeypatch.setenv("PYTHONPATH", str(here))
    with pytest.raises(ConfigError, match=r"random\.py hides the module 'random'"):
        refuse_shadows()


def test_every_python_child_is_started_without_the_working_folder() -> None:
    """The pool's children get ``PYTHONSAFEPATH`` in their environment; all others are started by :func:`python`."""
    starts = re.compile(r'sys\.executable, "-[mc]"')
    package = Path(rlvr_cli.__file__).parent
    code = {p: re.sub(r'"""(?s:.*?)"""', "", p.read_text()) for p in package.rglob("*.py")}
    found = [str(p.relative_to(package)) for p, text in code.items() if starts.search(text)]
    assert found == ["verifiers/child.py"]


def test_an_evaluation_with_other_settings_gets_a_folder_of_its_own(here: Path) -> None:
    old = {"settings": {"k": 8, "seed": 0}}
    (here / "held").mkdir()
    (here / "held" / "summary.json").write_text(json.dumps(old))
    assert free_folder(here / "held", old) == here / "held"
    assert free_folder(here / "held", {"settings": {"k": 1, "seed": 0}}) == here / "held-2"
    assert free_folder(here / "held", {**old, "baseline": {"checkpoint": "untrained"}}) == here / "held-2"
