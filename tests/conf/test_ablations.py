"""Every arm of the ablations composes and passes the rules, so that a study that takes an hour does not end at its last arm."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from rlvr_cli.config.checks import check
from rlvr_cli.config.compose import compose

FILE = Path(__file__).parents[2] / "benchmarks" / "ablations.py"


def harness():
    spec = importlib.util.spec_from_file_location("ablations", FILE)
    module = sys.modules["ablations"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


STUDIES = harness().STUDIES


@pytest.mark.parametrize(("name", "arm"), [(name, arm) for name, study in STUDIES.items() for arm in study.arms])
def test_arm_composes(name: str, arm: str, here: Path) -> None:
    study = STUDIES[name]
    words = [*(["model=tiny"] if study.tiny else []), *study.common, *study.arms[arm]]
    config = compose(words).config
    assert config.trainer.eval_steps and not [line for line in check(config) if "nothing will grow" in line]


def test_the_table_compares_with_the_first_arm() -> None:
    module = harness()
    run = {"first": 0.4, "best": 0.8, "last": 0.6, "n": 100, "curve": [[0, 0.4], [1000, 0.7], [2000, 0.8], [3000, 0.6]]}
    quick = run | {"best": 0.9, "last": 0.9, "curve": [[0, 0.4], [1000, 0.85], [2000, 0.9]]}
    never = run | {"best": 0.7, "last": 0.7, "curve": [[0, 0.4], [3000, 0.7]]}
    study = module.Study("?", {}, [], None, {})
    lines = module.table(study, {"plain": {"0": run}, "quick": {"0": quick}, "slow": {"0": never}}).splitlines()
    assert "1.00 (1 of 1)" in lines[2] and "0.50 (1 of 1)" in lines[3] and "never (0 of 1)" in lines[4]
    assert "0.800 [0.711, 0.867]" in lines[2]


def test_measures_read_a_runs_lines() -> None:
    module = harness()
    lines = [{"eval/accuracy": 0.5, "step": 0}, {"kl": 1.0, "tokens/generated": 100, "tokens/no_signal": 25, "step": 1}]
    lines.append({"kl": 3.0, "eval/accuracy": 0.9, "step": 2, "tokens/generated": 200, "tokens/no_signal": 50})
    lines.append({"eval/accuracy": 0.7, "step": 3})
    assert module.mean_of("kl")(lines) == 2.0 and module.mean_of("kl", 1)(lines) == 3.0
    assert module.fall(lines) == pytest.approx(0.2) and module.silent(lines) == 0.25
