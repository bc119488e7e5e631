"""The mathematics reward against labelled cases beside the repository; skipped, with a word, where they are absent."""

import gzip
import json
import random
import time
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.math_corruptions import corrupted
from rewards.math import correct

SHARED = Path(__file__).resolve().parents[3] / "shared"


def lines(*parts):
    path = SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"labelled cases absent: ../shared/{'/'.join(parts)}")
    raw = path.read_bytes()
    text = gzip.decompress(raw) if path.suffix == ".gz" else raw
    return [json.loads(line) for line in text.decode("utf-8").splitlines()]


def test_the_labelled_cases():
    rows = lines("cases", "math_dev.jsonl")
    scores, slowest = [], 0.0
    for row in rows:
        start = time.monotonic()
        scores += correct([row["completion"]], answer=[row["gold"]])
        slowest = max(slowest, time.monotonic() - start)
    wrong = [row["id"] for row, score in zip(rows, scores, strict=True) if score != row["expect"]]
    accepted = [row["id"] for row, score in zip(rows, scores, strict=True) if score == 1.0 and row["expect"] == 0.0]
    assert len(wrong) <= 0.01 * len(rows), wrong
    assert len(accepted) <= 0.005 * len(rows), accepted
    assert slowest < 5, "one row took longer than its deadline"


def graded():
    for row in lines("data", "graded_gsm8k_openai", "example_model_solutions.jsonl.gz"):
        for part in row.values():
            if isinstance(part, dict):
                yield row["question"], part["solution"], row["ground_truth"], part["is_correct"]


def test_graded_outputs_all_agree():
    rows = list(graded())
    scores = correct([solution for _, solution, _, _ in rows], answer=[truth for _, _, truth, _ in rows])
    assert len(rows) == 5276
    assert [score == 1.0 for score in scores] == [right for _, _, _, right in rows]


@pytest.mark.parametrize("every", [7, pytest.param(1, marks=pytest.mark.slow)])
def test_corrupted_outputs(every):
    rng, made = random.Random(0), []
    for question, solution, truth, right in list(graded())[::every]:
        made += corrupted(question, solution, truth.rpartition("A:")[2].strip(), right, rng)
    scores = correct([row.completion for row in made], answer=[row.gold for row in made])
    wrong = Counter(row.kind for row, score in zip(made, scores, strict=True) if score != float(row.right))
    assert len(made) > 26_000 / every
    assert sum(wrong.values()) <= 0.002 * len(made), wrong


def test_cases_of_math_verify():
    """Its own tests: each difference is argued in docs/verifiers/math.md."""
    rows = lines("data", "graded_math_verify", "pairs.jsonl")
    scores = correct([row["pred"] for row in rows], answer=[row["gold"] for row in rows])
    differ = [(row["gold"], row["pred"]) for row, score in zip(rows, scores, strict=True) if score != float(row["expected"])]
    assert len(differ) <= 18, differ


@pytest.mark.parametrize(
    ("parts", "column"),
    [
        (("math", "test.minus500.sample1000.jsonl"), "solution"),
        (("gsm8k", "train.sample1500.jsonl"), "answer"),
        (("svamp", "test.jsonl"), "Answer"),
        (("cmath", "test.jsonl"), "answer"),
    ],
)
def test_every_gold_of_a_set_gets_full_marks_from_itself(parts, column):
    from rewards.math import gold_completion

    golds = [row[column] for row in lines("data", *parts)]
    scores = correct([gold_completion({"answer": gold}) for gold in golds], answer=golds)
    assert [gold[-80:] for gold, score in zip(golds, scores, strict=True) if score != 1.0] == []
