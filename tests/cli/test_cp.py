"""rlvr cp: a copy in ./conf is an option at once, nothing is overwritten unasked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from rlvr_cli.config.compose import compose


def test_a_copy_is_an_option(rlvr: Callable, here: Path) -> None:
    done = rlvr("cp", "optimizer/adamw", "mine")
    assert (done.code, done.out) == (0, "conf/optimizer/mine.yaml: choose it with optimizer=mine\n")
    file = here / "conf" / "optimizer" / "mine.yaml"
    file.write_text(file.read_text().replace("learning_rate: 1.0e-6", "learning_rate: 3.0e-6"))
    assert compose(["optimizer=mine"]).config.optimizer.learning_rate == 3e-6


def test_a_copy_of_the_same_name_comes_before_the_shipped_file(rlvr: Callable, here: Path) -> None:
    assert rlvr("cp", "reward/math").out.startswith("conf/reward/math.yaml")
    assert compose([]).sources["reward"] == str(here / "conf" / "reward" / "math.yaml")


def test_the_root_can_be_copied(rlvr: Callable, here: Path) -> None:
    assert "every rlvr train here starts from it" in rlvr("cp", "train").out


def test_nothing_is_overwritten_unasked(rlvr: Callable, here: Path) -> None:
    rlvr("cp", "peft/lora", "mine")
    (here / "conf" / "peft" / "mine.yaml").write_text("# changed\nkind: lora\n")
    done = rlvr("cp", "peft/lora", "mine")
    assert done.code == 2 and "--force" in done.err
    assert (here / "conf" / "peft" / "mine.yaml").read_text().startswith("# changed")
    assert rlvr("cp", "peft/lora", "mine", "--force").code == 0


def test_a_path_is_a_path(rlvr: Callable, here: Path) -> None:
    assert rlvr("cp", "model/tiny", str(here / "notes" / "t.yaml")).code == 0
    assert (here / "notes" / "t.yaml").is_file()
    (here / "folder").mkdir()
    rlvr("cp", "model/tiny", "folder")
    assert (here / "folder" / "tiny.yaml").is_file()


def test_what_is_not_there_names_the_nearest(rlvr: Callable, here: Path) -> None:
    assert "rlvr cp model/qwen1.5b" in rlvr("cp", "model/qwen1.5").err
    assert "rlvr ls model" in rlvr("cp", "modle/tiny").err
