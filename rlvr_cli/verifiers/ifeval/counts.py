"""Checks of length: sentences, words, paragraphs. Each says what is wrong, or "" when the answer follows.

>>> paragraphs("One.\\n***\\nTwo.", num_paragraphs=2), paragraphs("One.", num_paragraphs=2)
('', '1 paragraphs, not 2')
"""

from __future__ import annotations

import re

from rlvr_cli.verifiers.ifeval.text import sentences, word_count

_RULE = re.compile(r"\s?\*\*\*\s?")
_WORD_END = re.compile(r"[.,?!'\":;*]")


def unlike(found: int, wanted: int, relation: str, what: str) -> str:
    """ "" when ``found`` is ``at least`` or ``less than`` what is wanted.

    >>> unlike(3, 3, "at least", "words"), unlike(3, 3, "less than", "words")
    ('', '3 words, not less than 3')
    """
    right = found >= wanted if relation == "at least" else found < wanted
    return "" if right else f"{found} {what}, not {relation} {wanted}"


def sentence_count(answer: str, *, num_sentences: int, relation: str) -> str:
    """So many sentences."""
    return unlike(len(sentences(answer)), num_sentences, relation, "sentences")


def number_of_words(answer: str, *, num_words: int, relation: str) -> str:
    """So many words."""
    return unlike(word_count(answer), num_words, relation, "words")


def paragraphs(answer: str, *, num_paragraphs: int) -> str:
    """Exactly so many paragraphs, divided by ``***``; an empty one is allowed at either end only."""
    parts = _RULE.split(answer)
    inner = [part for i, part in enumerate(parts) if part.strip() or 0 < i < len(parts) - 1]
    if any(not part.strip() for part in inner):
        return "an empty paragraph"
    return "" if len(inner) == num_paragraphs else f"{len(inner)} paragraphs, not {num_paragraphs}"


def nth_paragraph_first_word(answer: str, *, num_paragraphs: int, nth_paragraph: int, first_word: str) -> str:
    """Exactly so many paragraphs, divided by a blank line, the nth of which begins with the word."""
    parts = [part.strip() for part in answer.split("\n\n") if part.strip()]
    if len(parts) != num_paragraphs:
        return f"{len(parts)} paragraphs, not {num_paragraphs}"
    if not 1 <= nth_paragraph <= len(parts):
        return f"no paragraph {nth_paragraph}"
    word = _WORD_END.split(parts[nth_paragraph - 1].split()[0].lstrip("'\"*_“‘"), maxsplit=1)[0].rstrip("_”’").lower()
    return "" if word == first_word.strip().lower() else f"paragraph {nth_paragraph} begins with {word!r:.40}"
