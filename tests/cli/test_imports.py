"""The import budget: what a command may load. `rlvr --help` answers from the standard library alone; light commands never see torch.

Each command runs in a fresh interpreter and says what it imported; nothing here is timed (benchmarks/ does that).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rlvr_cli.main import COMMANDS

ROOT = Path(__file__).parents[2]
HEAVY = {"torch", "trl", "transformers", "deepspeed", "vllm", "accelerate", "peft"}
HYDRA = {"hydra", "omegaconf"}
LIBRARIES = {"pydantic", "rich", "numpy", "yaml", "datasets", "sympy", "jsonschema", "math_verify"}

CHILD = """
import contextlib, io, json, sys
before = set(sys.modules)
from rlvr_cli.main import main
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    try:
        code = main(sys.argv[1:])
    except SystemExit as end:
        code = end.code
print(json.dumps({"code": code, "modules": sorted({m.split(".")[0] for m in set(sys.modules) - before})}))
"""

# (words, what must not be imported)
BUDGETS: list[tuple[str, set[str]]] = [
    ("--help", HEAVY | HYDRA | LIBRARIES),
    ("--version", HEAVY | HYDRA | LIBRARIES),
    ("nothing", HEAVY | HYDRA | LIBRARIES),
    ("ls", HEAVY | HYDRA | LIBRARIES),
    ("ls model", HEAVY | HYDRA | LIBRARIES),
    ("ls trainer.max_steps", HEAVY | HYDRA),
    ("cp model/tiny", HEAVY | HYDRA | LIBRARIES),
    ("runs", HEAVY | HYDRA),
    ("config trainer", HEAVY),
    ("config --completion bash", HEAVY | HYDRA | LIBRARIES),
    ("config --complete rlvr", HEAVY | HYDRA | LIBRARIES),
    ("check", HEAVY),
    ("check model=qwen1.5b reward=math", HEAVY),
    *((f"{name} --help", HEAVY | HYDRA) for name in COMMANDS),
]


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict]:
    folder = tmp_path_factory.mktemp("imports")

    def run(words: str) -> dict:
        command = [sys.executable, "-c", CHILD, *(words.split(" ", 2) if "--complete " in words else words.split())]
        env = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=120, env=env)
        assert done.returncode == 0, done.stderr[-1000:]
        return json.loads(done.stdout)

    with ThreadPoolExecutor(2) as pool:
        return dict(zip([w for w, _ in BUDGETS], pool.map(run, [w for w, _ in BUDGETS]), strict=True))


@pytest.mark.parametrize(("words", "forbidden"), BUDGETS, ids=[w for w, _ in BUDGETS])
def test_a_command_imports_no_more_than_it_needs(words: str, forbidden: set[str], loaded: dict[str, dict]) -> None:
    end = loaded[words]
    assert end["code"] == (2 if words == "nothing" else 0)
    assert not forbidden & set(end["modules"])
