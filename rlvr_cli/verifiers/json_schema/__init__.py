"""JSON that keeps a schema: the last complete value of the answer, validated by the ``jsonschema`` library (draft 7 by default).

>>> row = {"schema": '{"type": "object", "required": ["age"], "properties": {"age": {"type": "integer", "minimum": 0}}}'}
>>> judge('Here it is: {"age": 41}', row)
Verdict(score=1.0, reason='valid', extracted='{"age": 41}')
>>> judge('{"age": -1}', row).reason
'at $.age: -1 is less than the minimum of 0'
>>> judge("I would say 41.", row).reason
'no JSON value found'

Nothing is ever fetched: a reference to another document is looked up in ``remotes`` (base URI -> folder) or the row could
not be judged. Patterns are JavaScript's (ECMA 262), translated to the ``regex`` library's syntax in :mod:`.ecma`.
"""

from __future__ import annotations

import json
from typing import Any

from referencing.exceptions import Unresolvable

from rlvr_cli.verifiers.json_schema.ecma import BadPattern
from rlvr_cli.verifiers.json_schema.extract import Found, last_value
from rlvr_cli.verifiers.json_schema.schema import Unreadable, read_schema, validator_of
from rlvr_cli.verifiers.verdict import Completion, Verdict, text_of

MISSING = object()


def judge(
    completion: Completion, row: dict[str, Any], *, partial: bool = False, formats: bool = False, remotes: dict[str, str] | None = None
) -> Verdict:
    """1.0 for a valid value, 0.0 for an invalid or no value; None when the schema itself is broken or out of reach.

    partial: an invalid value earns the share of the schema's top-level properties that are present and valid, below 1.
    formats: ``format`` is a condition, not an annotation. Row columns: ``schema``, and optionally ``values``, a mapping
    from path (``$.items[0].price``) to the value that must stand there.
    """
    try:
        schema, expected = read_schema(row.get("schema")), read_schema(row.get("values"), absent={})
        validator = validator_of(schema, formats=formats, remotes=remotes or {})
    except Unreadable as error:
        return Verdict(None, str(error))
    found = last_value(text_of(completion))
    if found is None:
        return Verdict(0.0, "no JSON value found")
    return _verdict(found, validator, schema, expected or {}, partial)


def _verdict(found: Found, validator: Any, schema: Any, expected: dict[str, Any], partial: bool) -> Verdict:
    try:
        errors = sorted(validator.iter_errors(found.value), key=lambda e: (len(e.absolute_path), str(e.absolute_path)))
    except Unresolvable as error:
        return Verdict(None, f"the schema refers to {error.ref}, which is not at hand", found.text)
    except RecursionError:
        return Verdict(None, "the schema refers to itself without end", found.text)
    except BadPattern as error:
        return Verdict(None, str(error), found.text)
    faults = [f"at {error.json_path}: {error.message[:200]}" for error in errors]
    faults += [f"at {path}: not {json.dumps(value)}" for path, value in expected.items() if not same(at(found.value, path), value)]
    if not faults:
        return Verdict(1.0, "valid", found.text)
    score = _share(errors, schema, found.value, len(faults)) if partial else 0.0
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    return Verdict(score, faults[0] + more, found.text)


def _share(errors: list[Any], schema: Any, value: Any, faults: int) -> float:
    """Share of the schema's properties that stand in the value without an error below them; never 1, for something is wrong."""
    properties = list(schema.get("properties") or {}) if isinstance(schema, dict) else []
    if not properties or not isinstance(value, dict):
        return 0.0
    bad = {error.absolute_path[0] for error in errors if error.absolute_path}
    good = sum(name in value and name not in bad for name in properties)
    return good / max(len(properties), good + faults)


def at(value: Any, path: str) -> Any:
    """The part of a value that ``$.a.b[0]`` names; a marker that equals nothing where there is none."""
    import re

    for name, index in re.findall(r"([^.\[\]$]+)|\[(\d+)\]", path):
        try:
            value = value[int(index)] if index else value[name]
        except (KeyError, IndexError, TypeError):
            return MISSING
    return value


def same(found: Any, expected: Any) -> bool:
    """Equal as JSON values: 1 is 1.0, but true is not 1."""
    if isinstance(found, bool) != isinstance(expected, bool):
        return False
    if isinstance(found, list) and isinstance(expected, list):
        return len(found) == len(expected) and all(map(same, found, expected))
    if isinstance(found, dict) and isinstance(expected, dict):
        return found.keys() == expected.keys() and all(same(found[k], expected[k]) for k in found)
    return found == expected


def warm_up() -> None:
    """Import the validators before a worker's first deadline runs: they take seconds on a busy machine."""
    judge('"a"', {"schema": {"type": "string", "pattern": "a"}})


def gold_completion(row: dict[str, Any]) -> str | None:
    """The row's ``answer`` when it holds JSON; None otherwise, for a schema does not say which value satisfies it."""
    answer = row.get("answer")
    if answer is None:
        return None
    text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
    return text if last_value(text) is not None else None
