"""Checks of words and letters: keywords, capitals, commas, the language. Each says what is wrong, or "" when followed.

>>> existence("A dog, a day.", keywords=["Dog", "day"]), forbidden("undogged", forbidden_words=["dog"])
('', '')
>>> capital_words("NASA and I went", capital_frequency=3, capital_relation="at least")
'2 words in capitals, not at least 3'
"""

from __future__ import annotations

import re

from rlvr_cli.verifiers.ifeval.counts import unlike
from rlvr_cli.verifiers.ifeval.languages import clearly_not, detect, is_in

COMMAS = re.compile("[,，﹐､、،፣]")
# A word with its inner points and hyphens; a contraction's tail is a word of its own: I'm is I and m
_TOKEN = re.compile(r"[^\W_]+(?:[.\-/&][^\W_]+)*")


def existence(answer: str, *, keywords: list[str]) -> str:
    """Every keyword occurs, also inside a longer word; letter case does not count."""
    text = answer.lower()
    missing = [word for word in keywords if word.lower() not in text]
    return f"without {', '.join(missing)}" if missing else ""


def frequency(answer: str, *, keyword: str, frequency: int, relation: str) -> str:
    """The keyword occurs so often, also inside longer words."""
    wrong = unlike(answer.lower().count(keyword.strip().lower()), frequency, relation, "times")
    return wrong and f"{keyword!r} {wrong}"


def forbidden(answer: str, *, forbidden_words: list[str]) -> str:
    """None of the words occurs as a whole word; letter case does not count."""
    said = [word for word in forbidden_words if re.search(rf"(?<!\w){re.escape(word.strip())}(?!\w)", answer, re.I)]
    return f"says {', '.join(said)}" if said else ""


def letter_frequency(answer: str, *, letter: str, let_frequency: int, let_relation: str) -> str:
    """The letter (or sign) occurs so often, in either case."""
    return unlike(answer.lower().count(letter.strip().lower()), let_frequency, let_relation, f"times {letter.strip()!r}")


def capital_words(answer: str, *, capital_frequency: int, capital_relation: str) -> str:
    """So many words wholly in capitals; a lone capital (``I``, ``A``) is one."""
    found = sum(word.isupper() for word in _TOKEN.findall(answer))
    return unlike(found, capital_frequency, capital_relation, "words in capitals")


def response_language(answer: str, *, language: str) -> str:
    """The answer is in the language (ISO 639-1)."""
    return "" if is_in(answer, language) else f"the language is {detect(answer) or 'not clear'}, not {language}"


def english_capital(answer: str) -> str:
    """English, and no small letter."""
    return _cased(answer, answer.isupper(), "capitals")


def english_lowercase(answer: str) -> str:
    """English, and no capital."""
    return _cased(answer, answer.islower(), "small letters")


def _cased(answer: str, right: bool, what: str) -> str:
    if not right:
        return f"not all in {what}"
    return f"the language is {detect(answer)}, not en" if clearly_not(answer, "en") else ""


def no_comma(answer: str) -> str:
    """No comma of any script."""
    found = len(COMMAS.findall(answer))
    return f"{found} commas" if found else ""
