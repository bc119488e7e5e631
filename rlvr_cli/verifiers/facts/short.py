"""Short answers: exact statement of a gold, and token F1."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from rlvr_cli.verifiers.denial import negated
from rlvr_cli.verifiers.facts import asserted
from rlvr_cli.verifiers.facts.asserted import DENIALS, DENIED_AFTER, DENIED_CJK, DENIED_FOREIGN, NEAR
from rlvr_cli.verifiers.facts.places import REGIONS
from rlvr_cli.verifiers.facts.quantity import quantity, same_as_written, same_quantity
from rlvr_cli.verifiers.facts.text import aliases, answer_text, position, same_words, settled, words
from rlvr_cli.verifiers.verdict import Completion, Verdict, text_of

OPENING = 60  # words in which a free answer must state the gold: later words are background, or a list of everything
LOOKED_AT = 4_000  # characters in which it is looked for whether a gold that is named is stated
REFUSAL = re.compile(
    r"\b(?:i (?:do not|don't|cannot|can't) (?:know|have|find|determine|provide|answer)|i'm not sure|not sure|no information|unable to|"
    r"(?:does|do|did) not (?:mention|provide|specify|contain)|it is (?:unclear|unknown)|there is no (?:clear|definitive|information))",
    re.I,
)
ENOUGH = 0.5  # share of a gold's words that states it
SMALL = set("of in on at to for by with and or from as is was are were be his her its their".split())  # noqa: SIM905
_RANK = re.compile(r"\d(?:st|nd|rd|th)\b")
_ASKS = re.compile(r"[?？]\W*$")
_NUMERAL = re.compile(r"[ivx]+|\d{1,2}(?:st|nd|rd|th)?")  # of a king, a war or a season
LONGEST_NAME = 3  # words of a gold in which one foreign word makes another of it
# beside a name these make it no other one: titles, what a place is, what begins a sentence
_BESIDE = """
    mr mrs ms miss dr prof professor sir lord lady madame madam king queen prince princess emperor president pope saint st general
    captain major judge justice senator governor secretary mount mt lake river city town state country island sea ocean cape fort chief
    author writer poet playwright composer painter artist physicist scientist singer actor actress inventor called named said it this
    that these those he she they we i who which what when where there here has have had been being so yes no not then than but if
    because since after before while although also only just very most more all both one some any other another its own into about
    through over under between during within without until per can could will would may might must should do does did answer correct
    final sure well hmm ok okay actually indeed however therefore hello today now wait mainly
    """
COMMON_WORDS = SMALL | frozenset(_BESIDE.split())
_FOOTNOTE = re.compile(r"([A-Za-z]{2,}|\d{4})\d(?=[\s.,;:]|$)")  # "CBS1.": a citation mark glued to a word
SENTENCE = re.compile(r"(?<=[.!?。！？])\s+|\n+")
_LIST = re.compile(r"\s*(,(?!\d{3}\b)|;|(?<!\d)/|/(?!\d)|\||&|\s[-–•·]\s|\bor\b|\band\b|、|或|，)\s*", re.I)
_TELLS_MORE = re.compile(r"[:(,;]|\bas\b")
LEAST_HEAP = 4  # words that stand beside each other like candidates
LONGEST_ITEM = 6  # words of an item of a list, and of what is told of it
_BULLET = re.compile(r"\s*(?:[-*•–]|\d{1,2}[.)]|[A-J][.):])\s+")
_INLINE_LABEL = re.compile(r"(?<=[.;,])\s+(?=[A-J][.):]\s)|\s+(?=\d[.)]\s)")
_DATE_COMMA = re.compile(r"((?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? \d{1,2}),\s*(?=\d{4}\b)", re.I)
# what is only told of the item before: "Marie Curie, a physicist", "Everest, at 8,849 m", "Obama, succeeding Bush"
_APPOSED = re.compile(
    r"(?:an?|his|her|its|their|our|at|in|on|of|by|for|from|with|about|around|above|below|near|like|as|since|after|before|during|until|who"
    r"|which|whose|where|when|born|home|also|then|followed|\w+ing|\w+ed"
    r"|(?:countess|count|duke|duchess|king|queen|earl|lord|lady|prince|princess|baron|president) of)\s",
    re.I,
)
_LEADS = re.compile(
    r"^(?:(?:yes|no|well|hmm|sure|ok|okay|oh|right|actually|so|wait|sorry|not sure)\b[\s.!]+(?=\w)|\w+!\s+)*"
    r"(?:(?:it|that|this|he|she|they|these|(?:the )?answer)(?:'s|\s+(?:is|was|are|were|be))\s+|(?:现在|所以)?是)?(?:actually\s+)?(?!\s)",
    re.I,
)
_PREDICATE = re.compile(r"^.*\b(?:is|are|was|were)\s+", re.I)
_INTERJECTIONS = frozenset({"yes", "no", "well", "hmm", "sure", "ok", "okay", "oh", "right", "actually", "so", "wait", "sorry", "hi", "ah"})
# not a list but one thing set against another
_OR_BEFORE = re.compile(r"\s(?:or|oder|ou|oppure|или)\s*$")
_OR_BEHIND = re.compile(r"[\s,]*(?:or|oder|ou|oppure|или)\s")
_SENTENCE_OF_ITS_OWN = re.compile(r"\b(?:it|them|him|her|did|is|are|was|were|has|had)\b", re.I)
_DATED = re.compile(r"(?:in|on|as of|since|by)\s+\S*\d", re.I)
_CLAUSE_BEHIND = re.compile(r"[a-z]+\s+(?:on|in|of|at|by|to|the|an?|with|from)\s")
_DENIED_ITEM = re.compile(r"(?:nicht|kein|pas|no|non|não|не)\s|.*不是", re.I)
_SET_AGAINST = re.compile(r"(?:but|yet|now|however|instead|(?:it|that)(?:'s|\s+is))\b|现在|而是", re.I)
_CLAUSE_OF_ITS_OWN = re.compile(
    r"^(?:it|they|he|she|i|we|this|that|some|many|most|people)\b|\b(?:thinks?|thought|believes?|said|say|is|was|are|were)\b|\?|以前|曾经",
    re.I,
)
# capitalised before a number, and no part of a name
_NO_NAME_WORDS = """
    About Around Almost Nearly Approximately Roughly Over Under In On At By The Since Circa Season Episode Chapter Number Age Aged Day
    """
_NO_NAME = frozenset(_NO_NAME_WORDS.split())


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
        if whole and whole == same_words(gold) and not _other_unit(gold, answer) and not (_ASKS.search(answer) and not _ASKS.search(gold)):
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
    if wanted is None or given is None or len(words(gold)) > 6 or _is_date(gold) or _is_name(gold, answer):
        return None
    if _RANK.search(answer) and not _RANK.search(gold):
        return None
    if same_unit and wanted.unit is None and any(sign.isalpha() for sign in gold):
        return None  # a unit that is not in the table: the words decide
    if (same_as_written if same_unit else same_quantity)(wanted, given, tolerance):
        if _denies(answer, given.text):
            return Verdict(0.0, f"denies the gold {gold}", answer[:200])
        if not asserted.states(answer, [gold, _digits(given.text)]) or (
            asserted.bounded(answer, given.text) and not asserted.bounded(gold, wanted.text)
        ):
            return Verdict(0.0, f"names the gold {gold} without stating it", answer[:200])
        return Verdict(1.0, f"the same quantity, {given.value:g} {wanted.base or ''}".replace("e+08", "00000000").strip(), answer[:200])
    return Verdict(0.0, f"gold {gold}, answer {given.text}", answer[:200]) if wanted.base else None


def _is_name(gold: str, answer: str) -> bool:
    """Whether the gold's number belongs to a name that the answer does not say: ``CO2``, ``Apollo 11``.

    >>> _is_name("CO2", "2"), _is_name("Apollo 11", "11 men"), _is_name("Apollo 11", "Apollo 11 it was"), _is_name("About 11 km", "11 km")
    (True, True, False, False)
    """
    before = re.split(r"\d", gold, maxsplit=1)[0]
    if re.fullmatch(r"[A-Za-z]+-?", before):
        return position(words(gold), words(answer)) < 0
    named = [word for word in re.findall(r"[A-Z][a-z]+", before) if word not in _NO_NAME]
    return not set(words(" ".join(named))) <= set(words(answer))


def _digits(said: str) -> str:
    """The number of a quantity, without its unit."""
    number = re.search(r"[\d.,]*\d", said)
    return number[0] if number else said


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
        or bool(DENIED_CJK.search(before))
    )


def _is_date(text: str) -> bool:
    return bool(re.search(r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b|\b\d{1,2}[/-]\d{1,2}[/-]\d{2,4}\b", text, re.I))


def _stated(answer: str, golds: list[str]) -> Verdict:
    """A gold said in the opening statement, whole or in its telling part, not denied, not one item of a list of candidates."""
    opening, denied = _opening(answer), None
    golds = [gold for gold in golds if not _only_aside(gold, opening)]
    if not golds:
        return Verdict(0.0, "the gold stands only in a citation mark or a fraction", answer[:200])
    golds = [gold for gold in golds if not _of_another(gold, golds, opening)]
    hay = same_words(_FOOTNOTE.sub(r"\1", opening))
    for gold in sorted(golds, key=len, reverse=True):
        for variant in _variants(gold):
            place = position(variant, hay)
            if place < 0:
                continue
            if not asserted.named(answer[:LOOKED_AT], golds) and (denied_before(hay, place) or _denied_behind(opening, gold)):
                denied = gold
                continue
            if _is_candidate(opening, gold):
                return Verdict(0.0, f"offers several candidates, {gold} among them", answer[:200])
            if _lists_lines(answer, golds) or _heaped(answer, golds):
                return Verdict(0.0, f"offers several candidates, {gold} among them", answer[:200])
            if not asserted.states(answer[:LOOKED_AT], golds):
                denies = denied_before(hay, place) or _denied_behind(opening, gold)
                return Verdict(0.0, f"denies the gold {gold}" if denies else f"names the gold {gold} without stating it", answer[:200])
            return Verdict(1.0, f"states the gold {gold}", gold)
    if denied:
        return Verdict(0.0, f"denies the gold {denied}", answer[:200])
    told = next(
        (gold for gold in golds if _tells(gold, hay) and not _another_name(gold, opening) and not _another_of_its_kind(gold, hay)), None
    )
    if told and not REFUSAL.search(opening) and not _is_candidate(opening, told) and asserted.states(answer[:LOOKED_AT], _telling(told)):
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
    return turned or bool(set(near) & DENIALS) or bool(DENIED_CJK.search("".join(near)))


def _denied_behind(opening: str, gold: str) -> bool:
    """``Paris is wrong``, and the denials of languages that deny beside the name: ``不是``, ``ではありません``, ``не Москва``."""
    before, found, after = opening.casefold().partition(gold.casefold())
    return bool(found) and (negated("", after) or bool(DENIED_FOREIGN.search(before)) or bool(DENIED_AFTER.match(after)))


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


def _another_of_its_kind(gold: str, hay: list[str]) -> bool:
    """Whether the gold's last word goes with a foreign one everywhere, or a short answer changes one of its words.

    >>> [_another_of_its_kind("Marie Curie", same_words(text)) for text in ("Pierre Curie", "Madame Curie", "Curie", "M. Curie")]
    [True, False, False, False]
    >>> _another_of_its_kind("World War II", same_words("World War I")), _another_of_its_kind("carbon dioxide", ["carbon", "monoxide"])
    (True, True)
    """
    wanted = [word for word in same_words(gold) if word not in SMALL]
    if len(wanted) < 2:
        return False
    stems, given = [stem(word) for word in wanted], [stem(word) for word in hay]
    if _NUMERAL.fullmatch(wanted[-1]) and wanted[-1] not in hay:
        beside = {hay[i + 1] for i, word in enumerate(given[:-1]) if word == stems[-2]}
        return any(_NUMERAL.fullmatch(word) for word in beside)
    if len(wanted) > LONGEST_NAME or not all(word.isalpha() for word in wanted):
        return False
    spare = [word for word in hay if stem(word) not in stems and word not in COMMON_WORDS]
    if len(hay) == len(wanted) and len(spare) == 1 and gold.islower():
        return True
    if stems[-1] not in given:
        return False
    if any(word.endswith(tuple(wanted[:-1])) for word in hay) or set(stems[:-1]) & set(given):
        return False
    beside = [hay[i - 1] if i else "" for i, word in enumerate(given) if word == stems[-1]]
    initials = {word[0] for word in wanted[:-1]} if gold[:1].isupper() else set()
    return all(_is_foreign(word, stems, initials) for word in beside)


def _is_foreign(word: str, stems: list[str], initials: set[str]) -> bool:
    """Whether a word beside a gold's last one makes another name of it: no title, no initial, no other form of a given name."""
    return len(word) > 1 and word not in COMMON_WORDS and stem(word) not in stems and word[0] not in initials


def _of_another(gold: str, golds: list[str], opening: str) -> bool:
    """Whether a name that is also known in full stands everywhere with a foreign one: ``Michelle Obama`` for Barack Obama."""
    full = [words(other) for other in golds if " " in other and gold in other]
    if " " in gold or not gold[:1].isupper() or not full:
        return False
    known = {word for name in full for word in name}
    found = list(re.finditer(rf"((?:[A-Z][\w.'’-]*\s+)*){re.escape(gold)}((?:\s+[A-Z][\w'’-]*)*)(?!\w)", opening))
    return bool(found) and all(_foreign(match[1], known) or _foreign(match[2], known) for match in found)


def _foreign(names: str, known: set[str]) -> bool:
    """Whether capitalised words beside a name hold none of its own, no title, and none that only begins a sentence."""
    beside = words(names)
    return (
        bool(beside)
        and not set(beside) & known
        and not set(beside) & COMMON_WORDS
        and not any(len(w) == 1 or w.endswith("ly") for w in beside)
    )


def _telling(gold: str) -> list[str]:
    """The words of a gold that tell it."""
    return [word for word in re.findall(r"\w+", gold) if word.lower() not in SMALL and len(word) > 1] or [gold]


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
    if same_words(opening.split(":")[0]) == same_words(gold):
        return False  # "Seven: Africa, Asia ..."
    items = _candidates(_DATE_COMMA.sub(r"\1 ", re.sub(r"\([^()]*\)", "", opening)).strip(" ."), gold)
    listed = len(items) > 1 and all(len(item.split()) <= 4 for item in items) and len(_LIST.split(gold)[::2]) < len(items)
    head, found, rest = opening.casefold().partition(gold.casefold())
    beside = bool(found) and bool(_OR_BEFORE.search(head) or _OR_BEHIND.match(rest))
    return beside or (listed and not all(_same_kind(item, gold) for item in items))


def _candidates(text: str, gold: str) -> list[str]:
    """The items of a list as bare names, one of them the gold; no denial, nothing that is told of the item before."""
    segments = text.split(";")
    if any(_SENTENCE_OF_ITS_OWN.search(segment) for segment in segments[1:]):
        text = next((segment for segment in segments if set(same_words(gold)) & set(same_words(segment))), text)
    parts = _LIST.split(text.strip())
    items: list[str] = []
    told, telling = False, set(same_words(gold)) - SMALL
    for i, (joint, part) in enumerate(zip(["", *parts[1::2]], parts[::2], strict=True)):
        if len(part.split()) > LONGEST_ITEM or (i and _SET_AGAINST.match(part.strip())):
            return []
        bare = _LEADS.sub("", part.strip()).strip(" .")
        bare = _PREDICATE.sub("", bare) if i == 0 and len(bare.split()) <= 4 else bare
        told = (
            _is_told(bare, parts[0], i)
            or (i == 0 and bool(_DATED.match(bare)))
            or (joint.strip() == ";" and bare[:1].islower())
            or (told and joint.strip().lower() in ("and", "or"))
        )
        said = set(same_words(bare))
        if told or not said or said & DENIALS or _DENIED_ITEM.match(bare) or (said <= _INTERJECTIONS and not telling & _INTERJECTIONS):
            continue
        if not (len(bare.split()) <= 4 and _CLAUSE_OF_ITS_OWN.search(bare)):
            items.append(bare)
    return items if any(telling & set(same_words(item)) for item in items) else []


def _is_told(item: str, first: str, place: int) -> bool:
    """Whether an item tells of the one before: ``a physicist``, ``born in 1867``, the country of a place."""
    named = item.lower().startswith("the ") and not first.lower().startswith("the ")
    described = (
        first[:1].isupper() and item[:1].isupper() and len(item.split()) > 1 and item.split()[-1].islower()
    )  # "Fleming, Scottish bacteriologist"
    told = first[:1].isupper() and bool(_CLAUSE_BEHIND.match(item))  # "lies on the Seine"
    region = item.lower() in REGIONS or (item.isupper() and len(item) in (2, 3) and not first.isupper())
    return bool(place) and (bool(_APPOSED.match(item)) or named or described or told or region)


def _lists_lines(answer: str, golds: list[str]) -> bool:
    """Whether the answer is a list of short lines or sentences without a word before it, the gold one of them."""
    text = _INLINE_LABEL.sub("\n", asserted.mark(answer, tuple(golds)))
    lines = [line.strip() for line in asserted.SENTENCES.split(text) if line and line.strip()]
    items = [_BULLET.sub("", line, count=1).strip(" .") for line in lines]
    items = [item for item in items if asserted.MARK in item or not (set(same_words(item)) <= _INTERJECTIONS or item.lower() in REGIONS)]
    holding = sum(asserted.MARK in item for item in items)
    bare = all(
        len(item.split()) <= 4
        and not _TELLS_MORE.search(item)
        and not _CLAUSE_OF_ITS_OWN.search(item)
        and not set(same_words(item)) & DENIALS
        for item in items
    )
    return 0 < holding < len(items) and bare


def _heaped(answer: str, golds: list[str]) -> bool:
    """Whether the answer is a heap of words without any that joins them, the gold a small part: ``Paris Lyon Nice Lille``."""
    said = words(answer)
    if not len(said) >= LEAST_HEAP or not re.fullmatch(r"[^\W\d_]+(?:\s+[^\W\d_]+)*", answer.strip()) or set(said) & COMMON_WORDS:
        return False
    known = {word for gold in golds for word in words(gold)}
    return sum(word in known for word in said) * LEAST_HEAP <= len(said)


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
