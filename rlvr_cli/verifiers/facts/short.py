"""Short answers: exact statement of a gold, and token F1."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from rlvr_cli.verifiers.denial import negated
from rlvr_cli.verifiers.facts.places import REGIONS
from rlvr_cli.verifiers.facts.quantity import quantity, same_as_written, same_quantity
from rlvr_cli.verifiers.facts.text import aliases, answer_text, position, same_words, settled, words
from rlvr_cli.verifiers.verdict import Completion, Verdict, text_of

OPENING = 60  # words in which a free answer must state the gold: later words are background, or a list of everything
NEAR = 4  # words before a gold in which a denial denies it
DENIALS = {
    "not",
    "never",
    "isnt",
    "wasnt",
    "arent",
    "werent",
    "neither",
    "nor",
    "cannot",
    "without",
    "except",
    "unlike",
    "incorrect",
    "wrong",
    "false",
    "instead",
}
_DENIED_AFTER = re.compile(
    r"(?:市|都|시)?(?:では(?:ない|なく|ありません)|じゃ(?:ない|なく)|でなく|(?:이|가|은|는)?\s?아니|(?:이|가|은|는)?\s?아닙|不是答案|是错)"
)
_DENIED_FOREIGN = re.compile(
    r"(?<!\w)(?:не|нет,? не|nicht|no es|n'est pas|ce n'est pas|non è|não é)\s+(?:la |le |el |der |die |das |il |o |a |город )?$"
)
_DENIED_CJK = re.compile(r"(?:不是|并非|不为|不等于)[^，。；]{0,3}$")
REFUSAL = re.compile(
    r"\b(?:i (?:do not|don't|cannot|can't) (?:know|have|find|determine|provide|answer)|i'm not sure|not sure|no information|unable to|"
    r"(?:does|do|did) not (?:mention|provide|specify|contain)|it is (?:unclear|unknown)|there is no (?:clear|definitive|information))",
    re.I,
)
ENOUGH = 0.5  # share of a gold's words that states it
SMALL = set("of in on at to for by with and or from as is was are were be his her its their".split())  # noqa: SIM905
_FOOTNOTE = re.compile(r"([A-Za-z]{2,}|\d{4})\d(?=[\s.,;:]|$)")  # "CBS1.": a citation mark glued to a word
SENTENCE = re.compile(r"(?<=[.!?。！？])\s+|\n+")
_LIST = re.compile(r"\s*(?:,|;|/|\bor\b|\band\b|、|或|，)\s*", re.I)
_DATE_COMMA = re.compile(r"((?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? \d{1,2}),\s*(?=\d{4}\b)", re.I)
_APPOSED = re.compile(r"an?\s", re.I)  # "Marie Curie, a physicist"


def judge(
    completion: Completion, row: dict[str, Any], *, tolerance: float = 1e-6, strict: bool = False, same_unit: bool = False
) -> Verdict:
    """1.0 when the answer states a gold; None without a gold.

    strict: only an answer that is nothing but the gold. same_unit: a quantity counts in the gold's own unit only.
    """
    golds = aliases(row.get("answer"))
    if not golds:
        return Verdict(None, "the row has no gold answer")
    answer = answer_text(text_of(completion))
    if not answer:
        return Verdict(0.0, "no answer" if answer is not None else "thinking was never closed")
    answer = settled(answer)
    whole = same_words(answer)
    for gold in golds:
        if whole and whole == same_words(gold) and not _other_unit(gold, answer):
            return Verdict(1.0, f"equals the gold {gold}", answer[:200])
        measured = None if _only_aside(gold, answer) else _as_quantity(answer, gold, tolerance, same_unit)
        if measured is not None:
            return measured
    if strict:
        return Verdict(0.0, f"is not the gold {golds[0]}", answer[:200])
    return _stated(answer, golds)


def _other_unit(gold: str, answer: str) -> bool:
    """Whether the same words carry signs that differ: ``€5 million`` and ``$5 million``."""
    wanted, given = quantity(gold), quantity(answer)
    return bool(wanted and given and wanted.base and given.base and wanted.base != given.base)


def _as_quantity(answer: str, gold: str, tolerance: float, same_unit: bool) -> Verdict | None:
    """A verdict where the gold is a number with its unit and the answer gives one number; None where that does not apply."""
    wanted, given = quantity(gold), quantity(answer)
    if wanted is None or given is None or len(words(gold)) > 6 or _is_date(gold):
        return None
    if same_unit and wanted.unit is None and any(sign.isalpha() for sign in gold):
        return None  # a unit that is not in the table: the words decide
    if (same_as_written if same_unit else same_quantity)(wanted, given, tolerance):
        if _denies(answer, given.text):
            return Verdict(0.0, f"denies the gold {gold}", answer[:200])
        return Verdict(1.0, f"the same quantity, {given.value:g} {wanted.base or ''}".replace("e+08", "00000000").strip(), answer[:200])
    return Verdict(0.0, f"gold {gold}, answer {given.text}", answer[:200]) if wanted.base else None


def _denies(answer: str, said: str) -> bool:
    """Whether the words around ``said`` in the answer deny it: close before it, or right behind it."""
    number = re.search(r"[-−]?[\d.,]*\d", said)
    before, found, after = answer.partition(number[0] if number else said)
    near = [word for word in re.split(r"\bbut\b|[.;!?](?:\s|$)", before)[-1].split()][-NEAR:]
    close = same_words(" ".join(near))
    turned = close[-1:] in (["minus"], ["negative"])
    return bool(found) and (
        turned
        or bool(set(close) & DENIALS)
        or negated(before, after)
        or negated("", answer.partition(said)[2])
        or bool(_DENIED_CJK.search(before))
    )


def _is_date(text: str) -> bool:
    return bool(re.search(r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b|\b\d{1,2}[/-]\d{1,2}[/-]\d{2,4}\b", text, re.I))


def _stated(answer: str, golds: list[str]) -> Verdict:
    """A gold said in the opening statement, whole or in its telling part, not denied, not one item of a list of candidates."""
    opening, denied = _opening(answer), None
    golds = [gold for gold in golds if not _only_aside(gold, opening)]
    if not golds:
        return Verdict(0.0, "the gold stands only in a citation mark or a fraction", answer[:200])
    hay = same_words(_FOOTNOTE.sub(r"\1", opening))
    for gold in sorted(golds, key=len, reverse=True):
        for variant in _variants(gold):
            place = position(variant, hay)
            if place < 0:
                continue
            if denied_before(hay, place) or _denied_behind(opening, gold):
                denied = gold
                continue
            if _is_candidate(opening, gold):
                return Verdict(0.0, f"offers several candidates, {gold} among them", answer[:200])
            return Verdict(1.0, f"states the gold {gold}", gold)
    if denied:
        return Verdict(0.0, f"denies the gold {denied}", answer[:200])
    told = next((gold for gold in golds if _tells(gold, hay) and not _another_name(gold, opening)), None)
    if told and not REFUSAL.search(opening) and not _is_candidate(opening, told):
        return Verdict(1.0, f"states most of the gold {told}", told)
    return Verdict(0.0, f"does not state the gold {golds[0]}", answer[:200])


def _only_aside(gold: str, opening: str) -> bool:
    """Whether a gold that is a bare number occurs only as a citation mark or in a fraction: ``[10]``, ``10/10``.

    >>> _only_aside("10", "Rating: 10/10 [[10]]"), _only_aside("10", "It has 10 legs [10]."), _only_aside("10", "ten")
    (True, False, False)
    """
    number = gold.strip()
    if not number.isdecimal() or number not in opening:
        return False
    return not re.search(rf"(?<![\d./\[]){number}(?![\d/\]]|\.\d)", opening)


def denied_before(hay: list[str], place: int) -> bool:
    """Whether the words close before a place deny what stands there, or turn a number's sign."""
    near = hay[max(0, place - NEAR) : place]
    if "but" in near:
        near = near[near.index("but") + 1 :]
    turned = near[-1:] in (["minus"], ["negative"]) and hay[place][0].isdigit()
    return turned or bool(set(near) & DENIALS) or bool(_DENIED_CJK.search("".join(near)))


def _denied_behind(opening: str, gold: str) -> bool:
    """``Paris is wrong``, and the denials of languages that deny beside the name: ``不是``, ``ではありません``, ``не Москва``."""
    before, found, after = opening.casefold().partition(gold.casefold())
    return bool(found) and (negated("", after) or bool(_DENIED_FOREIGN.search(before)) or bool(_DENIED_AFTER.match(after)))


def _another_name(gold: str, opening: str) -> bool:
    """Whether the gold's first name goes on with another's last name: ``William Wordsworth`` for William Shakespeare."""
    parts = gold.split()
    if len(parts) < 2 or not all(part[:1].isupper() for part in parts) or position(same_words(parts[-1]), same_words(opening)) >= 0:
        return False
    following = re.findall(rf"\b{re.escape(parts[0])}\s+(?:[A-Z]\.\s+)?([A-Z][\w'-]+)", opening)
    return bool(following) and not {stem(word) for word in same_words(gold)} & {
        stem(word) for name in following for word in same_words(name)
    }


def _tells(gold: str, hay: list[str]) -> bool:
    """Whether the opening has the gold's telling words: every number, and ``ENOUGH`` of the other words up to their endings."""
    wanted = [word for word in same_words(gold) if word not in SMALL]
    numbers = [word for word in wanted if word.lstrip("-−.")[:1].isdigit()]
    others = [word for word in wanted if word not in numbers]
    if not set(numbers) <= set(hay) or not wanted or (others and all(len(word) == 1 for word in others)):
        return False  # single signs are CJK characters: half of a name is another name
    stems = {stem(word) for word in hay}
    if not others:
        return True
    surname = len(others) > 1 and not numbers and gold[:1].isupper() and gold.split()[-1][:1].isupper() and stem(others[-1]) in stems
    return surname or sum(stem(word) in stems for word in others) >= ENOUGH * len(others)


def stem(word: str) -> str:
    """A word without a common English ending, enough that "British" meets "Britain" and "proteins" "protein"."""
    for ending in ("ing", "ish", "ain", "ian", "ies", "ers", "ed", "es", "er", "al", "ic", "s", "y", "e", "a"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word


def _opening(answer: str) -> str:
    """The first sentences, up to ``OPENING`` words; an enumeration is not cut."""
    kept: list[str] = []
    for sentence in SENTENCE.split(answer):
        kept.append(sentence)
        if sum(len(s.split()) for s in kept) >= OPENING:
            break
    return " ".join(kept)[:2000]


def _variants(gold: str) -> list[list[str]]:
    """The gold's words, a date in both orders, and a person's name without the middle."""
    base = same_words(gold)
    forms = [base]
    date = re.fullmatch(r"([A-Za-z]+) (\d{1,2}),? (\d{4})", gold.strip())
    if date:
        forms += [same_words(f"{date[2]} {date[1]} {date[3]}"), same_words(f"{date[1]} {date[2]}th {date[3]}")]
    if len(base) == 3 and gold.istitle() and not any(word[0].isdigit() for word in base):
        forms.append([base[0], base[2]])
    return [form for form in forms if form]


def _is_candidate(opening: str, gold: str) -> bool:
    """Whether the opening is a bare list of short items of which the gold is one, or says "or" right beside it."""
    plain = _DATE_COMMA.sub(r"\1 ", re.sub(r"\([^()]*\)", "", opening))
    items = [item for item in _LIST.split(plain.strip(" .")) if item.strip() and not set(same_words(item)) & DENIALS]
    items = [
        item
        for i, item in enumerate(items)
        if not (i and (_APPOSED.match(item) or item.strip(" .").lower() in REGIONS)) and "不是" not in item
    ]
    listed = len(items) > 1 and all(len(item.split()) <= 4 for item in items) and len(_LIST.split(gold)) < len(items)
    head, found, rest = opening.casefold().partition(gold.casefold())
    beside = bool(found) and (head.rstrip().endswith(" or") or rest.lstrip(" ,").startswith("or "))
    return beside or (listed and not all(_same_kind(item, gold) for item in items))


def _same_kind(item: str, gold: str) -> bool:
    """Whether a listed item is itself part of the gold, as the parts of a date or place are."""
    return position(same_words(item), same_words(gold)) >= 0


def judge_f1(completion: Completion, row: dict[str, Any]) -> Verdict:
    """Token F1 with the nearest gold (SQuAD's evaluation script); None without a gold."""
    golds = aliases(row.get("answer"))
    if not golds:
        return Verdict(None, "the row has no gold answer")
    answer = settled(answer_text(text_of(completion)) or "")
    if not answer:
        return Verdict(0.0, "no answer")
    given = words(answer)
    score, gold = max((f1(given, words(gold)), gold) for gold in golds)
    return Verdict(score, f"F1 {score:.2f} with the gold {gold}", answer[:200])


def f1(given: list[str], gold: list[str]) -> float:
    """Harmonic mean of precision and recall over the multiset of words; 1 for two empty lists."""
    if not given or not gold:
        return float(given == gold)
    common = sum((Counter(given) & Counter(gold)).values())
    return 2 * common / (len(given) + len(gold)) if common else 0.0


def gold_completion(row: dict[str, Any]) -> str | None:
    """The first accepted answer in an answer tag; of a row that only lists key facts, all of them, a line each."""
    from rlvr_cli.verifiers.facts.coverage import facts_of

    golds = aliases(row.get("answer")) or ["\n".join(ways[0] for ways in facts_of(row.get("facts")))]
    return f"<answer>{golds[0]}</answer>" if golds[0] else None
