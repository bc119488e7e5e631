"""A chain as it stands in ``conf/pipeline/NAME.yaml``, typed, with the words of the command line laid over it.

Words beat the file: ``trainer.max_steps=5`` goes to every stage, ``reasoning.trainer.max_steps=5`` to that stage alone. In a
stage's words ``@{NAME}`` is what an earlier step left (a run folder, or a file of samples). A whole small chain::

    common: [model=tiny, dataset=arithmetic]
    stages:
      cold_start: {words: [stage=sft], improves: format}
      accepted: {run: sample, words: [sample.keep=accepted]}
      rejection: {words: [stage=sft, "stage.data=@{accepted}"], improves: general}
    judge:
      tasks: {sums: [dataset=arithmetic]}
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import Field, ValidationError

from rlvr_cli.config.nearest import nearest
from rlvr_cli.config.options import groups, options
from rlvr_cli.config.schema import Group
from rlvr_cli.errors import ConfigError, RunDirError
from rlvr_cli.pipeline import FILE

METRICS = ("accuracy", "format", "general", "replies", "learned")
LEFT = re.compile(r"@\{(\w+)\}")


class Stage(Group):
    """One step of the chain."""

    run: Literal["train", "sample"] = "train"
    """``train``: a run folder; ``sample``: a file that ``rlvr sample`` writes from the policy so far."""
    words: list[str] = Field(default_factory=list)
    """What ``rlvr train`` or ``rlvr sample`` takes."""
    improves: Literal["accuracy", "format", "general", "replies", "learned"] | None = None
    """The metric that this stage is for; null for a step that makes no new policy (samples, a reward model)."""
    policy: bool = True
    """Whether what it trains is the policy that goes on; false for a reward model."""


class Judge(Group):
    """What every policy of the chain is measured by, always the same rows."""

    tasks: dict[str, list[str]] = Field(default_factory=dict)
    """Held-out tasks by name: words over ``common`` (a data set, a reward), judged greedily."""
    limit: int | None = Field(default=200, ge=1)
    """Held-out prompts a task; null takes them all."""
    format: str = "rewards.format.think_answer"
    """Dotted path of the reward that says whether an answer is in the asked form."""
    text: str | None = None
    """File of held-out everyday text (``text``, or ``prompt`` and ``completion`` or ``reply``), for the perplexity."""
    prompts: str | None = None
    """File of everyday and harmful prompts with ``answer`` and ``refuse``, judged by ``rewards.general.expected``."""
    batch_size: int = Field(default=64, ge=1)
    """Completions or texts at once."""
    max_completion_length: int | None = Field(default=None, ge=1)
    """Longest reply to ``prompts``, in tokens; null takes the tasks' own limit."""


class Pipeline(Group):
    """A whole chain."""

    name: str = ""
    common: list[str] = Field(default_factory=list)
    """Words that every training stage takes."""
    stages: dict[str, Stage] = Field(default_factory=dict)
    """The steps in order."""
    judge: Judge = Field(default_factory=Judge)
    given: list[str] = Field(default_factory=list)
    """Words of the command line for every stage."""
    given_to: dict[str, list[str]] = Field(default_factory=dict)
    """Words of the command line for one stage, by its name."""


def load(words: list[str], cwd: Path) -> tuple[Pipeline, Path]:
    """The chain that a command line asks for, and its folder. Raises ConfigError, one line."""
    name = value_of(words, "pipeline")
    known = options("pipeline", cwd)
    if name not in known:
        near = nearest(str(name), list(known))
        raise ConfigError(f"pipeline={name} is not an option", where="command line", fix=f"pipeline={near}" if near else "rlvr ls pipeline")
    pipeline = read_file(known[name].path, name)
    own = [word for word in words if key_of(word) not in ("pipeline", "run.name", "run.dir")]
    for word in own:
        stage = key_of(word).split(".")[0]
        if stage in pipeline.stages:
            pipeline.given_to.setdefault(stage, []).append(without_stage(word, stage))
        else:
            refuse_unknown(word, pipeline, cwd)
            pipeline.given.append(word)
    mark = "-" + hashlib.sha256("\0".join(sorted(own)).encode()).hexdigest()[:6] if own else ""
    folder = Path(value_of(words, "run.dir") or "outputs") / (value_of(words, "run.name") or f"pipeline-{name}{mark}")
    return pipeline, folder


def refuse_unknown(word: str, pipeline: Pipeline, cwd: Path) -> None:
    """A first part that is neither a group, a key nor a stage is most likely a stage's name misspelt."""
    from rlvr_cli.config.schema import Config

    first = key_of(word).split(".")[0]
    if first == "recipe":
        what = "a recipe is of one run: the policies of a chain are judged without it"
        raise ConfigError(what, where=f"command line: {word}", fix=f"{next(iter(pipeline.stages))}.{word}")
    if first in Config.model_fields or first in groups(cwd) or "=" not in word:
        return
    near = nearest(first, list(pipeline.stages))
    fix = word.replace(first, near, 1) if near else "rlvr train pipeline=... --dry-run"
    raise ConfigError(f"{first} is neither a group nor a stage of this pipeline", where=f"command line: {word}", fix=fix)


def read_file(path: Path, name: str) -> Pipeline:
    """An option file, typed; a fault in it names the file."""
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
        pipeline = Pipeline.model_validate({**data, "name": name})
    except (yaml.YAMLError, ValidationError, TypeError) as error:
        said = " ".join(str(error).split())[:300]
        raise ConfigError(f"the pipeline {name} can not be read: {said}", where=str(path)) from error
    check(pipeline, str(path))
    return pipeline


def check(pipeline: Pipeline, where: str) -> None:
    """References point backwards, and there is something to train and to judge."""
    seen: list[str] = []
    if next((stage.run for stage in pipeline.stages.values()), "train") == "sample":
        raise ConfigError("the first stage samples, and there is no policy yet", where=where)
    for name, stage in pipeline.stages.items():
        for used in LEFT.findall(" ".join(stage.words)):
            if used not in seen:
                raise ConfigError(f"stage {name} uses @{{{used}}}, which no earlier stage makes", where=where)
        seen.append(name)
    if any(key_of(word) == "recipe" for word in pipeline.common):
        raise ConfigError("common names a recipe, without which the policies are judged; name its groups and keys instead", where=where)
    if not any(stage.run == "train" for stage in pipeline.stages.values()):
        raise ConfigError("the pipeline trains nothing", where=where)
    if not pipeline.judge.tasks:
        raise ConfigError("the pipeline judges nothing: judge.tasks is empty", where=where)


def save(pipeline: Pipeline, folder: Path) -> None:
    """Write the chain into its folder; the same chain again is the sign to go on."""
    from rlvr_cli.run_dir import write_atomic

    write_atomic(folder / FILE, json.dumps(pipeline.model_dump(mode="json"), indent=1) + "\n")


def restore(folder: Path) -> Pipeline:
    """The chain of a folder."""
    try:
        return Pipeline.model_validate(json.loads((folder / FILE).read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise RunDirError(f"{folder} holds no pipeline that can be read: {' '.join(str(error).split())[:200]}", where=FILE) from error


# ---------------------------------------------------------------------------------------------- words


def key_of(word: str) -> str:
    """The key that a word sets, without ``+`` and ``~``.

    >>> key_of("+algorithm.extra.x=1"), key_of("~reward.terms.tag")
    ('algorithm.extra.x', 'reward.terms.tag')
    """
    return word.split("=", 1)[0].lstrip("+~")


def value_of(words: list[str], key: str) -> str | None:
    """The last value that a key is given."""
    found = [word.split("=", 1)[1].strip("\"'") for word in words if key_of(word) == key and "=" in word]
    return found[-1] if found else None


def without_stage(word: str, stage: str) -> str:
    """A stage's word without the stage's name.

    >>> without_stage("+reasoning.algorithm.extra.x=1", "reasoning")
    '+algorithm.extra.x=1'
    """
    mark = word[: len(word) - len(word.lstrip("+~"))]
    return mark + word.lstrip("+~").removeprefix(f"{stage}.")


def last_of_each(words: list[str]) -> list[str]:
    """Each key once, its last word; choosing a group anew drops what was set in the earlier choice.

    >>> last_of_each(["seed=1", "model=tiny", "seed=2"])
    ['model=tiny', 'seed=2']
    >>> last_of_each(["dataset=arithmetic", "dataset.terms=3", "dataset=general", "dataset.count=9"])
    ['dataset=general', 'dataset.count=9']
    """
    kept: list[str] = []
    for word in words:
        key = key_of(word)
        if "." not in key and not word.startswith("~"):
            kept = [w for w in kept if not key_of(w).startswith(f"{key}.")]
        if not word.startswith("~"):
            kept = [w for w in kept if key_of(w) != key or w.startswith("~")]
        kept.append(word)
    return kept


def filled(word: str, left: dict[str, Any]) -> str:
    """A word with what earlier steps left in it, quoted for Hydra's grammar."""
    if not LEFT.search(word):
        return word
    key, _, value = word.partition("=")
    return f"{key}='{LEFT.sub(lambda m: str(left[m[1]]), value)}'"
