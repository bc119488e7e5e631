"""rlvr ls: groups, options, headers, keys; the user's own come first and are marked."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from rlvr_cli.config.options import groups


def test_groups_and_options(rlvr: Callable, here: Path) -> None:
    out = rlvr("ls").out
    assert all(group in out for group in groups())
    assert "qwen1.5b" in out
    assert json.loads(rlvr("ls", "--json").out)["peft"] == ["lora", "none", "qlora"]


def test_a_group_says_what_each_option_is(rlvr: Callable, here: Path) -> None:
    lines = rlvr("ls", "hardware").out.splitlines()
    assert any(line.startswith("cpu_2rank") and "Two ranks" in line for line in lines)


@pytest.mark.parametrize("name", ["model/tiny", "model=tiny"])
def test_an_option_shows_its_file(name: str, rlvr: Callable, here: Path) -> None:
    out = rlvr("ls", name).out
    assert "Needs:" in out and "override /dataset: arithmetic" in out


def test_a_key_is_explained(rlvr: Callable, here: Path) -> None:
    out = rlvr("ls", "algorithm.beta").out
    assert "a number of at least 0" in out and "KL coefficient" in out
    told = json.loads(rlvr("ls", "eval.k", "--json").out)
    assert told["default"] == 1 and "pass@k" in told["meaning"]


def test_the_users_own_option_is_listed_and_marked(rlvr: Callable, here: Path) -> None:
    (here / "conf" / "model").mkdir(parents=True)
    (here / "conf" / "model" / "mine.yaml").write_text("# My own model.\npath: ./m\n")
    (here / "conf" / "model" / "tiny.yaml").write_text("# My tiny.\npath: ./t\n")
    out = rlvr("ls", "model").out
    assert "My own model.  (yours)" in out and "My tiny.  (yours)" in out
    assert out.count("\ntiny ") == 1


def test_what_is_not_there_names_the_nearest(rlvr: Callable, here: Path) -> None:
    assert "rlvr ls model" in rlvr("ls", "modl").err
    assert "rlvr ls trainer.save_steps" in rlvr("ls", "save_steps").err
    assert "rlvr ls model/qwen1.5b" in rlvr("ls", "model/qwen1.5").err
