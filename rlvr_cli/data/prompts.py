"""Questions to chat messages: the template, the system prompt, and the limit on length.

>>> to_messages({"prompt": "1+1=?", "expression": "1+1"}, template="What is {expression}?", system="Be brief.")
[{'role': 'system', 'content': 'Be brief.'}, {'role': 'user', 'content': 'What is 1+1?'}]
>>> fill("{question}\\n{choices}", {"question": "Which?", "choices": ["red", "blue"]})
'Which?\\nA) red\\nB) blue'
"""

from __future__ import annotations

import json
import string
from collections.abc import Callable
from typing import Any

from rlvr_cli.data.columns import MISSING, look_up, nearest
from rlvr_cli.errors import DataError

Row = dict[str, Any]
Message = dict[str, str]
LETTERS = string.ascii_uppercase


def to_messages(row: Row, *, template: str | None = None, system: str | None = None) -> list[Message]:
    """A row's prompt as chat messages; a prompt that is messages already (or their JSON text) is kept.

    The system prompt goes first, unless the row brings its own.
    """
    messages = _messages_of(row["prompt"])
    if messages is None or template:
        messages = [{"role": "user", "content": fill(template, row) if template else _as_text(row["prompt"])}]
    if system and messages[0].get("role") != "system":
        messages = [{"role": "system", "content": system}, *messages]
    return messages


def _messages_of(prompt: Any) -> list[Message] | None:
    """Chat messages out of a prompt column, or None where it is a question."""
    if isinstance(prompt, str) and prompt.lstrip().startswith('[{"'):
        try:
            prompt = json.loads(prompt)
        except ValueError:
            return None
    is_chat = isinstance(prompt, list) and prompt and all(isinstance(m, dict) and "role" in m and "content" in m for m in prompt)
    return [{key: value for key, value in message.items() if value is not None} for message in prompt] if is_chat else None


def fill(template: str, row: Row) -> str:
    """A template over a row's columns. Only names of columns are looked up, never attributes; a list becomes lettered options."""
    parts = []
    for literal, field, spec, _ in pieces_of(template):
        parts.append(literal)
        if field is not None:
            parts.append(_formatted(_field(row, field), field, spec or ""))
    return "".join(parts)


def _formatted(text: str, field: str, spec: str) -> str:
    try:
        return format(text, spec)
    except ValueError as error:
        raise DataError(f"the prompt template's {{{field}:{spec}}} does not fit text: {error}", where="dataset.prompt_template") from error


def pieces_of(template: str) -> list[tuple[str, str | None, str | None, str | None]]:
    """A format string taken apart; a wrong one is one line."""
    try:
        return list(string.Formatter().parse(template))
    except ValueError as error:
        raise DataError(f"the prompt template is not a format string: {error}", where="dataset.prompt_template") from error


def asked_of(template: str, row: Row) -> str:
    """What a template takes out of a row, without its own words: another wording of the same question is the same prompt.

    >>> asked_of("{q} Think.", {"q": "1+1?"}) == asked_of("Say: {q}", {"q": "1+1?"}) == "1+1?"
    True
    """
    fields = dict.fromkeys(field for _, field, _, _ in pieces_of(template) if field)
    return "\n".join(_field(row, field) for field in fields)


def _field(row: Row, field: str) -> str:
    value = look_up(row, field)
    if value is MISSING:
        names = list(row)
        raise DataError(f"the prompt template names {{{field}}}; the row has {', '.join(names)}",
                        where="dataset.prompt_template", fix=f"{{{nearest(field, names)}}}")  # fmt: skip
    return _as_text(value)


def _as_text(value: Any) -> str:
    if isinstance(value, list) and len(value) <= len(LETTERS) and all(isinstance(v, (str, int, float)) for v in value):
        return "\n".join(f"{letter}) {option}" for letter, option in zip(LETTERS, value, strict=False))
    if isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=False)
    return "" if value is None else str(value)


def question_of(row: Row) -> str:
    """The last user turn of a loaded row: what a person would call the question."""
    prompt = row["prompt"]
    if isinstance(prompt, str):
        return prompt
    return next((str(m["content"]) for m in reversed(prompt) if m.get("role") == "user"), "")


def drop_long(rows: list[Row], count_tokens: Callable[[list[Message]], int], limit: int) -> tuple[list[Row], list[str]]:
    """Rows whose prompt has at most ``limit`` tokens, and one sentence for each that has more.

    >>> rows = [{"prompt": "a" * n, "row_id": f"r{n}"} for n in (3, 9)]
    >>> kept, said = drop_long(rows, len, 5)
    >>> len(kept), said
    (1, ['row r9: the prompt has 9 tokens, more than 5'])
    """
    kept, said = [], []
    for row in rows:
        if (tokens := count_tokens(row["prompt"])) <= limit:
            kept.append(row)
        else:
            said.append(f"row {row.get('row_id', '?')}: the prompt has {tokens} tokens, more than {limit}")
    return kept, said
