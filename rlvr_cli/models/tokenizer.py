"""A character-level tokenizer with a chat template: one token a printable character, one a tag, one a role.

Sums are learnt digit by digit, so digits must be tokens. Tags are ordinary tokens, not special ones: decoding with
``skip_special_tokens=True``, as trainers do, must keep them for the verifier to see.

>>> tokenizer = character_tokenizer()
>>> ids = tokenizer.apply_chat_template([{"role": "user", "content": "1+2"}], add_generation_prompt=True, tokenize=False)
>>> ids
'<|user|>1+2<|end|><|assistant|>'
>>> tokenizer.decode(tokenizer("<answer>3</answer><|end|>")["input_ids"], skip_special_tokens=True)
'<answer>3</answer>'

With ``tools`` it can also write and read a call, in a dozen tokens: ``<call>calculate expression=47*38</call>``.

Texts with words read quicker by the word: :func:`word_tokenizer` adds the words of a task's own texts, and its Chinese characters.

>>> tokenizer = word_tokenizer(["Mia has 12 apples.", "小明有3个"])
>>> tokenizer.tokenize("Mia has 3个")
['Mia', ' has', ' ', '3', '个']
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable
from typing import Any

SPECIAL = ("<|pad|>", "<|end|>", "<|unknown|>", "<|system|>", "<|user|>", "<|assistant|>")
TAGS = ("<think>", "</think>", "<answer>", "</answer>")
CHARACTERS = tuple(string.digits + string.ascii_letters + string.punctuation + " \n" + "×÷−")

TEMPLATE = (
    "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)

# A turn that calls, the tool's turn, and the names of the tools where some are given.
TOOL_TOKENS = ("<|tool|>", "<call>", "</call>", "calculate", "expression")
TOOL_TEMPLATE = (
    "{% if tools %}<|system|>{% for tool in tools %}{{ tool['function']['name'] }} {% endfor %}<|end|>{% endif %}"
    "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}"
    "{% for call in message['tool_calls'] or [] %}<call>{{ call['function']['name'] }}"
    "{% for name, value in call['function']['arguments'].items() %} {{ name }}={{ value }}{% endfor %}</call>{% endfor %}"
    "<|end|>{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
CALLS = {
    "defaults": {"role": "assistant"},
    "start_anchor": "<|assistant|>",
    "fields": {
        "tool_calls": {
            "open_pattern": r"<call>(?P<name>\w+) ?",
            "close": "</call>",
            "repeats": True,
            "content": "xml-inline",
            "content_args": {"tag_pattern": r"(?P<key>\w+)=(?P<value>[^ ]*)"},
            "transform": {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}},
        },
        "content": {"close": "<|end|>", "content": "text"},
    },
}

PIECE = r"```| ?[A-Za-z_]+|\n +|[\s\S]"  # a fence, a word with the space before it, an indent, or one character

NUMBER = r"\d+(?:\.\d+)?|"


def character_tokenizer(*, tools: bool = False) -> Any:
    """A fast tokenizer over :data:`CHARACTERS`, the tags and the roles; unseen characters become ``<|unknown|>``.

    ``tools`` adds the tokens and the template of tool calls, and how to read one (``response_template``).
    """
    if not tools:
        return _tokenizer(SPECIAL + TAGS + CHARACTERS, "[\\s\\S]")
    piece = "|".join(token.replace("|", r"\|") for token in TOOL_TOKENS)
    tokenizer = _tokenizer(SPECIAL + TAGS + CHARACTERS + TOOL_TOKENS, f"{piece}|[\\s\\S]")
    tokenizer.chat_template, tokenizer.response_template = TOOL_TEMPLATE, CALLS
    return tokenizer


def word_tokenizer(texts: Iterable[str], *, whole_numbers: bool = False) -> Any:
    """The same with every word and character of ``texts`` as a token of its own; a word not among them becomes ``<|unknown|>``.

    ``whole_numbers`` makes each number a token as well: copied in one go and calculated with by heart, as in a table.
    """
    piece = NUMBER + PIECE if whole_numbers else PIECE
    pieces = {found for text in texts for found in re.findall(piece, text)}
    return _tokenizer(SPECIAL + TAGS + CHARACTERS + tuple(sorted(pieces - set(CHARACTERS))), piece)


def _tokenizer(tokens: tuple[str, ...], piece: str) -> Any:
    """A token each; text is cut at the special tokens and tags, then by the pattern ``piece``."""
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    vocabulary = {token: i for i, token in enumerate(tokens)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<|unknown|>"))
    whole = "|".join(token.replace("|", r"\|") for token in SPECIAL + TAGS)
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(f"{whole}|{piece}"), "isolated")
    tokenizer.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<|pad|>",
        eos_token="<|end|>",
        unk_token="<|unknown|>",
        padding_side="left",
        clean_up_tokenization_spaces=False,
        chat_template=TEMPLATE,
    )
