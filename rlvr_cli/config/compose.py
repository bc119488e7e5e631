"""From the words of a command line to one typed configuration. The only importer of Hydra; ranks never come here.

Hydra resolves the groups (which option files, in which order); this module then lays the schema's defaults under them,
applies the values of the command line itself, and turns every fault into one line with the nearest legal value::

    compose(["model=qwen1.5b", "trainer.max_steps=20"]).config.trainer.max_steps    # 20
    compose(["trainer.max_stepz=20"])
    # ConfigError: trainer.max_stepz is not a key (set in: command line). Type: trainer.max_steps=20

Applying values here and not in Hydra buys that ``key=value`` works for every key of the schema, whatever the option file
lists, that ``+key`` is refused outside the mappings meant for it, and that no message speaks of structs and nodes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from rlvr_cli.config import checks, faults
from rlvr_cli.config.fields import field_at, passes_through
from rlvr_cli.config.nearest import nearest
from rlvr_cli.config.options import groups, options, search_dirs
from rlvr_cli.config.schema import Config, EvalConfig, SampleConfig
from rlvr_cli.errors import ConfigError

COMMAND_LINE = "command line"
ROOTS: dict[str, type[Config]] = {"train": Config, "eval": EvalConfig, "sample": SampleConfig}


@dataclass(frozen=True)
class Composed:
    """A configuration and how it came to be."""

    config: Config
    overrides: list[str]
    """The words of the command line, as typed."""
    choices: dict[str, str]
    """Group -> chosen option."""
    sources: dict[str, str]
    """Group -> file of that option."""
    given: list[str] = field(default_factory=list)
    """Groups and dotted keys that the command line set."""


def compose(
    overrides: list[str], *, root: str = "train", cwd: Path | None = None, inherit: dict[str, Any] | None = None, rules: bool = True
) -> Composed:
    """Compose ``conf/<root>.yaml`` with the given words; raises ConfigError, one line, for anything that cannot be.

    inherit: a run's frozen configuration as a mapping; groups that ``overrides`` does not choose are taken from it.
    rules: also apply the cross-field rules of :mod:`rlvr_cli.config.checks` (training only).
    """
    cwd = cwd or Path.cwd()
    schema = ROOTS[root]
    picks, values = split(overrides, cwd, schema)
    tree, chosen = run_hydra(root, [p.input_line for p in picks], cwd)
    base = schema().model_dump(mode="json")
    if inherit:
        named = {p.key_or_group.split("@")[0] for p in picks}
        base.update({k: v for k, v in inherit.items() if k in base and k not in named})
        tree = {k: v for k, v in tree.items() if k in named or k not in inherit}
    before, plain = apply_values(base, tree, values, schema)
    origin = faults.Origin([o.input_line for o in values], chosen, cwd, root, before)
    config = faults.validated(schema, plain, origin)
    check_dataset_keys(config, origin)
    if rules and root == "train":
        checks.check(config)
    sources = {g: str(options(g, cwd)[o].path) for g, o in chosen.items() if o in options(g, cwd)}
    given = [p.key_or_group for p in picks] + [v.key_or_group for v in values]
    return Composed(config, list(overrides), chosen, sources, given)


def split(overrides: list[str], cwd: Path, schema: type[Config]) -> tuple[list[Any], list[Any]]:
    """Parse the words with Hydra's grammar; group choices apart from values. Options and keys are checked here."""
    known = groups(cwd)
    picks, values = [], []
    for override in parse(overrides, cwd):
        group = override.key_or_group.split("@")[0]
        if group in known and group not in schema.model_fields and group != "recipe":
            raise ConfigError(f"{group} is not part of this command", where=f"{COMMAND_LINE}: {override.input_line}")
        if group in known and not isinstance(override.value(), dict):
            check_option(override, group, cwd)
            picks.append(override)
        else:
            check_key(override, schema, known)
            values.append(override)
    return picks, values


def parse(overrides: list[str], cwd: Path) -> list[Any]:
    """Hydra's parser, one word at a time so that the error names the word."""
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import HydraException

    parser = OverridesParser.create()
    parsed = []
    for word in overrides:
        if word.startswith("-"):
            raise ConfigError(f"{word} is not a flag of this command", where=COMMAND_LINE, fix="rlvr train --help")
        if "=" not in word and not word.startswith("~"):
            raise faults.bare_word(word, cwd)
        try:
            override = parser.parse_override(word)
        except (HydraException, ValueError) as error:
            said = str(error).splitlines()[0]
            raise ConfigError(f"{word!r} can not be read: {said}", where=COMMAND_LINE, fix=quoted(word)) from error
        if override.is_sweep_override():
            raise ConfigError(f"{word} names several values", where=COMMAND_LINE, fix=f"rlvr train -m {word}")
        parsed.append(override)
    return parsed


def quoted(word: str) -> str:
    """The same word as the shell and Hydra both take it: ``'key="a, b"'``."""
    key, _, value = word.partition("=")
    value = value.replace("\\", "\\\\").replace('"', '\\"')
    return f"'{key}=\"{value}\"'"


def check_option(override: Any, group: str, cwd: Path) -> None:
    """A group's option must be a file; else the nearest one is named."""
    if override.is_delete():
        return
    names = options(group, cwd)
    chosen = override.value()
    for name in chosen if isinstance(chosen, list) else [chosen]:
        if name is None or str(name) in names:
            continue
        near = nearest(str(name), names)
        hint = f"{group}={near}" if near else f"rlvr ls {group}"
        if group == "reward" and "." in str(name):  # a function: it is a term, of the option's terms or alone
            term = str(name).rpartition(".")[2]
            hint = f"'reward.terms={{{term}: {{fn: {name}}}}}'"
        raise ConfigError(f"{group}={name} is not an option", where=COMMAND_LINE, fix=hint)


def check_key(override: Any, schema: type[Config], known: list[str]) -> None:
    """A value's key must be in the schema, or lie under a mapping that takes any name."""
    key = override.key_or_group
    if field_at(key, schema) is not None and not override.is_add():
        return
    if passes_through(key, schema) or (key.startswith("dataset.") and field_at(".".join(key.split(".")[:2]), schema) is None):
        return  # a generator's own keys, and entries of its mappings (dataset.mix.sql=0), are judged once the generator is known
    if override.is_add() and field_at(key, schema) is not None:
        return
    raise faults.unknown_key(key, override.input_line, schema, known)


def run_hydra(root: str, picks: list[str], cwd: Path) -> tuple[dict[str, Any], dict[str, str]]:
    """Compose the groups; returns the unresolved tree and the choice of each group."""
    import hydra.conf  # noqa: F401  registers Hydra's own settings
    from hydra._internal.config_search_path_impl import ConfigSearchPathImpl
    from hydra._internal.hydra import Hydra
    from hydra.core.global_hydra import GlobalHydra
    from hydra.core.plugins import Plugins
    from hydra.errors import HydraException
    from hydra.types import RunMode
    from hydra.version import setbase
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    paths = ConfigSearchPathImpl()
    paths.append("hydra", "pkg://hydra.conf")
    for folder in search_dirs(cwd):  # first wins: the user's ./conf stands before the shipped files
        paths.append("rlvr", folder.as_uri())
    paths.append("schema", "structured://")  # Hydra's own settings
    setbase("1.3")  # no behaviour of older releases, and none of their warnings
    Plugins.instance()  # registers the readers of pkg:// and file://
    GlobalHydra.instance().clear()
    try:
        loader = Hydra.create_main_hydra2("rlvr", paths)
        cfg = loader.compose_config(root, picks, run_mode=RunMode.RUN, from_shell=False, with_log_configuration=False)
    except (HydraException, OmegaConfBaseException, yaml.YAMLError) as error:
        raise ConfigError(" ".join(str(error).split()), where=faults.guilty_file(str(error), cwd)) from error
    finally:
        GlobalHydra.instance().clear()
    chosen = {g: o for g, o in OmegaConf.to_container(cfg.hydra.runtime.choices).items() if not g.startswith("hydra/") and o}
    tree = OmegaConf.to_container(cfg, resolve=False)
    tree.pop("hydra", None)
    return tree, chosen


def apply_values(base: dict[str, Any], tree: dict[str, Any], values: list[Any], schema: type[Config]) -> tuple[Any, Any]:
    """Lay the option files over the defaults, then the command line's values; returns the tree before those and after.

    Interpolations are resolved at the end.
    """
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    for group, content in tree.items():
        if content is None and isinstance(base.get(group), dict):
            tree[group] = {}
    cfg = OmegaConf.merge(OmegaConf.create(base), OmegaConf.create(tree))
    before = OmegaConf.to_container(cfg, resolve=False)
    for override in values:
        key = override.key_or_group
        if override.is_delete():
            delete(cfg, key)
        else:
            if OmegaConf.select(cfg, key, default=None) is None and not override.is_add():
                faults.check_entry(cfg, key, override.input_line, schema)
            OmegaConf.update(cfg, key, override.value(), merge=False, force_add=True)
    try:
        return before, OmegaConf.to_container(cfg, resolve=True)
    except OmegaConfBaseException as error:
        raise ConfigError(" ".join(str(error).split()), where=getattr(error, "full_key", None)) from error


def delete(cfg: Any, key: str) -> None:
    """``~reward.terms.format``: drop one entry, or name the entries there are."""
    from omegaconf import OmegaConf

    parent, _, name = key.rpartition(".")
    node = OmegaConf.select(cfg, parent) if parent else cfg
    if node is None or name not in node:
        near = nearest(name, [str(k) for k in node] if node is not None else [], cutoff=0.0)
        raise ConfigError(
            f"~{key}: there is no such entry", where=COMMAND_LINE, fix=f"~{parent}.{near}" if near else f"rlvr config {parent}"
        )
    del node[name]


def check_dataset_keys(config: Config, origin: faults.Origin) -> None:
    """Keys of ``dataset`` that the schema does not know must be the chosen generator's own."""
    from rlvr_cli.data.generate import generator_keys, takes_any_key

    data, extra = config.dataset, config.dataset.model_extra or {}
    if not extra or (data.generator and takes_any_key(data.generator)):
        return
    own = list(generator_keys(data.generator)) if data.generator else []
    for name in extra:
        if name in own:
            continue
        near = nearest(name, [*type(data).model_fields, *own])
        of = f" of the generator {data.generator}" if own else ""
        fix = f"dataset.{near}={extra[name]}" if near else "rlvr config dataset"
        if not data.generator and origin.of(f"dataset.{name}") != COMMAND_LINE:
            of, fix = ": it belongs to a generator, and dataset.generator is null", f"dataset=jsonl dataset.train={data.train or 'FILE'}"
        raise ConfigError(f"dataset.{name} is not a key{of}", where=origin.of(f"dataset.{name}"), fix=fix)


def frozen_text(config: Config) -> str:
    """A configuration as YAML, every field written."""
    return yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False, allow_unicode=True, width=120)


def write_frozen(config: Config, path: Path) -> None:
    """Write ``config.yaml`` whole or not at all, with secrets masked."""
    from rlvr_cli.masking import masked
    from rlvr_cli.run_dir import write_atomic

    write_atomic(path, yaml.safe_dump(masked(config.model_dump(mode="json")), sort_keys=False, allow_unicode=True, width=120))


def read_frozen(path: Path) -> Config:
    """Read a run's ``config.yaml``; no Hydra, so ranks can afford it."""
    try:
        data = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise ConfigError(f"{path} can not be read: {' '.join(str(error).split())}") from error
    if not isinstance(data, dict):
        raise ConfigError(f"{path} holds no configuration")
    return faults.validated(Config, data, faults.Origin([], {}, Path.cwd(), str(path)))
