"""How long an answer is, and what that earns. Group-relative forms compare the answers to one prompt with each other.

``L`` is counted in tokens where the trainer hands over ``completion_ids``; without them (``rlvr score``) in words, a CJK
character counting as a word, or in characters where no completion of the batch has a space in it. The reason says which.

``kimi_paper`` (Kimi k1.5, arXiv 2501.12599, 2.3.3), over the group of one prompt::

    lambda_i = 0.5 - (L_i - L_min) / (L_max - L_min)      right: lambda_i      wrong: min(0, lambda_i)      all 0 where L_max = L_min

``kimi_lesson``::

    right:  scale * (L_max - L_i) / (L_max - L_min)       0 where L_max = L_min: nobody was shorter than anybody
    wrong: -scale * max(0, (L_i - L_target) / (L_max - L_target))      0 where L_max <= L_target: nobody is over the target

The last line keeps the formula from turning round: below the target both differences are negative, and the quotient of a
short wrong answer would be a *large* penalty.

>>> kimi_paper([10, 20, 30], [True, True, False])
[0.5, 0.0, -0.5]
>>> kimi_lesson([10, 20, 30], [True, False, False], scale=1.0, target=15)
[1.0, -0.3333333333333333, -1.0]
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from rlvr_cli.errors import ConfigError
from rlvr_cli.verifiers.verdict import Completion, Verdict, text_of

CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003134f"
WORD = re.compile(rf"[{CJK}]|[^\s{CJK}]+")
FULL_MARKS = 1.0 - 1e-9
STEP = re.compile(
    r"step\s?\d+|第\s?[0-9一二三四五六七八九十]+\s?步|步骤\s?[0-9一二三四五六七八九十]+|\d{1,2}\s?[.)、](?!\d)"
    r"|(?:first|second|third|then|next|finally|首先|其次|然后|接着|最后)(?:ly)?\s?[,，:：]",
    re.IGNORECASE,
)


def words_of(text: str) -> list[str]:
    """Words; each CJK character is one.

    >>> words_of("two words 三个字")
    ['two', 'words', '三', '个', '字']
    """
    return WORD.findall(text)


def lengths(completions: Sequence[Completion], completion_ids: Sequence[Sequence[int]] | None) -> tuple[list[int], str]:
    """``(L of each, unit)``."""
    if completion_ids is not None:
        return [len(ids) for ids in completion_ids], "tokens"
    texts = [text_of(completion) for completion in completions]
    if any(re.search(r"\S\s+\S", text) for text in texts):
        return [len(words_of(text)) for text in texts], "words"
    return [len(text) for text in texts], "characters"


def kimi_paper(sizes: Sequence[int], right: Sequence[bool]) -> list[float]:
    """One group by the paper's form."""
    low, high = min(sizes), max(sizes)
    if low == high:
        return [0.0] * len(sizes)
    shares = [0.5 - (size - low) / (high - low) for size in sizes]
    return [share if ok else min(0.0, share) for share, ok in zip(shares, right, strict=True)]


def kimi_lesson(sizes: Sequence[int], right: Sequence[bool], *, scale: float, target: float) -> list[float]:
    """One group by the lesson's form."""
    low, high = min(sizes), max(sizes)

    def one(size: int, ok: bool) -> float:
        if ok:
            return scale * (high - size) / (high - low) if high > low else 0.0
        return -scale * max(0.0, (size - target) / (high - target)) if high > target else 0.0

    return [one(size, ok) + 0.0 for size, ok in zip(sizes, right, strict=True)]  # + 0.0 turns -0.0 into 0.0


def pay_groups(form: Any, completions: Sequence[Completion], group_id: Sequence[Any], correct: Sequence[Any], ids: Any) -> list[Verdict]:
    """Verdicts of ``form(sizes, right)`` within each group. A row whose correctness is None is left out of its group."""
    sizes, unit = lengths(completions, ids)
    if not len(completions) == len(group_id) == len(correct):
        raise ValueError(f"{len(completions)} completions, {len(group_id)} group ids, {len(correct)} values of correct")
    verdicts = [Verdict(None, "whether the answer is right could not be judged")] * len(sizes)
    groups: dict[Any, list[int]] = {}
    for i, group in enumerate(group_id):
        if correct[i] is not None:
            groups.setdefault(group, []).append(i)
    for rows in groups.values():
        mine, right = [sizes[i] for i in rows], [float(correct[i]) >= FULL_MARKS for i in rows]
        for i, size, ok, score in zip(rows, mine, right, form(mine, right), strict=True):
            place = f"{size} {unit}, group {min(mine)} to {max(mine)}"
            verdicts[i] = Verdict(float(score), f"{'right' if ok else 'wrong'}, {place}", str(size))
    return verdicts


def cache_of(max_length: int, cache: int | None) -> int:
    """The punished last part of ``max_length``: a fifth where ``cache`` is None, as in DAPO. Raises ConfigError when it can not be."""
    cache = max(1, max_length // 5) if cache is None else cache
    if not 0 < cache <= max_length:
        raise ConfigError(f"cache must be from 1 to max_length ({max_length}), not {cache}", where="options.cache", fix="cache=null")
    return cache


def overlong(size: int, unit: str, *, max_length: int, cache: int) -> Verdict:
    """DAPO's soft overlong punishment (arXiv 2503.14476, eq. 13): 0 up to max - cache, then down to -1 at max, -1 beyond.

    >>> [overlong(n, "tokens", max_length=100, cache=20).score for n in (80, 90, 100, 101)]
    [0.0, -0.5, -1.0, -1.0]
    """
    soft = max_length - cache
    if size <= soft:
        return Verdict(0.0, f"{size} of {soft} {unit}", str(size))
    if size > max_length:
        return Verdict(-1.0, f"{size} {unit}, over {max_length}", str(size))
    return Verdict((soft - size) / cache, f"{size} {unit}, {size - soft} into the last {cache}", str(size))


def repetition(text: str, *, ngram: int, max_penalty: float) -> Verdict:
    """``max_penalty`` times the share of repeated n-grams of words.

    >>> repetition("no no no no", ngram=2, max_penalty=-1.0).score
    -0.6666666666666667
    """
    words = [word.lower() for word in words_of(text)]
    grams = [tuple(words[i : i + ngram]) for i in range(len(words) - ngram + 1)]
    if not grams:
        return Verdict(0.0, f"shorter than {ngram} words")
    counts = Counter(grams)
    share = 1 - len(counts) / len(grams)
    most, times = counts.most_common(1)[0]
    return Verdict(max_penalty * share + 0.0, f"{share:.0%} of its {ngram}-word runs are repeats", " ".join(most) if times > 1 else None)


def per_word(text: str, *, penalty: float, per: int, free: int, floor: float | None) -> Verdict:
    """``penalty`` for every ``per`` words beyond the first ``free``, in proportion; never below ``floor``.

    >>> per_word("a b c d e f g h i j", penalty=-0.1, per=10, free=0, floor=None).score
    -0.1
    """
    count = len(words_of(text))
    score = penalty * max(0, count - free) / per + 0.0
    return Verdict(score if floor is None else max(floor, score), f"{count} words, {free} free", str(count))


def step_bonus(text: str, *, bonus: float, minimum: int) -> Verdict:
    """``bonus`` where at least ``minimum`` lines open as written steps ("Step 1", "2.", "First,", 第一步).

    >>> step_bonus("Step 1: 2+2=4\\nStep 2: 4+1=5", bonus=0.2, minimum=2).score
    0.2
    """
    count = sum(STEP.match(line.lstrip(" \t#*>-")[:40]) is not None for line in text.splitlines())
    return Verdict(bonus if count >= minimum else 0.0, f"{count} written steps, {minimum} asked for", str(count))


def gold_completion(row: dict[str, Any]) -> str | None:
    """None: a length is not right or wrong by itself."""
    return None
