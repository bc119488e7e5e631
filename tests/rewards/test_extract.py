"""Extraction rules: applied as written, learnt from labels, and honest about what they get wrong."""

import json
import random
import sys

import pytest
import yaml

from rewards import extract
from rlvr_cli.audit.fit import Example, run_fit, search
from rlvr_cli.main import main
from rlvr_cli.rewards_api import bind, score_batch
from rlvr_cli.verifiers.extract import judge


@pytest.mark.parametrize(
    ("text", "gold", "options", "score"),
    [
        ("Result: 12", "12", {}, 1.0),
        ("Result: 12\nResult: 13", "12", {}, 0.0),
        ("Result: 12\nResult: 13", "12", {"take": "first"}, 1.0),
        ("no result here", "12", {}, 0.0),
        ("<think>Result: 12</think> I do not know", "12", {}, 0.0),
        ("<think>Result: 12", "12", {}, 0.0),
        ("Result: 1,200.50 kg", "1200.5", {"normalise": ["no_units", "number"]}, 1.0),
        ("Result: **The Thames.**", "thames", {"normalise": ["no_markup", "no_end_punctuation", "no_article", "lower"]}, 1.0),
        ("Result: １２", "12", {"normalise": ["nfkc"]}, 1.0),
        ("x is 7!", "7", {"patterns": ["Result: (.+)", r"is (\d)"]}, 1.0),
        ("Result: nan", "12", {"normalise": ["number"]}, 0.0),
        ("Result: 1e999999999", "12", {"normalise": ["number"]}, 0.0),
        ("", "12", {}, 0.0),
        ("Result: ", " ", {}, None),
        ("Result: 12", None, {}, None),
        ("Result: 12", "12", {"normalise": ["nope"]}, None),
        ("Result: 12", "12", {"patterns": ["("]}, None),
        ("Result: 12", "12", {"take": "middle"}, None),
    ],
)
def test_a_rule_does_what_it_says(text, gold, options, score):
    assert extract.matches([text], [gold], **{"patterns": ["Result: (.+)"], **options}) == [score]


def test_a_pattern_that_runs_away_is_stopped():
    scores = extract.matches(["a" * 40 + "!"], ["a"], patterns=[r"^(a|a)+$"], timeout_s=0.5)
    assert scores == [None] and "timed out" in scores.verdicts[0].reason


def answers(n, seed=0):
    """Completions of a habit: a number behind ``Ergebnis:``, sometimes bold, with other numbers around; a fifth are wrong."""
    rng, rows = random.Random(seed), []
    for _ in range(n):
        value, other = rng.randint(10, 5000), rng.randint(1, 9)
        shown = f"**{value:,}**" if rng.random() < 0.5 else f"{value:,}"
        right = rng.random() < 0.8
        text = f"We add {other} things.\nErgebnis: {shown}\nThat took {other} steps."
        rows.append({"completion": text, "answer": str(value if right else value + 1), "expect": float(right)})
    return rows


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return tmp_path


def test_fit_learns_the_habit_writes_it_and_it_works_on_new_answers(here, capsys):
    (here / "labelled.jsonl").write_text("\n".join(map(json.dumps, answers(24))))
    assert main(["reward", "fit", "data=labelled.jsonl", "out=conf/reward/habit.yaml", "folds=3"]) == 0
    said = capsys.readouterr().out
    assert "Ergebnis" in said and "held-out error in 3 folds: 0 of 24" in said
    text = (here / "conf/reward/habit.yaml").read_text()
    assert text.startswith("# An extraction rule learnt from 24 labelled answers (labelled.jsonl)")
    terms = bind(yaml.safe_load(text))
    new = answers(40, seed=9)
    columns = {"answer": [row["answer"] for row in new]}
    scores = score_batch(terms, None, [row["completion"] for row in new], columns)["correct"].scores
    assert scores == [row["expect"] for row in new]
    (here / "new.jsonl").write_text("\n".join(map(json.dumps, new)))
    assert main(["reward", "test", "habit", "data=new.jsonl", "max_error=0"]) == 0


def test_a_rule_of_noise_is_told_by_its_held_out_error(here):
    rng = random.Random(1)
    rows = [{"completion": f"{rng.random():.6f} says nothing", "answer": str(rng.randint(100, 999))} for _ in range(12)]
    (here / "noise.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert run_fit("noise.jsonl", out=None, folds=2).held_out["share"] == 1.0


def test_wrong_answers_teach_what_not_to_take():
    rows = [Example(f"First I thought {n}. Final: {n + 5}.", str(n), False) for n in range(20, 28)]
    rows += [Example(f"First I thought {n}. Final: {n + 5}.", str(n + 5)) for n in range(20, 28)]
    rule = search(rows)
    assert rule.says("First I thought 3. Final: 99.") == "99"


@pytest.mark.parametrize(
    ("rows", "words", "says"),
    [
        (answers(3), [], "3 labelled answers, at least 6"),
        ([{**row, "expect": 0} for row in answers(8)], [], "some right"),
        (answers(8), ["folds=1"], "folds must be from 2 to 20"),
        (answers(8), ["folds=x"], "folds must be a number"),
    ],
)
def test_too_little_to_learn_from_is_one_line(here, capsys, rows, words, says):
    (here / "few.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert main(["reward", "fit", "data=few.jsonl", *words]) == 2
    assert says in capsys.readouterr().err


def test_superscripts_are_no_digits_and_an_answer_taken_back_is_none():
    rule = {"patterns": ["Answer: (.+)"], "normalise": ["nfkc", "no_units", "number"]}
    said = {"Answer: 42": 1.0, "Answer: \uff14\uff12": 1.0, "Answer: 4\u00b2": 0.0, "Answer: 4\u2082": 0.0}
    said |= {"Answer: 42\n\nWait, that is wrong. I do not know.": 0.0, "Answer: 41\nWait, that is wrong.\nAnswer: 42": 1.0}
    assert {text: judge(text, {"answer": "42"}, **rule).score for text in said} == said
