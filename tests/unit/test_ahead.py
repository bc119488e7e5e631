"""Judging ahead: the verdicts are those of judging at the end, each given once, and what breaks or comes late is left to the end."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import pytest

from rlvr_cli import rewards_api as api
from rlvr_cli.config.schema import Config
from rlvr_cli.errors import RewardError
from rlvr_cli.training.ahead import Ahead

TESTS = '{"type": "assert", "code": "assert double(2) == 4\\nassert double(0) == 0", "entry_point": "double"}'
PROGRAMS = ["```python\ndef double(x):\n    return x * 2\n```", "```python\ndef double(x):\n    return x + 2\n```"]
COUNTED = '''
import threading
seen, gate, begun = [], threading.Event(), threading.Event()

def right(completions, answer, **kwargs):
    """Waits for the gate where an answer says so."""
    seen.extend(completions)
    begun.set()
    if any("wait" in c for c in completions):
        gate.wait(20)
    if any("break" in c for c in completions):
        raise ValueError("not this one")
    return [float(c == a) for c, a in zip(completions, answer)]

right.judge_ahead = True

def with_ids(completions, completion_ids, **kwargs):
    return [0.0 for _ in completions]

with_ids.judge_ahead = True
'''


def decode(ids: list[list[int]]) -> list[str]:
    return ["".join(map(chr, row)) for row in ids]


def encode(texts: Sequence[str]) -> list[list[int]]:
    return [list(map(ord, text)) for text in texts]


@pytest.fixture
def counted(tmp_path):
    (tmp_path / "counted.py").write_text(COUNTED)
    [term] = terms = api.bind({"terms": {"right": {"fn": f"{tmp_path}/counted.py:right"}}})
    return terms, term.fn.__globals__


def rows(answers: Sequence[str], size: int) -> list[dict[str, str]]:
    return [{"prompt": f"say {a}", "answer": a, "rlvr_row": 0} for a in answers for _ in range(size)]


def judged(terms, inputs, texts: Sequence[str]) -> Ahead:
    """After the completions of the only prompt have arrived and been judged."""
    ahead = Ahead(terms, 2, decode)
    ahead.begin(inputs)
    ahead.arrived(0, encode(texts))
    ahead.futures[0].result(60)
    return ahead


def score(terms, inputs, completions, known):
    columns = {"answer": [row.get("answer") for row in inputs]}
    return api.score_local(terms, [row["prompt"] for row in inputs], completions, columns, known=known)


def test_only_terms_that_say_so_and_see_rows_alone_judge_ahead(tmp_path) -> None:
    (tmp_path / "counted.py").write_text(COUNTED)
    terms = api.bind({"terms": {
        "code": {"fn": "rewards.code.tests_passed"}, "sql": {"fn": "rewards.sql.same_result"}, "maths": {"fn": "rewards.math.correct"},
        "short": {"fn": "rewards.length.kimi_paper", "correct": "code"}, "ids": {"fn": f"{tmp_path}/counted.py:with_ids"},
    }})  # fmt: skip
    assert [term.name for term in api.terms_ahead(Config(), "vllm_server", terms)] == ["code", "sql"]


def test_programs_are_judged_as_they_arrive_with_the_verdicts_of_the_end() -> None:
    terms = api.bind({"terms": {"code": {"fn": "rewards.code.tests_passed"}}})
    inputs = [{"prompt": [{"role": "user", "content": "double"}], "tests": TESTS}] * 2
    ahead = judged(terms, inputs, PROGRAMS)
    completions = [[{"role": "assistant", "content": text}] for text in PROGRAMS]
    [first, second] = ahead.end(completions)
    columns = {"tests": [TESTS] * 2}
    at_the_end = api.score_local(terms, None, completions, columns)["code"]
    assert [first["code"][0], second["code"][0]] == at_the_end.scores == [1.0, 0.5]
    assert api.score_local(terms, None, completions, columns, known=[first, second]) == {"code": at_the_end}


def test_a_verdict_is_given_once_and_what_has_not_begun_is_given_back(counted) -> None:
    terms, state = counted
    inputs = rows(["a", "wait", "c"], 2)
    ahead = Ahead(terms, 2, decode)
    ahead.begin(inputs)
    ahead.arrived(1, encode(["wait", "no"]))  # the second prompt's end first
    assert state["begun"].wait(20)
    ahead.arrived(0, encode(["a", "b"]))
    threading.Timer(0.2, state["gate"].set).start()
    completions = ["a", "b", "wait", "no", "c", "x"]
    known = ahead.end(completions)
    assert [bool(said) for said in known] == [False, False, True, True, False, False]
    assert score(terms, inputs, completions, known)["right"].scores == [1.0, 0.0, 1.0, 0.0, 1.0, 0.0]
    assert sorted(state["seen"]) == sorted(completions)


def test_what_breaks_ahead_is_raised_where_rewards_are_computed(counted) -> None:
    terms, _ = counted
    inputs = rows(["break"], 2)
    ahead = judged(terms, inputs, ["break", "b"])
    known = ahead.end(["break", "b"])
    assert known == [{}, {}]
    with pytest.raises(RewardError, match="not this one"):
        score(terms, inputs, ["break", "b"], known)


def test_another_completion_than_was_judged_is_judged_anew(counted) -> None:
    terms, _ = counted
    inputs = rows(["a"], 2)
    ahead = judged(terms, inputs, ["a", "b"])
    assert [bool(said) for said in ahead.end(["a", "changed"])] == [True, False]


def test_nothing_is_judged_outside_of_a_generation(counted) -> None:
    """The client's other draws (held-out prompts) come with no rows of training."""
    terms, state = counted
    ahead = Ahead(terms, 2, decode)
    ahead.arrived(0, encode(["a", "b"]))
    ahead.begin(rows(["a"], 2))
    ahead.end(["a", "b"])
    ahead.arrived(0, encode(["a", "b"]))
    assert state["seen"] == []
