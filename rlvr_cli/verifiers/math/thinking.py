"""What of a completion the reader is meant to see: not its thinking, not another speaker's turn, not a copy of the question.

>>> visible("<think>maybe 12</think>It is 13.<|im_end|>")
'It is 13.'
>>> visible("<think>maybe 12") is None
True
"""

from __future__ import annotations

import re

from .unicode import plain

LONGEST = 400_000
"""Characters that are read, from the end: a final answer stands at the end, and a longer text is a loop."""

_NAMES = "think|thinking|thought|thoughts|reasoning|reason|scratchpad|analysis|reflection|seed:think|cot_budget_reflect"
_OPEN_CLOSE = re.compile(
    rf"<(/?)\s*(?:{_NAMES})\s*>|(?P<open>\[THINK\]|◁think▷|<\|begin_of_thought\|>)|(?P<close>\[/THINK\]|◁/think▷|<\|end_of_thought\|>)",
    re.I,
)
_TURN_END = re.compile(
    r"<\|(?:im_end|im_start|endoftext|eot_id|end_of_text|end|return|user|start_header_id)\|>|</s>|<end_of_turn>|<eos>|<｜end▁of▁sentence｜>"
)
_CHANNEL = re.compile(r"<\|channel\|>\s*(\w+)[^<]*<\|message\|>")
_NEXT_QUESTION = re.compile(r"\n[ \t]*(?:#{1,6}[ \t]*|\*\*)?(?:Question|Problem|Human|User|Q|问题|题目)\s*\d*\s*(?:\*\*)?\s*[:：]", re.I)


def visible(completion: str, prompt: str | None = None) -> str | None:
    """The text that may hold the answer, or None when thinking was never closed. ``prompt`` copies are taken out."""
    tail = completion[-LONGEST:]
    if len(tail) < len(completion) and completion.rfind("<think>") > completion.rfind("</think>"):
        return None
    text = _outside_thinking(plain(tail))
    if text is None:
        return None
    text = _first_turn(text)
    return _without_copy(text, prompt) if prompt else text


def _outside_thinking(text: str) -> str | None:
    """Text at depth zero. A close without an open (the template opened it) hides all before; an open without a close hides all after."""
    kept: list[str] = []
    depth, start = 0, 0
    for tag in _OPEN_CLOSE.finditer(text):
        closes = bool(tag["close"]) or tag[1] == "/"
        if closes and depth == 0:
            kept = []
        elif depth == 0:
            kept.append(text[start : tag.start()])
        depth = max(0, depth - 1) if closes else depth + 1
        start = tag.end()
    if depth == 0:
        kept.append(text[start:])
    seen = "\n".join(kept)
    return seen if depth == 0 or seen.strip() else None


def _first_turn(text: str) -> str:
    """Up to the end of the assistant's own turn; of channelled output the last channel, when it is the final one."""
    channels = list(_CHANNEL.finditer(text))
    if channels:
        text = text[channels[-1].end() :] if channels[-1][1] == "final" else ""
    text = text.lstrip()
    end = _TURN_END.search(text)
    if end and text[: end.start()].strip():
        text = text[: end.start()]
    nxt = _NEXT_QUESTION.search(text)
    if nxt and re.search(r"####|answer|boxed|答案|\bA:", text[: nxt.start()], re.I):
        text = text[: nxt.start()]  # a base model goes on with the next few-shot question
    return text


def _without_copy(text: str, prompt: str) -> str:
    """Remove word-for-word copies of the prompt, and of its longer sentences."""
    prompt = plain(prompt).strip()
    pieces = [prompt, *re.split(r"(?<=[.?!。？！])\s+|\n+", prompt)[:60]]
    for piece in pieces:
        piece = piece.strip()
        if len(piece) >= 20 and piece in text:
            text = text.replace(piece, " ")
    return text
