"""The generators: the same rows for the same seed, golds that an independent computation confirms, no eval, a difficulty each."""

import ast
import inspect
import json
import operator
import random
import re
import sqlite3

import pytest

from rlvr_cli.data.generate import arithmetic, generator, generator_keys, generator_names, knights_knaves, mini_sudoku, programs
from rlvr_cli.data.generate._pipelines import ENDS, KEEPS, MAPS, Pipeline

LOCAL = [name for name in generator_names() if name != "reasoning_gym"]
OPERATIONS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Div: operator.truediv,
}


def worth(text):
    """An expression's value by Python's own parser: independent of the generator's."""

    def walk(node):
        return node.value if isinstance(node, ast.Constant) else OPERATIONS[type(node.op)](walk(node.left), walk(node.right))

    return walk(ast.parse(text, mode="eval").body)


def test_the_asked_generators_exist():
    assert {"arithmetic", "word_problems", "countdown", "expression_game", "programs", "sql", "json_extraction", "multiple_choice"} < set(
        LOCAL
    )
    assert {"number_facts", "knights_knaves", "mini_sudoku", "mixed"} < set(LOCAL)


@pytest.mark.parametrize("name", LOCAL)
def test_seeded_complete_and_serialisable(name):
    rows, again, other = (list(generator(name)(count=40, seed=seed)) for seed in (3, 3, 4))
    assert rows == again and rows != other and len(rows) == 40
    assert all(row["prompt"].strip() and row["kind"] and isinstance(row["difficulty"], int | float) for row in rows)
    assert all(row.get("answer") or row.get("gold_sql") for row in rows)
    assert json.loads(json.dumps(rows)) == rows
    assert len({row["prompt"] for row in rows}) >= (10 if name == "expression_game" else 25)


@pytest.mark.parametrize("name", LOCAL)
def test_no_generator_evaluates_text(name):
    source = inspect.getsource(inspect.getmodule(generator(name)))
    assert not re.search(r"(?<![.\w])(eval|exec|compile)\(", source)


@pytest.mark.parametrize("name", LOCAL)
def test_the_option_file_lists_every_key(name):
    from pathlib import Path

    import yaml

    listed = yaml.safe_load((Path(__file__).parents[2] / "conf" / "dataset" / f"{name}.yaml").read_text())
    assert listed["generator"] == name
    for key, default in generator_keys(name).items():
        assert key in listed, f"{name}.yaml does not list {key}"
        if key not in ("options", "people_max"):
            assert listed[key] == (list(default) if isinstance(default, tuple) else default), key


# ------------------------------------------------------------------------------------------ arithmetic


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"operators": ["+", "-", "*", "//"], "terms": 2, "terms_max": 5, "min": 0, "max": 20},
        {"operators": ["+", "-", "*", "//"], "terms": 4, "brackets": True, "min": 1, "max": 12, "negative": True},
        {"operators": ["//"], "exact_division": True, "factor_max": 9, "min": 10, "max": 99},
        {"operators": ["*"], "min": 100, "max": 999, "factor_max": 12},
        {"operators": ["-"], "terms": 3, "negative": True},
    ],
)
def test_sums_are_exact(keys):
    for row in arithmetic.generate(count=400, seed=1, **keys):
        text = row["expression"]
        assert row["prompt"] == f"{text}=?" and int(row["answer"]) == worth(text)
        assert arithmetic.render(arithmetic.parse(text)) == text
        assert arithmetic.worked(row).endswith(f"<answer>{row['answer']}</answer>")
        if not keys.get("negative"):
            assert int(row["answer"]) >= 0


def test_ranges_operators_and_division_are_honoured():
    rows = list(arithmetic.generate(count=500, seed=2, operators=["//"], exact_division=True, factor_max=9, min=10, max=99))
    pairs = [tuple(map(int, row["expression"].split("//"))) for row in rows]
    assert all(a % b == 0 and 1 <= b <= 9 and 10 <= a <= 99 for a, b in pairs)
    sums = list(arithmetic.generate(count=500, seed=2))
    assert all(10 <= int(n) <= 99 for row in sums for n in re.findall(r"\d+", row["expression"]))
    assert {
        op for row in arithmetic.generate(count=200, seed=0, operators=["+", "*"], terms=3) for op in re.findall(r"\D", row["expression"])
    } == {"+", "*"}


def test_the_worked_answer_is_short_and_the_sloppy_pupil_is_wrong_about_half_the_time():
    rows = list(arithmetic.generate(count=3000, seed=0))
    rng = random.Random(0)
    assert all(len(re.sub(r"<[^>]*>", "T", arithmetic.worked(row))) + 1 < 32 for row in rows)  # tags are one token, the end is one more
    right = [arithmetic.worked(row, forget=f, rng=rng).endswith(f"<answer>{row['answer']}</answer>") for row in rows for f in (1.0,)]
    assert 0.38 < sum(right) / len(rows) < 0.5
    carries = [row for row in rows if row["difficulty"] > 1]
    assert not any(arithmetic.worked(row, forget=1.0).endswith(f"<answer>{row['answer']}</answer>") for row in carries)
    plain = [row for row in rows if row["difficulty"] == 1]
    assert all(arithmetic.worked(row, forget=1.0) == arithmetic.worked(row) for row in plain)


def test_worked_columns_are_true_sums():
    for row in arithmetic.generate(count=500, seed=5, max=9999):
        steps = re.search(r"<think>(.*)</think>", arithmetic.worked(row))[1].split(",")
        assert all(worth(left) == int(right) for left, right in (step.split("=") for step in steps))


@pytest.mark.parametrize("text", ["", "1+", "(1+2", "1+2)", "a+1", "1**2", "__import__('os')", "1 2", "--1"])
def test_only_sums_are_parsed(text):
    with pytest.raises(ValueError):
        arithmetic.parse(text)


# ------------------------------------------------------------------------------------------ the others


def test_word_problem_steps_add_up():
    rows = list(generator("word_problems")(count=2000, seed=0))
    for row in rows:
        steps = [line.split(" = ") for line in row["solution"].split("\n")]
        assert all(worth(left) == int(right) for left, right in steps)
        assert steps[-1][1] == row["answer"] and row["difficulty"] == len(steps) and int(row["answer"]) >= 0
        asked = set(re.findall(r"\d+", row["prompt"])) | {"2", "3"}  # twice, three times, and both sides of a field
        assert set(re.findall(r"\d+", steps[0][0])) <= asked, row
    assert {row["language"] for row in rows} == {"en", "zh"} and {row["difficulty"] for row in rows} == {1, 2, 3, 4}
    assert all(("。" in row["prompt"] or "？" in row["prompt"]) == (row["language"] == "zh") for row in rows)


def test_countdown_golds_use_every_number_once():
    for row in generator("countdown")(count=500, seed=0, numbers=4):
        assert sorted(map(int, re.findall(r"\d+", row["answer"]))) == sorted(row["state"]["numbers"])
        assert worth(row["answer"]) == row["state"]["target"]


def test_expression_game_targets_are_hit():
    for row in generator("expression_game")(count=200, seed=0):
        assert worth(row["answer"]) == row["state"]["target"]
        assert sorted(re.findall(r"\d", row["answer"])) == sorted(map(str, row["state"]["numbers"]))


def test_programs_pass_their_own_tests():
    for row in programs.generate(count=300, seed=0):
        tests = row["tests"]
        if tests["type"] == "assert":
            space = {}
            exec(row["answer"], space)
            exec(tests["code"], space)
            assert tests["entry_point"] in row["prompt"] and tests["entry_point"] in space
        else:
            for given, expected in tests["cases"]:
                lines, printed = iter(given.splitlines()), []
                exec(
                    row["answer"],
                    {"input": lambda lines=lines: next(lines), "print": lambda *v, out=printed: out.append(" ".join(map(str, v)))},
                )
                assert "\n".join(printed) + "\n" == expected


def test_pipeline_text_and_function_agree():
    rng = random.Random(0)
    for keep in KEEPS:
        for change in [None, *MAPS]:
            for end in ENDS:
                task = Pipeline(keep, rng.randint(*keep.k), change, rng.randint(*change.k) if change else 0, end)
                space = {}
                exec(task.source("f"), space)
                values = [rng.randint(-30, 40) for _ in range(8)]
                assert space["f"](list(values)) == task.solve(list(values))


def test_sql_golds_differ_between_the_instances():
    for row in generator("sql")(count=60, seed=0):
        results = []
        for schema in (row["schema_sql"], row["schema_sql_2"]):
            database = sqlite3.connect(":memory:")
            database.executescript(schema)
            results.append(database.execute(row["gold_sql"]).fetchall())
        assert results[0] != results[1] and all(results)
        assert row["order_matters"] == ("ORDER BY" in row["gold_sql"])


def test_json_golds_fit_their_schema_and_wrong_values_do_not():
    import jsonschema

    for row in generator("json_extraction")(count=200, seed=0):
        check = jsonschema.Draft7Validator(row["schema"])
        gold = json.loads(row["answer"])
        assert check.is_valid(gold)
        for key, value in gold.items():
            wrong = {**gold, key: "something else" if not isinstance(value, bool) else not value}
            assert not check.is_valid(wrong)
            assert not check.is_valid({k: v for k, v in gold.items() if k != key})
        assert "const" not in row["prompt"]


def test_multiple_choice_has_one_right_option():
    for row in generator("multiple_choice")(count=1000, seed=0):
        assert len(set(row["choices"])) == 4 and row["answer"] in "ABCD"
        right = row["choices"]["ABCD".index(row["answer"])]
        if match := re.match(r"What is (\d+) \* (\d+)\?", row["prompt"]):
            assert int(right) == int(match[1]) * int(match[2])
        if match := re.match(r"What is (\d+)% of (\d+)\?", row["prompt"]):
            assert int(right) * 100 == int(match[1]) * int(match[2])
        if "largest" in row["prompt"]:
            assert float(right) == max(map(float, row["choices"]))
        if "prime" in row["prompt"]:
            assert [c for c in row["choices"] if all(int(c) % d for d in range(2, int(c)))] == [right]


def test_number_facts_convert_exactly():
    from fractions import Fraction

    from rlvr_cli.data.generate.number_facts import UNITS

    sizes = {unit: size for units in UNITS.values() for unit, size in units.items()}
    seen = 0
    for row in generator("number_facts")(count=1000, seed=0, topics=["units"]):
        if (match := re.match(r"Convert (\S+) (\S+) to (\S+)\.", row["prompt"])) and match[2] in sizes:
            value, unit = row["answer"].split(" ")
            assert Fraction(value) * sizes[unit] == Fraction(match[1]) * sizes[match[2]] and unit == match[3]
            seen += 1
    assert seen > 300


def test_knights_and_knaves_have_one_solution():
    for row in generator("knights_knaves")(count=200, seed=0, people=2, people_max=4):
        state = row["state"]
        assert knights_knaves.solutions(state["statements"]) == [tuple(state["solution"])]
        said = [f"{name} is a {'knight' if k else 'knave'}" for name, k in zip(state["names"], state["solution"], strict=True)]
        assert row["answer"] == ", ".join(said)


def test_mini_sudoku_has_one_solution():
    for row in generator("mini_sudoku")(count=60, seed=0, empty=10):
        found = mini_sudoku.solve([list(line) for line in row["state"]["puzzle"]])
        assert found == [row["state"]["solution"]] and 1 <= row["difficulty"] <= 10
        for lines in (found[0], zip(*found[0], strict=True)):
            assert all(sorted(line) == [1, 2, 3, 4] for line in lines)


def test_mixed_keeps_its_weights_and_names_each_kind():
    rows = list(generator("mixed")(count=600, seed=0, mix={"arithmetic": 2, "number_facts": 1}, options={"arithmetic": {"max": 20}}))
    assert 0.6 < sum(row["kind"] == "math" for row in rows) / 600 < 0.74
    assert all(int(n) <= 20 for row in rows if row["kind"] == "math" for n in re.findall(r"\d+", row["expression"]))


def test_reasoning_gym_rows_carry_what_its_scorer_needs():
    pytest.importorskip("reasoning_gym")
    rows = list(generator("reasoning_gym")(count=6, seed=0, names=["chain_sum", "mini_sudoku"]))
    assert {row["task"] for row in rows} == {"chain_sum", "mini_sudoku"} and all(
        row["state"]["source_dataset"] == row["task"] for row in rows
    )
    from rlvr_cli.errors import DataError

    with pytest.raises(DataError, match=r"names=\[chain_sum\]"):
        next(generator("reasoning_gym")(count=1, seed=0, names=["chainsum"]))


# ------------------------------------------------------------------------------------------ the verifiers prove the golds


@pytest.mark.parametrize("name", [n for n in LOCAL if n != "mixed"])
def test_every_gold_gets_full_marks_from_its_own_reward(name):
    from rlvr_cli.data.prove import KIND_REWARDS, prove

    rows = list(generator(name)(count=60, seed=9))
    module = KIND_REWARDS[rows[0]["kind"]]["fn"].rpartition(".")[0]
    pytest.importorskip(module, reason=f"{module} is not there")
    proved = prove(rows)
    assert not proved.bad and not proved.not_checkable, proved.lines()


@pytest.mark.parametrize("name", [n for n in LOCAL if n not in ("mixed", "programs")])
def test_the_gold_of_another_row_is_refused(name):
    """A reward that accepts any gold would prove nothing: golds are handed on by one row, and equal answers left out."""
    from rlvr_cli.data.columns import plain_columns
    from rlvr_cli.data.prove import KIND_REWARDS
    from rlvr_cli.rewards_api import bind

    rows = plain_columns(list(generator(name)(count=40, seed=9)))
    term = KIND_REWARDS[rows[0]["kind"]]
    pytest.importorskip(term["fn"].rpartition(".")[0], reason=f"{term['fn']} is not there")
    [bound] = bind({"terms": {"it": term}}, list(rows[0]))
    turned = [
        (row, bound.gold_completion(other))
        for row, other in zip(rows, rows[1:] + rows[:1], strict=True)
        if row["answer"] != other["answer"]
    ]
    columns = {key: [row[key] for row, _ in turned] for key in rows[0] if key != "prompt"}
    scores = bound.call([row["prompt"] for row, _ in turned], [gold for _, gold in turned], columns).scores
    assert len(turned) > 10 and sum(score == 1.0 for score in scores) <= len(turned) // 10, list(zip(scores, turned, strict=True))
