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

from rlvr_cli.verifiers.denial import negated, retraction
from rlvr_cli.verifiers.facts.quantity import raised_apart
from rlvr_cli.verifiers.math.thinking import visible

LONGEST = 50_000
ARTICLES = {"a", "an", "the"}
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
# a number keeps its sign, its decimals and its denominator: -42 is not 42, and 3/4 is not 4/3
_WORD = re.compile(rf"[{_CJK}]|(?:(?<![\w)])-(?=\d))?[^\W_{_CJK}]+(?:[.,/](?=\d)\d+)*", re.UNICODE)
_ACRONYM = re.compile(r"(?<!\w)(?:[A-Z]\.){2,}(?!\s+[A-Z])")  # "U.S." is "US"; the initials of "J.R.R. Tolkien" stay apart
_TAG = re.compile(r"<answer>((?:(?!<answer>).)*?)</answer>", re.S | re.I)
_BETWEEN_ITEMS = re.compile(r"\s*(?:[,;]|and|or|和|或)?\s*", re.I)
MOST = 60  # tags or boxes that are looked at, from the end
_BOX = re.compile(r"\\boxed\{((?:[^{}]|\{[^{}]*\})*)\}")
_ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
NUMBERS = {name: str(i) for i, name in enumerate(_ONES.split())}
_TENS = {name: str(10 * i) for i, name in enumerate(["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], 2)}
NUMBERS |= _TENS
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

_SIGNS = str.maketrans({"−": "-", "⁄": "/"})


@lru_cache(maxsize=20_000)
def _words(text: str) -> tuple[str, ...]:
    plain = unicodedata.normalize("NFKC", raised_apart(text)).translate(_SIGNS)
    plain = _ACRONYM.sub(lambda match: match[0].replace(".", ""), plain)
    folded = unicodedata.normalize("NFKD", plain.casefold())
    bare = "".join(c for c in folded if not unicodedata.combining(c) or c >= "\u3040")
    bare = unicodedata.normalize("NFC", bare).replace("’", "'").replace("'s ", " ").replace("'", "")
    return tuple(word.replace(",", "") for word in _WORD.findall(bare) if word not in ARTICLES)


def words(text: str) -> list[str]:
    """Lower case, no accents, no punctuation, no articles; numbers keep their decimal point and lose their commas."""
    return list(_words(text))


def same_words(text: str) -> list[str]:
    """``words`` with number words and ordinals written in digits: "two" is "2", "forty-two" is "42" and "third" is "3rd"."""
    return list(_same_words(text))


@lru_cache(maxsize=20_000)
def _same_words(text: str) -> tuple[str, ...]:
    found: list[str] = []
    tens = False
    for word in words(text):
        digits = NUMBERS.get(word, ORDINALS.get(word, word))
        if tens and word in NUMBERS and len(digits) == 1 and digits != "0":
            found[-1] = found[-1][0] + digits
        else:
            found.append(digits)
        tens = word in _TENS
    return tuple(found)


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
    """What is offered as the answer: the last tag or box, else all visible text; None when thinking never ended.

    A denied tag is none, and one that is taken back gives way to what is said after that. Tags side by side are one list.
    """
    text = visible(completion[-LONGEST:])
    if text is None:
        return None
    for pattern in (_TAG, _BOX):
        marks = list(pattern.finditer(text))[-MOST:]
        if marks:
            return _last_mark(text, marks)
    return text.strip()


def _last_mark(text: str, marks: list[re.Match[str]]) -> str:
    """The last mark that is not denied, with those right before it; nothing when all are denied."""
    kept = [mark for mark in marks if not negated(text[max(0, mark.start() - 60) : mark.start()], text[mark.end() : mark.end() + 60])]
    if not kept:
        return ""
    after = text[kept[-1].end() :]
    back = retraction(after)
    if back is not None:
        return after[back:].strip(" .,;:!\n")
    group = [kept[-1]]
    for mark in reversed(kept[:-1]):
        if not _BETWEEN_ITEMS.fullmatch(text, mark.end(), group[0].start()):
            break
        group.insert(0, mark)
    return ", ".join(dict.fromkeys(mark[1].strip() for mark in group))


def settled(text: str) -> str:
    """Free text without what it takes back: all that follows the last plain retraction."""
    back = retraction(text, hard=True)
    return text if back is None else text[back:].strip(" .,;:!\n")


def position(needle: list[str], hay: list[str]) -> int:
    """Where ``needle`` stands as a run of whole words in ``hay``; -1 where it does not."""
    width = len(needle)
    return next((i for i in range(len(hay) - width + 1) if hay[i : i + width] == needle), -1) if width else -1
