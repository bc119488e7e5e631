"""Sloppy pupils: right without slips, wrong with them; near misses of a program fail its tests; the held-out share stays out."""

import random

import pytest

from rlvr_cli.config.compose import compose
from rlvr_cli.data.generate import generator
from rlvr_cli.data.generate._pipelines import draw_pipeline
from rlvr_cli.data.split import held_out
from rlvr_cli.errors import ConfigError
from rlvr_cli.models import pupils, tiny, worded
from rlvr_cli.models.cache import digest
from rlvr_cli.models.tokenizer import word_tokenizer
from rlvr_cli.verifiers import facts, math

CASES = ("maths_assistant", "science_answerer", "code_completer")
JUDGES = {"word_problems": math.judge, "number_facts": facts.judge}


def settings(recipe, **changed):
    """The builder's settings of a recipe."""
    import inspect

    config = compose([f"recipe={recipe}"]).config
    defaults = {name: p.default for name, p in inspect.signature(worded.build).parameters.items() if name != "seed"}
    return config, defaults | {"seed": 0} | config.model.builder_options | changed


@pytest.mark.parametrize("recipe", CASES)
def test_the_cold_start_is_the_recipes_own_task_without_what_it_holds_out(recipe):
    config, built = settings(recipe)
    assert built["eval_share"] == config.dataset.eval_share
    assert built["generator"] == config.dataset.generator
    assert built["task"] == {name: config.dataset.model_extra[name] for name in built["task"]}
    assert config.dataset.prompt_template is None  # the model learnt the bare prompt
    rows = worded.training_rows(built, 300)
    assert len(rows) == 300 and not any(held_out(row, share=built["eval_share"]) for row in rows)


@pytest.mark.parametrize("recipe", CASES)
def test_every_piece_of_a_demonstration_is_in_the_vocabulary_and_fits(recipe):
    config, built = settings(recipe)
    pairs = worded.demonstrations(built, 400)
    tokenizer = word_tokenizer((text for pair in pairs for text in pair), whole_numbers=built["whole_numbers"])
    for question, answer in pairs:
        ids = tokenizer(answer)["input_ids"]
        assert tokenizer.decode(ids, skip_special_tokens=True) == answer
        assert tokenizer.unk_token_id not in [*ids, *tokenizer(question)["input_ids"]]
        assert len(ids) < config.generation.max_completion_length


@pytest.mark.parametrize("name", sorted(JUDGES))
def test_a_careful_pupil_is_right_and_a_slip_is_what_the_verifier_refuses(name):
    rng, judged = random.Random(1), []
    for row in generator(name)(count=200, seed=2, **({"topics": ["units", "physics"]} if name == "number_facts" else {})):
        assert JUDGES[name](pupils.PUPILS[name](row, 0.0, rng), row).score == 1.0, row
        judged.append(JUDGES[name](pupils.PUPILS[name](row, 1.0, rng), row).score)
    assert 0.2 < judged.count(0.0) / len(judged) < 0.95  # some rows leave nothing to slip on


def test_labels_agree_with_the_verifiers():
    for name, judge in JUDGES.items():
        rows = list(pupils.labelled(count=200, seed=3, of=name, **({"topics": ["units", "physics"]} if name == "number_facts" else {})))
        assert {row["expect"] for row in rows} == {"right", "wrong"}
        wrong = [row for row in rows if (judge(row["completion"], row).score == 1.0) != (row["expect"] == "right")]
        assert not wrong, wrong[0]


def test_a_programs_cases_tell_every_near_miss_that_anything_tells():
    """Before the cases were chosen, more than half of the programs with a wrong border passed."""
    rng, passed, told = random.Random(4), 0, 0
    for _ in range(150):
        pipeline = draw_pipeline(rng)
        inputs = pipeline.telling_inputs(rng)
        for miss in pipeline.near_misses():
            if pipeline.differs(miss, rng):
                told += 1
                passed += not any(pipeline._tells(values, miss) for values in inputs)
    assert told > 300 and passed / told < 0.02


def test_a_slip_is_a_program_that_parses_and_differs():
    import ast

    rng = random.Random(5)
    rows = list(generator("programs")(count=60, seed=6, form="assert", pipelines=1.0))
    slipped = [pupils.programs(row, 1.0, rng).split("\n", 1)[1].rsplit("\n", 1)[0] for row in rows]
    assert sum(text != row["answer"] for text, row in zip(slipped, rows, strict=True)) > 30
    for text in slipped:
        ast.parse(text)


def test_another_pupil_is_refused_by_name():
    with pytest.raises(ConfigError, match="no pupil works 'sql'"):
        worded.build(0, generator="sql")


def test_the_default_tiny_model_is_what_it_was():
    """Its folder's name hashes all it is made of: what was measured on it stays true only while this holds."""
    import inspect

    defaults = {name: p.default for name, p in inspect.signature(tiny.build).parameters.items()} | {"seed": 0, "format": tiny.FORMAT}
    defaults["demonstrations"] = digest({"texts": [text for pair in tiny.demonstrations(defaults, 64) for text in pair]})
    assert digest(defaults) == "4ef22c846155"
