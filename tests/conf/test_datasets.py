"""Every dataset option, offline: generators draw, and each public set is read from a local file of its own layout.

Where a copy of a public set lies beside the repository its real rows are read as well; else those tests say that they skip.
"""

import json
import sqlite3
from pathlib import Path

import pytest
import yaml

from rlvr_cli.config.schema import Dataset
from rlvr_cli.data import load, question_of
from rlvr_cli.data.generate import generator_keys
from rlvr_cli.errors import DataError

ROOT = Path(__file__).parents[2]
OPTIONS = sorted((ROOT / "conf" / "dataset").glob("*.yaml"))
BESIDE = ROOT / "../shared/data"


def option(name, **keys):
    values = yaml.safe_load((ROOT / "conf" / "dataset" / f"{name}.yaml").read_text(encoding="utf-8"))
    return Dataset.model_validate({**values, **keys})


def local(tmp_path, rows, name="rows.jsonl"):
    path = tmp_path / name
    path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("path", OPTIONS, ids=lambda p: p.stem)
def test_each_option_has_a_header_and_legal_keys(path):
    text = path.read_text(encoding="utf-8")
    header = [line for line in text.splitlines() if line.startswith("#")]
    assert text.startswith("# ") and any("Needs:" in line for line in header) and any("Command: rlvr " in line for line in header)
    dataset = Dataset.model_validate(yaml.safe_load(text))
    own = set(generator_keys(dataset.generator)) if dataset.generator else set()
    assert set(dataset.model_extra or {}) <= own


@pytest.mark.parametrize("path", [p for p in OPTIONS if "generator:" in p.read_text()], ids=lambda p: p.stem)
def test_each_generator_option_loads(path):
    if path.stem == "reasoning_gym":
        pytest.importorskip("reasoning_gym")
    loaded = load(option(path.stem, count=30, eval_count=5), seed=0, system_prompt="Be exact.")
    assert loaded.train and loaded.eval and not loaded.dropped
    assert all([m["role"] for m in row["prompt"]] == ["system", "user"] for row in loaded.train + loaded.eval)
    assert not {question_of(r) for r in loaded.train} & {question_of(r) for r in loaded.eval}
    import datasets

    assert datasets.Dataset.from_list(loaded.train).to_list() == loaded.train, "the trainer's own table changes a row"


LAYOUTS = {  # set -> (a row as the set has it, question that the model sees contains, what the reward gets)
    "gsm8k": (
        {"question": "Tom has 3 pens and buys 4. How many?", "answer": "He has 3+4=<<3+4=7>>7 pens.\n#### 7"},
        "Tom has 3 pens and buys 4. How many?\n\nThink step by step. Put the final answer in \\boxed{}.",
        {"answer": "7"},
    ),
    "math": (
        {"problem": "Find $x$.", "level": "Level 3", "type": "Algebra", "solution": r"So $x=\boxed{\frac{1}{\sqrt{2}}}$."},
        "Find $x$.",
        {"answer": r"\frac{1}{\sqrt{2}}", "difficulty": "Level 3"},
    ),
    "math500": (
        {"problem": "Find $y$.", "solution": "...", "answer": "(3, 4)", "subject": "Algebra", "level": 2, "unique_id": "test/a/1.json"},
        "Find $y$.",
        {"answer": "(3, 4)", "difficulty": 2},
    ),
    "aime": (
        {"id": 1, "problem": "Find $n$.", "solution": "...", "answer": "204", "url": "u", "year": "2024"},
        "Find $n$.",
        {"answer": "204"},
    ),
    "humaneval": (
        {
            "task_id": "HumanEval/0",
            "prompt": 'def two():\n    """Two."""\n',
            "canonical_solution": "    return 2\n",
            "test": "METADATA = {}\n\n\ndef check(candidate):\n    assert candidate() == 2\n",
            "entry_point": "two",
        },
        "def two():",
        {
            "tests": {
                "type": "assert",
                "code": "METADATA = {}\n\n\ndef check(candidate):\n    assert candidate() == 2\n\ncheck(two)",
                "entry_point": "two",
            }
        },
    ),
    "mbpp": (
        {
            "task_id": 11,
            "text": "Write a function to add.",
            "code": "def helper(a):\n    return a\n\ndef add(a, b):\n    return helper(a) + b",
            "test_list": ["assert add(1, 2) == 3", "assert add(0, 0) == 0"],
            "test_setup_code": "import math",
            "challenge_test_list": [],
        },
        "Write a function to add.\nYour code must pass this test, and others: assert add(1, 2) == 3",
        {"tests": {"type": "assert", "code": "import math\nassert add(1, 2) == 3\nassert add(0, 0) == 0", "entry_point": "add"}},
    ),
    "ifeval": (
        {
            "key": 1000,
            "prompt": "Write 300 words without commas.",
            "instruction_id_list": ["punctuation:no_comma", "length_constraints:number_words"],
            "kwargs": [{"num_words": None, "relation": None}, {"num_words": 300, "relation": "at least"}],
        },
        "Write 300 words without commas.",
        {"kwargs": [{"num_words": None, "relation": None}, {"num_words": 300, "relation": "at least"}]},
    ),
    "mmlu": (
        {"question": "Which is a metal?", "subject": "chemistry", "choices": ["neon", "iron", "sulfur", "argon"], "answer": 1},
        "Which is a metal?\n\nA) neon\nB) iron\nC) sulfur\nD) argon",
        {"answer": "B", "choices": ["neon", "iron", "sulfur", "argon"]},
    ),
    "aqua": (
        {"question": "1+1?", "options": ["A)1", "B) 2", "C)3", "D)4", "E)None of these"], "rationale": "...", "correct": "B"},
        "1+1?\n\nA) 1\nB) 2\nC) 3\nD) 4\nE) None of these",
        {"answer": "B", "choices": ["1", "2", "3", "4", "None of these"]},
    ),
    "svamp": (
        {
            "ID": "chal-1",
            "Body": "Ann has 5 hats",
            "Question": "How many hats has she?",
            "Equation": "5.0",
            "Answer": 5.0,
            "Type": "Addition",
        },
        "Ann has 5 hats. How many hats has she?",
        {"answer": "5"},
    ),
    "cmath": (
        {"question": "小明有3个苹果，又买了4个，一共几个？", "golden": "7", "grade": 1},
        "小明有3个苹果",
        {"answer": "7", "difficulty": 1},
    ),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_each_public_set_is_read_from_a_file_of_its_layout(tmp_path, name):
    row, asked, wanted = LAYOUTS[name]
    got = load(option(name, train=None, eval=local(tmp_path, [row])), seed=0).eval[0]
    assert asked in question_of(got)
    for column, value in wanted.items():
        found = json.loads(got[column]) if column in ("tests", "kwargs") else got[column]
        assert found == value


def test_mbpp_sanitized_has_other_columns(tmp_path):
    row = {
        "prompt": "Add.",
        "code": "def add(a, b): return a + b",
        "test_imports": ["import math"],
        "test_list": ["assert add(1, 2) == 3"],
        "task_id": 2,
    }
    got = load(option("mbpp", train=None, eval=local(tmp_path, [row])), seed=0).eval[0]
    assert json.loads(got["tests"])["code"] == "import math\nassert add(1, 2) == 3"


def test_spider_takes_its_databases_from_the_archive(tmp_path):
    folder = tmp_path / "database" / "pets"
    folder.mkdir(parents=True)
    with sqlite3.connect(folder / "pets.sqlite") as database:
        database.executescript("CREATE TABLE pet(name TEXT, age INT);\nINSERT INTO pet VALUES ('Bo', 3), ('Al''s', 4);")
    database.close()
    rows = [
        {"db_id": "pets", "question": "Names by age?", "query": "SELECT name FROM pet ORDER BY age DESC;", "query_toks": ["SELECT"]},
        {"db_id": "pets", "question": "How many?", "query": "SELECT count(*) FROM pet"},
    ]
    path = local(tmp_path, rows)
    got = load(option("spider", train=None, eval=path, row_options={"databases": str(tmp_path / "database")}), seed=0).eval
    assert [r["order_matters"] for r in got] == [True, False] and "Al''s" in got[0]["schema_sql"]
    assert "CREATE TABLE pet" in question_of(got[0]) and "INSERT" not in question_of(got[0])
    with pytest.raises(DataError, match=r"row_options\.databases"):
        load(option("spider", train=None, eval=path), seed=0)
    with pytest.raises(DataError, match="no database"):
        load(
            option("spider", train=None, eval=local(tmp_path, [{**rows[0], "db_id": "x"}]), row_options={"databases": str(tmp_path)}),
            seed=0,
        )


def test_jsonl_wants_a_file():
    with pytest.raises(DataError, match=r"dataset\.train=FILE"):
        load(option("jsonl"), seed=0)


REAL = {
    "gsm8k": ("gsm8k/train.jsonl.gz", 7473),
    "math": ("math/test.minus500.sample1000.jsonl", 1000),
    "humaneval": ("humaneval/HumanEval.jsonl.gz", 164),
    "ifeval": ("ifeval/input_data.jsonl", 541),
    "mmlu": ("mmlu_stem/test.jsonl", 3018),
    "aqua": ("aqua/test.jsonl", 254),
    "svamp": ("svamp/test.jsonl", 1000),
    "cmath": ("cmath/test.jsonl", 600),
}


@pytest.mark.parametrize("name", REAL)
def test_real_rows_all_load(name):
    path, count = BESIDE / REAL[name][0], REAL[name][1]
    if not path.exists():
        pytest.skip(f"no copy of {name} beside the repository")
    loaded = load(option(name, train=None, eval=str(path)), seed=0)
    assert len(loaded.eval) == count and not loaded.dropped
    assert all(row["prompt"][-1]["content"].strip() and row["row_id"] for row in loaded.eval)
    if name != "ifeval":
        assert all(row["answer"] for row in loaded.eval)


@pytest.mark.parametrize("name", ["gsm8k", "math", "svamp", "cmath", "humaneval"])
def test_real_golds_get_full_marks(name):
    path = BESIDE / REAL[name][0]
    if not path.exists():
        pytest.skip(f"no copy of {name} beside the repository")
    from rlvr_cli.data.gold import check_golds
    from rlvr_cli.rewards_api import bind

    rows = load(option(name, train=None, eval=str(path), eval_limit=60), seed=0).eval
    fn = "rewards.code.tests_passed" if name == "humaneval" else "rewards.math.correct"
    golds = check_golds(rows, bind({"terms": {"right": {"fn": fn}}}, list(rows[0])))
    assert golds.ok and not golds.not_checkable, golds.lines()


def test_a_weight_of_zero_leaves_a_kind_out_of_the_mix():
    from rlvr_cli.config.compose import compose
    from rlvr_cli.data.generate import generator
    from rlvr_cli.errors import ConfigError

    mix = compose(["dataset=mixed", "reward=mixed", "dataset.mix.sql=0", "dataset.mix.countdown=2"]).config.dataset.model_extra["mix"]
    assert mix["sql"] == 0 and mix["countdown"] == 2 and mix["arithmetic"] == 4
    kinds = {row["kind"] for row in generator("mixed")(count=200, seed=0, mix=mix)}
    assert "sql" not in kinds and {"math", "logic"} <= kinds
    with pytest.raises(ConfigError, match=r"dataset\.mixx is not a key"):
        compose(["dataset=mixed", "dataset.mixx.sql=0"])
    with pytest.raises(ConfigError, match=r"dataset\.limit\.x is not a key"):
        compose(["dataset.limit.x=3"])


def test_a_routed_term_without_rows_says_that_it_can_go():
    from rlvr_cli.config.compose import compose
    from rlvr_cli.errors import RewardError
    from rlvr_cli.rewards_api.bind import bind

    with pytest.raises(RewardError, match="gold_sql") as told:
        bind(compose(["dataset=mixed", "reward=mixed"]).config.reward, ["prompt", "answer", "kind", "tests", "schema", "choices"])
    assert "'~reward.terms.sql'" in told.value.fix
