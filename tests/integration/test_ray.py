"""The rewards inside Ray tasks and actors, which call from processes and threads of their own; skipped where ray is not installed."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

ray = pytest.importorskip("ray", reason="ray is not installed (pip install ray)")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
ROOT = str(Path(__file__).resolve().parents[2])


@pytest.fixture(scope="module", autouse=True)
def cluster():
    """The smallest Ray there is, on this machine only."""
    path = [ROOT, f"{ROOT}/tests/unit", *(entry for entry in sys.path if entry)]
    variables = {"PYTHONPATH": ":".join(path), "RLVR_VERDICT_CACHE": "0"}
    quiet = {"include_dashboard": False, "log_to_driver": False, "object_store_memory": 80 * 2**20}
    try:
        ray.init(num_cpus=2, runtime_env={"env_vars": variables}, **quiet)
    except Exception as error:  # a busy machine: Ray gives its own processes 30 s
        pytest.skip(f"ray does not start here: {error}")
    yield
    ray.shutdown()


def everything():
    """One batch of each kind of reward: in process, pooled, sandboxed, with an engine; a judge that hangs and one that dies."""
    from rewards.code import tests_passed
    from rewards.math import correct
    from rewards.sql import same_result
    from rlvr_cli.verifiers.pool import pay_pooled

    task = {"type": "stdio", "cases": [["2\n", "4\n"]]}
    start = time.monotonic()
    moods = pay_pooled("pool_judges:moods", ["ok", "sleep 60", "die", "ok"], [{}] * 4, timeout_s=3.0, workers=2)
    return {
        "math": list(correct(["\\boxed{4}", "\\boxed{5}"], ["4", "4"])),
        "code": list(tests_passed(["```python\nprint(int(input()) * 2)\n```", "```python\nprint(5)\n```"], [task] * 2)),
        "sql": list(same_result(["SELECT 2", "SELECT 3"], ["SELECT 1 + 1"] * 2, ["CREATE TABLE t(x)"] * 2)),
        "moods": list(moods),
        "reasons": [verdict.reason for verdict in moods.verdicts],
        "seconds": time.monotonic() - start,
    }


def check(found: dict) -> None:
    assert found["math"] == found["code"] == found["sql"] == [1.0, 0.0]
    assert found["moods"] == [1.0, None, None, 1.0]
    assert "timed out after 3 s" in found["reasons"][1] and "died twice" in found["reasons"][2]
    assert found["seconds"] < 120


def test_in_a_task():
    check(ray.get(ray.remote(everything).remote(), timeout=200))


def test_in_an_actor_with_threads():
    @ray.remote(max_concurrency=3)
    class Judge:
        def judge(self):
            return everything()

        def pid(self):
            return os.getpid()

    judge = Judge.remote()
    for found in ray.get([judge.judge.remote() for _ in range(3)], timeout=200):
        check(found)
    pid = ray.get(judge.pid.remote())
    ray.kill(judge)  # SIGKILL: nothing that it started may stay
    assert gone_within(pid, 15)


def test_in_an_asynchronous_actor():
    @ray.remote
    class Judge:
        async def judge(self):
            return everything()

    check(ray.get(Judge.remote().judge.remote(), timeout=200))


def gone_within(pid: int, seconds: float) -> bool:
    """No judge that names the dead process as its parent is left."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        lines = _command_lines()
        if not any(b"rlvr_cli.verifiers.pool_worker" in words and str(pid).encode() in words for words in lines):
            return True
        time.sleep(0.2)
    return False


def _command_lines() -> list[list[bytes]]:
    found = []
    for folder in Path("/proc").iterdir():
        try:
            found.append((folder / "cmdline").read_bytes().split(b"\0"))
        except OSError:
            continue
    return found
