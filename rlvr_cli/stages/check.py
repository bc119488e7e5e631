"""What can be said of a stage before torch is imported: its rules, its rows, its steps. ``checks`` and ``preflight`` call these.

A file that an earlier stage of a pipeline will write is *pending*: it is named, not read.
"""

from __future__ import annotations

from typing import Any

from rlvr_cli.config.nearest import nearest
from rlvr_cli.config.schema import Config
from rlvr_cli.errors import ConfigError, DataError
from rlvr_cli.stages.rows import WRITES, StageRows, read

OF_STAGE = {"sft": "SFTConfig", "dpo": "DPOConfig", "reward_model": "RewardConfig"}
SFT_LOSSES = ("nll", "dft")


def rule(config: Config) -> str | None:
    """``stage``: each kind has what it needs, and nothing that it would ignore."""
    stage = config.stage
    if stage.kind == "rl":
        return ignored(config)
    if stage.kind != "sft" and not stage.data:
        fix = f"{WRITES[stage.kind]} sample.out=pairs.jsonl, then stage.data=pairs.jsonl"
        raise ConfigError(f"stage={stage.kind} trains on pairs, and stage.data is empty", where="stage.data", fix=fix)
    if stage.kind == "sft" and stage.loss_type not in (None, *SFT_LOSSES):
        raise ConfigError(f"stage.loss_type={stage.loss_type} is no loss of stage=sft", where="stage.loss_type", fix="stage.loss_type=nll")
    if stage.general.share and not stage.general.data:
        fix = "stage.general.data=data/general.jsonl"
        raise ConfigError("stage.general.share is set and stage.general.data is empty", where="stage.general", fix=fix)
    if stage.general.data and stage.kind != "sft":
        raise ConfigError("general rows are answers, and only stage=sft trains on answers", where="stage.general", fix="stage=sft")
    if stage.kind == "reward_model" and config.peft.kind != "none":
        raise ConfigError("a reward model is trained whole: its head is new", where="peft, stage", fix="peft=none")
    if stage.worked_options and not stage.worked:
        fix = "stage.worked=rlvr_cli.data.generate.arithmetic.worked"
        raise ConfigError("stage.worked_options is set and stage.worked is null", where="stage.worked_options", fix=fix)
    own_extra(config)
    if stage.general.data and not stage.general.share:
        return "stage.general.data is set and stage.general.share is 0: nothing is mixed in"
    return None


def ignored(config: Config) -> str | None:
    """Settings of another stage beside ``stage=rl``."""
    if config.stage.data or config.stage.general.data:
        raise ConfigError("stage.data is read by sft, dpo and reward_model, and stage.kind is rl", where="stage", fix="stage=sft")
    return None


def own_extra(config: Config) -> None:
    """``stage.extra`` holds fields of the stage's TRL class that have no key of their own here."""
    from rlvr_cli.config.checks.objective import NEVER, OURS
    from rlvr_cli.config.fields import all_keys
    from rlvr_cli.config.trl_fields import stage_fields

    own = {key.rsplit(".", 1)[-1]: key for key in all_keys() if key.split(".")[0] in ("stage", "optimizer", "trainer")}
    known = stage_fields(config.stage.kind)
    for name, value in config.stage.extra.items():
        where = f"stage.extra.{name}"
        if name in NEVER:
            raise ConfigError(f"{where}: {NEVER[name]}", where=where, fix=f"~{where}")
        if name in OURS or name in own:
            raise ConfigError(f"{name} has a key of its own", where=where, fix=f"{OURS.get(name) or own[name]}={value}")
        if known is not None and name not in known:
            near = nearest(name, sorted(known))
            fix = f"stage.extra.{near}={value}" if near else "rlvr config stage"
            raise ConfigError(f"{where} is not a field of {OF_STAGE[config.stage.kind]}", where=where, fix=fix)


def rows_of(world: Any) -> StageRows | str:
    """The stage's rows as the ranks will read them, or a sentence where a file is still to be made. Read once a world."""
    config = world.config
    for key, source in (("stage.data", config.stage.data), ("stage.general.data", config.stage.general.data)):
        if source in world.pending:
            return f"{key}={source} is made by an earlier stage"
    if "stage_rows" not in world.__dict__:
        world.__dict__["stage_rows"] = read(config, world.rows)
    return world.__dict__["stage_rows"]


def said_rows(world: Any) -> str:
    """The check ``data`` of a stage."""
    rows = rows_of(world)
    return rows if isinstance(rows, str) else "; ".join(rows.notes)


def said_steps(world: Any) -> str:
    """The check ``steps`` of a stage; rows that are fewer than one step's would train nothing."""
    rows, config = rows_of(world), world.config
    if isinstance(rows, str):
        return "known when the rows are"
    batch, count = world.plan.completions_per_step, len(rows.train)
    if count < batch:
        legal = max(1, config.trainer.per_device_train_batch_size * count // batch)
        raise DataError(
            f"{count} rows are fewer than the {batch} of one step",
            where="stage.data, trainer.per_device_train_batch_size",
            fix=f"trainer.per_device_train_batch_size={legal}",
        )
    per_epoch = count // batch
    total = config.trainer.max_steps if config.trainer.max_steps > 0 else round(count / batch * config.trainer.num_train_epochs)
    return f"{total} steps, {per_epoch} an epoch, each row seen about {total * batch / count:.1f} times"
