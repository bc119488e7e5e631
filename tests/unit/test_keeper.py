"""No child outlives its launcher: orphans, daemons, deaf processes, and a launcher killed with SIGKILL."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rlvr_cli.launch.processes import Kept, tail, wait_gone

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the keeper's guarantees are Linux's")

# A family as torchrun and vLLM make them: a child, a grandchild in its own session, and a daemon whose parent ended.
FAMILY = """
import os, signal, subprocess, sys, time
out = open(sys.argv[1], "a", buffering=1)
def note(): out.write(f"{os.getpid()}\\n")
deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(300)"
note()
grandchild = subprocess.Popen([sys.executable, "-c", deaf], start_new_session=True); out.write(f"{grandchild.pid}\\n")
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        note(); time.sleep(300)
    os._exit(0)
time.sleep(float(sys.argv[2]))
"""


def family(tmp_path: Path, seconds: float) -> tuple[list[str], Path]:
    pids = tmp_path / "pids"
    return [sys.executable, "-c", FAMILY, str(pids), str(seconds)], pids


def read_pids(path: Path, count: int = 3, timeout: float = 20) -> list[int]:
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        found = path.read_text().split() if path.exists() else []
        if len(found) >= count:
            return [int(pid) for pid in found]
        time.sleep(0.02)
    raise AssertionError(f"only {path.read_text() if path.exists() else 'no'} pids")


def test_command_that_ends_takes_its_orphans_with_it(tmp_path):
    argv, pids = family(tmp_path, 0.5)
    kept = Kept.start(argv, tmp_path / "log")
    family_pids = read_pids(pids)
    assert kept.wait(20) == 0
    assert wait_gone(family_pids, 5)


def test_stop_kills_the_deaf_and_the_daemons(tmp_path, monkeypatch):
    argv, pids = family(tmp_path, 300)
    kept = Kept.start(argv, tmp_path / "log")
    family_pids = read_pids(pids)
    assert kept.stop() not in (None, 0)
    assert wait_gone(family_pids, 1)
    assert kept.stop() is not None  # twice is harmless


def test_sigkill_of_the_launcher_leaves_nothing(tmp_path):
    argv, pids = family(tmp_path, 300)
    launcher = (
        "import pathlib, time; from rlvr_cli.launch.processes import Kept;"
        f"kept = Kept.start({argv!r}, pathlib.Path({str(tmp_path / 'log')!r})); time.sleep(300)"
    )
    parent = subprocess.Popen([sys.executable, "-c", launcher])
    family_pids = read_pids(pids)
    keeper = [int(p) for p in Path(f"/proc/{parent.pid}/task/{parent.pid}/children").read_text().split()]
    assert keeper
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    assert wait_gone(family_pids + keeper, 15)


@pytest.mark.parametrize("code", [0, 1, 2, 3])
def test_exit_code_is_the_commands(tmp_path, code):
    assert Kept.start([sys.executable, "-c", f"raise SystemExit({code})"], tmp_path / "log").wait(20) == code


def test_death_by_signal_reads_as_128_plus_signal(tmp_path):
    kept = Kept.start([sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"], tmp_path / "log")
    assert kept.wait(20) == 128 + 9


def test_many_keepers_leave_no_file_descriptors(tmp_path):
    before = len(os.listdir("/proc/self/fd"))
    for i in range(10):
        kept = Kept.start([sys.executable, "-I", "-S", "-c", ""], tmp_path / f"log{i}")
        kept.wait(20)
        kept.stop()
    assert len(os.listdir("/proc/self/fd")) <= before + 1


def test_tail_reads_only_the_end(tmp_path):
    log = tmp_path / "log"
    log.write_bytes(b"x" * 1_000_000 + b"\nlast but one\n\xff last\n")
    assert tail(log, 2).splitlines()[0] == "last but one"
    assert tail(tmp_path / "absent") == ""
