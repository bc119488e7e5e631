"""Language consistency: the share of a text that is in the language of its prompt (DeepSeek-R1 pays it against mixing).

Letters tell their script, and that settles most pairs of languages (Chinese, Japanese by its kana, Korean, Russian,
Arabic, Hindi, Greek, Hebrew, Thai, Latin). Between languages of Latin script the small words of each sentence decide,
and only where they are clear. Numbers, formulas, code, tags and single letters are in no language.

>>> judge("答案是四，because 二加二等于四", {"prompt": "二加二等于几？"}).reason
'91% of 11 words in zh'
>>> judge("x = 42", {"prompt": "二加二等于几？"}).reason
'no words to judge'
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from rlvr_cli.verifiers.verdict import Completion, Verdict, text_of

SCRIPTS = {
    "kana": "\u3041-\u30ff\u31f0-\u31ff",
    "han": "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f",
    "hangul": "\u1100-\u11ff\uac00-\ud7af",
    "latin": "A-Za-z\u00c0-\u024f\u1e00-\u1eff",
    "cyrillic": "\u0400-\u052f",
    "arabic": "\u0600-\u06ff\u0750-\u077f",
    "devanagari": "\u0900-\u097f",
    "greek": "\u0370-\u03ff",
    "hebrew": "\u0590-\u05ff",
    "thai": "\u0e00-\u0e7f",
}
UNITS = re.compile("|".join(f"(?P<{name}>[{chars}]{'' if name in ('han', 'kana') else '+'})" for name, chars in SCRIPTS.items()))
LANGUAGE_OF = {"han": "zh", "kana": "ja", "hangul": "ko", "cyrillic": "ru", "arabic": "ar"}
LANGUAGE_OF |= {"devanagari": "hi", "greek": "el", "hebrew": "he", "thai": "th"}
SMALL_WORDS = {
    "en": "the of and to in is that it was for on are as with his they at be this have from or had by but what there we when your can said",
    "fr": "le la les de des et est un une que qui dans pour pas sur au avec son ce il elle sont nous vous plus par mais ou donc",
    "de": "der die das und ist nicht ein eine zu den von mit sich des auf für dem im es an werden aus er hat dass sie nach bei oder also",
    "es": "el la los las de y que en un una es por con para del se su al lo como más pero sus le ya o este sí porque entonces",
    "it": "il lo la gli le di e che è un una per non con sono del della si da come più ma anche nel alla quindi",
    "pt": "o a os as de e que em um uma é por com para do da se seu não mais como mas ao dos das ou então",
}
SMALL = {language: frozenset(words.split()) for language, words in SMALL_WORDS.items()}
NO_LANGUAGE = [
    re.compile(r"```.*?(?:```|\Z)", re.DOTALL),
    re.compile(r"`[^`\n]*`|\$\$.*?\$\$|\$[^$\n]*\$|\\\[.*?\\\]|\\\(.*?\\\)", re.DOTALL),
    re.compile(r"</?[A-Za-z][^<>]{0,40}>|\\[A-Za-z]+|https?://\S+"),
]
TAG = re.compile(r"</?[A-Za-z][^<>]{0,40}>")
SENTENCE = re.compile(r"[^.!?。！？\n]+")
MAX_CHARS = 100_000


def judge(completion: Completion, row: dict[str, Any], *, language: str | None = None, threshold: float | None = None) -> Verdict:
    """Share of the words in ``language`` (null: that of the row's ``prompt``); with ``threshold``, 1.0 from there on, else 0.0."""
    prompt = row.get("prompt")
    target = language or language_of(prompt_text(prompt))
    if target is None:
        return Verdict(None, "the prompt's language is not clear")
    counts = Counter(words_by_language(text_of(completion)[:MAX_CHARS], target))
    total = sum(counts.values())
    if not total:
        says_something = any(c.isalnum() for c in TAG.sub(" ", text_of(completion)[:MAX_CHARS]))
        return Verdict(float(says_something), "no words to judge" if says_something else "nothing is said", target)
    share = counts[target] / total
    return Verdict(share if threshold is None else float(share >= threshold), f"{share:.0%} of {total} words in {target}", target)


def gold_completion(row: dict[str, Any]) -> str | None:
    """None: any text in the language is perfect."""
    return None


def prompt_text(prompt: Any) -> str:
    """The words of a prompt: text, or the user's turns of messages."""
    if isinstance(prompt, str):
        return prompt
    turns = [m for m in prompt or () if isinstance(m, dict) and m.get("role", "user") == "user"]
    return "\n".join(text_of([{**m, "role": "assistant"}]) for m in turns)


def language_of(text: str) -> str | None:
    """The language that most words of a text are in; None without a word."""
    counts = Counter(words_by_language(text, None))
    return counts.most_common(1)[0][0] if counts else None


def words_by_language(text: str, target: str | None) -> list[str]:
    """One language code a word. ``target`` is given the benefit of the doubt between languages of one script."""
    for pattern in NO_LANGUAGE:
        text = pattern.sub(" ", text)
    found: list[str] = []
    for sentence in SENTENCE.findall(text):
        units = [(m.lastgroup, m.group()) for m in UNITS.finditer(sentence)]
        units = [(script, word) for script, word in units if len(word) > 1 or script in ("han", "kana", "hangul")]
        japanese = any(script == "kana" for script, _ in units)
        latin = latin_language([word for script, word in units if script == "latin"], target)
        found += [latin if script == "latin" else "ja" if japanese and script == "han" else LANGUAGE_OF[script] for script, _ in units]
    return found


def latin_language(words: list[str], target: str | None) -> str:
    """The language of a sentence's Latin words: the target, or the prompt's own guess, unless another is clear."""
    hits = Counter({language: sum(w.lower() in small for w in words) for language, small in SMALL.items()})
    usual = target if target in SMALL else "en"
    (best, most), _ = hits.most_common(2)
    if best != usual and most >= 2 and most > hits[usual] * 2:
        return best
    return usual
