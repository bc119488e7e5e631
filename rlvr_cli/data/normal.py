"""Text made comparable: what must not make two questions look different is taken away, what tells them apart is kept.

Case, width of characters, white space and sentence marks go; digits, operators and brackets stay, for ``3+4`` is not ``3-4``.

>>> normal("What is  ３＋４ ?"), normal("what is 3+4")
('what is 3+4', 'what is 3+4')
>>> tokens("小明有3.5个苹果, ok")
['小', '明', '有', '3.5', '个', '苹', '果', 'ok']
"""

from __future__ import annotations

import re
import unicodedata

MARKS = re.compile(r"""(?<!\d)[.,]|[.,](?!\d)|[;:!?"'`“”‘’„«»…、。，；：！？·]""")
TOKEN = re.compile(r"[぀-ヿ㐀-鿿가-힯]|\d+(?:[.,]\d+)*|[^\W\d_]+|[^\w\s]|_")


def normal(text: str) -> str:
    """The text in one width and case, without sentence marks, single spaces between words and none around operators."""
    text = MARKS.sub(" ", unicodedata.normalize("NFKC", text).lower())
    text = re.sub(r"\s*([-+*/^=<>()])\s*", r"\1", text)
    return " ".join(text.split())


def tokens(text: str) -> list[str]:
    """Words, numbers, operators and single CJK characters of the normalised text."""
    return TOKEN.findall(normal(text))


def ngrams(words: list[str], n: int) -> list[tuple[str, ...]]:
    """The runs of ``n`` tokens; none where there are fewer."""
    return [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]
