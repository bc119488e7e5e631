"""Multiple choice: which option an answer chose, by letter, by number or by the option's own words.

>>> row = {"answer": "B", "choices": ["Lima", "Oslo", "Rome"]}
>>> judge("It cannot be (A). The answer is (B).", row)
Verdict(score=1.0, reason='chose B', extracted='B')
>>> judge("Oslo", row).score, judge("A or B", row).reason, judge("A capital question.", row).reason
(1.0, 'several options: A, B', 'no option chosen')

A letter counts only where it is given as the answer: in a box or tag, after "the answer is" and its like in several
languages, alone on a line, or as a labelled option that the text ends on. A letter of ordinary prose ("A dog", "vitamin
C") never does. Offering several where one is right is wrong, and so is a hedge ("A or B", "not B").
"""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any

from rlvr_cli.verifiers.math.thinking import visible
from rlvr_cli.verifiers.verdict import Completion, Verdict, text_of

LETTERS = "ABCDEFGHIJ"
LONGEST = 20_000
_LABEL = re.compile(r"^\s*[(\[（【]?\s*([A-Ja-j]|\d{1,2})\s*[)\]）】.．、:：]\s*")
_TAG = re.compile(r"<answer>(.*?)</answer>", re.S | re.I)
_BOX = re.compile(r"\\(?:boxed|fbox)\s*\{")
_NOUN = r"(?:answer|choice|option|selection|response)(?:\s+(?:here|to this question))?"
_SAYS = re.compile(
    rf"\b(?:(?:the\s+|my\s+)?(?:final\s+|correct\s+|right\s+|best\s+)?{_NOUN}"
    r"(?:\s+(?:is|would be|must be|should be|has to be|will be)|\s*[:=])"
    r"|ans\s*[:.=]|i(?:'d| would| will|'ll)?\s+(?:choose|pick|select|go with|say)"
    r"|(?:therefore|so|thus|hence),?\s+(?:it(?:'s| is)\s+)?(?:option\b|choice\b)"
    r"|la (?:respuesta|réponse)(?: correcta| correcte)? (?:es|est)|die (?:richtige )?antwort (?:ist|lautet)|a resposta(?: correta)? é"
    r"|ответ\s*[:：—-])"
    r"|(?:正确)?(?:答案|选项|選項)(?:应该|應該)?(?:是|为|為|选|[:：])|(?:故|应|應|所以|因此)?(?:选|選)(?:择|擇)?|正解は|답은|정답은",
    re.I,
)
_STOP = re.compile(
    r"\n|[;；。]|(?<=[a-z)\]}*])\.(?:\s|$)|\b(?:because|since|as it|which|not|rather than|instead of)\b|,\s*(?:because|since|as|not)\b"
    r"|因为|因為|而不是",
    re.I,
)
# ASCII on both sides: in "答案是A和C" the letters touch other letters and still stand alone
_PICKS = re.compile(r"(?:[(\[（【]\s*([A-J])\s*[)\]）】]|(?<![A-Za-z0-9_'])([A-J])(?![A-Za-z0-9_']|-[A-Za-z]))")
_LOWER = re.compile(r"^[\s*_(\[（]*([a-j])[\s*_)\]）.:：]*$")
_GAP = re.compile(r"^[\s,，、;/&+*_.()（）\[\]]*(?:and|und|et|y|和|与|及)?[\s,，、;/&+*_.()（）\[\]]*$", re.I)
_HEDGE = re.compile(
    r"\b(?:or|either|maybe|perhaps|possibly|between|not sure|unsure|cannot (?:be )?determined?|could be|might be)\b"
    r"|或(?!者说)|可能|也许|不确定",
    re.I,
)
_NEGATED = re.compile(
    r"\b(?:not|isn't|is not|wasn't|cannot be|can't be|never|eliminate|rule out|neither|wrong|incorrect|false)\b|不是|不选|排除|错误", re.I
)


def judge(completion: Completion, row: dict[str, Any]) -> Verdict:
    """1.0 when exactly the gold's options were chosen; None when the row's answer names no option.

    Row columns: ``answer``, a letter, several ("A, C" or a list), an index from 0, or an option's text; ``choices``, the
    options in order (text, list or JSON), labelled or not; without it only letters count.
    """
    options = options_of(row.get("choices"))
    gold = gold_letters(row.get("answer"), options)
    if not gold:
        return Verdict(None, f"the gold {row.get('answer')!r} names no option")
    text = visible(text_of(completion)[-LONGEST:])
    if text is None:
        return Verdict(0.0, "thinking was never closed")
    chosen, why = choose(tidy(text), options, many=len(gold) > 1)
    if chosen is None:
        return Verdict(0.0, why)
    said = ", ".join(sorted(chosen))
    if len(chosen) > 1 and len(gold) == 1:
        return Verdict(0.0, f"several options: {said}", said)
    right = chosen == gold
    return Verdict(float(right), f"chose {said}" if right else f"chose {said}, gold {', '.join(sorted(gold))}", said)


def gold_completion(row: dict[str, Any]) -> str | None:
    """The gold letters in an answer tag; None when the row's answer names no option."""
    gold = gold_letters(row.get("answer"), options_of(row.get("choices")))
    return f"<answer>{', '.join(sorted(gold))}</answer>" if gold else None


def options_of(column: Any) -> list[str]:
    """The options' texts in order, their own labels cut off; the order of the labels is the order of the letters."""
    if column is None:
        return []
    if isinstance(column, str):
        try:
            column = json.loads(column)
        except ValueError:
            return _split_labelled(column)
    if isinstance(column, dict):  # {"label": ["A", "B"], "text": [...]} as some hub sets have it, or {"A": "..."}
        column = column["text"] if "text" in column else [column[k] for k in sorted(column) if column[k] is not None]
    return [_LABEL.sub("", str(item), count=1).strip() if _is_labelled(column) else str(item).strip() for item in column]


def _is_labelled(options: list[Any]) -> bool:
    """Whether every option begins with its own letter or number, in order."""
    labels = [match[1].upper() if (match := _LABEL.match(str(option))) else None for option in options]
    return labels in ([LETTERS[i] for i in range(len(options))], [str(i + 1) for i in range(len(options))])


def _split_labelled(text: str) -> list[str]:
    """``A) one B) two`` in one text."""
    marks = [m for m in re.finditer(r"(?:(?<=\s)|^)[(（]?([A-J])[)）.．、:：]\s*", text)]
    wanted, kept = 0, []
    for mark in marks:
        if wanted < len(LETTERS) and mark[1] == LETTERS[wanted]:
            kept.append(mark)
            wanted += 1
    ends = [mark.start() for mark in kept[1:]] + [len(text)]
    return [text[mark.end() : end].strip() for mark, end in zip(kept, ends, strict=True)]


def gold_letters(answer: Any, options: list[str]) -> set[str]:
    """The gold as a set of letters."""
    if isinstance(answer, bool) or answer is None:
        return set()
    if isinstance(answer, int):
        return {LETTERS[answer]} if 0 <= answer < len(options or LETTERS) else set()
    if isinstance(answer, (list, tuple, set)):
        return set().union(*(gold_letters(item, options) for item in answer)) if answer else set()
    text = tidy(str(answer))
    same = [LETTERS[i] for i, option in enumerate(options[: len(LETTERS)]) if plain(option) == plain(text)]
    if len(same) == 1:
        return set(same)
    known = LETTERS[: len(options)] if options else LETTERS
    bare = re.sub(r"[\s,，、;&()（）\[\].]|and|和", "", text, flags=re.I).upper()
    if bare and len(set(bare)) == len(bare) and set(bare) <= set(known):
        return set(bare)
    return {LETTERS[int(text)]} if text.isdigit() and int(text) < len(options) else set()


def tidy(text: str) -> str:
    """Full-width letters and brackets made plain, LaTeX and Markdown dress taken off."""
    text = unicodedata.normalize("NFKC", text)
    text = re.sub(r"\\(?:text|textbf|mathrm|mathbf|textit)\s*\{([^{}]*)\}", r"\1", text)
    return re.sub(r"[*_`$]+|\\[()\[\]]", " ", text).replace("’", "'").strip()


def plain(text: str) -> str:
    """An option's words for comparison: case, spaces, articles and outer punctuation do not count."""
    text = re.sub(r"\s+", " ", unicodedata.normalize("NFKC", text).lower()).strip(" .。,;:!\"'“”")
    return re.sub(r"^(?:the|an?)\s+", "", text)


def choose(text: str, options: list[str], *, many: bool) -> tuple[set[str] | None, str]:
    """(letters chosen, "") or (None, why not). The most explicit place decides: tag, box, statement, last line."""
    for place in (_last_tag(text), _last_box(text)):
        if place is not None:
            return _read(place, options, exact=True)
    stated = _statement(text)
    if stated is not None:
        found, why = _read(stated, options, exact=False)
        if found is not None or why != "no option chosen":
            return found, why
    return _by_itself(text, options, many)


def _last_tag(text: str) -> str | None:
    found = _TAG.findall(text)
    return found[-1] if found else None


def _last_box(text: str) -> str | None:
    """The content of the last box, braces balanced."""
    starts = list(_BOX.finditer(text))
    if not starts:
        return None
    depth, begin = 1, starts[-1].end()
    for place in range(begin, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0:
            return text[begin:place]
    return None


def _statement(text: str) -> str | None:
    """What follows the last "the answer is" and its like, to the end of that statement; a negated one does not count."""
    for said in reversed(list(_SAYS.finditer(text))):
        rest = text[said.end() :].lstrip(" :：\n\t")
        before = text[max(0, said.start() - 12) : said.start()]
        if (
            rest
            and not re.match(r"(?:not|isn't)\b|不是", rest, re.I)
            and not re.search(r"(?:not|isn't)\s*$|不$|无法|n't\s*$", before, re.I)
        ):
            end = _STOP.search(rest)
            return rest[: end.start()] if end and end.start() else rest.split("\n")[0]
    return None


def _read(place: str, options: list[str], *, exact: bool) -> tuple[set[str] | None, str]:
    """Letters in a place that holds the answer; otherwise the one option whose words it is."""
    if _HEDGE.search(place) and not _is_option(place, options):
        letters = _letters(place, options)
        return None, f"hedged between {', '.join(sorted(letters))}" if letters else "hedged"
    word = _is_option(place, options)
    if word:
        return {word}, ""
    labelled = _labelled(place, options)
    if labelled:
        return labelled, ""
    number = re.fullmatch(r"\s*(?:option|choice|no\.?|第)?\s*[(\[]?(\d{1,2})[)\].个項项]*\s*", place, re.I)
    if number and options and not any(plain(o).isdigit() for o in options) and 1 <= int(number[1]) <= len(options):
        return {LETTERS[int(number[1]) - 1]}, ""
    letters = _letters(place, options) if exact or not _prose(place) else set()
    return (letters, "") if letters else (None, "no option chosen")


def _is_option(place: str, options: list[str]) -> str | None:
    """The letter of the only option whose words are the place's words."""
    same = [LETTERS[i] for i, option in enumerate(options[: len(LETTERS)]) if plain(option) and plain(option) == plain(place)]
    return same[0] if len(same) == 1 else None


def _labelled(place: str, options: list[str]) -> set[str]:
    """``B) Oslo``, ``(B) Oslo``, ``B: Oslo``, ``option B``: the letter leads. With another option's words behind it: nothing."""
    lead = re.match(r"\s*(?:option|choice|letter|选项|選項)?\s*[(\[]?\s*([A-Ja-j])\s*[)\].:、,-]+\s*(.*)", place, re.I | re.S)
    if not lead:
        return set()
    letter, rest = lead[1].upper(), lead[2].strip()
    if letter not in (LETTERS[: len(options)] if options else LETTERS):
        return set()
    if not rest:
        return {letter}
    own = _is_option(rest, options)
    if own:
        return {letter} if own == letter else {letter, own}
    more = _letters(rest, options)
    return {letter} | more if more and _GAP.match(_PICKS.sub("", rest)) else {letter}


def _letters(place: str, options: list[str]) -> set[str]:
    """Capital letters that stand alone, of those that name an option; a lone small letter counts too."""
    known = LETTERS[: len(options)] if options else LETTERS
    small = _LOWER.match(place)
    found = {small[1].upper()} if small else {(m[1] or m[2]) for m in _PICKS.finditer(place)}
    run = re.fullmatch(r"\s*([A-J]{2,6})\s*\.?\s*", place)
    found |= set(run[1]) if run and len(set(run[1])) == len(run[1]) else set()
    return {letter for letter in found if letter in known}


def _prose(place: str) -> bool:
    """Whether the only letter is an "A" or an "I" that begins ordinary words: ``A dog is``, ``I think``."""
    lead = re.match(r"\s*(?:the\s+)?([A-J])\s+([a-z]\S*)", place)
    return bool(lead) and lead[1] in "AI" and lead[2] not in ("and", "is", "because", "since", "as", "with", "und", "et", "y")


def _by_itself(text: str, options: list[str], many: bool) -> tuple[set[str] | None, str]:
    """No statement: the whole text, or its last line, is nothing but a choice; a list of all options is none."""
    lines = [line.strip(" -•>#") for line in text.splitlines() if line.strip(" -•>#")]
    if not lines:
        return None, "empty answer"
    if len(lines) > 1 and not many and len({min(_lead(line, options)) for line in lines if _lead(line, options)}) > 1:
        return None, "lists several options"
    for place in map(_without_noun, (" ".join(lines), lines[-1], lines[0])):
        if _NEGATED.search(place) and not _is_option(place, options):
            continue
        bare = _PICKS.sub("", place)
        if _is_option(place, options) or _lead(place, options) or (_GAP.match(bare) and _letters(place, options)):
            return _read(place, options, exact=True)
        if _LOWER.match(place) or re.fullmatch(r"[A-J]{2,6}\.?", place):
            return _read(place, options, exact=True)
        if _HEDGE.search(place) and _letters(place, options):
            return None, "several options: " + ", ".join(sorted(_letters(place, options)))
    return None, "no option chosen"


def _without_noun(place: str) -> str:
    """``Option B`` says no more than ``B``."""
    return re.sub(r"^(?:option|choice|letter|选项|選項)\s*(?=[(\[]?[A-J](?![A-Za-z]))", "", place, flags=re.I)


def _lead(line: str, options: list[str]) -> set[str]:
    """The letter of a line such as ``B) Oslo`` or ``(B)``; none for ``A dog``."""
    labelled = re.match(r"\s*(?:option\s+|choice\s+|选项|選項)?[(\[]?\s*([A-J])\s*(?:[)\].:、](?:\s|$)|$)", line, re.I)
    return (
        _labelled(line, options) or ({labelled[1].upper()} if labelled and not line.strip()[1:2].isalpha() else set())
        if labelled
        else set()
    )
