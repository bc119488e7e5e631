"""What a run cannot do without: a model, rows, a reward, and no stranger's code among them."""

from __future__ import annotations

from rlvr_cli.config.schema import Config
from rlvr_cli.errors import ConfigError


def has_model(config: Config) -> str | None:
    """A model comes from a path or from a builder."""
    model = config.model
    if not model.path and not model.builder:
        raise ConfigError("model.path is empty", where="model", fix="model.path=FOLDER_OR_HUB_ID, or model=tiny")
    if model.path and model.builder:
        raise ConfigError("model.path and model.builder are both set; one makes the weights", where="model", fix="model.builder=null")
    return None


def has_data(config: Config) -> str | None:
    """Rows come from a generator or from a source."""
    data = config.dataset
    if data.generator and data.train:
        raise ConfigError(
            "dataset.generator and dataset.train are both set", where="dataset", fix=f"dataset=jsonl dataset.train={data.train}"
        )
    if not data.generator and not data.train and data.eval:
        raise ConfigError("this data set has held-out rows only", where="dataset.train", fix="rlvr eval ..., or dataset.train=FILE.jsonl")
    if not data.generator and not data.train:
        raise ConfigError("dataset.train is empty", where="dataset", fix="dataset.train=FILE.jsonl, or dataset=arithmetic")
    return None


def has_reward(config: Config) -> str | None:
    """Something must be paid for."""
    terms = config.reward.terms
    if not terms:
        raise ConfigError("the reward has no terms", where="reward.terms", fix="reward=math")
    if not any(term.weight for term in terms.values()):
        raise ConfigError(
            "every reward weight is 0, so nothing is learnt", where="reward.terms", fix=f"reward.terms.{next(iter(terms))}.weight=1"
        )
    if all(term.gate for term in terms.values()):
        raise ConfigError(
            "every term is gated by another, so none can be first", where="reward.terms", fix=f"reward.terms.{next(iter(terms))}.gate=null"
        )
    if all(term.fn.startswith("rewards.control.") for term in terms.values() if term.weight):
        return "this reward is a control arm: it teaches nothing, on purpose"
    return None


def hostile_inline(config: Config) -> str | None:
    """Model-written code and SQL are judged in killable workers only."""
    hostile = [n for n, t in config.reward.terms.items() if t.fn.startswith(("rewards.code.", "rewards.sql."))]
    if hostile and config.reward.pool.backend == "inline":
        raise ConfigError(
            f"reward.pool.backend=inline would run the model's own code in the trainer (term {hostile[0]})",
            where="reward.pool.backend",
            fix="reward.pool.backend=process",
        )
    return None


def stage(config: Config) -> str | None:
    """A stage has the rows it trains on, and no setting that it would ignore."""
    from rlvr_cli.stages.check import rule

    return rule(config)
