"""The controllers' formulas, pinned, and the bookkeeping around them: what they read, what they set, what a checkpoint keeps."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest

from rlvr_cli.config import checks, schema
from rlvr_cli.config.schema import Config
from rlvr_cli.errors import ConfigError
from rlvr_cli.training import grpo_config
from rlvr_cli.training.callbacks.early_stop import EarlyStop
from rlvr_cli.training.callbacks.entropy_guard import EntropyGuard, starting_coef
from rlvr_cli.training.callbacks.kl_control import SMALLEST, KLControl, band, proportional, starting_beta
from rlvr_cli.training.callbacks.length_stages import LengthStages
from rlvr_cli.training.callbacks.record import Status

BASE = {
    "model": {"path": "x"},
    "dataset": {"generator": "arithmetic"},
    "reward": {"terms": {"correct": {"fn": "rewards.math.correct"}}},
    "hardware": {"device": "cpu"},
    "generation": {"backend": "hf", "max_completion_length": 64},
    "trainer": {"bf16": False, "max_steps": 10},
}


def config(**groups: dict) -> Config:
    return Config.model_validate(BASE | {name: BASE.get(name, {}) | values for name, values in groups.items()})


class Trainer(SimpleNamespace):
    """What a controller touches of the trainer: TRL's lists of measured numbers, and the settings that it moves."""

    def __init__(self, **settings: Any):
        super().__init__(_metrics={"train": {}}, extras={}, skipping=False, **settings)

    def measure(self, **numbers: float) -> None:
        for name, value in numbers.items():
            self._metrics["train"].setdefault(name.replace("__", "/"), []).append(value)


def step(controller: Any, state: Any = None, **numbers: float) -> Any:
    """One optimizer step in which TRL measured ``numbers``; the control flags after it."""
    state = state or SimpleNamespace(global_step=1, max_steps=100)
    control = SimpleNamespace(should_training_stop=False)
    controller.on_step_begin(None, state, control)
    controller.trainer.measure(**numbers)
    controller.on_step_end(None, state, control)
    return control


def attached(controller: Any, **settings: Any) -> Any:
    controller.trainer = Trainer(**settings)
    controller.on_train_begin(None, SimpleNamespace(global_step=0, stateful_callbacks={}), None)
    return controller


# ------------------------------------------------------------------------------------------------ KL


@pytest.mark.parametrize(
    ("reward", "beta"), [(-1.0, 0.05), (0.0, 0.05), (0.3999, 0.05), (0.4, 0.1), (0.7999, 0.1), (0.8, 0.2), (1.0, 0.2), (5.0, 0.2)]
)
def test_bands_as_stated(reward: float, beta: float) -> None:
    assert band(schema.KLControl(), reward) == beta


def test_every_band_and_the_target_are_options() -> None:
    own = schema.KLControl(reward_target=2.0, low=0.0, middle=0.3, high=0.7)
    assert [band(own, r) for r in (0.99, 1.0, 1.99, 2.0)] == [0.0, 0.3, 0.3, 0.7]


@pytest.mark.parametrize(
    ("kl", "factor"),
    [(0.1, 1.0), (0.11, 1 + 0.1 * 0.1), (0.09, 1 - 0.1 * 0.1), (0.12, 1.02), (5.0, 1.02), (0.0, 0.98)],  # Ziegler: e clipped at 0.2, K 0.1
)
def test_the_target_controller_is_zieglers(kl: float, factor: float) -> None:
    assert proportional(schema.KLControl(kl_target=0.1), 0.04, kl) == pytest.approx(0.04 * factor)


def test_the_target_controller_settles_where_the_kl_is_the_target() -> None:
    """A policy whose KL is 0.01 / beta has its target of 0.1 at beta 0.1."""
    settings, beta = schema.KLControl(kl_target=0.1), 0.02
    for _ in range(300):
        beta = proportional(settings, beta, 0.01 / beta)
    assert beta == pytest.approx(0.1, rel=0.02)


def test_beta_never_starts_at_zero_when_it_may_rise(tmp_path) -> None:
    low = config(algorithm={"kl_control": {"kind": "bands", "low": 0.0}})
    assert starting_beta(low.algorithm) == SMALLEST == 1e-9
    assert grpo_config.make(low, tmp_path).beta == 1e-9
    assert grpo_config.make(config(), tmp_path).beta == 0.0
    assert grpo_config.make(config(algorithm={"beta": 0.03, "kl_control": {"kind": "target"}}), tmp_path).beta == 0.03
    assert low.algorithm.loads_reference and not config().algorithm.loads_reference


def test_kl_control_moves_beta_for_the_next_step_and_logs_the_one_that_was_used() -> None:
    control = attached(KLControl(config(algorithm={"kl_control": {"kind": "bands", "low": 0.0}}).algorithm), beta=None)
    assert control.trainer.beta == SMALLEST
    step(control, reward=0.5)
    assert control.trainer.beta == 0.1 and control.trainer.extras["beta"] == SMALLEST
    step(control, reward=0.9)
    assert control.trainer.beta == 0.2 and control.trainer.extras["beta"] == 0.1
    step(control, reward=math.nan)  # nothing was judged: stay
    step(control)  # a step that reused completions: stay
    assert control.trainer.beta == 0.2
    step(control, reward=0.1)
    assert control.trainer.beta == SMALLEST  # back to "none", and still a reference


def test_only_the_numbers_of_this_step_count() -> None:
    """Log lines may be several steps apart; TRL's lists run from one to the next."""
    control = attached(KLControl(config(algorithm={"beta": 0.1, "kl_control": {"kind": "target", "kl_target": 0.1}}).algorithm), beta=None)
    step(control, kl=50.0)
    assert control.trainer.beta == pytest.approx(0.102)
    step(control, kl=0.1)
    assert control.trainer.beta == pytest.approx(0.102)
    control.trainer._metrics["train"].clear()  # a log line
    step(control, kl=0.0)
    assert control.trainer.beta == pytest.approx(0.102 * 0.98)


# ------------------------------------------------------------------------------------------------ length


def staged(**stages: Any) -> LengthStages:
    settings = {"start": 16, "clipped_share": 0.25, "patience": 2, **stages}
    generation = config(generation={"length_stages": settings}).generation
    vllm, hf = SimpleNamespace(max_completion_length=64), SimpleNamespace(max_new_tokens=64)
    return attached(LengthStages(generation), vllm_generation=vllm, generation_config=hf, max_completion_length=64)


def limits(stages: LengthStages) -> tuple[int, int, int]:
    trainer = stages.trainer
    return trainer.generation_config.max_new_tokens, trainer.vllm_generation.max_completion_length, trainer.max_completion_length


def test_the_limit_grows_when_the_clipped_share_asks_and_stops_at_the_longest() -> None:
    stages, seen = staged(), []
    for clipped in (0.5, 0.2, 0.3, 0.3, 0.9, 0.9, 0.9, 0.9):
        step(stages, completions__clipped_ratio=clipped)
        seen.append(stages.trainer.extras["completions/limit"])
    assert seen == [16, 16, 16, 16, 32, 32, 64, 64]
    assert limits(stages) == (64, 64, 64)


def test_both_generators_get_the_stage_and_dr_grpos_divisor_stays() -> None:
    assert limits(staged()) == (16, 16, 64)


def test_a_last_stage_that_is_no_multiple_is_the_longest() -> None:
    stages = staged(start=48)
    for _ in range(4):
        step(stages, completions__clipped_ratio=1.0)
    assert limits(stages)[0] == 64


# ------------------------------------------------------------------------------------------------ entropy


def guard(tmp_path, action: str, **groups: dict) -> EntropyGuard:
    settings = {"action": action, "floor": 0.05, "dead_share": 0.6, "patience": 3, "fallen_to": 1}
    made = config(guard={"entropy": settings}, **groups)
    return attached(EntropyGuard(made, Status(tmp_path, writes=True)), entropy_coef=starting_coef(made))


COLLAPSED = {"entropy": 0.04, "frac_reward_zero_std": 0.7}


@pytest.mark.parametrize("other", [{"entropy": 0.06, "frac_reward_zero_std": 0.9}, {"entropy": 0.01, "frac_reward_zero_std": 0.5}])
def test_both_signs_in_a_row_are_the_trigger(tmp_path, other: dict) -> None:
    stop = guard(tmp_path, "stop_at_best")
    sequence = [COLLAPSED, COLLAPSED, other, COLLAPSED, COLLAPSED]
    assert not any(step(stop, **numbers).should_training_stop for numbers in sequence)
    assert step(stop, **COLLAPSED).should_training_stop
    assert "final/ is the best" in stop.status.facts["warning"]


def test_a_task_that_starts_low_is_not_ill_for_that(tmp_path) -> None:
    low, fell = (guard(tmp_path, "stop_at_best") for _ in range(2))
    for stop in (low, fell):
        stop.settings = stop.settings.model_copy(update={"fallen_to": 0.1})
    assert not any(step(low, entropy=0.04, frac_reward_zero_std=0.9).should_training_stop for _ in range(9))
    for _ in range(3):
        step(fell, entropy=1.2, frac_reward_zero_std=0.1)
    assert [step(fell, **COLLAPSED).should_training_stop for _ in range(3)] == [False, False, True]


def test_warning_is_said_once_a_spell(tmp_path, capsys) -> None:
    warn = guard(tmp_path, "warn")
    for _ in range(9):
        assert not step(warn, **COLLAPSED).should_training_stop
    step(warn, entropy=1.0, frac_reward_zero_std=0.0)
    for _ in range(3):
        step(warn, **COLLAPSED)
    assert capsys.readouterr().err.count("70% of groups tied") == 2


def test_the_bonus_rises_after_every_further_patience_up_to_its_bound(tmp_path) -> None:
    raising = guard(tmp_path, "raise_bonus", algorithm={"entropy_coef_delta": 0.01, "entropy_coef_max": 0.025})
    assert raising.trainer.entropy_coef == 1e-9
    seen = []
    for _ in range(12):
        step(raising, **COLLAPSED)
        seen.append(round(raising.trainer.entropy_coef, 6))
    assert seen == [0.0, 0.0, 0.01, 0.01, 0.01, 0.02, 0.02, 0.02, 0.025, 0.025, 0.025, 0.025]


def test_trl_gets_an_entropy_term_where_it_may_rise(tmp_path) -> None:
    raising = config(guard={"entropy": {"action": "raise_bonus"}})
    assert grpo_config.make(raising, tmp_path).entropy_coef == 1e-9
    assert grpo_config.make(config(), tmp_path).entropy_coef == 0.0


def test_early_stop_counts_evaluations_since_the_best(tmp_path) -> None:
    stop = attached(EarlyStop(2, Status(tmp_path, writes=True)))
    seen = []
    for accuracy in (0.5, 0.7, 0.7, 0.8, 0.6, 0.8):
        stop.on_held_out(1, SimpleNamespace(accuracy=accuracy))
        seen.append(step(stop).should_training_stop)
    assert seen == [False, False, False, False, False, True]


# ------------------------------------------------------------------------------------------------ memory


@pytest.mark.parametrize(
    ("make", "remembered"),
    [
        (lambda tmp: KLControl(config(algorithm={"beta": 0.1, "kl_control": {"kind": "target"}}).algorithm), {"beta": 0.123456789012345}),
        (lambda tmp: LengthStages(config(generation={"length_stages": {"start": 16}}).generation), {"limit": 32, "over": 4}),
        (lambda tmp: EntropyGuard(config(), Status(tmp, writes=False)), {"low": 2, "tied": 0.75, "coef": 0.01, "first": [0.3, 0.2]}),
        (lambda tmp: EarlyStop(3, Status(tmp, writes=False)), {"best": 0.5, "since": 2}),
    ],
)
def test_a_checkpoint_remembers_what_a_resume_needs(tmp_path, make, remembered: dict) -> None:
    from transformers.trainer_callback import TrainerState

    first = make(tmp_path)
    assert set(first.remembered) == set(remembered)
    for name, value in remembered.items():
        setattr(first, name, value)
    TrainerState(stateful_callbacks=[first], global_step=7).save_to_json(str(tmp_path / "state.json"))
    state = TrainerState.load_from_json(str(tmp_path / "state.json"))
    again = make(tmp_path)
    again.trainer = Trainer(beta=None, entropy_coef=None)
    again.on_train_begin(None, state, None)
    assert {name: getattr(again, name) for name in remembered} == remembered


def test_a_checkpoint_from_before_a_controller_existed_is_taken_up(tmp_path) -> None:
    from transformers.trainer_callback import TrainerState

    state, control = TrainerState(global_step=7), KLControl(config(algorithm={"kl_control": {"kind": "bands"}}).algorithm)
    control.trainer = Trainer(beta=None)
    control.on_train_begin(None, state, None)
    assert control.trainer.beta == 0.05 and "KLControl" in state.stateful_callbacks  # transformers looks it up when it saves


# ------------------------------------------------------------------------------------------------ what is refused


@pytest.mark.parametrize(
    ("groups", "says"),
    [
        ({"algorithm": {"kl_control": {"kind": "target"}}}, "0 stays 0"),
        ({"generation": {"length_stages": {"start": 128}}}, "max_completion_length=64"),
        ({"algorithm": {"use_adaptive_entropy": True}, "guard": {"entropy": {"action": "raise_bonus"}}}, "both move"),
        ({"guard": {"early_stop_evals": 2}, "trainer": {"eval_steps": 0}}, "eval_steps=0 makes none"),
        ({"algorithm": {"loss_type": "vespo", "importance_sampling_level": "sequence"}}, "its own sequence weight"),
    ],
)
def test_contradictions_are_one_line_with_what_to_type(groups: dict, says: str) -> None:
    with pytest.raises(ConfigError, match=says) as caught:
        checks.check(config(**groups))
    assert caught.value.where and caught.value.fix and "\n" not in str(caught.value)


def test_settings_without_effect_are_said() -> None:
    said = checks.check(config(algorithm={"beta": 0.04, "kl_control": {"kind": "bands"}}, generation={"length_stages": {"start": 64}}))
    assert any("algorithm.beta=0.04 is not used" in line for line in said)
    assert any("nothing will grow" in line for line in said)


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("algorithm.kl_control.kind=band", "none, bands, target"),
        ("algorithm.kl_control.gain=0", "above 0"),
        ("generation.length_stages.factor=1", "above 1"),
        ("guard.entropy.action=stop", "stop_at_best"),
        ("guard.entropy.dead_share=1", "below 1"),
        ("algorithm.kl_control.targett=1", "reward_target|kl_target"),
    ],
)
def test_schema_errors_name_the_key_and_the_legal_values(word: str, says: str, tmp_path, monkeypatch) -> None:
    from rlvr_cli.config.compose import compose

    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=says) as caught:
        compose([word])
    assert word.split("=")[0].rsplit(".", 1)[0] in str(caught.value)


@pytest.mark.parametrize(
    ("numbers", "skipping", "tied", "entropy"),
    [
        ({"entropy": 0.1, "frac_reward_zero_std": 0.75}, False, 0.75, 0.1),  # TRL's pass over all rows
        ({"entropy": 0.1, "frac_reward_zero_std": 0.75}, True, 0.75, 0.04),  # only rows with signal went through
        ({"entropy": 0.1, "frac_reward_zero_std": 0.0, "dynamic_sampling__dead_before": 0.5}, True, 0.5, 0.04),  # and were refilled
        ({"entropy": 1.0, "frac_reward_zero_std": 1.0}, True, 1.0, 0.4),  # all wrong and uncertain: hard, not collapsed
    ],
)
def test_entropy_is_that_of_the_prompts_as_drawn(tmp_path, numbers: dict, skipping: bool, tied: float, entropy: float) -> None:
    seen = guard(tmp_path, "warn")
    seen.trainer.skipping = skipping
    step(seen, **numbers)
    assert (seen.tied, seen.entropy()) == (tied, pytest.approx(entropy))
