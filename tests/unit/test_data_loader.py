"""From a configuration to rows: columns, prompts, the held-out share, limits, and one type a column."""

import json
from collections import Counter

import pytest

from rlvr_cli.config.schema import Dataset
from rlvr_cli.data import drop_long, fresh_eval, held_out, load, question_of
from rlvr_cli.data.generate.arithmetic import training_rows
from rlvr_cli.data.loader import draw_side
from rlvr_cli.errors import DataError, RlvrError


def file_of(tmp_path, rows, name="rows.jsonl"):
    path = tmp_path / name
    path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), encoding="utf-8")
    return str(path)


def all_rows(path, **keys):
    return load(Dataset(train=path, eval_share=0, **keys), seed=0)


# ------------------------------------------------------------------------------------------ columns and prompts


def test_columns_are_renamed_and_reach_into_nested_ones(tmp_path):
    path = file_of(tmp_path, [{"q": "1+1", "reward_model": {"ground_truth": "2"}, "cases": [{"in": "x"}]}])
    row = all_rows(path, prompt_column="q", answer_column="reward_model.ground_truth", columns={"tests": "cases"}).train[0]
    assert row["answer"] == "2" and json.loads(row["tests"]) == [{"in": "x"}]


def test_a_column_of_a_reward_that_is_missing_names_the_nearest(tmp_path):
    path = file_of(tmp_path, [{"prompt": "1+1", "answer": "2", "test_list": []}])
    with pytest.raises(DataError) as caught:
        all_rows(path, columns={"tests": "tests_list"})
    assert "no column 'tests_list'" in str(caught.value) and "dataset.columns.tests=test_list" in str(caught.value)


def test_rows_that_lack_something_are_counted_by_reason(tmp_path):
    rows = [
        {"prompt": "1+1", "answer": "2"},
        {"prompt": "2+2"},
        {"prompt": "3+3", "answer": ""},
        {"prompt": None, "answer": "1"},
        {"prompt": "4", "answer": 0},
    ]
    loaded = all_rows(file_of(tmp_path, rows))
    assert sorted(r["answer"] for r in loaded.train) == ["0", "2"]
    assert loaded.reasons == Counter(
        {
            "no column 'answer' (dataset.answer_column)": 1,
            "no answer (column 'answer' is empty)": 1,
            "no prompt (column 'prompt' is empty)": 1,
        }
    )
    assert any("line 2" in d.where for d in loaded.dropped)


def test_a_thousand_broken_lines_are_a_few_lines_to_read(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join(['{"prompt": "a", "answer": "1"}', *(f'{{"prompt": {i}x' for i in range(1000)), "null"]))
    loaded = all_rows(str(path), on_broken="drop")
    said = [line for line in loaded.said() if line.startswith("dropped")]
    assert (
        len(loaded.dropped) == 1001
        and len(said) == 2
        and said[0].startswith("dropped 1000 rows: not JSON (first: ")
        and "line 2)" in said[0]
    )


def test_a_transform_that_fails_drops_the_row_aloud(tmp_path):
    path = file_of(tmp_path, [{"prompt": "a", "answer": "x #### 7"}, {"prompt": "b", "answer": "no mark"}, {"prompt": "c"}])
    loaded = all_rows(path, answer_transform="rlvr_cli.data.answers.after_hashes")
    assert [r["answer"] for r in loaded.train] == ["7"]
    assert {"answer_transform found no answer", "answer_transform failed: KeyError: 'answer'"} == set(loaded.reasons)


@pytest.mark.parametrize("path", ["nowhere.f", "rlvr_cli.data.answers.nothing", "rlvr_cli.data.answers.__doc__", "plain"])
def test_a_wrong_transform_path_is_one_line(tmp_path, path):
    with pytest.raises(DataError, match="answer_transform"):
        all_rows(file_of(tmp_path, [{"prompt": "a", "answer": "1"}]), answer_transform=path)


def test_prompts_become_messages_with_template_and_system_prompt(tmp_path):
    path = file_of(tmp_path, [{"prompt": "Which?", "answer": "A", "choices": ["red", "blue"]}])
    row = load(
        Dataset(train=path, eval_share=0, prompt_template="{prompt}\n{choices}\nIn {{braces}}."), seed=0, system_prompt="Be brief."
    ).train[0]
    assert row["prompt"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Which?\nA) red\nB) blue\nIn {braces}."},
    ]


def test_chat_prompts_are_kept_and_may_be_json_text(tmp_path):
    chat = [{"role": "system", "content": "Mine."}, {"role": "user", "content": "1+1"}]
    path = file_of(tmp_path, [{"prompt": chat, "answer": "2"}, {"prompt": json.dumps(chat), "answer": "2"}])
    rows = load(Dataset(train=path, eval_share=0), seed=0, system_prompt="Yours.").train
    assert all(row["prompt"] == chat for row in rows)
    assert len({row["row_id"] for row in rows}) == 2


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("{questoin}", "{question}"),
        ("{prompt", "not a format string"),
        ("{prompt:d}", "does not fit text"),
        ("{prompt.__class__}", "names {prompt.__class__}"),
    ],
)
def test_a_wrong_template_is_one_line(tmp_path, template, words):
    with pytest.raises(DataError) as caught:
        all_rows(file_of(tmp_path, [{"prompt": "a", "question": "b", "answer": "1"}]), prompt_template=template)
    assert words in str(caught.value) and "prompt_template" in str(caught.value)


def test_a_row_without_a_column_of_the_template_falls_out_alone(tmp_path):
    path = file_of(tmp_path, [{"prompt": "a", "hint": "h", "answer": "1"}, {"prompt": "b", "answer": "1"}])
    loaded = all_rows(path, prompt_template="{prompt} {hint}")
    assert [question_of(r) for r in loaded.train] == ["a h"] and "names {hint}" in loaded.dropped[0].reason


def test_long_prompts_are_dropped_aloud():
    rows = [{"prompt": [{"role": "user", "content": "x" * n}], "row_id": str(n)} for n in (3, 50, 7)]
    kept, said = drop_long(rows, lambda messages: len(messages[0]["content"]), 10)
    assert [r["row_id"] for r in kept] == ["3", "7"] and said == ["row 50: the prompt has 50 tokens, more than 10"]


def test_nested_and_mixed_columns_survive_a_round_trip_through_datasets(tmp_path):
    import datasets

    rows = [
        {"prompt": "a", "answer": 4, "kwargs": [{"n": 1}, {}], "schema": {"x": 1}, "tags": ["u", "v"], "big": 2**70},
        {"prompt": "b", "answer": "4/3", "kwargs": [{"relation": "at least"}], "schema": {"y": {"z": 2}}, "tags": [], "big": 1},
        {"prompt": "c", "answer": 1.5, "kwargs": "[]", "schema": None, "tags": None, "extra": True, "big": 3},
    ]
    loaded = all_rows(file_of(tmp_path, rows)).train
    back = {r["prompt"][0]["content"]: r for r in datasets.Dataset.from_list(loaded).to_list()}
    assert [back[k]["answer"] for k in "abc"] == ["4", "4/3", "1.5"]
    assert json.loads(back["a"]["kwargs"]) == [{"n": 1}, {}] and back["c"]["kwargs"] == "[]"
    assert json.loads(back["b"]["schema"]) == {"y": {"z": 2}} and back["c"]["schema"] is None
    assert back["a"]["big"] == str(2**70) and back["a"]["extra"] is None
    assert list(back.values()) == loaded or all(back[question_of(r)] == r for r in loaded)


def test_images_and_missing_numbers(tmp_path):
    class Picture:
        def tobytes(self):
            return b"x"

    from rlvr_cli.data.columns import plain_columns

    rows = plain_columns([{"prompt": "a", "image": Picture()}, {"prompt": "b", "image": {"bytes": b"x", "path": None}}])
    assert isinstance(rows[0]["image"], Picture) and rows[1]["image"]["bytes"] == b"x"
    path = tmp_path / "nan.jsonl"
    path.write_text('{"prompt": "a", "answer": NaN}\n{"prompt": "b", "answer": 2}')
    loaded = all_rows(str(path))
    assert [r["answer"] for r in loaded.train] == [2] and list(loaded.reasons) == ["no answer (column 'answer' is empty)"]


def test_the_trainers_own_names_are_left_out_aloud(tmp_path):
    loaded = all_rows(file_of(tmp_path, [{"prompt": "a", "answer": "1", "completions": "x", "completion": "y", "trainer_state": 1}]))
    assert loaded.columns == ["prompt", "answer", "row_id"] and any("completion, completions, trainer_state" in n for n in loaded.notes)


def test_one_question_with_other_options_is_another_prompt(tmp_path):
    rows = [{"prompt": "Which is prime?", "choices": [str(i), str(i + 1)], "answer": "A"} for i in range(40)]
    train, held = file_of(tmp_path, rows[:30]), file_of(tmp_path, rows[28:], "held.jsonl")
    loaded = load(Dataset(train=train, eval=held, prompt_template="{prompt}\n{choices}"), seed=0)
    assert len(loaded.train) == 28 and loaded.reasons == {"its prompt is also held out": 2}


def test_row_ids_are_stable_and_unique(tmp_path):
    rows = [{"prompt": "1+1", "answer": "2"}] * 3 + [{"prompt": "1+2", "answer": "3"}]
    ids = [r["row_id"] for r in all_rows(file_of(tmp_path, rows)).train]
    again = [r["row_id"] for r in load(Dataset(train=file_of(tmp_path, rows[::-1], "b.jsonl"), eval_share=0), seed=5).train]
    assert len(set(ids)) == 4 and sorted(ids) == sorted(again)


# ------------------------------------------------------------------------------------------ the held-out share


def test_no_held_out_prompt_trains_whatever_the_seeds():
    sides = [load(Dataset(generator="arithmetic", count=3000), seed=seed) for seed in (0, 1, 2)]
    held = {question_of(row) for loaded in sides for row in loaded.eval}
    trained = {question_of(row) for loaded in sides for row in loaded.train}
    cold = {row["prompt"] for row in training_rows(20_000, seed=7)}
    assert len(held) == 500 and not held & trained and not held & cold
    turned = {f"{b}+{a}" for a, b in (q.rstrip("=?").split("+") for q in held if "+" in q)}
    assert not {q + "=?" for q in turned} & (trained | cold), "48+37 gives 37+48 away"


def test_the_held_out_rows_are_the_same_for_every_seed_and_training_rows_are_not():
    one, two = (load(Dataset(generator="arithmetic", count=200, eval_count=50), seed=seed) for seed in (1, 2))
    assert one.eval == two.eval and one.train != two.train
    assert load(Dataset(generator="arithmetic", count=200, eval_count=50), seed=1).train == one.train


def test_fresh_eval_draws_new_held_out_rows_each_time(tmp_path):
    config = Dataset(generator="arithmetic", count=100, eval_count=200, eval_fresh=True)
    draws = [fresh_eval(config, draw=i) for i in range(3)]
    asked = [{question_of(r) for r in rows} for rows in draws]
    assert asked[0] == {question_of(r) for r in load(config, seed=3).eval}
    assert asked[1] != asked[0] and asked[1] != asked[2] and all(len(rows) == 200 for rows in draws)
    assert not asked[1] & {question_of(r) for r in load(config, seed=0).train}
    assert fresh_eval(config, draw=1) == draws[1]
    path = file_of(tmp_path, [{"prompt": f"q{i}", "answer": "1"} for i in range(300)])
    config = Dataset(train=path, eval_share=0.3, eval_limit=20)
    assert len(fresh_eval(config, draw=1)) == 20 and fresh_eval(config, draw=1) != fresh_eval(config, draw=2)


def test_a_split_of_a_file_is_stratified_by_difficulty(tmp_path):
    rows = [{"prompt": f"q{i}", "answer": "1", "difficulty": 1 if i < 800 else 5} for i in range(1000)]
    loaded = load(Dataset(train=file_of(tmp_path, rows), eval_share=0.1), seed=0)
    assert Counter(r["difficulty"] for r in loaded.eval) == {1: 80, 5: 20}
    assert not {question_of(r) for r in loaded.eval} & {question_of(r) for r in loaded.train}
    assert loaded.eval == load(Dataset(train=file_of(tmp_path, rows), eval_share=0.1), seed=9).eval
    assert any("100 of" in note and "held out" in note for note in loaded.notes)


def test_another_wording_holds_out_the_same_questions(tmp_path):
    path = file_of(tmp_path, [{"prompt": f"q{i}", "answer": str(i)} for i in range(200)])
    answers = [
        {r["answer"] for r in load(Dataset(train=path, prompt_template=t), seed=0).eval}
        for t in (None, "Say: {prompt}", "{prompt}\nThink.")
    ]
    assert answers[0] == answers[1] == answers[2] and len(answers[0]) == 20


def test_rows_of_one_prompt_stay_on_one_side(tmp_path):
    rows = [{"prompt": f"q{i % 100}", "answer": str(i), "difficulty": i % 3} for i in range(400)]
    loaded = load(Dataset(train=file_of(tmp_path, rows), eval_share=0.2), seed=0)
    assert len(loaded.eval) + len(loaded.train) == 400 and loaded.eval
    assert not {question_of(r) for r in loaded.eval} & {question_of(r) for r in loaded.train}


def test_a_prompt_in_both_files_does_not_train(tmp_path):
    rows = [{"prompt": f"q{i}", "answer": "1"} for i in range(10)]
    train, held = file_of(tmp_path, rows), file_of(tmp_path, rows[:3], "held.jsonl")
    loaded = load(Dataset(train=train, eval=held), seed=0)
    assert len(loaded.train) == 7 and loaded.reasons == {"its prompt is also held out": 3}
    with pytest.raises(DataError, match="every training prompt is also held out"):
        load(Dataset(train=train, eval=train), seed=0)


def test_limits_and_the_shuffle(tmp_path):
    path = file_of(tmp_path, [{"prompt": f"q{i}", "answer": "1"} for i in range(100)])
    held = file_of(tmp_path, [{"prompt": f"h{i}", "answer": "1"} for i in range(20)], "h.jsonl")
    loaded = load(Dataset(train=path, eval=held, limit=10, eval_limit=5), seed=1)
    assert len(loaded.train) == 10 and [question_of(r) for r in loaded.eval] == [f"h{i}" for i in range(5)]
    assert [r["row_id"] for r in loaded.train] != [r["row_id"] for r in load(Dataset(train=path, eval=held, limit=10), seed=2).train]


def test_only_held_out_rows_are_fine_for_evaluation(tmp_path):
    loaded = load(Dataset(eval=file_of(tmp_path, [{"prompt": "a", "answer": "1"}])), seed=0)
    assert not loaded.train and len(loaded.eval) == 1 and loaded.columns


# ------------------------------------------------------------------------------------------ what a person gets wrong


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({}, ["neither a file nor a generator"]),
        ({"generator": "arithmetc"}, ["no generator 'arithmetc'", "dataset.generator=arithmetic"]),
        ({"generator": "my.own.thing"}, ["cannot be imported"]),
        ({"generator": "arithmetic", "operaters": ["+"]}, ["no key 'operaters'", "dataset.operators"]),
        ({"generator": "arithmetic", "operators": ["%"]}, ["operator '%'"]),
        ({"generator": "arithmetic", "operators": []}, ["operator"]),
        ({"generator": "arithmetic", "min": 50, "max": 10}, ["range 50 to 10"]),
        ({"generator": "arithmetic", "terms": 1}, ["at least 2 terms"]),
        ({"generator": "arithmetic", "terms": "many"}, ["arithmetic"]),
        ({"generator": "word_problems", "language": "fr"}, ["no word problems in 'fr'"]),
        ({"generator": "countdown", "numbers": 2, "min": 1, "max": 2, "target_min": 900, "target_max": 999}, ["no target"]),
        ({"generator": "mixed", "mix": {}}, ["mix needs"]),
        ({"generator": "mixed", "mix": {"nothing": 1}}, ["no generator 'nothing'"]),
        ({"train": "x.jsonl", "operators": ["+"]}, ["no key 'operators'"]),
    ],
)
def test_a_wrong_setting_is_one_line(keys, words):
    with pytest.raises(RlvrError) as caught:
        load(Dataset(**keys), seed=0)
    assert all(word in str(caught.value) for word in words) and "\n" not in str(caught.value), str(caught.value)
    assert caught.value.exit_code == 2


def test_too_few_prompts_are_said():
    loaded = load(Dataset(generator="expression_game", count=100, eval_count=50), seed=0)
    assert len(loaded.train) + len(loaded.eval) == 30
    assert sum("distinct" in note for note in loaded.notes) == 2


def test_a_mix_says_which_kind_ran_out_of_different_prompts():
    """Two thirds of 4000 different prompts can not be talk where 800 exist: a run would train on a fifth of it, unsaid."""
    mixed = {"generator": "mixed", "eval_count": 0, "mix": {"arithmetic": 1, "general": 2}}
    thin = load(Dataset(**mixed, count=4000), seed=0)
    share = sum(row["kind"] == "chat" for row in thin.train) / len(thin.train)
    assert any(f"kind chat is {share:.0%} of the training prompts where dataset.mix says 67%" in note for note in thin.notes)
    assert not any("dataset.mix says" in note for note in load(Dataset(**mixed, count=400), seed=0).notes)


def test_a_generator_of_the_user_by_dotted_path(tmp_path, monkeypatch):
    (tmp_path / "mygen.py").write_text(
        "def rows(*, count, seed, size=3):\n    for i in range(count):\n"
        "        yield {'prompt': f'{seed} {i} {size}', 'answer': str(i), 'difficulty': i}\n"
        "def bad(*, count, seed):\n    yield {'question': 'x'}\n"
        "def dies(*, count, seed):\n    yield {'prompt': 'x', 'answer': '1'}\n    raise RuntimeError('boom')\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    loaded = load(Dataset(generator="mygen.rows", count=50, eval_count=5, size=7), seed=0)
    assert len(loaded.train) == 50 and question_of(loaded.train[0]).endswith(" 7")
    with pytest.raises(DataError, match="no key 'sise'"):
        load(Dataset(generator="mygen.rows", sise=7), seed=0)
    with pytest.raises(DataError, match="row without a prompt"):
        load(Dataset(generator="mygen.bad"), seed=0)
    with pytest.raises(DataError, match="RuntimeError: boom"):
        load(Dataset(generator="mygen.dies"), seed=0)


def test_draw_side_can_ask_for_all_prompts():
    rows = draw_side(Dataset(generator="expression_game", eval_share=0), seed=0, count=30, held=False)
    assert len(rows) == 30 and any(held_out(row) for row in rows)
