"""A readable extraction rule: patterns in order, which match counts, and a sequence of named normalisers.

The rule is data (YAML that ``rlvr reward fit`` writes and a person changes): the first pattern that matches outside the
thinking wins, its first group is the answer, and both it and the gold go through the same normalisers before they are
compared as text. Patterns are a person's and the text is a model's, so the reward runs in the killable pool.

>>> judge("Result = 1,200 kg", {"answer": "1200"}, patterns=[r"Result = (.+)"], normalise=["no_units", "number"])
Verdict(score=1.0, reason="'1200' = '1200'", extracted='1,200 kg')
>>> judge("no result", {"answer": "1200"}, patterns=[r"Result = (.+)"]).reason
'no pattern matches'
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections import deque
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from rlvr_cli.verifiers import denial
from rlvr_cli.verifiers.format import after_thinking
from rlvr_cli.verifiers.verdict import Completion, Verdict, text_of

MAX_CHARS = 200_000


def _number(text: str) -> str:
    """``1,200.50`` as ``1200.5``; anything else as it is."""
    try:
        value = Decimal(re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", text.strip()))
    except InvalidOperation:
        return text
    if not value.is_finite() or abs(value.adjusted()) > 50:
        return text
    return f"{value.normalize():f}" if value else "0"


NORMALISERS = {
    "nfkc": lambda text: "".join(c if unicodedata.category(c) == "No" else unicodedata.normalize("NFKC", c) for c in text),  # 4² is not 42
    "no_markup": lambda text: re.sub(r"[*_`$]|\\[()\[\]]|\\(?:text|mathrm|mathbf)\s*\{([^{}]*)\}|\\[,;!]", r"\1", text),
    "spaces": lambda text: " ".join(text.split()),
    "no_end_punctuation": lambda text: text.strip().rstrip(".,;:!?。，；：！？").strip(),
    "no_quotes": lambda text: text.strip().strip("\"'“”‘’「」()[]").strip(),
    "no_units": lambda text: re.sub(r"^[$€£¥]\s*|(?<=\d)\s*(?:[A-Za-z%°€£¥/²³]+|[\u4e00-\u9fff]+)\.?$", "", text.strip()),
    "no_article": lambda text: re.sub(r"^(?:the|an?)\s+", "", text.strip(), flags=re.IGNORECASE),
    "number": _number,
    "first_word": lambda text: text.split()[0] if text.split() else "",
    "lower": str.lower,
}
"""Name -> function, in the order in which they make sense."""


def judge(
    completion: Completion, row: dict[str, Any], *, patterns: Sequence[str], take: str = "last", normalise: Sequence[str] = ()
) -> Verdict:
    """1.0 where the extracted text equals the gold after ``normalise``. ``take``: the ``last`` match of a pattern, or the ``first``."""
    gold = row.get("answer")
    if gold is None or not str(gold).strip():
        return Verdict(None, "the row has no answer")
    unknown = [name for name in normalise if name not in NORMALISERS]
    if unknown or take not in ("last", "first"):
        return Verdict(None, f"no normaliser {unknown[0]!r}" if unknown else f"take is last or first, not {take!r}")
    try:
        match = matched(text_of(completion)[-MAX_CHARS:], patterns, take)
    except re.error as error:
        return Verdict(None, f"a pattern does not compile: {error}")
    if match is None:
        return Verdict(0.0, "no pattern matches")
    found = _inner(match)
    if denial.retraction(match.string[match.end() :], hard=True) is not None:
        return Verdict(0.0, "the answer was taken back", found)
    mine, wanted = normal(found, normalise), normal(str(gold), normalise)
    same = mine == wanted and bool(wanted)
    return Verdict(float(same), f"{mine[:60]!r} {'=' if same else 'is not'} {wanted[:60]!r}", found)


def gold_completion(row: dict[str, Any]) -> str | None:
    """None: what a perfect answer looks like depends on the patterns."""
    return None


def extracted(text: str, patterns: Sequence[str], take: str) -> str | None:
    """The answer of the first pattern that matches, or None."""
    match = matched(text, patterns, take)
    return None if match is None else _inner(match)


def matched(text: str, patterns: Sequence[str], take: str) -> re.Match[str] | None:
    """The match that counts, in the text outside the thinking."""
    visible = after_thinking(text)
    for pattern in patterns if visible is not None else ():
        matches = compiled(pattern).finditer(visible)
        found = next(matches, None) if take == "first" else next(iter(deque(matches, maxlen=1)), None)
        if found is not None:
            return found
    return None


def _inner(match: re.Match[str]) -> str:
    return (match.group(1) if match.re.groups else match.group(0)).strip()


@functools.lru_cache(maxsize=512)
def compiled(pattern: str) -> re.Pattern[str]:
    """Compiled with ``^`` and ``$`` at lines."""
    return re.compile(pattern, re.MULTILINE)


def normal(text: str, normalise: Sequence[str]) -> str:
    """``text`` through the named normalisers, in order.

    >>> normal(" **The** Cat. ", ["no_markup", "no_end_punctuation", "no_article", "lower"])
    'cat'
    """
    for name in normalise:
        text = NORMALISERS[name](text)
    return text.strip()
