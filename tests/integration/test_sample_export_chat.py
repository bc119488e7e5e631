"""``rlvr sample``, ``export`` and ``chat`` on a run of random weights: files, selections, the same bytes twice."""

from __future__ import annotations

import io
import json
from collections import Counter

import pytest

from rlvr_cli.main import main
from tests.tiny_run import make_run

pytest.importorskip("torch")
pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    root = tmp_path_factory.mktemp("sample")
    make_run(root, "a")
    return root


@pytest.fixture
def here(place, monkeypatch):
    monkeypatch.chdir(place)
    return place


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_every_completion_scored_and_the_same_file_twice(here):
    words = ["sample", "checkpoint=outputs/a", "sample.k=4", "sample.limit=12"]
    assert main([*words, "sample.out=one.jsonl"]) == 0
    assert main([*words, "sample.out=two.jsonl", "sample.batch_size=5"]) == 0
    assert (here / "one.jsonl").read_bytes() == (here / "two.jsonl").read_bytes()
    rows = lines(here / "one.jsonl")
    assert len(rows) == 48
    assert set(Counter(r["row_id"] for r in rows).values()) == {4}
    assert {"prompt", "completion", "answer", "scores", "reasons", "total", "correct", "difficulty"} <= set(rows[0])
    assert rows[0]["completion"][0]["role"] == "assistant"


def test_default_prompts_are_the_training_ones(here):
    assert main(["sample", "checkpoint=outputs/a", "sample.k=1", "sample.limit=5", "sample.out=t.jsonl"]) == 0
    asked = {r["prompt"][-1]["content"] for r in lines(here / "t.jsonl")}
    train = {json.loads(line)["prompt"] for line in (here / "train.jsonl").read_text().splitlines()}
    assert asked <= train


def test_accepted_are_right_whole_distinct_and_picked(here):
    words = ["sample", "checkpoint=outputs/a", "sample.k=16", "sample.keep=accepted"]
    assert main([*words, "sample.out=acc.jsonl"]) == 0
    rows = lines(here / "acc.jsonl")
    assert rows
    assert all(r["correct"] and not r["truncated"] and r["scores"]["correct"] == 1.0 for r in rows)
    texts = [(r["row_id"], r["completion"][0]["content"].strip()) for r in rows]
    assert len(texts) == len(set(texts))
    assert main([*words, "sample.out=short.jsonl", "sample.pick=shortest"]) == 0
    for row in lines(here / "short.jsonl"):
        assert row["tokens"] == min(r["tokens"] for r in rows if r["row_id"] == row["row_id"])
    assert main([*words, "sample.out=even.jsonl", "sample.pick=random", "sample.balance=difficulty"]) == 0
    assert len(set(Counter(r["difficulty"] for r in lines(here / "even.jsonl")).values())) == 1


def test_pairs_hold_right_against_wrong(here):
    assert main(["sample", "checkpoint=outputs/a", "sample.k=16", "sample.keep=pairs", "sample.per_prompt=2", "sample.out=p.jsonl"]) == 0
    rows = lines(here / "p.jsonl")
    assert rows
    for row in rows:
        assert row["chosen_total"] == 1.0
        assert row["rejected_total"] == 0.0
        assert row["chosen"] != row["rejected"]
        assert sum(map(ord, row["chosen"][0]["content"])) % 2 == 0
    assert max(Counter(r["row_id"] for r in rows).values()) <= 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["sample.keep=some"], "sample.keep=all"),
        (["sample.balance=level"], "no column 'level'"),
        (["sample.kk=3"], "sample.k=3"),
    ],
)
def test_mistakes(here, capsys, words, said):
    assert main(["sample", "checkpoint=outputs/a", *words]) == 2
    assert said in capsys.readouterr().err


def test_export_loads_anywhere_and_answers_alike(here, capsys):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    assert main(["export", "outputs/a", "plain"]) == 0
    AutoModelForCausalLM.from_pretrained(here / "plain")
    assert AutoTokenizer.from_pretrained(here / "plain").chat_template
    assert main(["export", "outputs/a", "plain"]) == 2
    assert "exists" in capsys.readouterr().err
    words = ["eval.limit=6", "eval.name=x", "dataset.eval=rows.jsonl"]
    assert main(["eval", "checkpoint=outputs/a", *words]) == 0
    reward = ["+reward.terms.correct={fn: rewards.parity.even}", "generation.max_completion_length=8"]
    assert main(["eval", "checkpoint=plain", *words, *reward]) == 0
    first, second = (lines(here / "outputs" / name / "eval" / "x" / "samples.jsonl") for name in ("a", "plain"))
    assert [r["completion"] for r in first] == [r["completion"] for r in second]


def test_an_adapter_is_merged(here):
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM

    base = AutoModelForCausalLM.from_pretrained(here / "outputs" / "a" / "final")
    adapted = get_peft_model(base, LoraConfig(r=2, target_modules=["q_proj"], init_lora_weights=False))
    adapted.save_pretrained(here / "adapter")
    assert main(["export", "adapter", "merged"]) == 0
    merged = AutoModelForCausalLM.from_pretrained(here / "merged").state_dict()
    plain = AutoModelForCausalLM.from_pretrained(here / "outputs" / "a" / "final").state_dict()
    changed = {name for name in plain if not plain[name].equal(merged[name])}
    assert changed == {name for name in plain if "q_proj.weight" in name}


def test_chat_answers_each_piped_line(here, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("1+1=?\n\n2+3=?\n1+1=?\n"))
    assert main(["chat", "outputs/a"]) == 0
    answers = capsys.readouterr().out.splitlines()
    assert len(answers) == 3
    assert answers[0] == answers[2]
