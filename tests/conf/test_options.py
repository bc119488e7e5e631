"""Every shipped option file: it has its header, composes, passes every rule, and the whole default is the committed one."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from rlvr_cli.config.compose import compose, frozen_text
from rlvr_cli.config.fields import choices, field_at
from rlvr_cli.config.options import GROUPS, groups, options, shipped
from rlvr_cli.errors import ConfigError

GOLDEN = Path(__file__).parent / "golden"
NOT_PART_OF_A_RUN = {"pipeline"}  # a chain of runs has its own root
# What an option leaves to the person who chooses it.
NEEDS = {
    ("model", "hf"): ["model.path=./weights"],
    ("dataset", "jsonl"): ["dataset.train=rows.jsonl"],
    ("stage", "dpo"): ["stage.data=pairs.jsonl"],
    ("stage", "reward_model"): ["stage.data=pairs.jsonl"],
    ("reward", "environment"): ["environment=custom", "environment.fn=my_game.Game", "model=qwen3-0.6b"],
    ("environment", "custom"): ["environment.fn=my_game.Game", "model=qwen3-0.6b"],
    ("environment", "python"): ["model=qwen3-0.6b"],
    ("environment", "search"): ["model=qwen3-0.6b"],
}


def every_option() -> list[tuple[str, str]]:
    return [(g, o) for g in groups(Path("/")) if g not in NOT_PART_OF_A_RUN for o in options(g, Path("/"))]


def trains(option: str) -> bool:
    """Whether a dataset option has training rows."""
    content = yaml.safe_load(options("dataset", Path("/"))[option].path.read_text())
    content = content.get("dataset", content)
    return bool(content.get("train") or content.get("generator") or ("dataset", option) in NEEDS)


@pytest.mark.parametrize(("group", "option"), every_option())
def test_option_composes_and_passes_every_rule(group: str, option: str, here: Path) -> None:
    words, root = [f"{group}={option}", *NEEDS.get((group, option), [])], "train"
    if group == "dataset" and not trains(option):  # a set with held-out rows only is for `rlvr eval`
        words, root = [*words, "checkpoint=x"], "eval"
    composed = compose(words, root=root)
    assert composed.choices[group] == option
    assert Path(composed.sources[group]).is_file()


@pytest.mark.parametrize(("group", "option"), every_option())
def test_option_has_its_header(group: str, option: str) -> None:
    found = options(group, Path("/"))[option]
    header = found.header
    assert found.summary, "the first lines say what the option is"
    assert any(line.startswith("Needs:") for line in header), "a line says what it needs"
    assert any(line.startswith("Command:") and "rlvr " in line for line in header), "a line is a command"


def test_every_group_has_its_sentence() -> None:
    assert not set(groups(Path("/"))) - set(GROUPS)


def test_default_is_the_committed_one(here: Path) -> None:
    """A default that changes is seen in review. After a wanted change: rlvr config > tests/conf/golden/train.yaml"""
    assert frozen_text(compose([]).config) == (GOLDEN / "train.yaml").read_text(encoding="utf-8")


def test_real_model_gets_the_defaults_of_real_models(here: Path) -> None:
    config = compose(["model=qwen1.5b", "reward=math"]).config
    assert config.dataset.train == "openai/gsm8k"
    assert config.optimizer.learning_rate == pytest.approx(1e-6)
    assert config.generation.backend == "auto"
    assert config.model.stop_token_ids == [151645, 151643]


@pytest.mark.parametrize("name", [n for g, n in every_option() if g == "recipe" and n != "none"])
def test_a_recipe_gives_way_to_the_command_line(name: str, here: Path) -> None:
    config = compose([f"recipe={name}", "trainer.max_steps=7", "optimizer=adamw"]).config
    assert config.trainer.max_steps == 7
    assert config.optimizer.lr_scheduler_type == "constant_with_warmup" or config.optimizer.optim == "adamw_torch"


def test_a_recipe_chooses_groups(here: Path) -> None:
    composed = compose(["recipe=smollm2_arithmetic"])
    assert composed.choices["model"] == "smollm2-135m"
    assert composed.choices["generation"] == "hf"
    assert compose(["recipe=smollm2_arithmetic", "model=tiny"]).choices["model"] == "tiny"


def test_stop_ids_of_a_family_agree() -> None:
    """Models that share a tokenizer share their stop ids."""
    families: dict[str, set[tuple[int, ...]]] = {}
    for name, option in options("model", Path("/")).items():
        if name.startswith(("qwen", "llama")) and "math" not in name:
            content = yaml.safe_load(option.path.read_text())
            families.setdefault("qwen" if name.startswith("qwen") else "llama", set()).add(tuple(content["model"]["stop_token_ids"]))
    assert families == {"qwen": {(151645, 151643)}, "llama": {(128001, 128008, 128009)}}


@pytest.mark.parametrize(
    ("words", "backend"),
    [
        (["model=tiny"], "hf"),
        (["model=tiny", "hardware=4gpu"], "hf"),
        (["model=qwen1.5b", "hardware=4gpu"], "vllm_server"),
        (["model=qwen1.5b", "hardware=1gpu"], "vllm_colocate"),
        (["model=qwen1.5b", "hardware=1gpu", "peft=qlora"], "hf"),
        (["model=tiny", "generation=vllm_server"], "vllm_server"),
        (["recipe=smollm2_arithmetic", "generation=vllm_server"], "vllm_server"),
    ],
)
def test_what_stands_on_the_command_line_wins(words: list[str], backend: str, here: Path) -> None:
    assert compose(words).config.generation.backend == backend


def test_shipped_folder_is_found() -> None:
    assert (shipped() / "train.yaml").is_file()


def test_every_loss_type_has_an_algorithm_file() -> None:
    losses = set()
    for option in options("algorithm", Path("/")).values():
        losses.add(yaml.safe_load(option.path.read_text())["loss_type"])
    assert losses == set(choices(field_at("algorithm.loss_type")))


def test_a_broken_option_file_is_named(here: Path) -> None:
    (here / "conf" / "trainer").mkdir(parents=True)
    (here / "conf" / "trainer" / "mine.yaml").write_text("# mine\nmax_stepz: 5\n")
    with pytest.raises(ConfigError) as caught:
        compose(["trainer=mine"])
    assert caught.value.where == "conf/trainer/mine.yaml"
    assert caught.value.fix == "trainer.max_steps=5"


def test_yaml_that_does_not_parse_is_named(here: Path) -> None:
    (here / "conf" / "trainer").mkdir(parents=True)
    (here / "conf" / "trainer" / "mine.yaml").write_text("max_steps: [1,\n")
    with pytest.raises(ConfigError) as caught:
        compose(["trainer=mine"])
    assert "mine.yaml" in str(caught.value)
    assert "\n" not in str(caught.value)
