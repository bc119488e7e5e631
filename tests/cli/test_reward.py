"""``rlvr reward``: the counts are right, the attacks find planted faults and only those, the labels survive an interruption."""

import json
import sys

import pytest

from rlvr_cli.audit.blind import play
from rlvr_cli.audit.cases import cases_of
from rlvr_cli.audit.confusion import Labelled, Matrix
from rlvr_cli.audit.label import draw, label_rows, row_id
from rlvr_cli.audit.target import Target
from rlvr_cli.main import main
from rlvr_cli.scoring import choose

MINE = '''
import random, re, time

def last_number(text):
    found = re.findall(r"-?[\\d.]+\\d|-?\\d", text)
    return found[-1] if found else None
def _text(c): return c if isinstance(c, str) else (c[0].get("content") if c else "") or ""

def gold_completion(row): return f"The answer is {row['answer']}" if row.get("answer") is not None else None

def anywhere(completions, answer, **kw):       # the gold stands somewhere in the text
    return [None if a is None else float(a in str(_text(c))) for c, a in zip(completions, answer)]
def last(completions, answer, **kw):           # the last number is the gold
    return [None if a is None else float(last_number(str(_text(c))) == a) for c, a in zip(completions, answer)]
def right(c, a): return last_number(str(_text(c))) == a
def wordy(completions, answer, **kw):          # right answers, and 0.001 a word
    return [None if a is None else right(c, a) / 2 + min(0.5, 0.001 * len(str(_text(c)).split())) for c, a in zip(completions, answer)]
def moody(completions, answer, **kw):
    return [random.random() for _ in completions]
def strings_only(completions, answer, **kw):
    return [float(a in c) for c, a in zip(completions, answer)]
def neighbour(completions, answer, **kw):      # the first of the batch is always right
    return [1.0 if i == 0 else float(str(a) in str(_text(c))) for i, (c, a) in enumerate(zip(completions, answer))]
def writes(completions, answer, **kw):
    for c in completions:
        if isinstance(c, list) and c: c[0]["content"] = ""
    return [0.0 for _ in completions]
def exact(completions, answer, **kw):
    """Only 'The answer is X' and nothing else; None without a gold."""
    return [None if a is None else float(str(_text(c)) == f"The answer is {a}") for c, a in zip(completions, answer)]
'''


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    (tmp_path / "mine.py").write_text(MINE)
    yield tmp_path
    for name in set(sys.modules) - before:
        if name.startswith(("rlvr_user_", "rewards.mine")):
            del sys.modules[name]


def reward(capsys, *words):
    code = main(["reward", *words])
    out, err = capsys.readouterr()
    return code, out, err


def write(path, rows):
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n")
    return path.name


LABELLED = [
    {"completion": "so 4", "answer": "4", "expect": 1.0, "kind": "plain"},
    {"completion": "it is four", "answer": "4", "expect": 1.0, "kind": "words"},
    {"completion": "4 or 5, no idea, 4", "answer": "4", "expect": 0.0, "kind": "list"},
    {"completion": "5", "answer": "4", "expect": 0.0, "kind": "plain"},
    {"completion": "5", "answer": None, "expect": None, "kind": "broken"},
]


def test_confusion_matrix_counts_and_exit_code(here, capsys):
    data = write(here / "labelled.jsonl", LABELLED)
    code, out, _ = reward(capsys, "test", "mine.py:last", f"data={data}", "--json", "max_error=0.3")
    got = json.loads(out)
    assert code == 1 and got["over"] == ["error 0.4000 is above 0.3"]
    assert (
        got["matrix"] | {"n": 5, "accepted_right": 1, "false_refusals": 1, "false_accepts": 1, "refused_wrong": 1, "broken_caught": 1}
        == got["matrix"]
    )
    assert got["shares"]["accuracy"]["share"] == 0.6 and got["shares"]["false_accept"]["of"] == 2
    low, high = got["shares"]["accuracy"]["ci95"]
    assert 0.22 < low < 0.24 and 0.88 < high < 0.89  # Wilson, 3 of 5
    assert [row["error"] for row in got["worst"]] == ["false accept", "false refusal"]
    assert reward(capsys, "test", "mine.py:last", f"data={data}", "max_error=0.5")[0] == 0
    assert reward(capsys, "test", "mine.py:last", f"data={data}")[0] == 0


def test_the_page_names_kinds_and_worst_rows(here, capsys):
    data = write(here / "labelled.jsonl", LABELLED)
    _, out, _ = reward(capsys, "test", "mine.py:last", f"data={data}")
    assert "false accept: labelled.jsonl line 3 (list): label 0, score 1" in out
    assert "no error in 2 of 4 kinds: broken, plain" in out


def test_none_is_wrong_on_sound_rows_and_right_on_broken_ones():
    rows = [Labelled(1.0, None), Labelled(0.0, None), Labelled(None, None), Labelled(None, 0.0), Labelled(0.5, 0.5), Labelled(0.5, 1.0)]
    m = Matrix.of(rows)
    assert (m.agreed, m.errors, m.not_judged, m.broken_caught, m.graded_met) == (2, 4, 2, 1, 1)


def test_the_reward_never_sees_the_label(here, capsys):
    (here / "peek.py").write_text("def f(completions, **kw):\n    assert 'expect' not in kw\n    return [1.0] * len(completions)\n")
    data = write(here / "labelled.jsonl", LABELLED)
    assert reward(capsys, "test", "peek.py:f", f"data={data}")[0] == 0


def test_labels_in_words_and_by_another_name(here, capsys):
    rows = [{"completion": "4", "answer": "4", "verdict": "right"}, {"completion": "5", "answer": "4", "verdict": "wrong"}]
    data = write(here / "words.jsonl", rows)
    code, out, _ = reward(capsys, "test", "mine.py:last", f"data={data}", "label=verdict", "--json", "max_error=0")
    assert code == 0 and json.loads(out)["matrix"]["accepted_right"] == 1


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["test", "mine.py:last"], "data= is missing"),
        (["test", "data=labelled.jsonl"], "name one reward"),
        (["test", "mine.py:last", "data=labelled.jsonl", "label=nope"], "no column 'nope'"),
        (["test", "mine.py:last", "data=unlabelled.jsonl"], "no column of labels"),
        (["test", "mine.py:last", "data=odd.jsonl"], "odd.jsonl line 1: 'perhaps' is no label"),
        (["test", "mine.py:last", "data=labelled.jsonl", "max_error=few"], "max_error must be a number"),
        (["audit", "mine.py:lats"], "mine.py:last"),
        (["audit", "mine.py:last", "data=absent.jsonl"], "no file"),
        (["label", "data=labelled.jsonl"], "out= is missing"),
    ],
)
def test_usage_errors_are_one_line_and_exit_2(here, capsys, words, says):
    write(here / "labelled.jsonl", LABELLED)
    write(here / "unlabelled.jsonl", [{"completion": "4", "answer": "4"}])
    write(here / "odd.jsonl", [{"completion": "4", "answer": "4", "label": "perhaps"}])
    code, _, err = reward(capsys, *words)
    assert code == 2 and says in err and len(err.strip().splitlines()) == 1


def audited(capsys, fn, *words):
    code, out, _ = reward(capsys, "audit", fn, "--json", *words)
    got = json.loads(out)
    assert code == int(got["serious"])
    return got, {a["name"] for a in got["attacks"] if a["level"] == "serious"}, {f["name"] for f in got["findings"] if f["serious"]}


def test_audit_finds_the_planted_fault(here, capsys):
    _, attacks, findings = audited(capsys, "mine.py:anywhere")
    assert {"a list of candidates", "a negated answer", "an answer taken back", "an answer hidden in thinking"} <= attacks
    assert "a wrong answer" not in attacks and not findings
    assert "padding" in audited(capsys, "mine.py:wordy")[1]
    assert "the same twice" in audited(capsys, "mine.py:moody")[2]


@pytest.mark.parametrize(
    ("fn", "finding"),
    [("strings_only", "messages as text"), ("neighbour", "alone as in a batch"), ("writes", "inputs unchanged")],
)
def test_audit_finds_bad_manners(here, capsys, fn, finding):
    assert finding in audited(capsys, f"mine.py:{fn}")[2]


def test_audit_passes_a_reward_without_faults(here, capsys):
    got, attacks, findings = audited(capsys, "mine.py:exact", "n=4")
    assert not got["serious"] and not attacks and not findings
    assert got["golds"] == {"full_marks": 4, "of": 4, "refused": []} and "in another process" in got["checks"]


def test_audit_says_what_form_alone_is(here, capsys):
    got, attacks, _ = audited(capsys, "rewards.format.answer_tag", "n=3")
    assert "a wrong answer" in attacks and any("gate or a cap" in note for note in got["notes"])


def test_blind_policies_know_a_lopsided_data_set(here, capsys):
    rows = [{"prompt": f"Is {n} even?", "answer": "no" if n % 4 == 0 else "yes"} for n in range(40)]
    data = write(here / "lopsided.jsonl", rows)
    got, _, _ = audited(capsys, "mine.py:exact", f"data={data}", "n=2")
    best = got["blind"]["policies"][0]
    assert best["policy"].startswith("always the commonest gold ('yes'") and best["mean"] == 0.75 and got["blind"]["serious"]
    assert not audited(capsys, "mine.py:exact", f"data={data}", "n=2", "max_blind=0.8")[0]["blind"]["serious"]


def test_blind_copying_is_measured_and_compared_with_the_files_completions(here):
    rows = [
        {"prompt": f"Tom has {n} pens and buys {n + 1}. How many?", "answer": str(2 * n + 1), "completion": f"The answer is {n}"}
        for n in range(30)
    ]
    target = Target.of("exact", choose("mine.py:exact", []))
    report = play(target, cases_of(target, rows), limit=0.99)
    assert report.best.policy == "the sum of the question's numbers" and report.best.mean == 1.0
    assert report.reasoning == pytest.approx(1 / 30, abs=0.01) or report.reasoning == 0.0
    assert report.serious


def test_every_cheap_built_in_can_be_audited(here, capsys):
    for name in ("control.random", "format.think_answer", "length.kimi_paper", "process.steps", "language.consistent"):
        code, out, err = reward(capsys, "audit", f"rewards.{name}", "n=2")
        assert code in (0, 1) and "result:" in out and not err, name


SAMPLES = [{"prompt": f"{n}?", "completion": f"c{n}", "answer": str(n), "scores": {"correct": float(n < 3)}} for n in range(10)]


def test_labels_are_drawn_from_both_verdicts():
    chosen = draw(SAMPLES, 6, seed=0)
    assert sum(row["scores"]["correct"] for row in chosen) == 3 and chosen == draw(SAMPLES, 6, seed=0)
    assert len(draw(SAMPLES, 100, seed=1)) == 10


def test_labelling_stops_resumes_undoes_and_hides_the_verdict(tmp_path):
    out, shown = tmp_path / "labels.jsonl", []
    counts = label_rows(SAMPLES, out, pressed=iter("rxwq"), show=shown.append)
    assert counts["right"] == 1 and counts["wrong"] == 1 and "correct" not in "".join(shown)
    counts = label_rows(SAMPLES, out, pressed=iter("bsruwq"), show=shown.append)
    assert counts == {"right": 0, "wrong": 1, "broken": 1, "skip": 1, "before": 2}
    labels = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["expect"] for row in labels] == [1.0, 0.0, None, 0.0]
    assert [row["id"] for row in labels] == [row_id(SAMPLES[i]) for i in (0, 1, 2, 4)] and "scores" not in labels[0]


def test_label_then_test(here, capsys, monkeypatch):
    import io

    rows = [{"completion": f"so {n}", "answer": "1", "prompt": "?"} for n in range(4)]
    write(here / "samples.jsonl", rows)
    monkeypatch.setattr(sys, "stdin", io.StringIO("r\n" * 4))
    code, out, _ = reward(capsys, "label", "data=samples.jsonl", "out=labelled.jsonl")
    assert code == 0 and "4 right" in out
    code, out, _ = reward(capsys, "test", "mine.py:last", "data=labelled.jsonl", "--json")
    assert json.loads(out)["matrix"]["false_refusals"] == 3


def test_help(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["reward", "--help"])
    assert ended.value.code == 0 and "rlvr reward audit" in capsys.readouterr().out


def test_the_documentations_own_reward_works_and_passes_its_audit(here, capsys):
    """docs/rewards.md: the code and the YAML as they stand there."""
    import re
    from pathlib import Path

    page = (Path(__file__).parents[2] / "docs" / "rewards.md").read_text()
    (here / "rewards").mkdir()
    (here / "rewards" / "mine.py").write_text(re.search(r"```python\n(# rewards/mine\.py.*?)```", page, re.DOTALL).group(1))
    (here / "conf" / "reward").mkdir(parents=True)
    (here / "conf" / "reward" / "city.yaml").write_text(re.search(r"```yaml\n(.*?)```", page, re.DOTALL).group(1))
    cities = {"France": "Paris", "Spain": "Madrid", "Peru": "Lima", "Kenya": "Nairobi"}
    rows = [{"prompt": f"Capital of {c}?", "answer": a, "completion": f"It is\n{a}."} for c, a in cities.items()]
    data = write(here / "cities.jsonl", rows)
    got = audited(capsys, "rewards.mine.same_city", f"data={data}")[0]
    assert not got["serious"] and got["golds"]["full_marks"] == 4
    assert main(["score", "reward=city", f"data={data}"]) == 0
    assert [json.loads(line)["total"] for line in capsys.readouterr().out.splitlines()] == [1.0] * 4
