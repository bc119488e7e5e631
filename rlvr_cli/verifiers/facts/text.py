"""Words for comparison: SQuAD's normalisation (Rajpurkar et al. 2016, arXiv:1606.05250), with CJK text cut into characters.

>>> words("The Beatles' \\"White Album\\"!")
['beatles', 'white', 'album']
>>> words("北京 and Zürich")
['北', '京', 'and', 'zurich']
"""

from __future__ import annotations

import json
import re
import unicodedata
from functools import lru_cache
from typing import Any

from rlvr_cli.verifiers.math.thinking import visible

LONGEST = 50_000
ARTICLES = {"a", "an", "the"}
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"[{_CJK}]|[^\W_{_CJK}]+(?:[.,](?=\d)\d+)*", re.UNICODE)
_TAG = re.compile(r"<answer>(.*?)</answer>", re.S | re.I)
_BOX = re.compile(r"\\boxed\{((?:[^{}]|\{[^{}]*\})*)\}")
_ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
NUMBERS = {name: str(i) for i, name in enumerate(_ONES.split())} | {"twenty": "20"}
ORDINALS = {
    "first": "1st",
    "second": "2nd",
    "third": "3rd",
    "fourth": "4th",
    "fifth": "5th",
    "sixth": "6th",
    "seventh": "7th",
    "eighth": "8th",
}
ORDINALS |= {"ninth": "9th", "tenth": "10th"}


@lru_cache(maxsize=20_000)
def _words(text: str) -> tuple[str, ...]:
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    bare = "".join(c for c in folded if not unicodedata.combining(c) or c >= "\u3040")
    bare = unicodedata.normalize("NFC", bare).replace("’", "'").replace("'s ", " ").replace("'", "")
    return tuple(word.replace(",", "") for word in _WORD.findall(bare) if word not in ARTICLES)


def words(text: str) -> list[str]:
    """Lower case, no accents, no punctuation, no articles; numbers keep their decimal point and lose their commas."""
    return list(_words(text))


def same_words(text: str) -> list[str]:
    """``words`` with number words and ordinals written in digits, so that "two" is "2" and "third" is "3rd"."""
    return [NUMBERS.get(word, ORDINALS.get(word, word)) for word in words(text)]


def aliases(column: Any) -> list[str]:
    """The accepted answers: a list, JSON text of a list, or one text."""
    if isinstance(column, str) and column.lstrip().startswith("["):
        try:
            column = json.loads(column)
        except ValueError:
            return [column]
    if column is None:
        return []
    items = column if isinstance(column, (list, tuple)) else [column]
    return [str(item) for item in items if item is not None and str(item).strip()]


def answer_text(completion: str) -> str | None:
    """What is offered as the answer: the last tag or box, else all visible text; None when thinking never ended."""
    text = visible(completion[-LONGEST:])
    if text is None:
        return None
    for pattern in (_TAG, _BOX):
        found = pattern.findall(text)
        if found:
            return found[-1].strip()
    return text.strip()


def position(needle: list[str], hay: list[str]) -> int:
    """Where ``needle`` stands as a run of whole words in ``hay``; -1 where it does not."""
    width = len(needle)
    return next((i for i in range(len(hay) - width + 1) if hay[i : i + width] == needle), -1) if width else -1
