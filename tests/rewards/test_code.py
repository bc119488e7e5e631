"""The code verifier on rows of our own: right answers pass, wrong and hostile ones do not, broken tasks are None."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from rewards.code import compiles, gold_completion, run_time
from rewards.code import tests_passed as passed
from rlvr_cli.errors import RewardError
from rlvr_cli.rewards_api import configure_pool
from rlvr_cli.verifiers import cache, pool, sandbox
from rlvr_cli.verifiers.code import judge, judge_all

ROWS = [
    row
    for name in ("code_rows.yaml", "code_kinds.yaml")
    for row in yaml.safe_load(Path(__file__).with_name(name).read_text(encoding="utf-8"))
]
ADD = {"type": "assert", "code": "assert add(1, 2) == 3\nassert add(0, 0) == 0", "entry_point": "add"}
DOUBLE = {"type": "stdio", "cases": [["2\n", "4\n"], ["3\n", "6\n"], ["4\n", "8\n"], ["5\n", "10\n"]]}

pytestmark = pytest.mark.skipif(sandbox.probe().name == "none", reason="no sandbox works on this machine")


def fenced(code: str) -> str:
    return f"```python\n{code}\n```"


def column_of(row: dict):
    if "asserts" in row:
        return {"type": "assert", "code": row["asserts"], "entry_point": row["entry_point"]}
    return {"type": "stdio", "cases": row["cases"]} if "cases" in row else row["raw"]


@pytest.fixture(scope="module", autouse=True)
def fresh_verdicts():
    """These tests want programs to run, not what was found of them yesterday."""
    cache.switch(False)
    yield
    cache.switch(True)


@pytest.fixture(scope="module")
def verdicts(fresh_verdicts) -> dict:
    """All rows in one batch, as a reward is called."""
    scores = passed([fenced(r["code"]) for r in ROWS], [column_of(r) for r in ROWS])
    return {row["name"]: verdict for row, verdict in zip(ROWS, scores.verdicts, strict=True)}


@pytest.mark.parametrize("row", ROWS, ids=lambda r: r["name"])
def test_row(row, verdicts):
    if row.get("needs") not in (None, sandbox.probe().name):
        pytest.skip(f"needs {row['needs']}")
    verdict = verdicts[row["name"]]
    assert verdict.score == row["expect"], verdict.reason
    assert verdict.reason


def test_fraction_and_all():
    even = fenced("n = int(input())\nprint(n * 2 if n % 2 == 0 else 0)")
    assert passed([even], [DOUBLE]) == [0.5]
    assert passed([even], [DOUBLE], mode="all") == [0.0]
    with pytest.raises(RewardError, match="fraction"):
        judge(even, {"tests": DOUBLE}, mode="some")


def test_text_and_object_and_a_trip_through_datasets_agree():
    filled = {**ADD, "cases": None, "inputs": None}  # datasets fills the union of keys with None
    right = fenced("def add(a, b): return a + b")
    assert passed([right] * 3, [ADD, json.dumps(ADD), filled]) == [1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    "tests",
    [
        ["assert add(1, 2) == 3", "assert add(2, 2) == 4"],
        '["assert add(1, 2) == 3"]',
        "assert add(1, 2) == 3",
        {"test": "def check(candidate):\n    assert candidate(1, 2) == 3", "entry_point": "add"},
        {"type": "assert", "code": ["x = 3", "assert add(1, 2) == x"], "entry_point": None},
        {"test_list": ["assert add(1, 2) == 3"], "test_setup_code": "import math"},
    ],
    ids=["mbpp list", "json list", "plain text", "humaneval", "lines", "mbpp row"],
)
def test_forms_of_assert_tests(tests):
    assert passed([fenced("def add(a, b): return a + b"), fenced("def add(a, b): return a - b")], [tests, tests], mode="all") == [
        1,
        0,
    ]


@pytest.mark.parametrize("tests", [{"inputs": ["2\n"], "outputs": ["4\n"]}, [{"input": "2\n", "output": "4\n"}], [["2\n", "4\n"]]])
def test_forms_of_stdio_tests(tests):
    assert passed([fenced("print(int(input()) * 2)"), fenced("print(5)")], [tests, tests]) == [1.0, 0.0]


def test_reasons_name_what_happened():
    rows = {
        "print(5)": "line 1: expected '4', got '5'",
        "1/0": "ZeroDivisionError",
        "while True: pass": "more than 0.5 s of CPU",
        "print('x' * 3_000_000)": "printed more than 1 MB",
        "print(": "does not parse",
        "import os; os.kill(os.getpid(), 9)": "signal 9",
    }
    tests = {"type": "stdio", "cases": [["2\n", "4\n"]]}
    scores = passed([fenced(code) for code in rows], [tests] * len(rows), cpu_s=0.5)
    assert scores == [0.0] * len(rows)
    for wanted, verdict in zip(rows.values(), scores.verdicts, strict=True):
        assert wanted in verdict.reason


def test_messages_and_order_are_kept():
    messages = [[{"role": "assistant", "content": fenced(f"print({i})")}] for i in range(6)]
    tests = [{"type": "stdio", "cases": [["", f"{i}\n"]]} for i in range(6)]
    assert passed(messages, tests) == [1.0] * 6
    assert passed(messages, tests[::-1]) == [0.0] * 6
    with pytest.raises(ValueError, match="values for"):
        passed(messages, tests[:2])


def test_from_many_threads_at_once():
    with ThreadPoolExecutor(8) as pool:
        scores = list(pool.map(lambda i: judge(fenced(f"print({i})"), {"tests": [["", f"{i}\n"]]}).score, range(24)))
    assert scores == [1.0] * 24


def test_not_the_main_thread_and_not_a_signal():
    found = []
    thread = threading.Thread(target=lambda: found.append(judge(fenced("while True: pass"), {"tests": DOUBLE}, mode="all", cpu_s=0.3)))
    thread.start()
    thread.join(20)
    assert found[0].score == 0.0


def test_gold_completion_passes_its_own_tests():
    row = {"prompt": "def add(a, b):\n", "canonical_solution": "    return a + b\n", "tests": ADD}
    assert judge(gold_completion(row), row).score == 1.0
    assert gold_completion({"solution": "print(1)"}) == "```python\nprint(1)\n```"
    assert gold_completion({"tests": ADD}) is None


def test_compiles_runs_nothing():
    assert compiles([fenced("while True: pass"), fenced("def f(:"), "No code here at all, sorry."]) == [1.0, 0.0, 0.0]
    assert compiles([fenced("return 1")]) == [0.0]  # parses, does not compile


def test_run_time_pays_only_right_programs():
    slow = fenced("n = int(input())\nfor i in range(4_000_000): pass\nprint(n * 2)")
    fast, wrong = fenced("print(int(input()) * 2)"), fenced("print(1)")
    tests = {"type": "stdio", "cases": [["2\n", "4\n"]]}
    scores = run_time([slow, fast, wrong], [tests] * 3, reference=["print(int(input()) * 2)"] * 3)
    assert 0 < scores[0] < 0.6 and scores[1] > 0.5 and scores[2] == 0.0
    assert run_time([fast], [tests], reference=["print(7)"]) == [None]


def test_a_failing_machine_is_none_not_zero(monkeypatch):
    def broken(*args, **kwargs):
        raise sandbox.SandboxFailure("no process could be started")

    monkeypatch.setattr(sandbox, "run", broken)
    monkeypatch.setattr(cache, "lookup", lambda keys: [None] * len(keys))
    verdict = judge_all([fenced("print(4)")], [{"tests": DOUBLE}])[0]
    assert verdict.score is None and "no process" in verdict.reason


def test_verdicts_are_kept_but_not_those_a_clock_decided(monkeypatch, tmp_path):
    monkeypatch.setenv("RLVR_VERDICT_CACHE", str(tmp_path / "verdicts.sqlite"))
    cache.switch(True)
    answers, tests = [fenced("print(int(input()) * 2)"), fenced("while True: pass")], [[["2\n", "4\n"]]] * 2
    assert passed(answers, tests, cpu_s=0.2) == [1.0, 0.0]
    before = cache.stats()["cache_hits"]
    assert passed(answers, tests, cpu_s=0.2) == [1.0, 0.0]
    assert cache.stats()["cache_hits"] == before + 1
    cache.switch(False)


@pytest.mark.parametrize("workers", [1, 2])
def test_the_pool_setting_says_how_many_run_at_once(monkeypatch, workers):
    """``reward.pool.workers`` reaches the code rewards, up to the cores; an explicit ``workers`` comes before it."""
    now, most, lock, borrow = [0], [0], threading.Lock(), sandbox.borrow

    @contextmanager
    def counted(role, **options):
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        with borrow(role, **options) as jail:
            yield jail
        with lock:
            now[0] -= 1

    monkeypatch.setattr(sandbox, "borrow", counted)
    monkeypatch.setattr(pool, "cores", lambda: 2)
    monkeypatch.setattr(pool._settings, "workers", None)
    configure_pool({"terms": {}, "pool": {"workers": workers, "cache": False}})
    napping = fenced("import time\ntime.sleep(0.2)\nprint(input())")
    assert passed([napping] * 4, [[["2\n", "2\n"]]] * 4) == [1.0] * 4
    assert most == [workers]
    assert passed([napping] * 2, [[["2\n", "2\n"]]] * 2, workers=2) == [1.0] * 2
    assert most == [2]


def test_refused_without_a_sandbox_unless_unsafe(monkeypatch):
    monkeypatch.setattr(sandbox, "_proved", [sandbox.Tier("none", [], ["landlock: not in this kernel"])])
    with pytest.raises(RewardError, match="landlock: not in this kernel"):
        judge(fenced("print(4)"), {"tests": DOUBLE})
    assert "none works" in sandbox.describe()
    assert judge(fenced("print(int(input()) * 2)"), {"tests": DOUBLE}, unsafe=True).score == 1.0
