"""Paired comparison and the readings of a verdict: correct, strict, lenient, could not judge."""

from __future__ import annotations

import pytest

from rlvr_cli.evaluation.compare import compare, paired, sentence
from rlvr_cli.evaluation.judging import answer_terms, judge, reading
from rlvr_cli.evaluation.summary import summarise

MINE = """
def number(completions, answer, *, strict=False, require_tag=None, **kwargs):
    scores = []
    for completion, gold in zip(completions, answer):
        if gold is None:
            scores.append(None)
            continue
        tagged = "<answer>" in completion
        right = gold in completion
        scores.append(float(right and (tagged or not (strict or require_tag))))
    return scores

def sometimes(completions, kind, **kwargs):
    return [0.5 for _ in completions]
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(MINE)
    monkeypatch.chdir(tmp_path)
    return "mine.py"


def record(row_id, correct, **more):
    base = {"row_id": row_id, "kind": "greedy", "correct": correct, "strict": correct, "lenient": correct}
    return {**base, "truncated": False, "tokens": 3, "unjudged": None, **more}


def test_paired_counts_only_the_prompts_that_differ():
    result = paired([True, True, False, False, False], [True, False, True, True, False])
    assert (result["gained"], result["lost"], result["n"]) == (2, 1, 5)
    assert result["diff"] == pytest.approx(0.2)
    assert result["p"] == 1.0


def test_paired_refuses_other_prompts():
    with pytest.raises(ValueError, match="not on the same prompts"):
        paired([True], [True, False])


def test_compare_matches_rows_by_id_not_by_place():
    before = [record("a", True), record("b", False)]
    after = [record("b", True), record("a", True)]
    result = compare(before, after)
    assert (result["gained"], result["lost"]) == (1, 0)
    assert result["strict"]["gained"] == 1
    assert "on the same 2 prompts (1 gained, 0 lost" in sentence(result)


@pytest.mark.parametrize(
    ("terms", "names"),
    [
        ({"correct": "rewards.math.correct", "tag": "rewards.format.answer_tag"}, ["correct"]),
        ({"tag": "rewards.format.answer_tag"}, ["tag"]),
        ({"mine": "rewards.mine.f", "size": "rewards.length.overlong"}, ["mine"]),
        ({"random": "rewards.control.random", "correct": "rewards.math.correct"}, ["correct"]),
    ],
)
def test_answer_terms_leave_out_form_and_length(terms, names):
    assert answer_terms({name: {"fn": fn} for name, fn in terms.items()}) == names


def test_answer_terms_of_a_routed_mix_are_all_of_them():
    terms = {"math": {"fn": "rewards.math.correct", "when": "kind=math"}, "sql": {"fn": "rewards.sql.same_result", "when": "kind=sql"}}
    assert answer_terms(terms) == ["math", "sql"]


def test_readings_differ_in_form_alone(own):
    terms = {"correct": {"fn": f"{own}:number"}}
    rows = [{"answer": "4"}] * 3
    verdicts = judge(terms, rows, ["q"] * 3, ["<answer>4</answer>", "so 4", "5"])
    assert [(v.correct, v.strict, v.lenient) for v in verdicts] == [(True, True, True), (True, False, True), (False, False, False)]
    asked = judge({"correct": {"fn": f"{own}:number", "options": {"require_tag": "answer"}}}, rows, ["q"] * 3, ["4", "4", "4"])
    assert [(v.correct, v.strict, v.lenient) for v in asked] == [(False, False, True)] * 3


def test_format_terms_are_part_of_strict(own):
    terms = {"correct": {"fn": f"{own}:number", "options": {}}, "tag": {"fn": "rewards.format.answer_tag", "weight": 0.1}}
    verdicts = judge(terms, [{"answer": "4"}] * 2, ["q"] * 2, ["4", "<answer>4</answer>"])
    assert [(v.correct, v.strict) for v in verdicts] == [(True, False), (True, True)]


def test_could_not_judge_counts_as_wrong_and_is_said(own):
    verdicts = judge({"correct": {"fn": f"{own}:number"}}, [{"answer": None}], ["q"], ["4"])
    assert verdicts[0].correct is False
    assert verdicts[0].unjudged.startswith("correct:")
    summary = summarise([record("a", False, unjudged=verdicts[0].unjudged), record("b", True)], seed=0)
    assert summary["unjudged"]["count"] == 1
    assert summary["greedy"]["accuracy"] == 0.5


def test_reading_only_sets_options_that_exist(own):
    terms = {"partly": {"fn": f"{own}:sometimes"}}
    assert reading(terms, strict=True)["partly"]["options"] == {}
    verdict = judge(terms, [{"kind": "x"}], ["q"], ["anything"])[0]
    assert verdict.correct is False
    assert verdict.total == 0.5


def test_chat_prompts_get_message_completions(tmp_path, monkeypatch):
    code = 'def f(completions, **kwargs):\n    return [float(c[0]["content"] == "4") for c in completions]\n'
    (tmp_path / "chat.py").write_text(code)
    monkeypatch.chdir(tmp_path)
    verdicts = judge({"f": {"fn": "chat.py:f"}}, [{"answer": "4"}], [[{"role": "user", "content": "2+2"}]], ["4"])
    assert verdicts[0].correct


def test_summary_of_samples_and_no_greedy():
    samples = [record(row, i < right, kind="sample", sample=i) for row, right in (("a", 0), ("b", 3)) for i in range(4)]
    summary = summarise(samples, seed=0)
    assert summary["greedy"] is None
    assert summary["n"] == 2
    assert summary["mean_at_k"] == pytest.approx(3 / 8)
    assert summary["pass_at_k"]["4"] == 0.5
