"""Text in the pieces that instructions count: the visible answer, sentences, words.

Sentences by rule, without a trained model: a full stop ends one unless it belongs to an abbreviation, an initial, a
number or a list's numbering. Every pass is linear in the text, whatever the text.

>>> sentences("Dr. A. Smith paid 3.50 euros, e.g. for tea. Was it good? Yes!")
['Dr. A. Smith paid 3.50 euros, e.g. for tea.', 'Was it good?', 'Yes!']
>>> word_count("It's a well-known fact")
6
"""

from __future__ import annotations

import re

_THINK = re.compile(r"<(/?)(?:think|thinking|thought|reasoning)>", re.I)
_FORM = re.compile(r"</?[A-Za-z][^<>]{0,40}>|\\[A-Za-z]+|(?i:\banswer\s*:)")
_TURN_END = re.compile(r"(?:<\|(?:im_end|endoftext|eot_id|end|return)\|>|</s>|<end_of_turn>|<eos>|\s)+\Z")
# the look behind begins at a run's first mark, so that a run of a million marks is read once
_STOP = re.compile(r"(?<![.!?…])[.!?…]+[\"'”’»)\]*_]*(?=\s|\Z)|[。！？]+[\"'”’」』）]*|[।॥؟۔]+")
_LAST_WORD = re.compile(r"[^\s(\[\"'“‘*_]+\Z")
_WORD = re.compile(r"\w+")
TITLE_WORDS = "mr mrs ms dr prof sr jr st rev hon gen col capt lt sgt cmdr mt gov sen rep pres messrs mme mlle"
SHORT_WORDS = (
    "e.g i.e eg ie vs cf viz al fig figs no nos vol pp ed eds ch sec approx ca est dept univ inc ltd co corp bros ave blvd rd ft "
    "jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat"
)
LAST_OR_NOT = "etc a.m p.m u.s u.k u.s.a ph.d b.c a.d inc ltd co corp ft"  # these also stand at a sentence's end
TITLES, ABBREVIATIONS, EITHER = (frozenset(words.split()) for words in (TITLE_WORDS, SHORT_WORDS, LAST_OR_NOT))
DOTTED = re.compile(r"(?:[A-Za-z]\.)+[A-Za-z]")  # U.S, a.m, Ph.D would end here too
WINDOW = 40  # characters looked at before a stop: longer than any abbreviation


def answer_of(text: str) -> str | None:
    """The answer behind the thinking, without end-of-turn marks; None when thinking was never closed.

    >>> answer_of("<think>hm</think>Yes.<|im_end|>"), answer_of("<think>hm") is None
    ('Yes.', True)
    """
    kept, depth, start = [], 0, 0
    for tag in _THINK.finditer(text):
        if tag[1] and depth == 0:  # the template opened it: all before was thinking
            kept = []
        elif depth == 0:
            kept.append(text[start : tag.start()])
        depth = max(0, depth - 1) if tag[1] else 1
        start = tag.end()
    if depth:
        return None
    answer = "".join([*kept, text[start:]])
    end = _TURN_END.search(answer, max(0, len(answer) - 200))
    return answer[: end.start()] if end and "<" in end.group() else answer


def says_something(answer: str) -> bool:
    """Is there a letter or digit outside tags and commands? An empty form follows "no commas" and answers nothing.

    >>> says_something("<answer></answer>"), says_something("\\\\boxed{}"), says_something("42")
    (False, False, True)
    """
    return any(c.isalnum() for c in _FORM.sub(" ", answer))


def sentences(text: str) -> list[str]:
    """The sentences of a text, in order, each with its stop. A line break alone ends none."""
    found, start = [], 0
    for stop in _STOP.finditer(text):
        if _ends(text, stop.start(), stop.end()):
            found.append(text[start : stop.end()].strip())
            start = stop.end()
    found.append(text[start:].strip())
    return [sentence for sentence in found if any(c.isalnum() for c in sentence)]


def _ends(text: str, at: int, end: int) -> bool:
    """Does the stop at ``text[at:end]`` end a sentence?"""
    behind = text[end : end + WINDOW].lstrip(" \t\r\n\"'“‘«([*_-")
    if text[at] != "." or text[at : at + 2] == "..":
        return not behind[:1].islower()
    before = _LAST_WORD.search(text[max(0, at - WINDOW) : at])
    word = before.group().lower() if before else ""
    if word.isdigit() and _begins_line(text, at - len(word)):  # "1." of a list
        return False
    if word in TITLES or (len(word) == 1 and word.isalpha() and word != "i"):  # an initial
        return not behind
    if word in EITHER or DOTTED.fullmatch(word):  # may stand at a sentence's end
        return not behind or (behind[:1].isupper() and word not in ("e.g", "i.e"))
    if word in ABBREVIATIONS:
        return not behind or (behind[:1].isupper() and word in ("no", "sat", "sun", "mar", "fig", "est", "ed"))
    return not behind[:1].islower()


def _begins_line(text: str, at: int) -> bool:
    """Nothing but marks stands on the line before ``at``."""
    line = text[max(0, at - WINDOW) : at].rpartition("\n")[2]
    return not line.strip(" \t#*->_([")


def word_count(text: str) -> int:
    """Runs of letters, digits and underscores, as the public set counts them ("don't" is two)."""
    return sum(1 for _ in _WORD.finditer(text))
