"""The verdict cache: what is kept, what is not, how it is bounded and that trouble with it disturbs nobody."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rlvr_cli.verifiers import cache, pool

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
MOODS = "pool_judges:moods"


@pytest.fixture(autouse=True)
def own_cache(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(HERE))
    monkeypatch.setenv("RLVR_VERDICT_CACHE", str(tmp_path / "deep" / "verdicts.sqlite"))
    monkeypatch.setattr(pool, "_settings", pool._Settings(timeout_s=20.0, workers=1))
    cache.switch(True)
    cache._state.update(hits=0, misses=0)
    yield
    pool.shutdown()
    cache.switch(False)


def ask(*words, **options):
    return pool.judge_many(MOODS, list(words), [{}] * len(words), options=options)


def hits():
    return cache.stats()["cache_hits"]


def test_the_second_time_is_free():
    first = ask("ok", "ok")
    second = ask("ok", "ok")
    assert first == second
    assert (hits(), cache.stats()["cache_misses"], cache.stats()["cache_hit_rate"]) == (2, 2, 0.5)


@pytest.mark.parametrize("word", ["none", "raise why", "nan", "exit"])
def test_what_could_not_be_judged_is_never_kept(word):
    ask(word)
    ask(word)
    assert hits() == 0


def test_a_judge_may_say_that_a_verdict_holds_only_now():
    ask("pid now")
    ask("pid now")
    assert hits() == 0


def test_all_that_a_verdict_depends_on_is_in_the_key(monkeypatch):
    one = cache.key("pool_judges:same", "a", {"answer": "a"}, {})
    others = [
        cache.key("pool_judges:moods", "a", {"answer": "a"}, {}),
        cache.key("pool_judges:same", "b", {"answer": "a"}, {}),
        cache.key("pool_judges:same", "a", {"answer": "b"}, {}),
        cache.key("pool_judges:same", "a", {"answer": 1}, {}),
        cache.key("pool_judges:same", "a", {"answer": "a"}, {"bonus": 1.0}),
        cache.key("pool_judges:same", [{"role": "assistant", "content": "a"}], {"answer": "a"}, {}),
    ]
    monkeypatch.setattr(cache, "code_version", lambda path: "edited")
    others.append(cache.key("pool_judges:same", "a", {"answer": "a"}, {}))
    assert len({one, *others}) == 8
    assert cache.key("pool_judges:same", "a", {("x",): 1}, {}) is None


def test_an_edited_judge_judges_anew(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    file = tmp_path / "edited_judge.py"
    file.write_text("x = 1\n")
    cache.code_version.cache_clear()
    first = cache.code_version("edited_judge:judge")
    file.write_text("x = 2\n")
    cache.code_version.cache_clear()
    assert cache.code_version("edited_judge:judge") != first


def test_it_is_bounded(monkeypatch):
    monkeypatch.setattr(cache, "LARGEST", 10)
    verdict = ask("ok")[0]
    for i in range(100):
        cache.store({f"{i:032}".encode(): verdict})
    count = cache._connect().execute("SELECT COUNT(*) FROM verdicts").fetchone()[0]
    assert count <= 21
    assert cache.lookup([f"{99:032}".encode()]) == [verdict]


def test_off_keeps_nothing():
    pool.configure(cache=False)
    assert ask("ok") == ask("ok")
    assert hits() == 0
    assert not cache.path().exists()


@pytest.mark.parametrize("spoil", ["garbage", "folder", "parent"])
def test_trouble_turns_it_off_and_disturbs_nobody(spoil, tmp_path, monkeypatch):
    if spoil == "parent":
        (tmp_path / "file").write_text("")
        monkeypatch.setenv("RLVR_VERDICT_CACHE", str(tmp_path / "file" / "x.sqlite"))
    elif spoil == "folder":
        cache.path().mkdir(parents=True)
    else:
        cache.path().parent.mkdir(parents=True)
        cache.path().write_bytes(b"this is no database, it is a text of some length" * 100)
    assert [v.score for v in ask("ok", "ok")] == [1.0, 1.0]
    assert [v.score for v in ask("ok")] == [1.0]


def test_processes_share_it(monkeypatch):
    monkeypatch.setattr(cache, "code_version", lambda path: "1")  # a source edited meanwhile must not fail this test
    code = (
        f"import sys; sys.path.insert(0, {str(HERE)!r})\n"
        "from rlvr_cli.verifiers import cache, pool\n"
        "cache.code_version = lambda path: '1'\n"
        "words = [f'ok {i}' for i in range(40)]\n"
        "for start in range(0, 40, 4): pool.judge_many('pool_judges:moods', words[start:start + 4], [{}] * 4, workers=1)\n"
        "print(pool.stats()['judged'])\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", code]
    running = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [p.wait(60) for p in running] == [0, 0, 0]
    for process in running:
        process.stdout.close()
    ask(*[f"ok {i}" for i in range(40)])
    assert hits() == 40


def test_a_fork_uses_its_own_connection():
    ask("ok")
    pid = os.fork()
    if pid == 0:
        os._exit(0 if cache.lookup([cache.key(MOODS, "ok", {}, {})])[0] is not None else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    ask("ok")
    assert hits() == 1
