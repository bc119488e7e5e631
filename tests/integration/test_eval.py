"""``rlvr eval`` on a run made of random weights: the files, the pairing, the inheritance, the same numbers twice."""

from __future__ import annotations

import json

import pytest

from rlvr_cli.main import main
from tests.tiny_run import make_run

pytest.importorskip("torch")
pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    root = tmp_path_factory.mktemp("eval")
    make_run(root, "a", seed=0)
    make_run(root, "b", seed=1)
    return root


@pytest.fixture
def here(place, monkeypatch):
    monkeypatch.chdir(place)
    return place


def summary_of(here, run, name):
    return json.loads((here / "outputs" / run / "eval" / name / "summary.json").read_text())


def samples_of(here, run, name):
    return [json.loads(line) for line in (here / "outputs" / run / "eval" / name / "samples.jsonl").read_text().splitlines()]


def test_summary_and_samples_hold_what_the_contract_says(here, capsys):
    assert main(["eval", "checkpoint=outputs/a", "eval.k=4", "baseline=outputs/b", "eval.name=full"]) == 0
    said = capsys.readouterr().out
    summary = summary_of(here, "a", "full")
    assert summary["n"] == 24
    assert {"strict", "lenient", "ci95"} <= set(summary["greedy"])
    assert list(summary["pass_at_k"]) == ["1", "2", "4"]
    assert summary["mean_at_k"] == pytest.approx(summary["pass_at_k"]["1"])
    assert {"diff", "ci95", "p"} <= set(summary["paired"])
    assert summary["baseline"]["checkpoint"] == "b/final"
    assert f"accuracy {100 * summary['greedy']['accuracy']:.1f}%" in said.splitlines()[0]
    rows = samples_of(here, "a", "full")
    assert len(rows) == 2 * 24 * (1 + 4)
    one = rows[0]
    assert {"prompt", "completion", "answer", "scores", "reasons", "extracted", "correct", "strict", "lenient", "truncated"} <= set(one)


def test_numbers_follow_from_the_samples(here):
    assert main(["eval", "checkpoint=outputs/a", "eval.k=2", "baseline=outputs/b", "eval.name=check"]) == 0
    summary, rows = summary_of(here, "a", "check"), samples_of(here, "a", "check")
    greedy = {m: {r["row_id"]: r["correct"] for r in rows if r["kind"] == "greedy" and r["model"] == m} for m in ("checkpoint", "baseline")}
    assert summary["greedy"]["correct"] == sum(greedy["checkpoint"].values())
    gained = sum(greedy["checkpoint"][i] and not greedy["baseline"][i] for i in greedy["checkpoint"])
    assert summary["paired"]["gained"] == gained
    unjudged = [r for r in rows if r["model"] == "checkpoint" and r["scores"]["correct"] is None]
    assert summary["unjudged"]["count"] == len(unjudged) > 0
    assert not any(r["correct"] for r in unjudged)
    assert all(r["strict"] <= r["correct"] <= r["lenient"] for r in rows)


def test_same_seed_same_numbers_whatever_the_batch(here):
    words = ["eval", "checkpoint=outputs/a", "eval.k=3", "eval.limit=10"]
    folder = here / "outputs" / "a" / "eval"
    assert main([*words, "eval.name=one"]) == 0
    assert main([*words, "eval.name=two"]) == 0
    assert main([*words, "eval.name=small", "eval.batch_size=3"]) == 0
    assert main([*words, "eval.name=other", "eval.seed=1"]) == 0
    for name in ("samples.jsonl", "summary.json"):
        assert (folder / "one" / name).read_bytes() == (folder / "two" / name).read_bytes()
    assert (folder / "one" / "samples.jsonl").read_bytes() == (folder / "small" / "samples.jsonl").read_bytes()
    assert (folder / "one" / "samples.jsonl").read_bytes() != (folder / "other" / "samples.jsonl").read_bytes()


def test_a_draw_does_not_depend_on_how_many_rows_or_draws_there_are(here):
    assert main(["eval", "checkpoint=outputs/a", "eval.k=2", "eval.limit=4", "eval.name=few"]) == 0
    assert main(["eval", "checkpoint=outputs/a", "eval.k=5", "eval.name=many"]) == 0

    def text(name):
        return {(r["row_id"], r["kind"], r["sample"]): r["completion"] for r in samples_of(here, "a", name)}

    few, many = text("few"), text("many")
    assert few.items() <= many.items()


def test_the_run_is_inherited_and_the_command_line_wins(here):
    assert main(["eval", "checkpoint=a", "eval.limit=3", "eval.name=in"]) == 0
    assert summary_of(here, "a", "in")["settings"]["temperature"] == 0.9
    assert summary_of(here, "a", "in")["settings"]["max_completion_length"] == 8
    words = ["eval", "checkpoint=a", "eval.limit=3", "eval.name=out", "eval.max_completion_length=3", "model.system_prompt=hi"]
    assert main(words) == 0
    rows = samples_of(here, "a", "out")
    assert rows[0]["prompt"][0] == {"role": "system", "content": "hi"}
    assert all(r["tokens"] <= 3 for r in rows)


def test_a_plain_folder_needs_data_and_reward(here, capsys, tmp_path):
    import shutil

    plain = tmp_path / "plain"
    shutil.copytree(here / "outputs" / "a" / "final", plain)
    assert main(["eval", f"checkpoint={plain}"]) == 2
    assert "the data must be named" in capsys.readouterr().err
    words = ["eval", f"checkpoint={plain}", f"dataset.eval={here}/rows.jsonl", "eval.limit=4", "generation.max_completion_length=4"]
    assert main([*words]) == 2
    assert "the reward must be named" in capsys.readouterr().err
    assert main([*words, "reward=format"]) in (0, 2)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["checkpoint=outputs/aa"], "checkpoint=outputs/a"),
        ([], "no checkpoint is named"),
        (["checkpoint=outputs/a", "eval.kk=2"], "eval.k=2"),
        (["checkpoint=outputs/a", "eval.k=many"], "eval.k"),
        (["checkpoint=outputs"], "neither a run"),
        (["checkpoint=outputs/a", "dataset.eval=none.jsonl"], "none.jsonl"),
    ],
)
def test_mistakes_are_one_line_and_exit_2(here, capsys, words, said):
    assert main(["eval", *words]) == 2
    err = capsys.readouterr().err.strip()
    assert said in err
    assert len(err.splitlines()) == 1


def test_json_is_the_summary_and_nothing_else(here, capsys):
    assert main(["eval", "checkpoint=a", "eval.limit=2", "--json", "eval.name=json"]) == 0
    assert json.loads(capsys.readouterr().out)["n"] == 2
