"""The words of an option and of what an answer says, in forms that compare: without dress, without endings, as a formula.

>>> plain("**The** Oslo."), dense("$x = 3$"), inflected("The object will accelerate") == inflected("object accelerates")
('oslo', 'x=3', True)
"""

from __future__ import annotations

import re
import unicodedata
from fractions import Fraction
from functools import lru_cache

SHORTEST_STEM = 4  # letters of a lone word that stays as it is
SHORT = 400  # characters of a text whose plain form is kept
_NUMBER = re.compile(r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?")
_ALL_OR_NONE = re.compile(
    r"\b(all|none) of (?:(?:the|these|those)\s+)?(?:above|these|them|those|options|choices|given|others)(?:\s+options)?\b(?!\s+\w)"
)
_AUXILIARIES = frozenset(
    ("the", "a", "an", "will", "would", "is", "are", "be", "was", "were", "does", "do", "did", "has", "have", "that", "its", "their")
)
_ENDING = re.compile(r"(?<=\w{3})(?:ing|ied|ies|ed|es|s|e)$")


def tidy(text: str) -> str:
    """Full-width letters and brackets made plain, LaTeX and Markdown dress taken off, runs of white space squeezed (two patterns here are
    slow on those)."""
    text = unicodedata.normalize("NFKC", text)
    text = re.sub(r"\\(?:text|textbf|mathrm|mathbf|mathcal|operatorname|textit)\s*\{([^{}]*)\}", r"\1", text)
    text = re.sub(r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}", r"\1/\2", text)
    text = re.sub(r"\\(?=(?:log|ln|exp|sin|cos|tan|sqrt)\b)", "", text)
    text = re.sub(r"[*_`$]+|\\[()\[\]]", " ", text).replace("’", "'")
    return "\n".join(" ".join(line.split()) for line in text.splitlines() if line.strip())


def plain(text: str) -> str:
    """An option's words for comparison: without case, articles, a leading pronoun, outer punctuation; a number in one way of writing."""
    return _plain(text) if len(text) <= SHORT else _plain.__wrapped__(text)


@lru_cache(maxsize=20_000)
def _plain(text: str) -> str:
    text = re.sub(r"\s+", " ", tidy(text).lower()).strip(" .。,;:!\"'“”")
    text = re.sub(r"^(\d[\d,.]*)\s+dollars?$", r"\1", text)  # the sign is taken off with Markdown's
    text = re.sub(r"^(?:that\s+)?(?:(?:the|an?|it|they|there)\s+)(?=\S)", "", text)
    if not _NUMBER.fullmatch(text):
        return text
    number = text.replace(",", "")
    return re.sub(r"\.?0*$", "", number) if "." in number else number


def dense(text: str) -> str:
    """A formula without its spaces, a fraction or decimal by its value: ``0.75``, ``3/4``; nothing for words."""
    bare = plain(text)
    fraction = re.fullmatch(r"([-+]?\d{1,9}(?:\.\d{1,9})?)(?:/([1-9]\d{0,8}))?", bare)
    if fraction:
        return str(Fraction(fraction[1]) / int(fraction[2] or 1))
    return bare.replace(" ", "") if re.search(r"[=^+*/<>(\d]", bare) else ""


def inflected(text: str) -> str:
    """The words without endings, articles and auxiliaries, in order: ``will accelerate`` is ``accelerates``, ``chloroplasts`` its singular.

    >>> inflected("The object will accelerate, not stop") == inflected("object accelerates, not stops")
    True
    """
    return _inflected_short(text) if len(text) <= SHORT else ""


@lru_cache(maxsize=20_000)
def _inflected_short(text: str) -> str:
    bare = _ALL_OR_NONE.sub(r"\1 above", plain(text).replace("n't", " not"))
    if not re.fullmatch(r"[^\W\d_]+(?:[\s,;'-]+[^\W\d_]+)*", bare):
        return ""  # numbers and formulas have no endings
    words = [word for word in re.findall(r"[^\W_]+", bare) if word not in _AUXILIARIES]
    if len(words) == 1:
        return _ENDING.sub("", words[0]) if len(words[0]) > SHORTEST_STEM else words[0]
    return " ".join(_ENDING.sub("", "to" if word == "into" else word) for word in words)
