"""Faults of a configuration as one line each: what is wrong in the field's words, where it was set, what to type.

pydantic finds them, this module says them::

    trainer.max_steps must be a whole number of at least -1, not 'abc' (set in: command line). Type: trainer.max_steps=200
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError
from pydantic.fields import FieldInfo

from rlvr_cli.config.fields import all_keys, arms, choices, field_at, kind, mapping_value, model_of, passes_through
from rlvr_cli.config.nearest import nearest, nearest_key
from rlvr_cli.config.options import groups, options, search_dirs
from rlvr_cli.config.schema import Config
from rlvr_cli.errors import ConfigError


@dataclass(frozen=True)
class Origin:
    """Knows where a key was set: the command line, or the option file that says it."""

    words: list[str]
    chosen: dict[str, str]
    cwd: Path
    root: str
    before: dict[str, Any] = field(default_factory=dict)
    """The configuration before the command line's values: what is proposed instead of a bad one."""

    def value_before(self, key: str) -> Any:
        """What ``key`` was before the command line, or None."""
        node: Any = self.before
        for part in key.split("."):
            node = node.get(part) if isinstance(node, dict) else None
        return node

    def of(self, key: str) -> str:
        """``command line``, or the path of the file that sets ``key``."""
        for word in self.words:
            own = word.lstrip("+~").partition("=")[0]
            if key == own or key.startswith(own + ".") or own.startswith(key + "."):
                return "command line"
        for group, name in reversed(list(self.chosen.items())):
            option = options(group, self.cwd).get(name)
            if option and sets(option.path, group, key):
                return shown(option.path, self.cwd)
        return self.root if self.root.endswith(".yaml") else f"{self.root}.yaml"


def shown(path: Path, cwd: Path) -> str:
    """A path as a person would type it from here."""
    return str(path.relative_to(cwd)) if path.is_relative_to(cwd) else str(path)


def sets(path: Path, group: str, key: str) -> bool:
    """Whether an option file writes ``key`` (dotted, from the root)."""
    text = path.read_text(encoding="utf-8")
    whole = text.lstrip().startswith("# @package _global_")
    parts = key.split(".") if whole else key.removeprefix(group.replace("/", ".") + ".").split(".")
    if not whole and not key.startswith(group):
        return False
    node: Any = yaml.safe_load(text)
    for part in parts:
        if not isinstance(node, dict) or part not in node:
            return False
        node = node[part]
    return True


def guilty_file(message: str, cwd: Path) -> str | None:
    """The option file that a message is about: by its path, else as Hydra writes it, ``'group/name'``."""
    files = [(folder, path) for folder in search_dirs(cwd) for path in sorted(folder.rglob("*.yaml"))]
    for folder, path in files:
        if str(path) in message or f"'{path.relative_to(folder).with_suffix('').as_posix()}'" in message:
            return shown(path, cwd)
    return None


def unknown_key(key: str, word: str, schema: type[Config], known: list[str]) -> ConfigError:
    """A key that is in no group: name the nearest key, or the group that was meant."""
    value = word.partition("=")[2]
    group = nearest(key, known, cutoff=0.75) if "." not in key else None
    if group:
        fix = f"{group}={value}" if value in options(group) else f"{group}=OPTION (rlvr ls {group})"
    else:
        near = mended(key, schema) or nearest_key(key, all_keys(schema) + entry_keys(key, schema))
        head = key.split(".")[0]
        fix = f"rlvr config {head}" if head in schema.model_fields else "rlvr ls"
        fix = f"{near}=OPTION (rlvr ls {near})" if near in known else f"{near}={value}" if near else fix
    what = f"+{key} adds a key that nothing reads" if word.startswith("+") else f"{key} is not a key"
    return ConfigError(what, where="command line", fix=fix)


def mended(key: str, schema: type[Config]) -> str | None:
    """The whole key with one part of its way put right, where that is a key: ``algorithm.extr.foo`` -> ``algorithm.extra.foo``.

    The last part is not touched: what a key is called may be remembered from elsewhere, and :func:`nearest_key` knows more of that.
    """
    parts = key.split(".")
    for at, part in enumerate(parts[:-1]):
        siblings = level(".".join(parts[:at]), schema)
        near = nearest(part, siblings, cutoff=0.6) if siblings and part not in siblings else None
        whole = ".".join([*parts[:at], near or part, *parts[at + 1 :]])
        if near and (field_at(whole, schema) is not None or passes_through(whole, schema)):
            return whole
    return None


def level(head: str, schema: type[Config]) -> list[str]:
    """The names that may follow ``head``; none where a mapping takes any name."""
    if not head:
        return list(schema.model_fields)
    field = field_at(head, schema)
    if field is None:
        return []
    is_entry = field is field_at(head.rpartition(".")[0], schema)  # the name of an entry has the field of its mapping
    model = model_of(mapping_value(field.annotation)) if is_entry else model_of(field.annotation)
    return list(model.model_fields) if model is not None else []


def entry_keys(key: str, schema: type[Config]) -> list[str]:
    """The keys of an entry of a typed mapping that ``key`` walks through: ``reward.terms.NAME.weight`` and its siblings."""
    parts = key.split(".")
    for end in range(1, len(parts) - 1):
        mapping = field_at(".".join(parts[:end]), schema)
        entry = model_of(mapping_value(mapping.annotation)) if mapping is not None and mapping_value(mapping.annotation) else None
        if entry is not None:
            return [f"{'.'.join(parts[: end + 1])}.{name}" for name in entry.model_fields]
    return []


def bare_word(word: str, cwd: Path) -> ConfigError:
    """A word without ``=``: the option of that name in the group where a person most likely meant it."""
    order = ["recipe", "model", "dataset", "reward", "algorithm", *groups(cwd)]
    group = next((g for g in order if word in options(g, cwd)), None)
    return ConfigError(
        f"{word!r} is neither group=option nor key=value", where="command line", fix=f"{group}={word}" if group else f"{word}=VALUE"
    )


def check_entry(cfg: Any, key: str, word: str, schema: type[Config]) -> None:
    """A value for an entry of a typed mapping (``reward.terms.NAME.weight``) needs that entry to be there."""
    from omegaconf import OmegaConf

    parts = key.split(".")
    for end in range(1, len(parts) - 1):
        parent, child = ".".join(parts[:end]), parts[end]
        node = OmegaConf.select(cfg, parent)
        if parent == "reward.terms" and node is not None and child not in node:
            near = nearest(child, list(node), cutoff=0.0)
            rest = ".".join(parts[end + 1 :])
            value = word.partition("=")[2]
            fix = f"{parent}.{near}.{rest}={value}" if near else f"+{word}"
            raise ConfigError(f"{parent} has no term {child!r}", where="command line", fix=fix)


def validated(schema: type[Config], data: dict[str, Any], origin: Origin) -> Config:
    """The typed configuration, or a ConfigError that says the first fault and counts the others."""
    try:
        return schema.model_validate(data)
    except ValidationError as error:
        first, *others = error.errors(include_url=False)
        said = said_fault(first, schema, origin)
        keys = {dotted(e["loc"], schema) for e in others} - {dotted(first["loc"], schema)}
        if keys:
            said.what += f" (and {len(keys)} more: {', '.join(sorted(keys))})"
        raise said from error


def dotted(loc: tuple[Any, ...], schema: type[Config]) -> str:
    """The key of a fault; the arms of unions that pydantic appends are dropped."""
    parts = [str(p) for p in loc]
    while len(parts) > 1 and field_at(".".join(parts), schema) is None and field_at(".".join(parts[:-1]), schema) is not None:
        parts.pop()
    return ".".join(parts)


def said_fault(fault: dict[str, Any], schema: type[Config], origin: Origin) -> ConfigError:
    """One pydantic fault in a person's words."""
    if fault["type"] == "extra_forbidden":
        return said_extra(".".join(map(str, fault["loc"])), fault["input"], schema, origin)
    key = dotted(fault["loc"], schema)
    field, value = field_at(key, schema), fault["input"]
    if fault["type"] == "missing":
        return ConfigError(f"{key} is missing", where=origin.of(key.rpartition(".")[0]), fix=f"{key}=VALUE")
    if field is None:
        return ConfigError(f"{key}: {fault['msg']}, not {value!r}", where=origin.of(key))
    fix = proposal(field, value, origin.value_before(key))
    fix = f"{key}={fix}" if fix is not None else f"rlvr ls {key}"
    return ConfigError(f"{key} must be {kind(field)}, not {value!r}", where=origin.of(key), fix=fix)


def proposal(field: FieldInfo, value: Any, before: Any) -> str | None:
    """A legal value near the bad one: the most alike word, the nearest number, else what it was, else the default.

    A switch is named because somebody wants it changed, so a word that is like neither of its states gets the other one.
    """
    legal = choices(field)
    if arms(field.annotation) == [bool]:
        state = before if isinstance(before, bool) else bool(field.get_default(call_default_factory=True))
        return nearest(str(value), ["true", "false"]) or str(not state).lower()
    numbers = [int(c) for c in legal if c.lstrip("-").isdigit()]
    if isinstance(value, (int, float)) and not isinstance(value, bool) and numbers:
        return str(min(numbers, key=lambda n: abs(n - value)))
    near = nearest(str(value), legal) if legal else None
    if near is not None:
        return near
    for candidate in (before, field.get_default(call_default_factory=True), *legal):
        if isinstance(candidate, bool):
            return str(candidate).lower()
        if isinstance(candidate, (int, float, str)) and candidate != "" and candidate != value:
            return str(candidate)
    return None


def said_extra(key: str, value: Any, schema: type[Config], origin: Origin) -> ConfigError:
    """A key in a file that the schema does not know."""
    near = nearest_key(key, all_keys(schema))
    head = key.split(".")[0]
    if "." not in key and near is None:
        near = nearest(key, [*schema.model_fields, *groups(origin.cwd)])
    return ConfigError(f"{key} is not a key", where=origin.of(key), fix=f"{near}={value}" if near else f"rlvr config {head}")
