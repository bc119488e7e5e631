"""Composition: whose file wins, what a key may be, what is said when something is wrong, and what ranks read."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from rlvr_cli.config.compose import compose, frozen_text, read_frozen, write_frozen
from rlvr_cli.config.schema import Config, EvalConfig
from rlvr_cli.errors import ConfigError


def test_the_users_conf_comes_first(here: Path) -> None:
    (here / "conf" / "reward").mkdir(parents=True)
    (here / "conf" / "reward" / "math.yaml").write_text("terms:\n  mine:\n    fn: rewards.math.correct\n")
    composed = compose(["reward=math"])
    assert list(composed.config.reward.terms) == ["mine"]
    assert composed.sources["reward"] == str(here / "conf" / "reward" / "math.yaml")
    assert composed.choices["dataset"] == "arithmetic", "shipped options stay"


def test_the_users_root_replaces_the_shipped_one(here: Path) -> None:
    text = (Path(__file__).parents[2] / "conf" / "train.yaml").read_text().replace("seed: 0", "seed: 41")
    (here / "conf").mkdir()
    (here / "conf" / "train.yaml").write_text(text)
    assert compose([]).config.seed == 41
    assert compose(["seed=3"]).config.seed == 3


@pytest.mark.parametrize(
    ("word", "key", "value"),
    [
        ("trainer.max_steps=20", "trainer.max_steps", 20),
        ("optimizer.learning_rate=1e-5", "optimizer.learning_rate", 1e-5),
        ("generation.min_p=0.1", "generation.min_p", 0.1),
        ("model.system_prompt='You add, I check.'", "model.system_prompt", "You add, I check."),
        ("algorithm.scale_rewards=none", "algorithm.scale_rewards", "none"),
        ("algorithm.scale_rewards=false", "algorithm.scale_rewards", False),
        ("hardware.trainer_devices=[0,1]", "hardware.trainer_devices", [0, 1]),
        ("reward.terms.correct.weight=0.5", "reward.terms.correct.weight", 0.5),
        ("+reward.terms.mine.fn=rewards.math.correct", "reward.terms.mine.fn", "rewards.math.correct"),
        ("reward.terms.correct.options.tolerance=1e-3", "reward.terms.correct.options.tolerance", 1e-3),
        ("generation.server_args.enforce_eager=true", "generation.server_args.enforce_eager", True),
        ("+algorithm.extra.cast_lm_head_to_fp32=true", "algorithm.extra.cast_lm_head_to_fp32", True),
        ("dataset.max=49", "dataset.max", 49),
        ("dataset.columns.tests=test_list", "dataset.columns.tests", "test_list"),
        ("generation.max_model_len=${generation.max_completion_length}", "generation.max_model_len", 32),
    ],
)
def test_values_reach_their_place(word: str, key: str, value: object, here: Path) -> None:
    node = compose([word], rules=False).config.model_dump()
    for part in key.split("."):
        node = node[part]
    assert node == value


def test_a_term_can_be_dropped(here: Path) -> None:
    both = compose(["+reward.terms.extra.fn=rewards.math.correct"]).config
    assert set(both.reward.terms) == {"correct", "extra"}
    one = compose(["+reward.terms.extra.fn=rewards.math.correct", "~reward.terms.correct"]).config
    assert set(one.reward.terms) == {"extra"}


@pytest.mark.parametrize(
    ("word", "says", "fix"),
    [
        ("trainer.max_stepz=20", "trainer.max_stepz is not a key", "trainer.max_steps=20"),
        ("learning_rate=1e-5", "learning_rate is not a key", "optimizer.learning_rate=1e-5"),
        ("max_prompt_length=9", "max_prompt_length is not a key", "dataset.max_prompt_tokens=9"),
        ("model=qwen1.5", "model=qwen1.5 is not an option", "model=qwen1.5b"),
        ("rewards=math", "rewards is not a key", "reward=math"),
        ("modle=big", "modle is not a key", "model=OPTION (rlvr ls model)"),
        ("+foo=3", "+foo adds a key that nothing reads", "rlvr ls"),
        ("+trainer.foo=3", "+trainer.foo adds a key that nothing reads", "rlvr config trainer"),
        (
            "algorithm.num_iterations=abc",
            "algorithm.num_iterations must be a whole number of at least 1, not 'abc'",
            "algorithm.num_iterations=1",
        ),
        (
            "algorithm.num_iterations=2.5",
            "algorithm.num_iterations must be a whole number of at least 1, not 2.5",
            "algorithm.num_iterations=1",
        ),
        ("generation.temperature=0", "generation.temperature must be a number above 0, not 0", "generation.temperature=1.0"),
        ("algorithm.num_generations=1", "algorithm.num_generations must be a whole number of at least 2", "algorithm.num_generations=8"),
        ("algorithm.beta=-1", "algorithm.beta must be a number of at least 0, not -1", "algorithm.beta=0.0"),
        ("algorithm.loss_type=drgrpo", "algorithm.loss_type must be one of grpo, bnpo, dr_grpo", "algorithm.loss_type=dr_grpo"),
        ("generation.backend=vllm", "generation.backend must be one of auto, hf", "generation.backend=vllm_server"),
        ("algorithm.scale_rewards=std", "algorithm.scale_rewards must be one of group, batch, none", "algorithm.scale_rewards=group"),
        ("hardware.zero_stage=5", "hardware.zero_stage must be one of auto, 0, 1, 2, 3, or null, not 5", "hardware.zero_stage=3"),
        ("reward.terms.corect.weight=1", "reward.terms has no term 'corect'", "reward.terms.correct.weight=1"),
        ("reward.terms.correct.weight=half", "reward.terms.correct.weight must be a number, not 'half'", "reward.terms.correct.weight=1.0"),
        ("reward.terms.correct.wieght=2", "reward.terms.correct.wieght is not a key", "reward.terms.correct.weight=2"),
        ("~reward.terms.format", "~reward.terms.format: there is no such entry", "~reward.terms.correct"),
        ("dataset.operatorz=1", "dataset.operatorz is not a key of the generator arithmetic", "dataset.operators=1"),
        ("seed=1,2", "seed=1,2 names several values", "rlvr train -m seed=1,2"),
        ("tiny", "'tiny' is neither group=option nor key=value", "model=tiny"),
        ("trainer.max_steps", "'trainer.max_steps' is neither group=option nor key=value", "trainer.max_steps=VALUE"),
        ("model.path=[a", "'model.path=[a' can not be read", "'model.path=\"[a\"'"),
        ("trainer=5", "trainer=5 is not an option", "rlvr ls trainer"),
        ("trainer.max_steps=${trainer.nothing}", "Interpolation key 'trainer.nothing' not found", None),
    ],
)
def test_mistakes_are_one_line_with_the_nearest_legal_value(word: str, says: str, fix: str | None, here: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        compose([word])
    assert caught.value.what.startswith(says)
    assert caught.value.fix == fix or (fix is None)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 2


def test_every_suggested_value_is_legal(here: Path) -> None:
    """What an error tells a person to type must itself compose."""
    for word in ("trainer.max_steps=abc", "generation.temperature=0", "algorithm.loss_type=drgrpo", "hardware.zero_stage=5"):
        with pytest.raises(ConfigError) as caught:
            compose([word])
        compose([caught.value.fix])


def test_frozen_file_is_read_back_without_hydra(here: Path) -> None:
    config = compose(["seed=7", "dataset.max=49"]).config
    write_frozen(config, here / "config.yaml")
    assert read_frozen(here / "config.yaml") == config
    assert yaml.safe_load(frozen_text(config))["dataset"]["max"] == 49


def test_frozen_file_hides_secrets(here: Path) -> None:
    config = compose(["tracker.options.WANDB_API_KEY=0123456789abcdef"]).config
    write_frozen(config, here / "config.yaml")
    assert "0123456789abcdef" not in (here / "config.yaml").read_text()
    assert config.tracker.options["WANDB_API_KEY"] == "0123456789abcdef", "the launcher still has it, for the environment"


@pytest.mark.parametrize("text", ["", "[1, 2]", "trainer: {max_steps: soon}", "trainer: [", "traner: {}"])
def test_a_spoilt_frozen_file_is_one_line(text: str, here: Path) -> None:
    (here / "config.yaml").write_text(text)
    with pytest.raises(ConfigError) as caught:
        read_frozen(here / "config.yaml")
    assert "config.yaml" in str(caught.value)


def test_eval_inherits_what_the_run_used(here: Path) -> None:
    run = compose(["model=tiny", "dataset.max=30", "generation.temperature=0.7", "model.system_prompt=Add."]).config
    composed = compose(["checkpoint=outputs/x", "eval.k=4"], root="eval", inherit=run.model_dump(mode="json"))
    config = composed.config
    assert isinstance(config, EvalConfig)
    assert (config.eval.k, config.checkpoint) == (4, "outputs/x")
    assert config.generation.temperature == 0.7
    assert config.dataset.model_extra["max"] == 30
    assert config.model.system_prompt == "Add."


def test_eval_on_other_data_takes_none_of_the_old(here: Path) -> None:
    run = compose(["model=tiny", "dataset.max=30"]).config
    config = compose(["checkpoint=x", "dataset=gsm8k"], root="eval", inherit=run.model_dump(mode="json")).config
    assert config.dataset.generator is None
    assert config.dataset.train == "openai/gsm8k"
    assert "max" not in (config.dataset.model_extra or {})
    assert list(config.reward.terms) == ["correct"]


def test_a_run_is_resumed_with_changes(here: Path) -> None:
    run = compose(["seed=5", "trainer.max_steps=40"]).config
    again = compose(["guard.dead_group_patience=3"], inherit=run.model_dump(mode="json")).config
    assert (again.seed, again.trainer.max_steps, again.guard.dead_group_patience) == (5, 40, 3)
    assert again.model_dump(exclude={"guard"}) == run.model_dump(exclude={"guard"})


def test_composing_twice_gives_the_same(here: Path) -> None:
    assert compose(["model=qwen1.5b"]).config == compose(["model=qwen1.5b"]).config


def test_the_schema_alone_is_a_configuration() -> None:
    assert Config.model_validate(Config().model_dump()) == Config()


@pytest.mark.parametrize(
    ("word", "typed"),
    [
        ("trainer.profile=maybe", "trainer.profile=true"),
        ("trainer.profile=flase", "trainer.profile=false"),
        ("trainer.skip_dead_rows=maybe", "trainer.skip_dead_rows=false"),
        ("trainer.bf16=maybe", "trainer.bf16=true"),
    ],
)
def test_a_switch_is_proposed_in_its_other_state(word: str, typed: str, here: Path) -> None:
    """Who names a switch wants it changed; a misspelt state is that state."""
    with pytest.raises(ConfigError) as caught:
        compose([word])
    assert caught.value.fix == typed
