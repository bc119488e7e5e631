"""The reference answer out of a gold column: the answer itself, or a worked solution that ends in a box, ``####`` or ``A:``.

>>> answers("She has 3 + 4 = 7 left.\\n#### 7")
'7'
>>> answers(r"The ratio is $\\boxed{\\frac{27}{4}}$.")
'\\\\frac{27}{4}'
"""

from __future__ import annotations

import re

from . import extract
from .unicode import plain

_END = re.compile(r"(?:^|\n)\s*(?:####|A:|Answer:)\s*(?P<inner>\S[^\n]*)\s*\Z", re.I)

_TAGGED = re.compile(r"(?:.*\s)?<answer>(?P<inner>[^<>]+)</answer>\W*", re.S | re.I)


def answers(gold: object) -> str | None:
    """The gold's answer text, or None where there is none to read (missing, empty, a placeholder)."""
    if isinstance(gold, list | tuple) and len(gold) == 1:
        gold = gold[0]
    if gold is None or isinstance(gold, bool | dict | list | tuple) or gold != gold:
        return None if not isinstance(gold, bool) else str(gold)
    text = plain(str(gold)).strip()
    if "boxed" in text or "fbox" in text:
        found = extract.boxed(text)
        if found is not None:
            return found
        text = re.sub(r".*\\f?boxed\s*\{", "", text, flags=re.S)  # a box that was cut
    if m := _TAGGED.fullmatch(text):
        return m["inner"].strip()
    if ends := _END.search(text):
        return ends["inner"].strip()
    return text if re.search(r"[\w\\∅%!|+]|\{\s*\}|[^\x00-\x7f]", text) else None
