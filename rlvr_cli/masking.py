"""What looks like a secret, and its mask: a run's folder is read by others, so neither a token nor a password is written there.

>>> masked({"api_key": "abc", "eos_token": "</s>", "note": "see hf_abcdefghijklmnopqrstuv"})
{'api_key': '***', 'eos_token': '</s>', 'note': 'see ***'}
"""

from __future__ import annotations

import re
from typing import Any

SECRET_NAME = re.compile(r"(?i)(^|[_-])(token|secret|password|passwd|api_?key|access_?key|credentials?)$")
TEXT_TOKEN = re.compile(r"(?i)^(eos|bos|pad|unk|sep|cls|mask|image|video)_token$")
SECRET_VALUE = re.compile(r"\b(hf_[A-Za-z0-9]{16,}|sk-[A-Za-z0-9_-]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|AKIA[A-Z0-9]{12,}|xox[abp]-[\w-]{10,})")
MASK = "***"


def is_secret_name(name: str) -> bool:
    """Whether a key's name says that its value is a secret."""
    return bool(SECRET_NAME.search(name)) and not TEXT_TOKEN.match(name)


def masked(data: Any, name: str = "") -> Any:
    """The same data with secrets replaced by ``***``: by the key's name, or by the look of the value."""
    if isinstance(data, dict):
        return {k: masked(v, str(k)) for k, v in data.items()}
    if isinstance(data, list):
        return [masked(v, name) for v in data]
    if isinstance(data, str) and data and is_secret_name(name):
        return MASK
    return SECRET_VALUE.sub(MASK, data) if isinstance(data, str) else data


def masked_word(word: str) -> str:
    """One word of a command line, ``key=value``, with a secret value masked."""
    key, mark, value = word.partition("=")
    hide = mark and (is_secret_name(key.split(".")[-1]) or SECRET_VALUE.search(value))
    return f"{key}={MASK}" if hide else word
