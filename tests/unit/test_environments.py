"""Tools: what the model sees of them and what it cannot reach, exact arithmetic, confined programs, a search, and one-line errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rlvr_cli import environments
from rlvr_cli.config.checks import check
from rlvr_cli.config.schema import Config, Environment
from rlvr_cli.environments.calculator import calculate
from rlvr_cli.environments.search import search
from rlvr_cli.errors import ConfigError, DataError


def tools(**named: Any) -> Environment:
    return Environment.model_validate({"tools": named})


CALCULATOR = {"calculate": {"fn": "rlvr_cli.environments.calculator.calculate"}}
TOOLS = {"environment": {"tools": CALCULATOR}}


# ------------------------------------------------------------------------------------------------ the calculator


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("47*38", "1786"),
        ("47*38=", "1786"),
        ("2 + 3*(4 - 1)^2", "29"),
        ("1/3 + 1/6", "0.5"),
        ("10/3", "10/3"),
        ("-7/4", "-1.75"),
        ("0.1+0.2", "0.3"),
        ("1,234 × 2", "2468"),
        ("20% * 45", "9"),
        ("97//25", "3"),
        ("9" * 30 + "+1", "1" + "0" * 30),
    ],
)
def test_the_calculator_is_exact(expression: str, value: str) -> None:
    assert calculate(expression) == value


@pytest.mark.parametrize(
    "expression",
    ["", "1/0", "1//0", "x+1", "__import__('os').system('true')", "9^9^9^9", "(" * 150, "10^60*10", "1e999", "1" * 201, "2 2", "()"],
)
def test_what_is_no_arithmetic_is_an_error_at_once(expression: str) -> None:
    with pytest.raises(ValueError):
        calculate(expression)


# ------------------------------------------------------------------------------------------------ Python, confined


def test_python_prints_and_says_how_it_ended() -> None:
    from rlvr_cli.environments.python import SILENT, python

    assert python("print(sum(i * i for i in range(10)))") == "285"
    assert python("x = 1") == SILENT
    assert python("print(1)\n1/0") == "1\nZeroDivisionError: division by zero"
    assert "does not compile" in python("print(")
    assert len(python("print('x' * 5000)", max_chars=100)) <= 110
    assert python("while True: pass", cpu_s=0.5) == "stopped: over the cpu limit"


def test_hostile_programs_reach_nothing(tmp_path: Path) -> None:
    from rlvr_cli.environments.python import python

    secret = tmp_path / "secret"
    secret.write_text("the gold is 42")
    assert "42" not in python(f"print(open({str(secret)!r}).read())")
    python(f"open({str(tmp_path / 'written')!r}, 'w').write('x')")
    assert not (tmp_path / "written").exists()
    net = "import socket\nsocket.create_connection(('127.0.0.1', 9), 1)\nprint('connected')"
    assert "connected" not in python(net)


# ------------------------------------------------------------------------------------------------ search


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    folder.mkdir()
    rows = [{"title": "France", "text": "Paris is the capital of France."}, {"title": "Italy", "text": "Rome is the capital of Italy."}]
    (folder / "facts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "notes.txt").write_text("Bread is baked.\n\nRivers run to the sea. " + "The Loire is long. " * 60)
    return folder


def test_search_finds_the_passage(corpus: Path) -> None:
    assert search("What is the capital of France?", corpus=str(corpus), k=1) == "[1] France: Paris is the capital of France."
    assert search("baking bread", corpus=str(corpus), k=1).endswith("Bread is baked.")
    assert search("zebra", corpus=str(corpus)) == "nothing found"
    assert len(search("the loire", corpus=str(corpus), max_chars=200)) < 260


@pytest.mark.parametrize("query", ['"', "NEAR(a b)", "a OR", "title:*", "-", "'; DROP TABLE passages; --", ""])
def test_a_query_is_words_and_no_language(corpus: Path, query: str) -> None:
    search(query, corpus=str(corpus))
    assert "Paris" in search("Paris", corpus=str(corpus))


def test_a_missing_or_broken_corpus_is_one_line(tmp_path: Path) -> None:
    made = tools(search={"fn": "rlvr_cli.environments.search.search", "options": {"corpus": str(tmp_path / "none")}})
    with pytest.raises(DataError, match="there is no corpus"):
        environments.ready(made)
    (tmp_path / "bad.jsonl").write_text('{"title": "no text"}\n')
    made.tools["search"].options["corpus"] = str(tmp_path / "bad.jsonl")
    with pytest.raises(DataError, match=r"bad\.jsonl:1 is not"):
        environments.ready(made)


# ------------------------------------------------------------------------------------------------ binding


def test_the_model_sees_parameters_and_never_options() -> None:
    from transformers.utils import get_json_schema

    bound = environments.bind(tools(run={"fn": "rlvr_cli.environments.python.python", "options": {"max_chars": 10}}))
    schema = get_json_schema(bound.functions[0])["function"]
    assert schema["name"] == "run" and list(schema["parameters"]["properties"]) == ["code"]
    with pytest.raises(TypeError):
        bound.functions[0](code="print(1)", unsafe=True)


GAME = '''
class Counter:
    """Reach the target by steps."""
    def __init__(self, start=0):
        self.start = start
    def reset(self, answer, **row):
        self.at, self.target = self.start, int(answer)
        return f" Start at {self.at}."
    def step(self, by: int) -> str:
        """Go some steps.

        Args:
            by: How many
        """
        self.at += by
        return str(self.at)
    def get_reward(self):
        return float(self.at == self.target)

class Idle:
    def reset(self, **row): pass

class Undescribed:
    def reset(self, **row): pass
    def go(self, where): return where

class Needs:
    def __init__(self, board, **rest): pass
    def reset(self, **row): pass

class Broken:
    def __init__(self): raise RuntimeError("no display")

def tool(text: str) -> str:
    """Echo."""
    return text
'''


def test_an_environment_of_ones_own(here: Path) -> None:
    (here / "game.py").write_text(GAME)
    bound = environments.bind(Environment(fn="game.py:Counter", options={"start": 3}))
    one, other = bound.factory(), bound.factory()
    assert one.reset(answer="5", prompt=[]) == " Start at 3." and other.reset(answer="5") == " Start at 3."
    (step,) = bound.tools_of(one)
    assert step(by=2) == "5" and one.get_reward() == 1.0 and other.get_reward() == 0.0


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"fn": "game.py:Cuonter"}, "no function or class 'Cuonter'.*Type: environment.fn=game.py:Counter$"),
        ({"fn": "game.Cuonter"}, "no function or class 'Cuonter'.*Type: environment.fn=game.Counter$"),
        ({"fn": "gmae.Counter"}, "no module 'gmae'.*Type: environment.fn=game.Counter$"),
        ({"fn": "gmae.py:Counter"}, "no file 'gmae.py'.*Type: environment.fn=game.py:Counter$"),
        ({"fn": "Counter"}, "is not a dotted path of a function or class.*Type: environment.fn=my_module.MyEnvironment$"),
        ({"fn": "nowhere.Game"}, "no module 'nowhere'.*Type: environment.fn=my_module.MyEnvironment$"),
        ({"fn": "game.py:Idle"}, "no public method"),
        ({"fn": "game.py:Undescribed"}, "has no type"),
        ({"fn": "game.py:Broken"}, "no display"),
        ({"fn": "game.py:Counter", "options": {"begin": 1}}, r"has no option 'begin' \(it has: start\)"),
        ({"fn": "game.py:Counter", "options": {"strat": 1}}, "Type: environment.options.start=1$"),
        ({"fn": "game.py:Needs"}, "needs the option 'board'.*Type: environment.options.board=VALUE$"),
        ({"tools": {"echo": {"fn": "game.py:tol"}}}, "no function 'tol'.*Type: environment.tools.echo.fn=game.py:tool$"),
        ({"tools": {"echo": {"fn": "game.py:tool"}}}, "is not in the docstring"),
        ({"tools": {"calculate": {**CALCULATOR["calculate"], "options": {"digits": 3}}}}, "has no option 'digits'"),
        ({"tools": {"search": {"fn": "rlvr_cli.environments.search.search"}}}, "needs the option 'corpus'"),
    ],
)
def test_what_cannot_be_a_tool_is_one_line(here: Path, settings: dict, says: str) -> None:
    (here / "game.py").write_text(GAME)
    with pytest.raises(ConfigError, match=says) as caught:
        environments.bind(Environment.model_validate(settings))
    assert "\n" not in str(caught.value) and "environment." in str(caught.value)


@pytest.mark.parametrize(
    ("groups", "says"),
    [
        ({"environment": {"fn": ""}}, "environment=custom needs the class"),
        ({"environment": {"tools": CALCULATOR, "options": {"a": 1}}}, "a tool has its own"),
        ({"environment": {"tools": CALCULATOR}, "model": {"builder": "rlvr_cli.models.tiny.build"}}, "model=tiny has no tokens"),
        ({**TOOLS, "hardware": {"ranks": 2, "zero_stage": 3}, "generation": {"backend": "hf"}}, "ZeRO-3 gathers"),
        ({**TOOLS, "hardware": {"ranks": 2}, "generation": {"backend": "vllm_server"}}, "vLLM server serves 2"),
        ({**TOOLS, "generation": {"backend": "vllm_colocate", "tensor_parallel_size": 2}}, "vLLM over several GPUs"),
        ({"environment": {"fn": "a.B"}, "algorithm": {"dynamic_sampling": {"max_rounds": 1}}}, "environment.fn was reset"),
        ({"algorithm": {"extra": {"max_tool_calling_iterations": 2}}}, "environment.max_turns"),
    ],
)
def test_combinations_that_would_hang_or_lie_are_refused(groups: dict, says: str) -> None:
    base = {"model": {"path": "x"}, "dataset": {"train": "a.jsonl"}, "reward": {"terms": {"a": {"fn": "rewards.math.correct"}}}}
    merged = {**base, **groups}
    if "builder" in merged["model"]:
        merged["model"] = {"builder": merged["model"]["builder"]}
    with pytest.raises(ConfigError, match=says):
        check(Config.model_validate(merged))
