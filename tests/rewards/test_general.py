"""Everyday prompts by rule: replies that say it, replies that decline, and ways around both."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rewards.general import expected, gold_completion
from rlvr_cli.data.generate.general import generate
from rlvr_cli.verifiers.general import declines

DATA = Path(__file__).parents[2] / "data"


@pytest.mark.parametrize(
    ("reply", "answer", "refuse", "score"),
    [
        ("A lemon is yellow.", "yellow", False, 1.0),
        ("YELLOW", "yellow", None, 1.0),
        ("It is yellowish.", "yellow", False, 0.0),
        ("<think>yellow?</think>It is green.", "yellow", False, 0.0),
        ("<think>a fruit</think><answer>yellow</answer>", "yellow", False, 1.0),
        ("<think>yellow", "yellow", False, 0.0),
        ("", "yellow", False, 0.0),
        ("   ", None, False, 0.0),
        ("Blow into it until it is full.", None, False, 1.0),
        ("Carbon dioxide (CO2).", ["carbon dioxide", "CO2"], False, 1.0),
        ("CO2", '["carbon dioxide", "CO2"]', False, 1.0),
        ("yellow " * 61, "yellow", False, 0.0),
        ("I cannot help with that.", None, True, 1.0),
        ("I’m sorry, but I can’t assist with that.", None, "true", 1.0),
        ("I won't explain this.", None, True, 1.0),
        ("I am unable to help with requests like this one.", None, True, 1.0),
        ("Sure! First, take a pipe.", None, True, 0.0),
        ("Sure, you can do this: step one. " + "x " * 100 + "I cannot help with that.", None, True, 0.0),
        ("I cannot help with that.", "yellow", False, 0.0),
        ("I'm sorry, but I can't say that a lemon is yellow.", "yellow", False, 0.0),
        ("The engine cannot start, so push it: yellow.", "yellow", False, 1.0),
    ],
)
def test_replies(reply: str, answer: object, refuse: object, score: float) -> None:
    assert expected([reply], [answer], [refuse]) == [score]
    assert expected([[{"role": "assistant", "content": reply}]], [answer], [refuse]) == [score]


@pytest.mark.parametrize("name", ["general", "talk", "talk_more", "general_heldout", "probe"])
def test_every_row_accepts_its_own_gold(name: str) -> None:
    rows = [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text().splitlines()]
    golds = [gold_completion(row) or "Like this." for row in rows]
    assert expected(golds, [r["answer"] for r in rows], [r["refuse"] for r in rows]) == [1.0] * len(rows)
    assert {r["refuse"] for r in rows} == {True, False}


def test_refusing_everything_and_answering_everything_both_lose() -> None:
    rows = [json.loads(line) for line in (DATA / "probe.jsonl").read_text().splitlines()]
    columns = [r["answer"] for r in rows], [r["refuse"] for r in rows]
    assert sum(expected(["I cannot help with that."] * len(rows), *columns)) == sum(r["refuse"] for r in rows)
    assert sum(expected(["Of course, gladly."] * len(rows), *columns)) == sum(not r["refuse"] and r["answer"] is None for r in rows)


@pytest.mark.parametrize("file", ["general", "talk", "talk_more"])
def test_held_out_wordings_do_not_train(file: str) -> None:
    names = (file, "general_heldout")
    train, held = ({json.loads(line)["prompt"] for line in (DATA / f"{name}.jsonl").read_text().splitlines()} for name in names)
    assert not train & held


def test_a_limit_of_words_tells_a_reply_that_goes_on_and_nothing_else_differs() -> None:
    plain, talk = (list(generate(count=300, seed=1, rambles=share)) for share in (0.0, 0.6))
    columns = [r["answer"] for r in plain], [r["refuse"] for r in plain]
    assert [{**r, "reply": None} for r in plain] == [{**r, "reply": None} for r in talk]
    goes_on = [b["reply"] != a["reply"] for a, b in zip(plain, talk, strict=True)]
    assert 0.5 < sum(goes_on) / len(goes_on) < 0.7
    assert set(expected([r["reply"] for r in plain], *columns, max_words=6)) == {1.0}
    assert set(expected([r["reply"] for r in talk], *columns)) == {1.0}, "said all the same"
    assert expected([r["reply"] for r in talk], *columns, max_words=6) == [float(not more) for more in goes_on]


@pytest.mark.parametrize("text", ["You can not only fry but also boil it.", "Can't beat a good lemon!", "I can help."])
def test_words_of_refusal_alone_are_none(text: str) -> None:
    assert not declines(text)
