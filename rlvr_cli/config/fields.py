"""What the schema says of a dotted key: its field, its kind in words, its range. Errors and ``rlvr ls KEY`` both read it.

>>> kind(field_at("trainer.max_steps"))
'a whole number of at least -1'
>>> kind(field_at("algorithm.loss_type")).startswith("one of grpo, bnpo")
True
"""

from __future__ import annotations

import types
import typing
from typing import Any, Literal

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from rlvr_cli.config.schema import Config

WORDS = {int: "a whole number", float: "a number", bool: "true or false", str: "text", list: "a list", dict: "a mapping"}


def arms(annotation: Any) -> list[Any]:
    """The members of a union without None; one annotation gives itself."""
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return [a for a in typing.get_args(annotation) if a is not type(None)]
    return [annotation]


def model_of(annotation: Any) -> type[BaseModel] | None:
    """The group class that an annotation holds, if it holds one."""
    return next((a for a in arms(annotation) if isinstance(a, type) and issubclass(a, BaseModel)), None)


def mapping_value(annotation: Any) -> Any | None:
    """The value type of ``dict[str, X]``; None for anything else."""
    found = next((a for a in arms(annotation) if typing.get_origin(a) is dict or a is dict), None)
    if found is None:
        return None
    args = typing.get_args(found)
    return args[1] if args else Any


def field_at(key: str, root: type[BaseModel] = Config) -> FieldInfo | None:
    """The field behind a dotted key; None where the schema has none, or where a free mapping swallows the rest."""
    model: type[BaseModel] | None = root
    field: FieldInfo | None = None
    skip_name = False
    for part in key.split("."):
        if skip_name:  # the name of an entry: reward.terms.NAME
            skip_name = False
            continue
        if model is None or part not in model.model_fields:
            return None
        field = model.model_fields[part]
        inner = mapping_value(field.annotation)
        model = model_of(field.annotation) or model_of(inner)
        skip_name = inner is not None and model is not None
    return field


def passes_through(key: str, root: type[BaseModel] = Config) -> bool:
    """Whether ``key`` may be added: it lies under a mapping that takes any name (``algorithm.extra.foo``, ``reward.terms.mine``)."""
    parts = key.split(".")
    for end in range(1, len(parts)):
        field = field_at(".".join(parts[:end]), root)
        if field is None:
            return False
        inner = mapping_value(field.annotation)
        if inner is None:
            continue
        if model_of(inner) is None:
            return True
        rest = parts[end + 1 :]  # an entry of a typed mapping: its own fields must exist
        return not rest or field_at(key, root) is not None or passes_through(".".join(rest), model_of(inner))
    return False


def all_keys(root: type[BaseModel] = Config, prefix: str = "") -> list[str]:
    """Every dotted key of the schema; entries of typed mappings are not listed, for they carry the user's own names."""
    keys = []
    for name, field in root.model_fields.items():
        model = model_of(field.annotation)
        keys += all_keys(model, f"{prefix}{name}.") if model else [prefix + name]
    return keys


def bounds(field: FieldInfo) -> str:
    """The range in words: ``of at least 1``, ``above 0 and at most 1``; empty where there is none."""
    words = {"ge": "at least", "gt": "above", "le": "at most", "lt": "below"}
    said = [f"{words[k]} {getattr(m, k):g}" for m in field.metadata for k in words if getattr(m, k, None) is not None]
    return " and ".join(said)


def kind(field: FieldInfo) -> str:
    """What a field takes, in words: ``a whole number of at least 1``, ``one of hf, vllm_server``."""
    said = []
    for arm in arms(field.annotation):
        if typing.get_origin(arm) is Literal:
            said.append("one of " + ", ".join(str(v) for v in typing.get_args(arm)))
        else:
            said.append(WORDS.get(typing.get_origin(arm) or arm, "a group"))
    text = " or ".join(said)
    limits = bounds(field)
    if limits:
        text += f" of {limits}" if limits.startswith("at") else f" {limits}"
    if type(None) in typing.get_args(field.annotation):
        text += ", or null"
    return text


def choices(field: FieldInfo) -> list[str]:
    """The values of a field that takes one of a few words."""
    return [str(v) for arm in arms(field.annotation) if typing.get_origin(arm) is Literal for v in typing.get_args(arm)]
