"""Generated texts against the pure soft verifiers: a verdict for each, in range, never an exception, never slow."""

import random
import time

import pytest

from rlvr_cli.verifiers import control, extract, format, language, length, process
from rlvr_cli.verifiers.verdict import Verdict

PIECES = [
    *("<answer>", "</answer>", "<think>", "</think>", "\\boxed{", "}", "{", "####", "3+5=8", "3+5=9", "=", "+", "%", "^", "(", ")"),
    *("1,000", ".5", "x", "\\frac{1}{2}", "答案是", "步", "the", "le", " ", "\n", "\t", "\x00", "\ud800", "\u202e", "²", "₂", "１"),
    *("٣", "🙂", "é", "\u0301", "$", "```", "Step 1:", "1."),
]
STEPS = '["3+5=8", ["a b", "c"], "x^2"]'
JUDGES = {
    "answer_tag": lambda text: format.judge(text, {}),
    "think_answer": lambda text: format.judge(text, {}, form="think_answer"),
    "boxed": lambda text: format.judge(text, {}, form="boxed"),
    "random": lambda text: control.judge(text, {}),
    "format_only": lambda text: control.judge_form(text, {}),
    "process": lambda text: process.judge(text, {"steps": STEPS}),
    "language": lambda text: language.judge(text, {"prompt": "What is it?"}),
    "repetition": lambda text: length.repetition(text, ngram=3, max_penalty=-1.0),
    "step_bonus": lambda text: length.step_bonus(text, bonus=0.2, minimum=2),
    "extract": lambda text: extract.judge(text, {"answer": "8"}, patterns=["####(.+)", "=(.+)"], normalise=list(extract.NORMALISERS)),
}


def texts(n, seed):
    """Random joins of awkward pieces, mostly short, now and then long."""
    rng = random.Random(seed)
    for _ in range(n):
        size = rng.choice((0, 1, 3, 8, 20)) if rng.random() < 0.995 else 2000
        yield "".join(rng.choice(PIECES) * (1 if rng.random() < 0.95 else 30) for _ in range(size))


def check(n, seed):
    slowest = ("", 0.0)
    for text in texts(n, seed):
        for name, judge in JUDGES.items():
            start = time.perf_counter()
            verdict = judge(text)
            seconds = time.perf_counter() - start
            assert isinstance(verdict, Verdict) and (verdict.score is None or -1.0 <= verdict.score <= 1.0), (name, text)
            assert verdict.reason, (name, text)
            slowest = max(slowest, (name, seconds), key=lambda pair: pair[1])
    assert slowest[1] < 5.0, slowest


def test_a_thousand_texts():
    check(1_000, seed=0)


@pytest.mark.slow
def test_a_hundred_thousand_texts():
    check(100_000, seed=1)


@pytest.mark.parametrize("name", sorted(JUDGES))
@pytest.mark.parametrize(
    "text",
    [
        "<think>" * 50_000,
        "\\boxed{" * 50_000,
        " " * 200_000,
        "3+" * 100_000 + "=",
        "a " * 100_000,
        "1 = " * 50_000,
        "<answer> " + " " * 100_000,
    ],
)
def test_long_texts_stay_quick(name, text):
    start = time.perf_counter()
    JUDGES[name](text)
    assert time.perf_counter() - start < 5.0
