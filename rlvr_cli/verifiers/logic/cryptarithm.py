"""Letters for digits: every letter a digit of its own, and the sum comes out.

>>> state = {"letters": ["A", "B"], "words_letters": ["A", "A"], "result_letters": "B"}
>>> judge_cryptarithm("A=2, B=4", state).score, judge_cryptarithm("A=2, B=5", state).reason
(1.0, '2 + 2 = 4, not 5')
"""

from __future__ import annotations

import re
from typing import Any

from rlvr_cli.verifiers.verdict import Verdict


def judge_cryptarithm(answer: str, state: dict[str, Any]) -> Verdict:
    """``words_letters`` add up to ``result_letters`` under the answer's mapping; no word begins with 0 unless the row allows it."""
    pairs = re.findall(r"\b([A-Z])[\"'*`]*\s*(?:=|:|->|→|is)\s*[\"'*`]*(\d)\b", answer)
    digits = dict(pairs)
    letters, words, result = state["letters"], state["words_letters"], state["result_letters"]
    text = ", ".join(f"{letter}={digits[letter]}" for letter in sorted(digits))
    if len(set(pairs)) != len(digits) or set(digits) != set(letters):
        return Verdict(0.0, "not one digit for each letter", text or answer[:200])
    if len(set(digits.values())) != len(digits):
        return Verdict(0.0, "two letters share a digit", text)
    if not state.get("allow_leading_zero") and any(digits[word[0]] == "0" for word in [*words, result]):
        return Verdict(0.0, "a word begins with 0", text)
    numbers = [int("".join(digits[letter] for letter in word)) for word in words]
    total = int("".join(digits[letter] for letter in result))
    written = f"{' + '.join(map(str, numbers))} = {sum(numbers)}"
    return Verdict(float(sum(numbers) == total), written if sum(numbers) == total else f"{written}, not {total}", text)
