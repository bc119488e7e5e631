"""Is the answer in the asked form? Says nothing of right or wrong, so it is paid less than correctness, and gated.

Four forms: ``answer_tag`` (one filled ``<answer>`` pair), ``think_answer`` (``<think>..</think><answer>..</answer>`` and
nothing else), ``boxed`` (a filled ``\\boxed{}``), and ``regex``, which runs a person's pattern over a model's text and
therefore goes through the killable pool (a pattern can take exponential time).

>>> judge("<answer>4</answer>", {})
Verdict(score=1.0, reason='one filled <answer> tag', extracted='4')
>>> judge("<answer> </answer>", {}).reason
'the <answer> tag is empty'
"""

from __future__ import annotations

import re
from typing import Any

from rlvr_cli.verifiers.verdict import Completion, Verdict, text_of

THINK_END = "</think>"
EMPTY = re.compile(r"[\s\W_]*\Z")  # nothing but white space and punctuation
FLAGS = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL, "x": re.VERBOSE}


def judge(completion: Completion, row: dict[str, Any], *, form: str = "answer_tag", **options: Any) -> Verdict:
    """One completion in one of the four forms: 1.0 or 0.0."""
    text = text_of(completion)
    if form == "answer_tag":
        return answer_tag(text, **options)
    if form == "think_answer":
        return think_answer(text, **options)
    if form == "boxed":
        return boxed(text)
    if form == "regex":
        return regex(text, **options)
    return Verdict(None, f"no form {form!r}: answer_tag, think_answer, boxed or regex")


def gold_completion(row: dict[str, Any]) -> str | None:
    """A completion in the asked form, around the row's answer; both the tag and a box, so that each form accepts it."""
    answer = row.get("answer")
    if answer is None or EMPTY.match(str(answer)):
        return None
    return f"<think>\nthe work\n</think>\n<answer>\\boxed{{{answer}}}</answer>"


def after_thinking(text: str) -> str | None:
    """The text behind the last ``</think>``; all of it where nobody thinks; None while thinking never ends."""
    if THINK_END in text:
        return text.rpartition(THINK_END)[2]
    return None if "<think>" in text else text


def answer_tag(text: str, *, tag: str = "answer", last: bool = False) -> Verdict:
    """Exactly one pair of tags, filled, outside the thinking. ``last``: and nothing behind it."""
    visible = after_thinking(text)
    if visible is None:
        return Verdict(0.0, "the thinking never ends")
    opened, closed = visible.count(f"<{tag}>"), visible.count(f"</{tag}>")
    if (opened, closed) != (1, 1):
        return Verdict(0.0, f"{opened} <{tag}> and {closed} </{tag}>, one of each was asked for")
    _, _, rest = visible.partition(f"<{tag}>")
    if f"</{tag}>" not in rest:
        return Verdict(0.0, f"</{tag}> stands before <{tag}>")
    content, _, behind = rest.partition(f"</{tag}>")
    if EMPTY.match(content):
        return Verdict(0.0, f"the <{tag}> tag is empty", content.strip())
    if last and behind.strip():
        return Verdict(0.0, f"text behind </{tag}>", content.strip())
    return Verdict(1.0, f"one filled <{tag}> tag", content.strip())


def think_answer(text: str, *, tag: str = "answer", opened: bool = False) -> Verdict:
    """``<think>`` some work ``</think>`` ``<answer>`` an answer ``</answer>``, each once, nothing around.

    ``opened``: the chat template already wrote ``<think>``, so the completion starts inside it.
    """
    whole = "<think>" + text if opened and not text.lstrip().startswith("<think>") else text
    for mark in ("<think>", THINK_END, f"<{tag}>", f"</{tag}>"):
        if whole.count(mark) != 1:
            return Verdict(0.0, f"{mark} stands {whole.count(mark)} times, not once")
    marks = rf"\s*<think>(.*)</think>\s*<{re.escape(tag)}>(.*)</{re.escape(tag)}>\s*"
    match = re.fullmatch(marks, whole, re.DOTALL)
    if match is None:
        return Verdict(0.0, f"not <think>...</think><{tag}>...</{tag}> from start to end")
    work, answer = match.groups()
    if EMPTY.match(work):
        return Verdict(0.0, "the thinking is empty", answer.strip())
    if EMPTY.match(answer):
        return Verdict(0.0, f"the <{tag}> tag is empty", answer.strip())
    return Verdict(1.0, "thinking, then an answer", answer.strip())


def boxed(text: str) -> Verdict:
    """A filled, closed ``\\boxed{}`` outside the thinking; the last one counts."""
    visible = after_thinking(text)
    if visible is None:
        return Verdict(0.0, "the thinking never ends")
    start = visible.rfind("\\boxed{")
    if start < 0:
        return Verdict(0.0, "no \\boxed{}")
    content = braced(visible, start + len("\\boxed{"))
    if content is None:
        return Verdict(0.0, "the last \\boxed{ is never closed")
    if EMPTY.match(content):
        return Verdict(0.0, "the last \\boxed{} is empty", content.strip())
    return Verdict(1.0, "a filled \\boxed{}", content.strip())


def braced(text: str, start: int) -> str | None:
    """The text from ``start`` to the brace that closes the one before it; None where none does."""
    depth, i = 1, start
    while i < len(text):
        if text[i] == "\\":  # \{ and \} are signs, not braces
            i += 2
            continue
        depth += {"{": 1, "}": -1}.get(text[i], 0)
        if depth == 0:
            return text[start:i]
        i += 1
    return None


def regex(text: str, *, pattern: str, full: bool = False, flags: str = "s") -> Verdict:
    """The pattern is found (``full``: matches from start to end). ``extracted`` is the first group, or the match."""
    try:
        compiled = re.compile(pattern, sum(FLAGS[f] for f in set(flags)))
    except (re.error, KeyError) as error:
        return Verdict(None, f"the pattern does not compile: {error}")
    match = compiled.fullmatch(text.strip()) if full else compiled.search(text)
    if match is None:
        return Verdict(0.0, "the pattern does not match")
    return Verdict(1.0, "the pattern matches", match.group(1) if compiled.groups else match.group(0))
