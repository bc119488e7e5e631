"""The pool of killable judges: deadlines, deaths, order, threads, and nothing left behind."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from rlvr_cli.verifiers import cache, child, pool
from rlvr_cli.verifiers.verdict import Scores

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
MOODS = "pool_judges:moods"


@pytest.fixture(autouse=True)
def fresh_pool(monkeypatch):
    pool.shutdown()  # workers that another test started do not know this folder
    monkeypatch.syspath_prepend(str(HERE))
    monkeypatch.setattr(pool, "_settings", pool._Settings())
    cache.switch(False)
    yield
    pool.shutdown()
    cache.switch(False)


def moods(*words, **options):
    options.setdefault("timeout_s", 20.0)
    return pool.judge_many(MOODS, list(words), [{}] * len(words), options={}, **options)


def descriptors():
    return len(os.listdir("/proc/self/fd"))


def children():
    """Pool workers and zombies of this process; other tests' servers live on beside them."""
    ours = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                words = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if int(fields[1]) == os.getpid() and (not words or b"pool_worker" in words):
                ours.append(int(entry.name))
    return ours


def gone(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


def eventually(true, seconds=20.0):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if true():
            return True
        time.sleep(0.05)
    return False


def test_scores_are_a_list_with_verdicts_in_order():
    words = [f"{i}" for i in range(60)]
    rows = [{"answer": word if i % 3 else "x"} for i, word in enumerate(words)]
    scores = pool.pay_pooled("pool_judges:same", words, rows, workers=3)
    assert isinstance(scores, Scores)
    assert scores == [float(bool(i % 3)) for i in range(60)]
    assert [v.extracted for v in scores.verdicts] == words


def test_options_reach_the_judge():
    assert pool.pay_pooled("pool_judges:same", ["a"], [{"answer": "a"}], bonus=0.5) == [1.5]


def test_an_empty_batch_and_unequal_lengths():
    assert pool.pay_pooled("pool_judges:same", [], []) == []
    with pytest.raises(ValueError, match="2 completions for 1 rows"):
        pool.judge_many("pool_judges:same", ["a", "b"], [{}])


def test_a_deadline_ends_one_verdict_and_not_its_neighbours():
    moods("ok")  # warm
    start = time.monotonic()
    verdicts = moods("ok", "sleep 60", "ok", "spin", "ok", "deaf", "ok", timeout_s=1.0, workers=2)
    assert [v.score for v in verdicts] == [1.0, None, 1.0, None, 1.0, None, 1.0]
    assert verdicts[1].reason == "judge timed out after 1 s"
    assert time.monotonic() - start < 20


def test_waiting_in_the_queue_does_not_count():
    verdicts = moods(*["sleep 0.3"] * 8, timeout_s=2.0, workers=1)  # 2.4 s in all
    assert [v.score for v in verdicts] == [1.0] * 8


@pytest.mark.parametrize("word, reason", [("die", "SIGKILL"), ("exit", "exit 3")])
def test_a_death_is_retried_once_then_none(word, reason):
    before = pool.stats()["restarts"]
    verdicts = moods("ok", word, "ok", workers=1)
    assert [v.score for v in verdicts] == [1.0, None, 1.0]
    assert verdicts[1].reason == f"judge process died twice ({reason})"
    assert pool.stats()["restarts"] == before + 2


def test_a_worker_that_dies_once_costs_nothing(tmp_path):
    verdicts = moods(f"mortal {tmp_path / 'mark'}")
    assert (verdicts[0].score, verdicts[0].reason) == (1.0, "second life")


@pytest.mark.parametrize(
    "word, reason",
    [
        ("raise why", "judge raised RuntimeError: why"),
        ("sysexit", "judge raised SystemExit: 0"),
        ("nan", "judge gave a score that is not finite: nan"),
        ("none", "gold unreadable"),
        ("odd", "judge raised ValueError: could not convert string to float: 'many'"),
        ("hog", "judge raised MemoryError: "),
    ],
)
def test_no_number_is_none_with_a_reason(word, reason):
    (verdict,) = moods(word)
    assert (verdict.score, verdict.reason) == (None, reason)


@pytest.mark.parametrize("path", ["no.such.module:judge", "pool_judges:absent"])
def test_a_judge_that_cannot_be_loaded_says_so(path):
    (verdict,) = pool.judge_many(path, ["x"], [{}])
    assert verdict.score is None
    assert "cannot be loaded" in verdict.reason


def test_noise_on_any_descriptor_does_not_reach_the_protocol():
    verdicts = moods("chatty", "ok", "chatty", "ok", workers=1)
    assert [v.score for v in verdicts] == [1.0] * 4
    assert pool.stats()["restarts"] == 0 or verdicts[3].reason == "ok"


def test_odd_values_travel():
    numpy = pytest.importorskip("numpy")
    rows = [{"value": numpy.float32(2)}, {"value": (1, 2)}, {"value": numpy.arange(3)}, {"value": {3, 1}}, {"value": b"\xff"}]
    verdicts = pool.judge_many(MOODS, ["type"] * 5, rows)
    assert [v.extracted for v in verdicts] == ["2.0", "[1, 2]", "[0, 1, 2]", "[1, 3]", "'\\udcff'"]
    lonely = pool.judge_many("pool_judges:same", ["\ud800 \0 é"], [{"answer": "\ud800 \0 é"}])
    assert (lonely[0].score, lonely[0].extracted) == (1.0, "\ud800 \0 é")


def test_a_worker_that_cannot_start_is_none_and_leaks_nothing(monkeypatch):
    before = descriptors()
    monkeypatch.setattr(child, "clean_environment", lambda: {"PYTHONPATH": "/nowhere", "PYTHONSAFEPATH": "1", "PYTHONNOUSERSITE": "1"})
    monkeypatch.setattr(sys, "executable", "/bin/false")
    (verdict,) = moods("ok", workers=1)
    assert verdict.reason == "judge process died twice (exit 1)"
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    (verdict,) = moods("ok", workers=1)
    assert verdict.score is None and "No such file" in verdict.reason
    pool.shutdown()
    assert (descriptors(), children()) == (before, [])


def test_a_row_that_cannot_be_sent_is_none_and_hurts_nobody():
    deep = []
    for _ in range(100_000):
        deep = [deep]
    verdicts = pool.judge_many(MOODS, ["ok", "ok", "ok"], [{"value": deep}, {("a", 1): 2}, {}])
    assert [v.score for v in verdicts] == [None, None, 1.0]
    assert verdicts[1].reason.startswith("row cannot be sent to a judge")


def test_large_completions_travel():
    text = "x" * 3_000_000
    assert pool.pay_pooled("pool_judges:same", [text], [{"answer": text}]) == [1.0]


def test_many_threads_share_the_pool():
    results = {}

    def call(n):
        words = [f"{n}-{i}" for i in range(20)]
        results[n] = pool.pay_pooled("pool_judges:same", words, [{"answer": w} for w in words], workers=2)

    threads = [threading.Thread(target=call, args=(n,)) for n in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert results == {n: [1.0] * 20 for n in range(12)}
    assert len(children()) <= 2


def test_a_worker_outlives_the_thread_that_first_asked():
    pids = []
    for _ in range(3):
        thread = threading.Thread(target=lambda: pids.append(moods("pid", workers=1)[0].score))
        thread.start()
        thread.join()
        time.sleep(0.1)
    assert len(set(pids)) == 1


def test_asyncio():
    async def both():
        calls = (asyncio.to_thread(moods, "ok", "sleep 0.2", workers=2) for _ in range(4))
        return await asyncio.gather(*calls)

    assert [[v.score for v in one] for one in asyncio.run(both())] == [[1.0, 1.0]] * 4


def test_a_small_batch_does_not_wait_for_a_large_one():
    large = threading.Thread(target=moods, args=["sleep 0.1"] * 60, kwargs={"workers": 1})
    large.start()
    time.sleep(0.5)
    start = time.monotonic()
    assert moods("ok", workers=1)[0].score == 1.0
    assert time.monotonic() - start < 3.0
    pool.shutdown()
    large.join(20)
    assert not large.is_alive()


def test_shutdown_releases_waiting_callers():
    results = []
    caller = threading.Thread(target=lambda: results.extend(moods("sleep 600", "ok", timeout_s=600, workers=1)))
    caller.start()
    time.sleep(1.0)
    pool.shutdown()
    caller.join(20)
    assert [v.score for v in results] == [None, None]
    assert moods("ok")[0].score == 1.0  # a later call starts anew


def test_nothing_is_left_after_shutdown():
    moods("ok", workers=2)
    pool.shutdown()
    before, threads = descriptors(), threading.active_count()
    moods(*(["ok"] * 300), *(["die"] * 3), "sleep 60", timeout_s=1.0, workers=2)
    assert len(children()) <= 2
    pool.shutdown()
    assert children() == []
    assert descriptors() == before
    assert threading.active_count() == threads


def test_a_killed_judge_takes_its_children_along(tmp_path):
    marker = f"rlvr-pool-child-{os.getpid()}"
    (verdict,) = moods(f"child {marker}", timeout_s=1.5)
    assert verdict.score is None

    def survivors():
        listing = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout
        return marker in listing

    assert eventually(lambda: not survivors())


@pytest.mark.parametrize("last_words", ["os.kill(os.getpid(), 9)", "sys.exit(0)", "os._exit(0)", "raise KeyboardInterrupt"])
def test_workers_die_with_the_parent(last_words):
    code = (
        f"import os, sys, threading; sys.path.insert(0, {str(HERE)!r})\n"
        "from rlvr_cli.verifiers import pool\n"
        "pids = [int(v.score) for v in pool.judge_many('pool_judges:moods', ['pid'] * 4, [{}] * 4, workers=2)]\n"
        "busy = lambda: pool.judge_many('pool_judges:moods', ['spin'], [{}], workers=2, timeout_s=300)\n"
        "threading.Thread(target=busy, daemon=True).start()\n"
        "import time; time.sleep(0.3); print(*set(pids), flush=True)\n"
        f"{last_words}\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "RLVR_VERDICT_CACHE": "0"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, env=environment)
    pids = [int(word) for word in done.stdout.split()]
    assert pids, done.stderr
    assert eventually(lambda: all(gone(pid) for pid in pids))


def test_a_fork_gets_its_own_pool():
    moods("ok", workers=1)
    inp, out = os.pipe()
    pid = os.fork()
    if pid == 0:
        verdict = moods("ok", workers=1)[0]
        pool.shutdown()
        os.write(out, b"good" if verdict.score == 1.0 else b"bad")
        os._exit(0)
    os.waitpid(pid, 0)
    assert os.read(inp, 10) == b"good"
    assert moods("ok", workers=1)[0].score == 1.0
    os.close(inp)
    os.close(out)


def test_a_worker_knows_no_secret(monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    monkeypatch.setenv("RLVR_CANARY", "secret")
    (verdict,) = moods("environment")
    assert "secret" not in verdict.extracted


def test_a_stray_thread_does_not_hold_a_worker():
    assert moods("thread", workers=1)[0].score == 1.0
    start = time.monotonic()
    pool.shutdown()
    assert time.monotonic() - start < 5
    assert children() == []


def test_workers_are_recycled(monkeypatch):
    monkeypatch.setattr(pool, "RECYCLE_AFTER", 3)
    pids = [v.score for v in moods(*["pid"] * 9, workers=1)]
    assert len(set(pids)) == 3
    assert eventually(lambda: len(children()) <= 1)


def test_inline_judges_here():
    pool.configure(backend="inline", workers=1, timeout_s=3)
    verdicts = moods("pid", "raise why", "nan")
    assert verdicts[0].score == os.getpid()
    assert [v.score for v in verdicts[1:]] == [None, None]
    assert verdicts[1].reason == "judge raised RuntimeError: why"


def test_defaults_are_set_for_the_process():
    pool.configure(timeout_s=0.7)
    (verdict,) = pool.judge_many(MOODS, ["sleep 30"], [{}])
    assert verdict.reason == "judge timed out after 0.7 s"


def test_signals_of_the_caller_are_untouched():
    before = [signal.getsignal(n) for n in (signal.SIGALRM, signal.SIGCHLD, signal.SIGINT)]
    moods("ok", "sleep 30", timeout_s=0.5)
    assert [signal.getsignal(n) for n in (signal.SIGALRM, signal.SIGCHLD, signal.SIGINT)] == before


def test_ten_thousand_verdicts_leave_nothing():
    moods("ok", workers=2)
    before = descriptors()
    for _ in range(10):
        assert [v.score for v in moods(*["ok"] * 1000, workers=2)] == [1.0] * 1000
    assert descriptors() <= before + 4
    assert len(children()) <= 2
