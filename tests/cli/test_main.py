"""The command table: every verb answers --help with an epilogue of commands, and errors end with the promised exit codes."""

from __future__ import annotations

import types
from collections.abc import Callable
from pathlib import Path

import pytest

from rlvr_cli import main as main_module
from rlvr_cli.errors import ConfigError, LaunchError, MissingDependency, RewardError, RlvrError
from rlvr_cli.main import COMMANDS, main, usage


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself_with_real_commands(name: str, rlvr: Callable) -> None:
    done = rlvr(name, "--help")
    assert done.code == 0
    assert f"rlvr {name}" in done.out
    assert done.out.count(f"rlvr {name}") >= 2, "an epilogue of real commands"


def test_usage_names_every_command(rlvr: Callable) -> None:
    done = rlvr("--help")
    assert (done.code, done.out.strip()) == (0, usage().strip())
    assert all(name in done.out for name in COMMANDS)
    assert rlvr().code == 2
    assert rlvr("--version").out.startswith("rlvr ")


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ConfigError("x"), 2),
        (RewardError("x"), 2),
        (MissingDependency("x", fix="pip install y"), 2),
        (LaunchError("x"), 1),
        (RlvrError("x"), 1),
        (ValueError("x"), 1),
        (KeyboardInterrupt(), 130),
    ],
)
def test_errors_become_one_line_and_an_exit_code(error: BaseException, code: int, rlvr: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(argv: list[str]) -> int:
        raise error

    monkeypatch.setattr(main_module.importlib, "import_module", lambda name: types.SimpleNamespace(run=run))
    done = rlvr("ls")
    assert done.code == code
    assert len(done.err.strip().splitlines()) == 1
    assert "Traceback" not in done.err
    if not isinstance(error, KeyboardInterrupt):
        with pytest.raises(type(error)):
            main(["ls", "--debug"])


@pytest.mark.parametrize(("typed", "meant"), [("trian", "train"), ("evl", "eval"), ("reprot", "report"), ("config ", "config")])
def test_a_misspelt_command_names_the_nearest(typed: str, meant: str, rlvr: Callable) -> None:
    done = rlvr(typed)
    assert done.code == 2
    assert f"Type: rlvr {meant}" in done.err


def test_the_table_and_the_modules_agree() -> None:
    folder = Path(main_module.__file__).parent / "commands"
    modules = {p.stem for p in folder.glob("*.py")} | {p.parent.name for p in folder.glob("*/__init__.py")}
    assert set(COMMANDS) <= modules
