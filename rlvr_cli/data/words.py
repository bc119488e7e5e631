"""The ``key=value`` words of ``rlvr data``: typed by the default of the key, the nearest name for one that does not exist.

>>> parse_words(["count=3", "operators=[+,*]"], {"count": 1, "operators": ["+"]}, command="generate")
{'count': 3, 'operators': ['+', '*']}
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from rlvr_cli.errors import ConfigError

WHERE = "command line"


def parse_words(words: Sequence[str], defaults: Mapping[str, Any], *, command: str, loose: bool = False) -> dict[str, Any]:
    """The defaults with the words laid over them. ``loose``: keys without a default are taken as they are.

    Raises ConfigError, one line, for a word that is no ``key=value``, an unknown key, or a value of the wrong type.
    """
    values = dict(defaults)
    for word in words:
        key, equals, text = word.lstrip("-").partition("=")
        if not equals or not key:
            raise ConfigError(f"{word!r} is not key=value", where=WHERE, fix=f"rlvr data {command} --help")
        if key not in defaults and not loose:
            raise _unknown(key, text, defaults, command)
        values[key] = _typed(key, value_of(text), defaults.get(key), command)
    return values


def _unknown(key: str, text: str, defaults: Mapping[str, Any], command: str) -> ConfigError:
    from rlvr_cli.config.nearest import nearest

    near = nearest(key, list(defaults))
    fix = f"{near}={text}" if near else f"rlvr data {command} --help"
    return ConfigError(f"{key} is not a key of rlvr data {command}; it has {', '.join(defaults)}", where=WHERE, fix=fix)


def value_of(text: str) -> Any:
    """A word's value: YAML, with bare operators in a list allowed (``[+,-,*]`` is no YAML).

    >>> value_of("0.5"), value_of("null"), value_of("a.jsonl"), value_of("[+,-,*,//]"), value_of("{sql:1}")
    (0.5, None, 'a.jsonl', ['+', '-', '*', '//'], {'sql': 1})
    """
    if re.fullmatch(r"\[\s*[^\[\]{}\"']*\]", text):
        return [value_of(part.strip()) for part in text[1:-1].split(",") if part.strip()]
    if text.startswith("{"):
        text = re.sub(r"(?<=[\w}])\s*:\s*(?=[^\s/])", ": ", text)
    try:
        return text if text in ("-", "+", "*", "//", "/") else yaml.safe_load(text)
    except yaml.YAMLError:
        return text


def _typed(key: str, value: Any, default: Any, command: str) -> Any:
    """``value``, or a ConfigError where the default shows that it must be of another type."""
    if default is None or value is None:
        return value
    if isinstance(default, (list, tuple)):
        return value if isinstance(value, list) else [value]
    if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if isinstance(default, str):
        return value if isinstance(value, str) else str(value)
    if isinstance(default, Mapping) == isinstance(value, Mapping) and type(value) is type(default):
        return value
    kind = {bool: "true or false", int: "a whole number", float: "a number"}.get(type(default), type(default).__name__)
    raise ConfigError(
        f"{key}={value!r} is not {kind}", where=WHERE, fix=f"{key}={str(default).lower() if isinstance(default, bool) else default}"
    )
