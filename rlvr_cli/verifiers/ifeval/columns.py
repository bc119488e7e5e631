"""A row's instructions, from whatever a data set made of them: text, objects, missing keys turned into None, 3 into 3.0.

>>> instructions_of({"instruction_id_list": '["startend:end_checker"]', "kwargs": [{"end_phrase": "Bye.", "num_words": None}]})
[('startend:end_checker', {'end_phrase': 'Bye.'})]
>>> instructions_of({"instruction_id_list": ["keywords:existence"], "kwargs": [{}]})
Traceback (most recent call last):
...
rlvr_cli.verifiers.ifeval.columns.Unreadable: keywords:existence needs keywords, and the row has none
"""

from __future__ import annotations

import json
from typing import Any

from rlvr_cli.verifiers.ifeval.languages import KNOWN, plain_code
from rlvr_cli.verifiers.ifeval.table import CHECKS


class Unreadable(ValueError):
    """The row, not the answer, is at fault."""


def instructions_of(row: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """``(instruction, its parameters)`` in order. Raises Unreadable where the row does not say what is asked."""
    names, given = _plain(row.get("instruction_id_list")), _plain(row.get("kwargs"))
    if isinstance(names, str):  # one instruction, not wrapped in a list
        names, given = [names], given if isinstance(given, list) else [given]
    if isinstance(given, dict):  # lists of a column a parameter, as older versions of datasets store a list of objects
        given = _turned(given, len(names or ()))
    if not isinstance(names, list) or not names:
        raise Unreadable("the row names no instruction")
    given = [{}] * len(names) if given is None else given
    if not isinstance(given, list) or len(given) != len(names):
        raise Unreadable(f"the row has {len(names)} instructions and {len(given) if isinstance(given, list) else 'no'} kwargs")
    return [(name, _parameters(name, _plain(own))) for name, own in zip(names, given, strict=True)]


def _plain(value: Any) -> Any:
    """JSON text and arrays as Python's own lists and dictionaries; other text as it is."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{", "n"):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _turned(columns: dict[str, Any], n: int) -> list[dict[str, Any]]:
    """``{"a": [1, None]}`` as ``[{"a": 1}, {"a": None}]``; one object for one instruction stays one object."""
    lists = {key: values for key, values in columns.items() if isinstance(values, list) and len(values) == n}
    if n == 1 and not (lists and len(lists) == len(columns)):
        return [columns]
    return [{key: values[i] for key, values in lists.items()} for i in range(n)]


def _parameters(name: Any, given: Any) -> dict[str, Any]:
    if name not in CHECKS:
        raise Unreadable(f"no check for the instruction {name!r}")
    if given is not None and not isinstance(given, dict):
        raise Unreadable(f"the kwargs of {name} are no object: {given!r:.60}")
    own = {}
    for key, kind in CHECKS[name].parameters.items():
        value = (given or {}).get(key)
        if value is None:
            raise Unreadable(f"{name} needs {key}, and the row has none")
        own[key] = _as(kind, value, f"{name}: {key}")
    return own


def _as(kind: str, value: Any, place: str) -> Any:
    """The value as its kind: a count, a relation, words, a language, one text."""
    value = value.tolist() if hasattr(value, "tolist") else value
    if kind == "count":
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value == value and value >= 0 and value == int(value):
            return int(value)
    elif kind == "words":
        words = [value] if isinstance(value, str) else value
        if isinstance(words, (list, tuple)) and words and all(isinstance(word, str) and word.strip() for word in words):
            return list(words)
    elif kind == "language":
        if isinstance(value, str) and plain_code(value) in KNOWN:
            return plain_code(value)
    elif kind == "relation":
        if value in ("at least", "less than"):
            return value
    elif isinstance(value, str) and value.strip():
        return value
    raise Unreadable(f"{place} is {value!r:.60}, which is no {kind} known here")
