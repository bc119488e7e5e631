"""What makes each algorithm option the algorithm that its header names. A key that drifts makes it another one; this says so.

``tests/integration/test_algorithm_options.py`` holds the same options to their formulas, through TRL's own loss.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rlvr_cli.config.compose import compose
from rlvr_cli.config.options import options
from rlvr_cli.training import grpo_config

TOKEN_MEAN = {"loss_type": "dapo", "importance_sampling_level": "token"}
SEQUENCE = {"importance_sampling_level": "sequence", "scale_rewards": "group"}
GROUP = {"scale_rewards": "group", "multi_objective_aggregation": "sum_then_normalize"}
KEYS = {
    "default": {**TOKEN_MEAN, **GROUP, "beta": 0.0, "epsilon": 0.2, "epsilon_high": 0.28, "num_iterations": 1,
                "mask_truncated_completions": False},
    "grpo": {"loss_type": "grpo", **GROUP, "importance_sampling_level": "token", "beta": 0.04, "epsilon": 0.2, "epsilon_high": None,
             "use_bias_correction_kl": False, "mask_truncated_completions": False},
    "bnpo": {"loss_type": "bnpo", **GROUP, "importance_sampling_level": "token", "beta": 0.0},
    "dapo": {**TOKEN_MEAN, **GROUP, "beta": 0.0, "epsilon": 0.2, "epsilon_high": 0.28, "mask_truncated_completions": True,
             "num_generations": 16},
    "dr_grpo": {"loss_type": "dr_grpo", "scale_rewards": "none", "importance_sampling_level": "token", "beta": 0.0, "epsilon_high": None},
    "gspo": {"loss_type": "grpo", **SEQUENCE, "epsilon": 3e-4, "epsilon_high": 4e-4, "beta": 0.0},
    "luspo": {"loss_type": "luspo", **SEQUENCE, "epsilon": 3e-4, "epsilon_high": 4e-4, "beta": 0.0},
    "cispo": {"loss_type": "cispo", **GROUP, "importance_sampling_level": "token", "epsilon_high": 5.0, "beta": 0.0},
    "sapo": {"loss_type": "sapo", **GROUP, "importance_sampling_level": "token", "beta": 0.0},
    "vespo": {"loss_type": "vespo", **GROUP, "importance_sampling_level": "token", "beta": 0.0},
    "rloo": {"loss_type": "luspo", "scale_rewards": "none", "importance_sampling_level": "sequence", "num_iterations": 1,
             "steps_per_generation": None, "beta": 0.0, "num_generations": 4},
    "lite_ppo": {**TOKEN_MEAN, "scale_rewards": "batch", "beta": 0.0, "epsilon_high": None},
    "gdpo": {**TOKEN_MEAN, "multi_objective_aggregation": "normalize_then_sum", "scale_rewards": "group"},
    "high_entropy": {**TOKEN_MEAN, **GROUP, "top_entropy_quantile": 0.2, "epsilon_high": 0.28},
    "kl_bands": {**TOKEN_MEAN, **GROUP, "kl_control.kind": "bands", "kl_control.reward_target": 0.8, "kl_control.low": 0.05,
                 "kl_control.middle": 0.1, "kl_control.high": 0.2},
    "kl_target": {**TOKEN_MEAN, **GROUP, "kl_control.kind": "target", "kl_control.gain": 0.1, "kl_control.error_clip": 0.2, "beta": 0.05},
}  # fmt: skip
EXTRA = {
    "sapo": {"sapo_temperature_pos": 1.0, "sapo_temperature_neg": 1.05},
    "vespo": {"vespo_k_pos": 2.0, "vespo_lambda_pos": 3.0, "vespo_k_neg": 3.0, "vespo_lambda_neg": 2.0},
}
PAPERS = {  # arXiv numbers that the header must name
    "grpo": "2402.03300", "dapo": "2503.14476", "dr_grpo": "2503.20783", "gspo": "2507.18071", "luspo": "2602.05261", "cispo": "2506.13585",
    "sapo": "2511.20347", "vespo": "2602.10693", "rloo": "2402.14740", "lite_ppo": "2508.08221", "gdpo": "2601.05242",
    "high_entropy": "2506.01939", "kl_target": "1909.08593", "default": "2503.14476",
}  # fmt: skip


def dig(value, key: str):
    for part in key.split("."):
        value = getattr(value, part)
    return value


def test_every_option_is_in_the_table() -> None:
    assert set(KEYS) == set(options("algorithm", Path("/")))


@pytest.mark.parametrize("name", sorted(KEYS))
def test_key_settings_have_not_drifted(name: str, here: Path) -> None:
    algorithm = compose([f"algorithm={name}"]).config.algorithm
    assert {key: dig(algorithm, key) for key in KEYS[name]} == KEYS[name]
    assert algorithm.extra == EXTRA.get(name, {})


@pytest.mark.parametrize("name", sorted(KEYS))
def test_what_trl_gets_is_what_the_file_says(name: str, here: Path, tmp_path: Path) -> None:
    config = compose([f"algorithm={name}", "hardware=cpu", "trainer.bf16=false"]).config
    made = grpo_config.make(config, tmp_path)
    for key, value in {**KEYS[name], **EXTRA.get(name, {})}.items():
        if value is not None and "." not in key and not (key == "beta" and name == "kl_bands"):
            assert getattr(made, key) == value, key
    if name == "kl_bands":
        assert made.beta == config.algorithm.kl_control.low


@pytest.mark.parametrize("name", sorted(KEYS))
def test_the_header_states_formula_and_paper(name: str) -> None:
    text = options("algorithm", Path("/"))[name].path.read_text()
    assert re.search(r"^#.*\b[LAe]\w* *(_i)? += ", text, re.MULTILINE) or "grad = " in text or "masked" in text or "beta = low" in text
    assert PAPERS.get(name, "") in text
