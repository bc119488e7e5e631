"""The sandbox itself: what each tier withstands, what it cleans up, how it behaves in odd places."""

from __future__ import annotations

import asyncio
import gc
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from rlvr_cli.verifiers import sandbox
from rlvr_cli.verifiers.sandbox import Limits
from rlvr_cli.verifiers.sandbox.attacks import ATTACKS
from rlvr_cli.verifiers.sandbox.client import Pool, SandboxFailure, finish
from rlvr_cli.verifiers.sandbox.tiers import _attack, _targets
from rlvr_cli.verifiers.sandbox.watch import Tree

ENTRY = "rlvr_cli.verifiers.code.inside:script"
ROOT = Path(__file__).resolve().parents[2]
QUICK = Limits(cpu_s=0.5, wall_s=3, disk_mb=4)

pytestmark = pytest.mark.skipif(sandbox.probe().name == "none", reason="no sandbox works on this machine")


def run(code: str, stdin: bytes = b"", limits: Limits = QUICK) -> sandbox.Outcome:
    return sandbox.run(ENTRY, {"code": code}, stdin=stdin, limits=limits)


@pytest.fixture(scope="module", params=["namespaces", "landlock"])
def pool(request):
    made = Pool(request.param)
    try:
        with made.borrow("solution"):
            yield made
    except SandboxFailure as error:
        pytest.skip(f"{request.param} does not start here: {error}")
    finally:
        made.close()


def test_every_attack_fails(pool):
    layers, worked = _attack(pool)
    assert worked == []
    assert "seccomp filter" in layers


@pytest.mark.parametrize(
    "name", ["read a file of the caller", "write beside it", "connect by TCP", "signal the caller", "change the server's limits"]
)
def test_the_attacks_can_succeed(name):
    """Outside every wall the same attacks work, so that a tier that passes has stopped them."""
    with _targets() as targets:
        assert ATTACKS[name](targets)


def test_description_is_one_line_that_names_the_tier():
    line = sandbox.describe()
    assert sandbox.probe().name in line and "\n" not in line


@pytest.mark.parametrize(
    "code, reason",
    [
        ("while True: pass", "cpu"),
        ("import time\ntime.sleep(60)", "wall"),
        ("import sys\nwhile True: sys.stdout.write('x' * 9999)", "output"),
        ("import os\nfor i in range(3):\n    if os.fork() == 0: break\nwhile True: pass", "cpu"),
    ],
)
def test_limits(code, reason):
    start = time.monotonic()
    assert run(code).reason == reason
    assert time.monotonic() - start < 12


def test_memory_and_disk_are_capped():
    assert b"MemoryError" in run("x = bytearray(1 << 30)").stderr
    full = run("import time\nfor i in range(20):\n    open(str(i), 'wb').write(b'x' * (1 << 20)); time.sleep(0.02)\nprint('all')")
    assert full.stdout == b"" and (full.reason == "disk" or b"Error" in full.stderr)


def test_stdin_larger_than_a_pipe():
    assert run("import sys\nprint(len(sys.stdin.read()))", b"7" * 3_000_000, Limits()).stdout == b"3000000\n"
    assert run("print(1)", b"7" * 3_000_000).stdout == b"1\n"  # never read: no deadlock


def test_folders_are_fresh():
    code = "import os\nprint(sorted(os.listdir('.')))\nos.makedirs('a/b')\nopen('a/b/c', 'w').write('x')\nos.chmod('a/b', 0)"
    first, second = run(code), run(code)
    assert first.stdout == second.stdout and first.code == second.code == 0


def test_environment_is_clean(monkeypatch):
    monkeypatch.setenv("RLVR_TEST_SECRET", "canary")
    out = run(
        "import os\nprint(dict(os.environ))\nprint(open('/proc/self/environ').read() if os.path.exists('/proc/self/environ') else '')"
    ).stdout
    assert b"canary" not in out


def test_no_process_outlives_its_job():
    marker = f"rlvr-outlive-{os.getpid()}"
    command = f"[sys.executable, '-S', '-c', 'import time; time.sleep(50)', '{marker}']"
    run(f"import subprocess, sys\nsubprocess.Popen({command}, start_new_session=True)")
    time.sleep(0.05)
    assert not any(marker in _command(pid) for pid in os.listdir("/proc") if pid.isdigit())


def _command(pid: str) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace")
    except OSError:
        return ""


def test_survives_a_killed_server_and_a_killed_keeper():
    assert run("print(1)").stdout == b"1\n"
    pool = sandbox._pools[sandbox.probe().name]
    os.kill(pool.keeper.pid, signal.SIGKILL)
    assert run("print(2)").stdout == b"2\n"
    assert run("print(3)").stdout == b"3\n"


def test_inside_asyncio():
    async def many() -> list[bytes]:
        return [o.stdout for o in await asyncio.gather(*(asyncio.to_thread(run, f"print({i})") for i in range(8)))]

    assert asyncio.run(many()) == [f"{i}\n".encode() for i in range(8)]


def test_in_a_forked_child():
    """A forked process (a data loader's worker) gets servers of its own and leaves the parent's alone."""
    assert run("print(1)").stdout == b"1\n"
    pid = os.fork()
    if pid == 0:
        os._exit(0 if run("print(2)").stdout == b"2\n" else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert run("print(3)").stdout == b"3\n"


def test_servers_die_with_a_killed_caller():
    code = (
        "import os, sys, time\nfrom rlvr_cli.verifiers import sandbox\n"
        "sandbox.run('rlvr_cli.verifiers.code.inside:script', {'code': 'print(1)'})\n"
        "print(next(iter(sandbox._pools.values())).keeper.pid, flush=True)\ntime.sleep(60)"
    )
    caller = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, cwd=ROOT)
    keeper = int(caller.stdout.readline())
    caller.kill()
    caller.wait()
    for _ in range(100):
        if not os.path.exists(f"/proc/{keeper}"):
            break
        time.sleep(0.05)
    assert not os.path.exists(f"/proc/{keeper}")


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="needs root and setpriv to become a plain user")
@pytest.mark.parametrize("tier", ["namespaces", "landlock"])
def test_as_a_plain_user_with_the_system_python(tier):
    python = shutil.which("python3", path="/usr/bin")
    if python is None or not os.access(ROOT, os.R_OK | os.X_OK):
        pytest.skip("no system python")
    code = (
        "from rlvr_cli.verifiers.sandbox.client import Pool\nfrom rlvr_cli.verifiers.sandbox.tiers import _attack\n"
        f"pool = Pool({tier!r})\nprint(_attack(pool)[1])\npool.close()"
    )
    drop = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "env", "-i", f"PYTHONPATH={ROOT}"]
    done = subprocess.run([*drop, python, "-c", code], capture_output=True, text=True, cwd="/", timeout=60)
    if "SandboxFailure" in done.stderr or "No module named" in done.stderr:
        pytest.skip(done.stderr.strip().splitlines()[-1])
    assert done.stdout == "[]\n", done.stderr


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_nothing_leaks_in_ten_thousand_runs(pool, tmp_path, monkeypatch):
    """Descriptors, processes, folders, memory: as many after 10,000 runs as after 200."""

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    proc = os.open("/proc", os.O_PATH)

    def spin(n: int) -> None:
        for i in range(n):
            with pool.borrow("solution") as jail:
                code = "import os\nif os.fork() == 0:\n    os.setsid()\n    import time; time.sleep(9)" if i % 20 == 0 else "print(1)"
                finish(jail.start(ENTRY, spec={"code": code}, stdin=b"", limits=QUICK))

    def state() -> tuple[int, int, int]:
        gc.collect()
        return len(os.listdir("/proc/self/fd")), len(Tree(proc, pool.keeper.pid, alone=False).pids()), len(os.listdir(tmp_path))

    spin(200)
    before, memory = state(), _resident_mb()
    spin(9800)
    time.sleep(1)
    after = state()
    os.close(proc)
    assert after[0] <= before[0] and after[1] <= before[1] and after[2] <= 1, (before, after)
    assert _resident_mb() - memory < 20


def _resident_mb() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
