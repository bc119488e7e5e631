"""A row's schema, as text or object, to a validator that never touches the network.

An object column that went through ``datasets`` comes back with every key of every row, the absent ones None. Such a
schema is recognised by a None where none can stand (``"type": None``) and cleaned; a lone ``"const": None`` is kept.
"""

from __future__ import annotations

import json
import math
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag

# Imported here, not in the functions: a worker imports a judge before its first deadline starts.
from jsonschema import Draft7Validator, FormatChecker, SchemaError, ValidationError, validators
from referencing import Registry, Resource
from referencing.exceptions import NoSuchResource, Unresolvable
from referencing.jsonschema import DRAFT7

from rlvr_cli.verifiers.json_schema.ecma import matches
from rlvr_cli.verifiers.json_schema.formats import checker_of

NONE_MAY_STAND = {"const", "default", "examples", "enum"}
MAPS_OF_SCHEMAS = {"properties", "patternProperties", "definitions", "$defs", "dependencies", "dependentSchemas"}


class Unreadable(Exception):
    """The schema, and so the task, is broken."""


def read_schema(column: Any, absent: Any = None) -> Any:
    """The column as JSON: text is parsed, an object cleaned of what ``datasets`` put in. Raises Unreadable."""
    if column is None:
        if absent is None:
            raise Unreadable("the row has no schema")
        return absent
    if not isinstance(column, str):
        return without_none(column) if round_tripped(column) else column
    try:
        return json.loads(column)
    except ValueError as error:
        raise Unreadable(f"the schema is not JSON: {error}") from error


def round_tripped(schema: Any, free: bool = False) -> bool:
    """Whether a None stands where no schema can have one. ``free``: the keys here are names, not keywords."""
    if isinstance(schema, list):
        return any(round_tripped(item) for item in schema)
    if not isinstance(schema, dict):
        return False
    for key, value in schema.items():
        if value is None and (free or key not in NONE_MAY_STAND):
            return True
        if (free or key not in NONE_MAY_STAND) and round_tripped(value, free=not free and key in MAPS_OF_SCHEMAS):
            return True
    return False


def without_none(value: Any) -> Any:
    """The same without keys whose value is None."""
    if isinstance(value, dict):
        return {key: without_none(item) for key, item in value.items() if item is not None}
    return [without_none(item) for item in value] if isinstance(value, list) else value


def validator_of(schema: Any, *, formats: bool, remotes: dict[str, str]) -> Any:
    """A jsonschema validator for the dialect that ``$schema`` names, draft 7 otherwise. Raises Unreadable."""
    return _validator(json.dumps(schema, sort_keys=True), formats, tuple(sorted(remotes.items())))


@lru_cache(maxsize=1024)
def _validator(text: str, formats: bool, remotes: tuple[tuple[str, str], ...]) -> Any:

    schema = json.loads(text)
    base = validators.validator_for(schema, default=Draft7Validator)
    kind = validators.extend(base, {"pattern": _pattern, "patternProperties": _pattern_properties, "multipleOf": _multiple_of})
    kind = _with_ecma_properties(kind, base)
    try:
        # no format checks here: patterns are JavaScript's, and the library would try them as Python's
        base.check_schema(schema, format_checker=FormatChecker(formats=()))
    except SchemaError as error:
        raise Unreadable(f"the schema is not legal: {error.message[:200]}") from error
    except (Unresolvable, RecursionError) as error:
        raise Unreadable(f"the schema can not be read: {type(error).__name__}") from error
    if formats:
        kind = validators.extend(kind, {"contentMediaType": _content, "contentEncoding": _content})
    return kind(schema, registry=_registry(dict(remotes)), format_checker=checker_of(base.FORMAT_CHECKER) if formats else None)


def _with_ecma_properties(kind: Any, base: Any) -> Any:
    """``additionalProperties`` asks ``patternProperties`` too; the library's own version would ask Python's regular expressions."""

    original = base.VALIDATORS["additionalProperties"]

    def additional(validator, extra, instance, schema):
        patterns = schema.get("patternProperties") or {}
        if not patterns or not validator.is_type(instance, "object"):
            yield from original(validator, extra, instance, schema)
            return
        names = [n for n in instance if n not in (schema.get("properties") or {}) and not any(matches(p, n) for p in patterns)]
        rest = {name: instance[name] for name in names}
        yield from original(validator, extra, rest, {})

    return validators.extend(kind, {"additionalProperties": additional})


def _pattern(validator, pattern, instance, schema):

    if validator.is_type(instance, "string") and not matches(pattern, instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _pattern_properties(validator, patterns, instance, schema):
    if validator.is_type(instance, "object"):
        for pattern, subschema in patterns.items():
            for name in [n for n in instance if matches(pattern, n)]:
                yield from validator.descend(instance[name], subschema, path=name, schema_path=pattern)


def _multiple_of(validator, divisor, instance, schema):
    """By the decimals that were written: 19.99 is a multiple of 0.01, although the library's division of floats says no."""
    if not validator.is_type(instance, "number"):
        return
    finite = math.isfinite(instance) and math.isfinite(divisor)
    if not finite or Fraction(str(instance)) % Fraction(str(divisor)):
        yield ValidationError(f"{instance!r} is not a multiple of {divisor!r}")


def _content(validator, _, instance, schema):
    """``contentEncoding`` base64 and ``contentMediaType`` application/json, decoded in that order."""
    import base64
    import binascii

    if not validator.is_type(instance, "string"):
        return
    try:
        body = base64.b64decode(instance, validate=True) if schema.get("contentEncoding") == "base64" else instance
        if schema.get("contentMediaType") == "application/json":
            json.loads(body)
    except (binascii.Error, ValueError) as error:
        yield ValidationError(f"{instance[:60]!r} is not what it says to hold: {error}")


def _registry(remotes: dict[str, str]) -> Any:
    """Documents of local folders under their base URIs; everything else is unresolvable, never fetched."""

    def retrieve(uri: str) -> Resource:
        for base, folder in remotes.items():
            path = (Path(folder) / urldefrag(uri)[0].removeprefix(base).lstrip("/")).resolve()
            if uri.startswith(base) and path.is_relative_to(Path(folder).resolve()) and path.is_file():
                return Resource.from_contents(json.loads(path.read_text(encoding="utf-8")), default_specification=DRAFT7)
        raise NoSuchResource(ref=uri)

    return Registry(retrieve=retrieve)
