"""A character-level tokenizer with a chat template: one token a printable character, one a tag, one a role.

Sums are learnt digit by digit, so digits must be tokens. Tags are ordinary tokens, not special ones: decoding with
``skip_special_tokens=True``, as trainers do, must keep them for the verifier to see.

>>> tokenizer = character_tokenizer()
>>> ids = tokenizer.apply_chat_template([{"role": "user", "content": "1+2"}], add_generation_prompt=True, tokenize=False)
>>> ids
'<|user|>1+2<|end|><|assistant|>'
>>> tokenizer.decode(tokenizer("<answer>3</answer><|end|>")["input_ids"], skip_special_tokens=True)
'<answer>3</answer>'
"""

from __future__ import annotations

import string
from typing import Any

SPECIAL = ("<|pad|>", "<|end|>", "<|unknown|>", "<|system|>", "<|user|>", "<|assistant|>")
TAGS = ("<think>", "</think>", "<answer>", "</answer>")
CHARACTERS = tuple(string.digits + string.ascii_letters + string.punctuation + " \n" + "×÷−")

TEMPLATE = (
    "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def character_tokenizer() -> Any:
    """A fast tokenizer over :data:`CHARACTERS`, the tags and the roles; unseen characters become ``<|unknown|>``."""
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    vocabulary = {token: i for i, token in enumerate(SPECIAL + TAGS + CHARACTERS)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<|unknown|>"))
    whole = "|".join(token.replace("|", r"\|") for token in SPECIAL + TAGS)
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(f"{whole}|[\\s\\S]"), "isolated")
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
