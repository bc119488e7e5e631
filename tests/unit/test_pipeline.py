"""A chain before it runs: its words, its references, what each step would run, what a repeat finds, and the verdicts of its table."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from rlvr_cli.config.compose import compose
from rlvr_cli.config.options import options
from rlvr_cli.errors import ConfigError
from rlvr_cli.pipeline import chain, table, verdict
from rlvr_cli.pipeline.spec import Pipeline, load, read_file, restore
from rlvr_cli.pipeline.steps import steps_of

pytestmark = pytest.mark.real  # every stage of every chain is composed and checked: half a minute
ROOT = Path(__file__).parents[2]
SHIPPED = sorted(options("pipeline", Path("/")))


KINDS = {
    "r1": ["sft", "rl", "sft", "reward_model", "rl"],
    "r1_tiny": ["sft", "rl", "sft", "reward_model", "rl"],
    "smollm2_arithmetic": ["sft", "rl"],
}


def test_every_shipped_pipeline_is_known_here() -> None:
    assert set(KINDS) == set(SHIPPED)


@pytest.mark.parametrize("name", SHIPPED)
def test_every_stage_of_a_shipped_pipeline_composes(name: str, here: Path) -> None:
    pipeline, folder = load([f"pipeline={name}"], here)
    steps = steps_of(pipeline, folder)
    policies = [s for s in steps if s.makes_policy]
    assert [s.number for s in policies] == list(range(1, len(policies) + 1))
    assert [compose(s.compose_words()).config.stage.kind for s in steps if s.stage.run == "train"] == KINDS[name]
    for step in steps:
        if step.stage.run == "sample":
            assert compose([*step.words, "checkpoint=x"], root="sample").config.sample.keep in ("accepted", "pairs")
    improves = {s.stage.improves for s in policies}
    assert improves == ({"format", "accuracy", "general", "learned"} if name.startswith("r1") else {"accuracy"})
    header = options("pipeline", here)[name].header
    assert any(line.startswith("Needs:") for line in header) and any(line.startswith("Command: rlvr train") for line in header)


def test_a_recipe_is_no_word_for_a_whole_chain(here: Path) -> None:
    with pytest.raises(ConfigError, match="a recipe is of one run"):
        load(["pipeline=r1_tiny", "recipe=smollm2_arithmetic"], here)
    (here / "conf" / "pipeline").mkdir(parents=True)
    (here / "conf" / "pipeline" / "mine.yaml").write_text("common: [recipe=none]\nstages: {a: {words: []}}\njudge: {tasks: {t: []}}\n")
    with pytest.raises(ConfigError, match="common names a recipe"):
        load(["pipeline=mine"], here)


def test_the_tiny_chain_ends_on_talk_and_never_trains_on_what_it_is_judged_by(here: Path) -> None:
    from rlvr_cli.data import load as rows_of

    pipeline, folder = load(["pipeline=r1_tiny"], here)
    steps = {step.name: step for step in steps_of(pipeline, folder)}
    judged = {json.loads(line)["prompt"] for line in (ROOT / str(pipeline.judge.prompts)).read_text().splitlines()}
    for name, least in (("reasoning", 0.15), ("all_scenarios", 0.6), ("pairs", 1.0)):
        words = steps[name].words if name == "pairs" else steps[name].compose_words()
        dataset = compose([*words, "checkpoint=x"], root="sample").config.dataset if name == "pairs" else compose(words).config.dataset
        rows = rows_of(dataset, seed=0).train
        assert sum(row["kind"] != "math" for row in rows) / len(rows) >= least, name
        assert not judged & {row["prompt"][-1]["content"] for row in rows}


def test_words_go_to_every_stage_or_to_one(here: Path) -> None:
    pipeline, folder = load(["pipeline=r1_tiny", "seed=3", "reasoning.trainer.max_steps=7"], here)
    configs = {s.name: compose(s.compose_words()).config for s in steps_of(pipeline, folder) if s.stage.run == "train"}
    assert {c.seed for c in configs.values()} == {3}
    assert configs["reasoning"].trainer.max_steps == 7 and configs["cold_start"].trainer.max_steps != 7
    assert configs["reasoning"].model.path == f"{folder}/1_cold_start/final" and configs["reasoning"].model.builder is None
    assert configs["all_scenarios"].model.path == f"{folder}/3_rejection/final", "the reward model is not the policy"
    assert configs["reward_model"].stage.data == f"{folder}/4_pairs.jsonl"


def test_the_same_words_have_the_same_folder(here: Path) -> None:
    lines = (["pipeline=r1_tiny"], ["pipeline=r1_tiny", "seed=1"], ["seed=1", "pipeline=r1_tiny"])
    plain, other, again = (load(words, here)[1] for words in lines)
    assert plain == Path("outputs/pipeline-r1_tiny") and other == again != plain
    assert load(["pipeline=r1_tiny", "run.name=mine", "run.dir=runs"], here)[1] == Path("runs/mine")


def test_a_folder_of_another_chain_is_refused(here: Path) -> None:
    first, folder = load(["pipeline=r1_tiny", "run.name=mine"], here)
    assert chain.open_folder(first, folder, clean=False) == first == restore(folder)
    assert chain.open_folder(first, folder, clean=False) == first
    second, _ = load(["pipeline=r1_tiny", "run.name=mine", "seed=1"], here)
    with pytest.raises(ConfigError, match="another chain"):
        chain.open_folder(second, folder, clean=False)
    assert chain.open_folder(second, folder, clean=True) == second
    (here / "outputs" / "own").mkdir()
    (here / "outputs" / "own" / "thesis.txt").write_text("mine")
    with pytest.raises(ConfigError, match="is no pipeline"):
        chain.open_folder(first, Path("outputs/own"), clean=True)
    assert (here / "outputs" / "own" / "thesis.txt").exists()


@pytest.mark.parametrize(
    ("words", "says", "fix"),
    [
        (["pipeline=r1_tinny"], "pipeline=r1_tinny is not an option", "pipeline=r1_tiny"),
        (["pipeline=r1_tiny", "resoning.seed=1"], "resoning is neither a group nor a stage", "reasoning.seed=1"),
    ],
)
def test_mistakes_on_the_line(words: list[str], says: str, fix: str, here: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(words, here)
    assert caught.value.what.startswith(says) and caught.value.fix == fix


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("stages: {a: {words: ['stage.data=@{b}']}, b: {}}", "uses @{b}, which no earlier stage makes"),
        ("stages: {a: {run: sample}}", "the first stage samples"),
        ("stages: {}", "trains nothing"),
        ("stages: {a: {}}", "judges nothing"),
        ("stages: {a: {wrods: []}}", "can not be read"),
        ("stages: [", "can not be read"),
    ],
)
def test_mistakes_in_a_file(text: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(text)
    with pytest.raises(ConfigError) as caught:
        read_file(tmp_path / "mine.yaml", "mine")
    assert says in caught.value.what and "\n" not in str(caught.value)


def test_a_stage_s_fault_is_named_before_anything_starts(here: Path, rlvr: Callable) -> None:
    done = rlvr("train", "pipeline=r1_tiny", "reasoning.trainer.max_stepz=5")
    assert done.code == 2 and "2_reasoning" in done.err and "trainer.max_steps=5" in done.err and len(done.err.splitlines()) == 1
    done = rlvr("train", "pipeline=r1_tiny", "cold_start.stage.general.data=absent.jsonl")
    assert done.code == 2 and "1_cold_start" in done.err and "absent.jsonl" in done.err
    assert not (here / "outputs").exists()


def test_check_and_dry_run_go_through_every_stage(here: Path, rlvr: Callable) -> None:
    done = rlvr("check", "pipeline=r1_tiny")
    assert done.code == 0, done.out
    for label in ("1_cold_start", "2_reasoning", "3_accepted", "3_rejection", "4_pairs", "4_reward_model", "4_all_scenarios", "judge"):
        assert f"{label}: " in done.out
    done = rlvr("train", "pipeline=r1_tiny", "--dry-run", "--json")
    assert done.code == 0 and len(json.loads(done.out)["commands"]) == 7
    assert not (here / "outputs").exists()


def test_a_step_knows_whether_it_is_done(here: Path) -> None:
    pipeline = Pipeline.model_validate(
        {"stages": {"a": {}, "few": {"run": "sample"}, "b": {"words": ["stage.data=@{few}"]}}, "judge": {"tasks": {"t": []}}}
    )
    a, few, b = steps_of(pipeline, here / "p")
    assert (a.label, few.label, b.label) == ("1_a", "2_few", "2_b")
    assert not a.done and not few.done
    few.path.parent.mkdir()
    few.path.write_text("")
    assert few.done
    (a.path / "final").mkdir(parents=True)
    (a.path / "status.json").write_text('{"state": "finished"}')
    assert a.done and a.command()[-1] == "--clean"
    assert f"stage.data='{few.path}'" in b.compose_words()


# ---------------------------------------------------------------------------------------------- verdicts


def values(right: int, form: int, loss: float, learned: float, n: int = 100) -> dict:
    def share(k: int) -> dict:
        return {f"task:t/{i}": float(i < k) for i in range(n)}

    wobble = {str(i): (10 * (loss + 0.01 * (i % 3)), 10) for i in range(n)}
    liked = {str(i): learned + 0.001 * (i % 3) for i in range(n)}
    tokens = {f"task:t/{i}": 20.0 for i in range(n)}
    replies = {str(i): 1.0 for i in range(n)}
    shares = {"accuracy": share(right), "format": share(form), "replies": replies, "refused": {}}
    return {**shares, "length": tokens, "general": wobble, "learned": liked}


def test_what_improved_and_what_was_lost() -> None:
    told = verdict.verdict("accuracy", values(40, 99, 1.0, 0.5), values(70, 98, 1.3, 0.5))
    assert told["improved"] and told["sure"] and told["lost"] == ["general"] and not told["held"]
    told = verdict.verdict("general", values(70, 99, 1.3, 0.5), values(69, 99, 0.9, 0.5))
    assert told["sure"] and told["held"] and told["changes"]["general"]["diff"] < 0
    told = verdict.verdict("learned", values(70, 99, 1.0, 0.6), values(70, 99, 1.0, 0.6))
    assert not told["improved"] and told["held"]


def test_the_table_says_so() -> None:
    before, after = values(40, 99, 1.0, 0.5), values(70, 98, 1.3, 0.5)
    lines = [{"stage": "(start)", **verdict.summarised(before)}]
    lines.append({"stage": "2_r", **verdict.summarised(after), "minutes": 1.2, "verdict": verdict.verdict("accuracy", before, after)})
    text = table.plain(lines)
    assert "70.0% [60.4, 78.1], n=100" in text and "accuracy +0.300: improved" in text and "lost: general loss +0.300" in text
    assert "1.2" in text and "\x1b" not in text


def test_the_loss_is_over_tokens_not_over_texts() -> None:
    assert verdict.ratio([(2.0, 1), (2.0, 3)]) == pytest.approx(1.0)
    told = verdict.compared("general", {"a": (4.0, 4)}, {"a": (2.0, 4), "new": (9.0, 1)})
    assert told["n"] == 1 and told["diff"] == pytest.approx(-0.5)
