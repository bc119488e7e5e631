"""The code verifier against labelled rows beside the repository, with what they could have harmed; skipped where absent.

The attack rows run only inside the sandbox. Before them, bait is laid out: files, a folder, an environment variable, listeners.
"""

from __future__ import annotations

import gzip
import json
import os
import socket
import threading
from contextlib import ExitStack
from pathlib import Path

import pytest

from rewards.code import tests_passed as passed
from rlvr_cli.verifiers import cache, sandbox

SHARED = Path(__file__).resolve().parents[3] / "shared"

pytestmark = [pytest.mark.real, pytest.mark.skipif(sandbox.probe().name == "none", reason="no sandbox works on this machine")]


def lines(*parts: str) -> list[dict]:
    path = SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"labelled cases absent: ../shared/{'/'.join(parts)}")
    raw = path.read_bytes()
    text = gzip.decompress(raw) if path.suffix == ".gz" else raw
    return [json.loads(line) for line in text.decode("utf-8").splitlines()]


@pytest.fixture(autouse=True)
def fresh_verdicts():
    cache.switch(False)
    yield
    cache.switch(True)


class Bait:
    """Listeners that note who came."""

    def __init__(self, stack: ExitStack):
        self.touched: set[str] = set()
        wanted = (
            ("18479", socket.AF_INET, ("127.0.0.1", 18479), socket.SOCK_STREAM),
            ("@rlvr_abstract_18479", socket.AF_UNIX, "\0rlvr_abstract_18479", socket.SOCK_STREAM),
            ("18480", socket.AF_INET, ("127.0.0.1", 18480), socket.SOCK_DGRAM),
        )
        for name, family, address, kind in wanted:
            listener = stack.enter_context(socket.socket(family, kind))
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            if kind == socket.SOCK_STREAM:
                listener.listen()
            threading.Thread(target=self.listen, args=(name, listener, kind), daemon=True).start()

    def listen(self, name: str, listener: socket.socket, kind: int) -> None:
        while True:
            try:
                listener.accept()[0].close() if kind == socket.SOCK_STREAM else listener.recvfrom(64)
            except OSError:
                return
            self.touched.add(name)


def commands() -> str:
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            found.append(Path(f"/proc/{pid}/cmdline").read_text(errors="replace"))
        except OSError:
            continue
    return "\n".join(found)


def harmed(row: dict, bait: Bait) -> list[dict]:
    """The conditions of a row that do not hold."""
    checks = {
        "path_absent": lambda p: not os.path.exists(p), "path_present": os.path.exists, "proc_absent": lambda m: m not in commands(),
        "no_connection": lambda n: str(n) not in bait.touched, "no_datagram": lambda n: "18480" not in bait.touched,
    }  # fmt: skip
    return [{k: v} for condition in row.get("harm") or [] for k, v in condition.items() if k in checks and not checks[k](v)]


@pytest.mark.timeout(300)
def test_labelled_rows_and_their_harm(monkeypatch, tmp_path):
    rows = lines("cases", "code_cases_dev.jsonl")
    monkeypatch.setenv("RLVR_CANARY", "canary-51c0ffee")
    monkeypatch.chdir(tmp_path)
    os.makedirs("/tmp/rlvr_canary_dir", exist_ok=True)
    secret = Path("/tmp/rlvr_secret.txt")
    secret.write_text("tmp-secret-88")
    try:
        with ExitStack() as stack:
            try:
                bait = Bait(stack)
            except OSError as error:
                pytest.skip(f"the ports of the bait are taken: {error}")
            scores = passed([row["completion"] for row in rows], [row["tests"] for row in rows])
            hurt = {row["id"]: broken for row in rows if (broken := harmed(row, bait))}
    finally:
        secret.unlink()
        os.rmdir("/tmp/rlvr_canary_dir")
    wrong = {row["id"]: v.reason for row, v in zip(rows, scores.verdicts, strict=True) if v.score != row["expect"]}
    assert wrong == {} and hurt == {}


def test_humaneval_canonical_solutions():
    rows = lines("data", "humaneval", "HumanEval.jsonl.gz")
    golds = [f"```python\n{row['prompt']}{row['canonical_solution']}\n```" for row in rows]
    tests = [{"type": "assert", "code": row["test"], "entry_point": row["entry_point"]} for row in rows]
    scores = passed(golds, tests, mode="all")
    assert len(rows) == 164
    assert [row["task_id"] for row, score in zip(rows, scores, strict=True) if score != 1.0] == []


def test_graded_model_solutions():
    rows = lines("data", "graded_code_reflexion", "humaneval_gpt4_simple.jsonl")
    tests = [{"test": f"{row['test']}\ncheck({row['entry_point']})", "entry_point": row["entry_point"]} for row in rows]
    scores = passed([f"```python\n{row['solution']}\n```" for row in rows], tests, mode="all")
    agreed = sum((score == 1.0) == row["is_solved"] for row, score in zip(rows, scores, strict=True))
    assert agreed >= 163
