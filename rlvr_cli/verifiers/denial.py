"""Denials and retractions: whether the words around an answer say that it is none, in several languages.

One list of words for every judge that looks for an answer in prose. Only what stands beside the answer counts as a denial,
and what comes after it as a retraction, unless the text goes on to confirm the answer.

>>> negated("It is certainly not ", "."), negated("It is ", " is wrong"), negated("It is ", ", not 13")
(True, True, False)
>>> text = ". Wait, that is wrong. It is 13."
>>> text[retraction(text):]
'. It is 13.'
>>> retraction(". Wait, let me check. Yes, it is correct.") is None
True
"""

from __future__ import annotations

import re
from collections.abc import Callable

READ = 4000
"""Characters after an answer that are read for a retraction."""

FOREIGN_NOT = (
    r"不是|并非|不等于|不(?:可能|应该?|会|能|一定)是|不可能为|\bnicht\b"
    r"|\bno (?:es|será|puede ser)\b|\bn'est pas\b|\bne (?:peut|sera) pas\b"
    r"|\bnon è\b|\bnon può\b|\bnão (?:é|pode)\b|(?<!\w)не\b|\bis niet\b"
    r"|\bnie jest\b|\bär inte\b|\ber ikke\b|\bkhông phải\b|\bbukan\b|नहीं|ليس"
)
"""Denials of other languages, for whoever looks for one: right before an answer (here), or anywhere in its clause (math.phrases)."""

FOREIGN_NOT_BEHIND = r"(?:では|じゃ)(?:ない|ありません)|[이가]\s*(?:아닙|아니다|아니에)|नहीं"
"""Denials that stand behind what they deny."""

_NOT_BEFORE = re.compile(
    r"\b(?:retract|take back|disregard|ignore|discard|reject|withdraw)\b[^.\n]{0,50}$|"
    rf"(?:\bnot|n't|\bnever|\bcannot(?: be)?|\brather than|\binstead of|\bneither|不为|{FOREIGN_NOT})"
    r"(?:\s+(?:simply|just|actually|equal to|the answer|answer|be|is|the|a|in fact))*[\s:$*({\[\\]*$",
    re.I,
)
_NOT_AFTER = re.compile(
    r"[\s$*)}\].,;:]*(?:(?:is|was|would be|seems|looks|must be)\s+(?:clearly |obviously |definitely |also )?"
    r"(?:not\b(?! only)|wrong|incorrect|false|invalid|impossible|too (?:big|small|large|high|low))|isn't|(?:does not|doesn't|cannot"
    r"|can't|did not|didn't) (?:work|satisfy|be)"
    rf"|fails\b|{FOREIGN_NOT_BEHIND}|değil|不对|是错|错误|不是答案|不正确)",
    re.I,
)
_TAKEN_BACK = re.compile(
    r"\b(?:scratch|strike) that|\bsorry,? (?:it|i|that|the|my|\d|\$|\\)|\bjust kidding|\bnever ?mind|\bi meant\b"
    r"|\b(?:that|this|it) (?:ignores|forgets|misses|overlooks|omits|neglects|double-?counts)\b"
    r"|\bmy (?:mistake|bad)\b|\boops\b"
    r"|\b(?:i|we) take (?:that|it|this) back|\b(?:that|this|it|which|above|answer|result)(?:'s| is| was| seems| looks|"
    r" must be)(?: clearly| obviously| actually| all)? "
    r"(?:wrong|incorrect|not right|not correct|false|mistaken|a mistake|an error|invalid)\b|\b(?:i|we)(?:'ve| have)? (?:made|found"
    r"|see|notice) (?:a|an|my|the) (?:\w+ )?(?:mistake|error)"
    r"|\b(?:i|we) (?:was|were|am|are) (?:wrong|mistaken)|\b(?:disregard|ignore|retract|discard)\b(?:ing)? (?:that|this|the above|my"
    r"|it|the previous)|\bon second thoughts?|\bi retract"
    r"|\b(?:the )?correction:|\bwait\b|\bhmm\b|\bactually,? (?:no|not|that|it|the|i|this|re-?check)"
    r"|\bno, (?:wait|that|it)(?: (?:is|was) (?:wrong|incorrect|false"
    r"|not (?:right|correct)))?|\bi (?:am"
    r"|'m) not sure|\bor maybe|\bmaybe it is"
    r"|\bthat can(?:'t|not) be right|不对|错了|更正|等等|搞错|算错|\bmoment mal|\bespera\b|\bstimmt nicht|\bes falso|\best faux",
    re.I,
)
_CONFIRMED = re.compile(
    r"\b(?:yes|correct|right|holds|confirmed|confirms|matches|checks out|verified|consistent|stands|indeed|fine|works|good|so it is"
    r"|same)\b|正确|没错|✓|✔|✅",
    re.I,
)
_DENIED = re.compile(
    r"(?:\b(?:not|in)|n't)\s*(?:be\s+)?(?:correct|right|consistent|good|work|hold|match)|\bwrong\b|\bincorrect\b|\bmistake\b|\berror\b|不正确|不对|错",
    re.I,
)
_HARD = re.compile(
    r"wrong|incorrect|not (?:right|correct)|mistake|error|scratch|strike|sorry|retract|disregard|discard|ignore|kidding|false|不对|错", re.I
)


def negated(before: str, after: str = "") -> bool:
    """Whether the words right before or right after an answer deny it."""
    return bool(_NOT_BEFORE.search(before[-60:])) or bool(_NOT_AFTER.match(after[:60]))


def retraction(after: str, *, elsewhere: Callable[[str], bool] | None = None, hard: bool = False) -> int | None:
    """Where the text after an answer has taken it back without confirming it again: the end of the last such words; None if it has not.

    ``elsewhere`` is asked with the text up to such words whether they speak of something else; ``hard`` takes only words that
    plainly retract ("that is wrong"), not those that merely doubt ("wait").
    """
    cues = [cue for cue in _TAKEN_BACK.finditer(after[:READ]) if not hard or _HARD.search(cue[0])]
    cues = [cue for cue in cues if not (elsewhere and elsewhere(after[: cue.start()]))]
    if not cues:
        return None
    last, rest = cues[-1], after[cues[-1].end() :]
    back = _HARD.search(last[0]) or not _CONFIRMED.search(rest) or _DENIED.search(rest)
    return last.end() if back else None
