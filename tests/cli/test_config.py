"""rlvr config: the whole result, one group with its meanings, what auto means here, and completion."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from rlvr_cli.config.completion import candidates
from rlvr_cli.config.compose import compose
from rlvr_cli.config.schema import Config


def test_the_whole_configuration_is_yaml_that_reads_back(rlvr: Callable, here: Path) -> None:
    text = rlvr("config", "model=qwen1.5b").out
    assert Config.model_validate(yaml.safe_load(text)) == compose(["model=qwen1.5b"]).config


def test_a_group_carries_its_meanings(rlvr: Callable, here: Path) -> None:
    text = rlvr("config", "optimizer").out
    assert "# Peak learning rate. (a number above 0)" in text
    assert yaml.safe_load(text)["optimizer"]["learning_rate"] == compose([]).config.optimizer.learning_rate
    assert rlvr("config", "optimizer.learning_rate", "model=qwen1.5b").out == "optimizer.learning_rate: 1.0e-06\n"


def test_resolve_leaves_no_auto(rlvr: Callable, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    text = rlvr("config", "--resolve", "hardware", "generation").out
    assert "# device: cpu" in text
    settled = yaml.safe_load(text)
    assert settled["hardware"]["device"] == "cpu" and settled["hardware"]["zero_stage"] is None
    assert settled["generation"]["backend"] == "hf"


def test_a_contradiction_can_still_be_looked_at(rlvr: Callable, here: Path) -> None:
    assert rlvr("config", "trainer.bf16=true", "trainer.fp16=true").code == 0


def test_sources_names_the_files(rlvr: Callable, here: Path) -> None:
    out = rlvr("config", "--sources", "model=qwen7b").out
    assert any(line.split()[:2] == ["model", "qwen7b"] and line.endswith("model/qwen7b.yaml") for line in out.splitlines())


@pytest.mark.parametrize(
    ("line", "holds"),
    [
        ("rlvr ", "train"),
        ("rlvr tr", "train"),
        ("rlvr train mod", "model="),
        ("rlvr train model=qwen1", "model=qwen1.5b"),
        ("rlvr train seed=1 peft=", "peft=lora"),
        ("rlvr train trainer.sav", "trainer.save_steps="),
        ("rlvr train algorithm.loss_type=cis", "algorithm.loss_type=cispo"),
        ("rlvr train --dr", "--dry-run"),
        ("rlvr ls mod", "model"),
        ("rlvr cp model/ti", "model/tiny"),
    ],
)
def test_completion_offers_whole_words(line: str, holds: str) -> None:
    assert holds in candidates(line)


def test_completion_offers_nothing_wrong() -> None:
    assert candidates("rlvr train model=nothing") == []
    assert candidates("rlvr score x") == []
    assert all(c.startswith("model=qwen") for c in candidates("rlvr check model=qwen"))


def test_completion_offers_runs(here: Path) -> None:
    (here / "outputs" / "alpha").mkdir(parents=True)
    (here / "outputs" / "alpha" / "config.yaml").write_text("{}")
    assert candidates("rlvr show al") == ["outputs/alpha"]


def test_bash_takes_the_script(rlvr: Callable, tmp_path: Path) -> None:
    """Source the script with a stand-in for rlvr, and complete behind an equals sign, where bash splits words."""
    (tmp_path / "c.sh").write_text(rlvr("config", "--completion", "bash").out)
    script = (
        "rlvr() { echo model=qwen1.5b; echo model=qwen7b; }; source c.sh;"
        "COMP_WORDS=(rlvr train model = qw); COMP_CWORD=4; COMP_LINE='rlvr train model=qw'; COMP_POINT=19; _rlvr;"
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout.split() == ["qwen1.5b", "qwen7b"]
    assert done.stderr == ""
