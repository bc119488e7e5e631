"""Where the final answer stands: the last tag, box, ``####`` or answer phrase; failing all, the last number of a finished text.

Every finder yields marks with a position, and the last mark wins, unless it is negated ("not 12") or taken back
("wait, that is wrong"). Marks that stand side by side are one list, so a list of candidates is a list and no lucky last one.
All patterns are linear in the text.

>>> find("Half of 24 is 12.\\n#### 12")
Found(text='12', how='hash', problem=None)
>>> find("The answer is 12.\\nWait, that is wrong.")
Found(text=None, how=None, problem='the answer was taken back')
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from rlvr_cli.verifiers import denial

from . import phrases
from .thinking import visible


@dataclass(frozen=True)
class Found:
    """An answer's text and the form it came in: tag, box, hash, phrase, formula or number; or the problem."""

    text: str | None
    how: str | None = None
    problem: str | None = None


@dataclass(frozen=True)
class Mark:
    """One place that claims to be the answer: ``text[start:end]`` is the whole mark, ``inner`` what it holds."""

    start: int
    end: int
    inner: str
    how: str


MOST = 60
"""Marks that are looked at, from the end."""

_TOKENS = re.compile(r"(?P<box>(?:\\{1,4}|(?<![A-Za-z\\]))(?:boxed|fbox|framebox)\s*(?P<brace>\{)?)|\\\\|\\[{}]|(?P<open>\{)|(?P<close>\})")
_BARE_BOX = re.compile(r"\s*(-?\d+(?:\.\d+)?|[A-Za-z]\b|\([^()\n]{1,60}\))")
_TAGS = re.compile(r"<(/?)\s*(?:answer|final_answer|finalanswer|ans)\s*>|\[(/?)ANSWER\]", re.I)
_HASH = re.compile(r"(?:^|(?<=\s))####[ \t]*(?P<inner>\S[^\n]*)", re.M)
_PLACEHOLDER = re.compile(
    r"(?:\s|\\ |[.,;:!?_…$\"'*`~-]|\\(?:l?dots|cdots|quad|qquad|text|ldots)\b|\\phantom\s*\{[^{}]*\}|\\[hv]space\s*\{[^{}]*\}"
    r"|\\(?:square|Box)\b|□|[{}]"
    r"|\b(?:your|the|final|answer|here|answers|result|solution|value|number|expression|blank|tbd|todo|insert|n/a|xxx|placeholder"
    r"|content)\b)*",
    re.I,
)
_LIST_GAP = re.compile(r"[\s$*\\(),;&\[\]{}.]*(?:\\text\s*\{)?\s*(?:and|or|und|y|et|e|和|或|及|以及|与)?\s*\}?[\s$*\\(),;&\[\]{}]*", re.I)
_AND_GAP = re.compile(r"(?:,|;|&|/|\||\band\b|\bor\b|和|或|、|以及)", re.I)
_IN_TOTAL = re.compile(r"[\s$*]*(?:in total|in all|altogether|overall)\b", re.I)


def find(completion: str, *, prompt: str | None = None, strict: bool = False, require_tag: str | None = None) -> Found:
    """The final answer of a completion. ``strict`` takes only tags, boxes and ``####``; ``require_tag`` only that form."""
    text = visible(completion, prompt)
    if text is None:
        return Found(None, problem="the thinking was never closed")
    if not text.strip():
        return Found(None, problem="no text outside the thinking" if completion.strip() else "empty completion")
    wanted = {"answer": "tag", "box": "box", "boxed": "box", "hash": "hash", "####": "hash"}.get(require_tag or "", require_tag)
    return _from_marks(text, wanted, strict) or _fall_back(text, strict or bool(require_tag))


def _from_marks(text: str, wanted: str | None, strict: bool) -> Found | None:
    """The answer by the last valid mark; None when there is no mark at all."""
    boxes, box_cut = _boxes(text)
    tags, tag_cut = _tagged(text)
    marks = (
        boxes
        + tags
        + [Mark(m.start(), m.end(), m["inner"], "hash") for m in list(_HASH.finditer(text))[-MOST:] if phrases.short_answer(m["inner"])]
    )
    if wanted:
        marks = [mark for mark in marks if mark.how == wanted]
    elif not strict:
        marks += [Mark(start, end, inner, "phrase") for start, end, inner in phrases.stated(text)]
    marks = _outermost(marks)
    last = max((mark.end for mark in marks), default=-1)
    if max(box_cut, tag_cut) > last:
        return Found(None, problem="the text ends inside its answer")
    if not marks:
        return None
    return _last_valid(text, marks)


def _last_valid(text: str, marks: list[Mark]) -> Found:
    """The last mark that is not empty, not negated and not taken back, joined with its neighbours."""
    good = [mark for mark in marks[-MOST:] if mark.inner.strip() and (len(mark.inner) > 300 or not _PLACEHOLDER.fullmatch(mark.inner))]
    if not good:
        return Found(None, problem="the answer is empty")
    kept = [mark for mark in good if not _negated(text, mark)]
    if not kept:
        return Found(None, problem="the answer is negated")
    last = kept[-1]
    after = text[last.end :]
    if denial.retraction(after, elsewhere=phrases.speaks_of_another) is not None:
        rest = phrases.conclusion(after)
        return Found(rest[0], rest[1]) if rest else Found(None, problem="the answer was taken back")
    return _joined(text, kept)


def _joined(text: str, marks: list[Mark]) -> Found:
    """The last mark, with the marks of the same form that stand right before it: together they are one list."""
    group = [marks[-1]]
    for mark in reversed(marks[:-1]):
        gap = text[mark.end : group[0].start]
        if gap.strip(" $.,;") and _IN_TOTAL.match(text, marks[-1].end):
            break  # "\\boxed{4} a side, \\boxed{8} in total"
        if mark.how != group[0].how or not _side_by_side(gap, mark.how):
            break
        group.insert(0, mark)
    inners = list(dict.fromkeys(" ".join(mark.inner.split()) for mark in group))
    if len(inners) == 1:
        return _opened(group[-1])
    return Found(", ".join(inners), group[-1].how)


def _side_by_side(gap: str, how: str) -> bool:
    """Whether two marks with this text between them belong to one list."""
    if how in ("hash", "phrase"):
        return not gap.strip(" \n\t.*")
    if len(gap) > 60 or "\n\n" in gap:
        return False
    if _LIST_GAP.fullmatch(gap):
        return True
    return bool(_AND_GAP.search(gap)) and not re.search(r"\.\s|\bnot\b|\bthen\b|\bso\b|\bafter\b|[=≠]{2}|[?!。]|;", gap)


def _opened(mark: Mark) -> Found:
    """A tag or phrase may hold a box or a sentence; what counts is inside."""
    if mark.how in ("tag", "hash", "phrase") and "box" in mark.inner:
        boxes, _ = _boxes(mark.inner)
        boxes = _outermost(boxes)
        if boxes:
            return Found(_joined(mark.inner, boxes).text, mark.how if mark.how == "tag" else "box")
    if mark.how == "tag":
        inner = phrases.stated(mark.inner)
        if inner:
            return Found(inner[-1][2], "tag")
    return Found(mark.inner.strip(), mark.how)


def _outermost(marks: list[Mark]) -> list[Mark]:
    """Marks by position, without those inside another, and without a phrase that only introduces a box, tag or ``####``."""
    hard = sorted((m for m in marks if m.how != "phrase"), key=lambda m: (m.start, -m.end))
    kept: list[Mark] = []
    for mark in hard:
        if not kept or mark.start >= kept[-1].end:
            kept.append(mark)
    spans = iter(kept)
    span = next(spans, None)
    for mark in sorted((m for m in marks if m.how == "phrase"), key=lambda m: m.start):
        while span is not None and span.end <= mark.start:
            span = next(spans, None)
        if span is None or span.start >= mark.end:
            if kept and kept[-1].how == "phrase" and kept[-1].end > mark.start:
                kept.pop()  # "Answer: 3.14 is too small; the answer is 3.25"
            kept.append(mark)
    return sorted(kept, key=lambda m: m.start)


def _boxes(text: str) -> tuple[list[Mark], int]:
    """All closed boxes, and where an unclosed one starts (-1: none)."""
    if "box" not in text:
        return [], -1
    marks, stack, depth = [], [], 0
    for token in _TOKENS.finditer(text):
        if token["box"]:
            if token["brace"]:
                stack.append((token.start(), token.end()))
                depth += 1
            elif (bare := _BARE_BOX.match(text, token.end())) and "\\" in token["box"]:
                marks.append(Mark(token.start(), bare.end(), bare[1], "box"))
        elif token["open"]:
            stack.append(None)
        elif token["close"] and stack:
            opened = stack.pop()
            if opened:
                depth -= 1
                marks.append(Mark(opened[0], token.end(), text[opened[1] : token.start()], "box") if depth < 50 else Mark(0, 0, "", "box"))
    unclosed = [opened[0] for opened in stack if opened]
    if depth == 1 and (escaped := re.compile(r"([^{}\\\n]{1,60})\\\}").match(text, next(opened for opened in stack if opened)[1])):
        return [*marks, Mark(unclosed[0], escaped.end(), escaped[1], "box")], -1  # \\boxed{56\\}: the wrong brace closes it
    return [mark for mark in marks if mark.end], (unclosed[-1] if unclosed else -1)


def _tagged(text: str) -> tuple[list[Mark], int]:
    """All closed answer tags, and where an unclosed one starts (-1: none)."""
    marks, opened = [], None
    for tag in _TAGS.finditer(text):
        if not (tag[1] or tag[2]):
            opened = tag
        elif opened:
            marks.append(Mark(opened.start(), tag.end(), text[opened.end() : tag.start()], "tag"))
            opened = None
    return marks, (opened.start() if opened else -1)


def _negated(text: str, mark: Mark) -> bool:
    """Whether the clause around a mark says that this is not the answer."""
    before = text[max(0, mark.start - 60) : mark.start]
    if mark.how == "phrase":
        return phrases.is_negated(text[mark.start : mark.end], mark.inner)
    if re.match(r"[\s$*)}\].]*[?？]", text[mark.end : mark.end + 10]):
        return True
    return denial.negated(before, text[mark.end : mark.end + 60]) or phrases.is_echo(before)


def _fall_back(text: str, only_marks: bool) -> Found:
    """Without a mark: the last formula or number of a finished text."""
    if only_marks:
        return Found(None, problem="the asked form of answer is missing")
    rest = phrases.conclusion(text)
    return Found(rest[0], rest[1]) if rest else Found(None, problem="no final answer found")


def boxed(text: str) -> str | None:
    """What the last boxes of a text hold, side by side ones as a list; None when there is no closed box."""
    boxes, _ = _boxes(text)
    boxes = [mark for mark in _outermost(boxes) if mark.inner.strip()]
    return _joined(text, boxes).text if boxes else None
