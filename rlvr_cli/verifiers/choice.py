"""Multiple choice: which option an answer chose, by letter, by number or by the option's own words.

>>> row = {"answer": "B", "choices": ["Lima", "Oslo", "Rome"]}
>>> judge("It cannot be (A). The answer is (B).", row)
Verdict(score=1.0, reason='chose B', extracted='B')
>>> judge("Oslo", row).score, judge("A or B", row).reason, judge("A capital question.", row).reason
(1.0, 'several options: A, B', 'no option chosen')

A letter counts only where it is given as the answer: in a box or tag, after "the answer is" and its like in several
languages, alone on a line, or as a labelled option that the text ends on. A letter of ordinary prose ("A dog", "vitamin
C") never does. Offering several where one is right is wrong, and so are a hedge ("A or B"), a denial ("not B") and an
answer that is taken back ("Wait, that is wrong"): what is said after that counts.
"""

from __future__ import annotations

import json
import re
from typing import Any

from rlvr_cli.verifiers import choice_said
from rlvr_cli.verifiers.choice_words import SHORTEST_STEM, dense, inflected, plain, tidy
from rlvr_cli.verifiers.denial import negated, retraction
from rlvr_cli.verifiers.math.thinking import visible
from rlvr_cli.verifiers.verdict import Completion, Verdict, text_of

LETTERS = "ABCDEFGHIJ"
LONGEST = 20_000
TURNS = 8  # times an answer may be taken back
MOST = 60  # tags that are looked at, from the end
_LABEL = re.compile(r"^\s*[(\[（【]?\s*([A-Ja-j]|\d{1,2})\s*[)\]）】.．、:：]\s*")
_LABEL_BEHIND = re.compile(
    r"(?:\s*\((?:option|choice|answer|选项)?\s*([A-J])\)"
    r"|\s*(?:,|[-–—]\s)\s*(?:(?:which|that|so|hence|thus)\s+(?:is\s+)?|i\.?e\.?,?\s+)?(?:option|choice|answer|letter)?\s*\(?([A-J])\)?)[\s.。!]*$",
    re.I,
)
_NOUN_BEHIND = re.compile(r"(?<=[A-J)])\s*(?:选项|選項|项|項)\s*$")
# the letter of a name or of a noun that follows: "vitamin C", "Appendix B", "B cells"
_NAMED = re.compile(
    r"\b(?i:vitamin|hepatitis|section|appendix|figure|fig\.?|table|type|group|class|grade|plan|part|chapter|case|point|set|event|team|student|person"
    r"|phase|level|factor|system|planet|curve|graph|sample|model)s?\s+\(?[A-J]\b"
    r"|(?<![A-Za-z0-9(\[])[A-J]\s+(?!(?:and|or|is|are|was|because|since|as|with|here|for|due|from|in|which|that|given|by|but|based|according|while"
    r"|though|although|if|when|rather|instead|not|only|the|an?|it|we|this|they|so|to|on|of|und|et|y|e|o|weil|porque|parce|car|denn|da|dan)\b)[a-z]{2,}"
)
_ASIDE = re.compile(r"(?<=[A-J])\s*\((?:(?:even )?though|although|not|rather than)\b[^()\n]{0,80}\)", re.I)  # "B (though A is close)"
_DOUBT = re.compile(r"\b(?:wait|hmm+|actually|on reflection|let me (?:re-?check|re-?consider|double-?check|correct))\b", re.I)
_NUMBERED = re.compile(r"(?:\s*\d[.)]\s*\(?[A-J]\b\)?[\s.,;]*){1,10}")
_REASON_BEHIND = re.compile(r"\s*[,;:—–]?\s+(?:because|since|as|due to)\s.*$", re.I | re.S)
_CERTAIN = re.compile(
    r"(?:\s*[,—–-]+\s*|\s+)(?:no doubt(?: about it)?|without (?:a |any )?doubt|for sure|hands down|of course|obviously|definitely"
    r"|clearly|certainly)[\s.!]*$",
    re.I,
)
_ALL_BUT = re.compile(
    r"(?:(?:the\s+|my\s+)?(?:final\s+|correct\s+)?(?:answers?|options?)(?:\s+(?:is|are))?\s*:?\s*)?"
    r"(?:all|every(?:thing|one)|each|every)(?:\s+(?:one|option|of\s+(?:them|these|the\s+(?:above|options|statements))))?\s*,?\s+"
    r"(?:except|but|besides|apart\s+from|aside\s+from|other\s+than|save|excluding)(?:\s+for)?\s+(?P<out>[^.;!?\n]{1,80}?)"
    r"(?:\s+(?:are|is|apply|applies|hold|holds)\b[^.;!?\n]{0,40})?[.!]?",
    re.I,
)
_TOLD_OF = re.compile(
    r"[)\]]?\s+(?:is|are|was|were|has|says?|states?|reads?|claims?|mentions?|describes?|refers?|would|could|might|may|looks?|seems?)\b",
    re.I,
)
_PRONOUN = re.compile(r"\W*(?:it|they|this|he|she)\s+(?=\S)", re.I)
_SUBJECT = re.compile(r"\W*(?:the\s+)?(?!not\b|never\b|hardly\b|no\b)[a-z]+\s+(?=\S)", re.I)
_TERSE = re.compile(
    r"(?:i\s+(?:think|guess|say|pick)\s+|prob(?:ably)?\s+)?(?:it'?s|its|it is|option|answer(?:\s+is)?|ans|pick"
    r"|choose)\s*:?\s*\(?([a-j])\)?\W*",
    re.I,
)
_TERSE_LIST = re.compile(r"\(?[a-j]\)?(?:\s*(?:,|&|\band\b)\s*\(?[a-j]\)?)+\W*")
_TAGGED = re.compile(r",?\s+(?:it|they|this|that|he|she|you|we|one)\s+(?:is|are|was|were|does|do|did|can|will|has)[\s.!]*$", re.I)
_IT_ALONE = re.compile(r"\W*(?P<words>[^.!?\n,;:]{2,60}?)\s+is\s+(?:the|an?)\s+[^.!?\n;:,]{3,80}[.!]?", re.I)  # the whole answer
_THE_ONLY = re.compile(
    r"\W*(?P<words>[^.!?\n,;:]{2,60}?)\s+(?:is|are)\s+(?:the\s+only|the\s+(?:right|correct)\s+(?:one|answer|choice|option)s?)\b[^?\n]*$",
    re.I,
)
_BULLETS = " -•><{}#✅✔✓√☑👉➡\ufe0f"
_TAG = re.compile(r"<answer>((?:(?!<answer>).)*?)</answer>", re.S | re.I)
_BOX = re.compile(r"\\(?:boxed|fbox)\s*\{")
# ASCII on both sides: in "答案是A和C" the letters touch other letters and still stand alone
_PICKS = re.compile(r"(?:[(\[（【]\s*([A-J])\s*[)\]）】]|(?<![A-Za-z0-9_'°])([A-J])(?![A-Za-z0-9_']|-[A-Za-z]|\+(?![ ]?[A-J]\b)))")
_LOWER = re.compile(r"^[\s*_(\[（]*([a-j])[\s*_)\]）.:：]*$")
# linear: no two stars meet
_GAP = re.compile(r"^[\s,，、;/&+*_.()（）\[\]]*(?:(?:and|und|et|y|和|与|及)[\s,，、;/&+*_.()（）\[\]]*)?$", re.I)
_NOUN = re.compile(r"^(?:(?:both|only|just)\s+)?(?:(?:option|choice|letter|statement)s?|选项|選項)?\s*(?=[(\[]?[A-J](?![A-Za-z]))", re.I)
_LISTED = re.compile(r"(?:^|(?<=\s))\(?([A-J])(?=[):.]\s)")
_HEDGE = re.compile(
    r"\b(?:or|either|maybe|perhaps|possibly|between|not sure|unsure|cannot (?:be )?determined?|could be|might be)\b"
    r"|或(?!者说)|可能|也许|不确定",
    re.I,
)
_NEGATED = re.compile(
    r"\b(?:not|isn't|is not|wasn't|cannot be|can't be|never|eliminate|rule out|neither|wrong|incorrect|false|except)\b"
    r"|不是|不选|排除|错误|除了",
    re.I,
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
    chosen, why = choose(choice_said.numbered(_undressed(tidy(text)), _by_number(options)), options, many=len(gold) > 1)
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
    labelled = _with_its_words(text, options)
    if labelled:
        return {labelled}
    if _bare_letter(text, options):
        return {text}
    same = [LETTERS[i] for i, option in enumerate(options[: len(LETTERS)]) if plain(option) == plain(text)]
    if len(same) == 1:
        return set(same)
    known = LETTERS[: len(options)] if options else LETTERS
    bare = re.sub(r"[\s,，、;&()（）\[\].]|and|和", "", text, flags=re.I).upper()
    if bare and len(set(bare)) == len(bare) and set(bare) <= set(known):
        return set(bare)
    return {LETTERS[int(text)]} if text.isdigit() and int(text) < len(options) else set()


def _undressed(text: str) -> str:
    """Other names of the answer tag, tags that are not closed, quotes around a letter and asides taken off; "N/A" is no A."""
    text = re.sub(r"<(/?)(?:final[_ ]?answer|final|choice)>", r"<\1answer>", text, flags=re.I)
    if not _TAG.search(text):
        text = re.sub(r"</?answer>", " ", text, flags=re.I)
    text = re.sub(r"[\"'“‘「]\s*(\(?[A-J]\)?)\s*[\"'”’」]", r"\1", text)
    return _ASIDE.sub("", re.sub(r"\bN/A\b", "none", text))


def choose(text: str, options: list[str], *, many: bool) -> tuple[set[str] | None, str]:
    """(letters chosen, "") or (None, why not). The most explicit place decides: tag, box, statement, last line."""
    for _ in range(TURNS):
        found, why, end = _choose(text, options, many)
        back = retraction(text[end:], elsewhere=lambda before, found=found: _of_another(before, options, found)) if found else None
        if found and back is None:
            back = _turned(text[end:], options, found, many)
        if back is None:
            return found, why
        text = re.sub(r"^\s*(?:'s|is|was)\s", "", text[end + back :])
    return None, "taken back again and again"


def _choose(text: str, options: list[str], many: bool) -> tuple[set[str] | None, str, int]:
    """(letters chosen, why none, where the place that decided ends)."""
    marks = [*_tags(text), *_last_box(text)]
    if marks:
        kept = [mark for mark in marks if not negated(text[max(0, mark[0] - 60) : mark[0]], text[mark[1] : mark[1] + 60])]
        if not kept:
            return None, "the answer is negated", marks[0][1]
        return *_read(_inside(kept[0][2]), options, exact=True), kept[0][1]
    if many:
        left = _all_but(text, options) or _set_against(text, options) or _both(text, options)
        if left:
            return left, "", len(text)
    if choice_said.second_answer(text):
        return None, "several options: a second answer", len(text)
    stated = choice_said.announcement(text)
    if stated is not None:
        found, why = _read(stated[0], options, exact=False)
        if found is not None or why != "no option chosen":
            return found, why, stated[1]
    for way in (_called_right, _marked, _by_itself):
        said = way(text, options, many)
        if said[0] is not None or said[1].startswith("several"):
            return said
    talked = _talked_of(text, options)
    if talked[0] is not None:
        return talked
    ending = _ends_on(text, options, many)
    return ending if ending[0] is not None else said


def _turned(after: str, options: list[str], found: set[str], many: bool) -> int | None:
    """Where an answer is thought over and another one concluded: "Wait, let me check ... so it is D"; None where it stands."""
    doubt = _DOUBT.search(after)
    if doubt is None:
        return None
    rest = after[doubt.end() :]
    bare = re.fullmatch(r"\W*(?:no\W+)?(?:it's\s+)?\(?[A-J]\)?\W*", rest, re.I)
    letters = _letters(rest, options) if bare else _called_right(rest, options, many)[0]
    return doubt.end() if letters and letters != found else None


def _inside(place: str) -> str:
    """What a tag or box says, without a "the correct answer is" that leads it."""
    stated = choice_said.announcement(place)
    return stated[0] if stated and not re.search(r"\w", place[stated[1] :]) else place


def _of_another(before: str, options: list[str], found: set[str]) -> bool:
    """Whether "that is wrong" is said of another option: its letter or words stand before it, in the same or the last sentence."""
    near = " ".join(re.split(r"(?<=[.!?。])\s+|\n+", before)[-2:])
    words = plain(near)
    named = {LETTERS[i] for i, option in enumerate(options[: len(LETTERS)]) if len(plain(option)) > 2 and plain(option) in words}
    return bool((_letters(near, options) | named) - found)


def _tags(text: str) -> list[tuple[int, int, str]]:
    """The answer tags as (start, end, inside), the last first; tags side by side are one."""
    marks: list[tuple[int, int, str]] = []
    for found in list(_TAG.finditer(text))[-MOST:]:
        if marks and _GAP.match(text[marks[0][1] : found.start()]):
            start, _, before = marks.pop(0)
            inside = before if before.strip() == found[1].strip() else f"{before}, {found[1]}"
            marks.insert(0, (start, found.end(), inside))
        else:
            marks.insert(0, (found.start(), found.end(), found[1]))
    return marks


def _last_box(text: str) -> list[tuple[int, int, str]]:
    """The last box as (start, end, inside), braces balanced; none where there is none."""
    starts = list(_BOX.finditer(text))
    if not starts:
        return []
    depth, begin = 1, starts[-1].end()
    for place in range(begin, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0:
            return [(starts[-1].start(), place + 1, text[begin:place])]
    return []


def _called_right(text: str, options: list[str], many: bool) -> tuple[set[str] | None, str, int]:
    """The letters that are called correct or concluded: "B is the answer", "so B."; where one is asked, different ones are several."""
    for option in options:  # the C of "Vitamin C is right" is no letter where that is an option
        if " " in option and re.search(r"\b[A-J]\b", option):
            text = text.replace(option, option.lower())
    places = choice_said.verdicts(text)
    if many and places and len(_letters(places[-1][0], options)) > 1:
        places = places[-1:]  # "A is true. C is true. So A and C."
    letters = set().union(*(_letters(place, options) for place, _ in places)) if places else set()
    return (letters, "", places[-1][1]) if letters else (None, "no option chosen", 0)


def _marked(text: str, options: list[str], many: bool) -> tuple[set[str] | None, str, int]:
    """The options that a list or table of at least two calls right: ``A) Lima ❌``, ``| B | Oslo | Yes |``."""
    marks: dict[str, bool] = {}
    for letter, rest, right in choice_said.marks(text):
        if letter in marks or _same_words(rest, options):
            return None, "no option chosen", 0  # a second list, or options that are themselves "True" and "False"
        marks[letter] = right
    known = LETTERS[: len(options)] if options else LETTERS
    letters = {letter for letter, right in marks.items() if right and letter in known}
    return (letters, "", len(text)) if letters and len(marks) > 1 else (None, "no option chosen", 0)


def _talked_of(text: str, options: list[str]) -> tuple[set[str] | None, str, int]:
    """The one option of a last or first sentence that says nothing but which one is chosen: "I'd answer B.", "Gravity fits best."."""
    for clause, end in choice_said.clauses(text):
        for i, option in enumerate(options[: len(LETTERS)]):
            words = plain(option)
            if len(words) > 2:
                clause = re.sub(rf"(?<!\w)(?:(?:the|an?)\s+)?{re.escape(words)}(?!\w)", f" {LETTERS[i]} ", clause, flags=re.I)
        known = set(LETTERS[: len(options)] if options else LETTERS[:8])  # without options an "I" is the pronoun
        letters = {match[1] or match[2] for match in _PICKS.finditer(clause)} & known
        twice = (
            len(_PICKS.findall(clause)) > 1 and re.search(r"[a-z]{2}", clause) and not re.search(r"\bin [A-J]\b", clause)
        )  # "Oslo, which is B"
        if len(letters) == 1 and choice_said.only_chooses(f"choose {clause}" if twice else clause):
            return letters, "", end
    return None, "no option chosen", 0


def _ends_on(text: str, options: list[str], many: bool) -> tuple[set[str] | None, str, int]:
    """The option whose words close the last sentence, or the first: "The speed is 6 m/s."."""
    pointed = choice_said.pointed(text)
    letters = _pointed_at(*pointed, options, many) if pointed else set()
    if letters:
        return letters, "", len(text)
    subject = _only_subject(text, options) or _closing_label(text, options)
    if subject:
        return {subject}, "", len(text)
    for place, end in choice_said.endings(text):
        word = _is_option(place, options) or _with_its_words(place, options)
        if word:
            return {word}, "", end
        several = _several_words(place, options) if many else set()
        if many and not several and _GAP.match(_PICKS.sub("", place)):
            several = _letters(place, options)
        if len(several) > 1:
            return several, "", end
        if _bare_letter(place, options) and re.search(
            r"\b(?:that|this|it|one|option|choice|answer)\b", text[:end][-400:].split("\n")[-1], re.I
        ):
            return _letters(place, options), "", end  # "The one we want is A."
    return None, "no option chosen", 0


def _pointed_at(head: str, place: str, options: list[str], many: bool) -> set[str]:
    """The options behind a colon or an arrow; where the words before it deny something, they must deny other options."""
    if choice_said.DENIES.search(head) and not _names_any(head, options) and not choice_said.concludes(head):
        return set()
    word = _is_option(place, options) or _with_its_words(place, options) or _said_of_it(place, options)
    several = _several_words(place, options) if many and not word else set()
    if word or several:
        return {word} if word else several
    letter = _bare_letter(place, options) and " " in head.strip() and not _NAMED.search(f"{head.split()[-1]} {place.strip()}")
    return _letters(place, options) if letter else set()


def _names_any(text: str, options: list[str]) -> bool:
    """Whether a text names an option, by letter or by its words."""
    words = plain(text)
    return bool(_letters(re.sub(r"\bA(?= [a-z])", " ", text), options)) or any(
        len(plain(option)) > 2 and plain(option) in words for option in options
    )


def _only_subject(text: str, options: list[str]) -> str | None:
    """The option that the text calls the only one: ``Mercury is the only metal that is liquid``."""
    found = _THE_ONLY.match(text) or _IT_ALONE.fullmatch(text)
    return _is_option(found["words"], options) if found and not choice_said.unsure(text) else None


def _closing_label(text: str, options: list[str]) -> str | None:
    """The letter that closes the last sentence in brackets, where its option's words stand right before it: ``pressure decreases (B)``."""
    sentence = choice_said.last_sentence(text)
    label = re.search(r"\s*\(([A-J])\)[\s.。!]*$", sentence)
    index = LETTERS.index(label[1]) if label else len(options)
    if index >= len(options) or choice_said.unsure(sentence):
        return None
    own = inflected(options[index])
    return label[1] if own and f" {inflected(sentence[: label.start()])}".endswith(f" {own}") else None


def _read(place: str, options: list[str], *, exact: bool) -> tuple[set[str] | None, str]:
    """Letters in a place that holds the answer; otherwise the one option whose words it is."""
    word = _is_option(place, options) or _with_its_words(place, options)
    if word:
        return {word}, ""
    if "\n" in place:  # a list of labelled options behind "the correct answers are"
        listed = set().union(*(_lead(line, options) for line in place.split("\n")))
        return (listed, "") if listed else (None, "no option chosen")
    place = _NOUN_BEHIND.sub("", place)
    if exact:
        place = _affirmed(place)
        if not place:
            return None, "the answer is negated"
    if _HEDGE.search(place):
        letters = _letters(place, options)
        return None, f"hedged between {', '.join(sorted(letters))}" if letters else "hedged"
    word = _is_option(place, options)
    if word:
        return {word}, ""
    several = _several_words(place, options)
    if several:
        return several, ""
    labelled = _labelled(place, options)
    if labelled:
        return labelled, ""
    number = re.fullmatch(r"\s*(?:option|choice|no\.?|第)?\s*[(\[]?(\d{1,2})[)\].个項项]*\s*", place, re.I)
    if number and options and not any(plain(o).isdigit() for o in options) and 1 <= int(number[1]) <= len(options):
        return {LETTERS[int(number[1]) - 1]}, ""
    if not exact:
        place = _NAMED.sub(" ", place)
    letters = _letters(place, options) if exact or not _prose(place) else set()
    if not exact and re.match(r"\W*(?:(?!\(?[A-J]\b)\S+\s+){5}", place):
        letters = set()  # "this option is supported by the text, while option A"
    return (letters, "") if letters else (None, "no option chosen")


def _affirmed(place: str) -> str:
    """What a place affirms: ``not A but B`` and ``B, not A`` say B; ``not B`` and ``B is wrong`` say nothing."""
    if not _NEGATED.search(place) and not re.search(r"\b(?:rather than|instead of)\b|而不是", place, re.I):
        return place
    turned = re.split(r"\bbut(?: rather)?\b|\bsondern\b|\bsino\b|而是", place, flags=re.I)
    if len(turned) > 1:
        return next((part for part in (turned[-1], turned[0]) if not _NEGATED.search(part)), "")
    kept = re.split(r"\s*[,;(]?\s*(?:\band not\b|\bnot\b|\brather than\b|\binstead of\b|而不是|(?<=[,，])\s*不是)", place, flags=re.I)[0]
    return "" if _NEGATED.search(kept) or re.search(r"\b(?:is|are|was)$", kept.strip(), re.I) else kept


def _bare_letter(place: str, options: list[str]) -> bool:
    """Whether a place is one capital letter that names an option: it is the letter, also where another option's text is a "C" or an "a"."""
    bare = place.strip(" .()[]:\n")
    return len(bare) == 1 and bare in (LETTERS[: len(options)] if options else LETTERS)


def _by_number(options: list[str]) -> int:
    """How many options may be called by their number: none where any of them is a number itself."""
    return 0 if any(re.fullmatch(r"\W*\d+\W*", option) for option in options) else min(len(options), len(LETTERS))


def _is_option(place: str, options: list[str]) -> str | None:
    """The letter of the only option whose words are the place's words; a lone capital letter is no words."""
    return None if _bare_letter(place, options) else _same_words(place, options)


def _same_words(place: str, options: list[str]) -> str | None:
    """The letter of the only option whose words are the place's words."""
    for form in (plain, dense, inflected):
        same = [LETTERS[i] for i, option in enumerate(options[: len(LETTERS)]) if form(option) and form(option) == form(place)]
        if len(same) == 1:
            return same[0]
    return None


def _said_of_it(text: str, options: list[str]) -> str | None:
    """The only option of whose subject a pronoun or another noun stands in place: ``It accelerates with the force`` for ``The object
    accelerates with the force``, ``The pressure decreases`` for ``It decreases``.
    """
    pronoun = _PRONOUN.match(text)
    subject = None if pronoun else _SUBJECT.match(text)
    said = inflected(text[(pronoun or subject).end() :]) if pronoun or subject else ""
    if len(said) < SHORTEST_STEM:
        return None
    if pronoun:
        same = [LETTERS[i] for i, option in enumerate(options[: len(LETTERS)]) if _ends_with(inflected(option), said)]
    else:
        same = [LETTERS[i] for i, option in enumerate(options[: len(LETTERS)]) if _PRONOUN.match(option) and inflected(option) == said]
    return same[0] if len(same) == 1 else None


def _ends_with(option: str, said: str) -> bool:
    """Whether an option is those words behind a subject of one or two, none of which denies."""
    subject = option[: -len(said)]
    return option.endswith(f" {said}") and subject.count(" ") <= 2 and not choice_said.DENIES.search(subject)


def _with_its_words(place: str, options: list[str]) -> str | None:
    """The letter of ``B) Oslo`` where those are that option's words, whatever they are: an option may hold a "not" or an "or"."""
    label, behind = _LABEL.match(place), _LABEL_BEHIND.search(place)
    if behind and _same_words(place[: behind.start()], options) == (behind[1] or behind[2]).upper():  # "Oslo (B)", "Oslo, which is B"
        return (behind[1] or behind[2]).upper()
    own = _same_words(place[label.end() :], options) if label else None
    if not own:  # "B Oslo", "Option B (Oslo)"
        loose = re.match(r"\s*(?:option\s+)?([A-J])(?:,\s+|\s+(?:(?:[|=–—→-]|->|=>)\s+)?)(\(?)(.+?)(\)?)[\s.]*$", place, re.I)
        words = loose[3] if loose and loose[2] and loose[4] else loose[2] + loose[3] + loose[4] if loose else ""
        return loose[1].upper() if loose and _same_words(words, options) == loose[1] else None
    number = label[1].isdigit() and int(label[1]) == LETTERS.index(own) + 1 and int(label[1]) <= _by_number(options)
    return own if number or label[1].upper() == own else None


def _several_words(place: str, options: list[str]) -> set[str]:
    """The letters of a list of options' words: ``Lima and Rome``; nothing where any part of it is no option."""
    parts = [part for part in re.split(r"[,，、;；&]|\band\b|[和与及]", place) if part.strip()]
    named = [_is_option(part, options) or _with_its_words(part, options) for part in parts] if 1 < len(parts) <= len(options) else []
    return {name for name in named if name} if named and all(named) else set()


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
    own = _same_words(rest, options)
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


def _by_itself(text: str, options: list[str], many: bool) -> tuple[set[str] | None, str, int]:
    """No statement: the whole text, or its last line, is nothing but a choice; a list of all options is none."""
    lines = [line.strip(_BULLETS) for line in text.splitlines() if line.strip(_BULLETS)]
    if not lines:
        return None, "empty answer", 0
    if (
        len(lines) > 1
        and not many
        and not _then_the_others(lines, options)
        and len({min(_lead(line, options)) for line in lines if _lead(line, options)}) > 1
    ):
        return None, "lists several options", 0
    if many and len(lines) > 1 and all(_lead(line, options) for line in lines):
        return set().union(*(_lead(line, options) for line in lines)), "", len(text)
    numbered = _numbered(text, options)
    if numbered:
        return (numbered, "", len(text)) if many or len(numbered) == 1 else (None, "several options: " + ", ".join(sorted(numbered)), 0)
    first = text.find(lines[0]) + 1  # the choice leads the first line: its own words may be followed by their retraction
    last = first if len(lines) == 1 else len(text)
    for place, end in ((" ".join(lines), first), (lines[-1], last), (choice_said.last_sentence(lines[-1]), len(text)), (lines[0], first)):
        place = _CERTAIN.sub("", place)
        if plain(_TAGGED.sub("", place)) in ("yes", "no"):
            place = _TAGGED.sub("", place)
        place = _without_aside(place, options)
        word = (
            _is_option(place, options) or _with_its_words(place, options) or _said_of_it(place, options) or _with_a_reason(place, options)
        )
        place = word or _affirmed(_without_noun(place))
        word = word or _is_option(place, options) or (_only_number(text, options) if len(lines) == 1 else None)
        if word:
            return {word}, "", len(text) if end > first or len(lines) == 1 else first + len(lines[0])
        if _NEGATED.search(place):
            continue
        if _chooses(place, options):
            return *_read(place, options, exact=True), end
        if _HEDGE.search(place) and _letters(place, options):
            return None, "several options: " + ", ".join(sorted(_letters(place, options))), end
    return None, "no option chosen", 0


def _numbered(text: str, options: list[str]) -> set[str]:
    """The letters of a text that is nothing but a numbered list of them, or says no more in small letters: ``1. A 2. C``, ``its c``."""
    known = LETTERS[: len(options)] if options else LETTERS
    terse = _TERSE.fullmatch(text)
    if terse or _TERSE_LIST.fullmatch(text):
        found = {terse[1].upper()} if terse else {letter.upper() for letter in re.findall(r"\b[a-j]\b", text)}
        return found if all(letter in known for letter in found) else set()
    if not _NUMBERED.fullmatch(text):
        return set()
    items = re.findall(r"(\d)[.)]\s*\(?([A-J])\b", text)
    in_order = [int(number) for number, _ in items] == list(range(1, len(items) + 1))
    return {letter for _, letter in items} if in_order and all(letter in known for _, letter in items) else set()


def _without_aside(place: str, options: list[str]) -> str:
    """A letter or an option's words without what brackets add: ``B (I = V/R)``; as it is where they name another option or doubt."""
    found = re.fullmatch(r"\s*(.{1,80}?)\s*\(([^()]{1,80})\)[\s.!]*", place)
    if not found or _is_option(place, options) or _with_its_words(place, options):
        return place
    named = _bare_letter(found[1], options) or _is_option(found[1], options)
    return found[1] if named and not choice_said.unsure(found[2]) and not _names_any(found[2], options) else place


def _both(text: str, options: list[str]) -> set[str]:
    """The options of which the text says something together: ``Both sodium and potassium are metals``."""
    found = re.fullmatch(r"\W*both\s+([^.;!?\n]{3,80}?)\s+(?:are|fit|work|hold|apply)\b[^.;!?\n]{0,40}[.!]?", text, re.I)
    return _several_words(found[1], options) if found and not choice_said.unsure(text) else set()


def _with_a_reason(place: str, options: list[str]) -> str | None:
    """The option whose words lead, with nothing behind them but the reason: ``False, since 0 is even``."""
    reason = _REASON_BEHIND.search(place)
    return _is_option(place[: reason.start()], options) if reason else None


def _all_but(text: str, options: list[str]) -> set[str]:
    """The letters that ``all except B`` leaves; none where the text says more than that, or names none."""
    said = _ALL_BUT.fullmatch(text.strip())
    if not said or not options:
        return set()
    left_out = said["out"]
    named = _several_words(left_out, options) or {
        word for word in [_is_option(left_out, options) or _with_its_words(left_out, options)] if word
    }
    if not named and _GAP.match(_PICKS.sub("", left_out)):
        named = _letters(left_out, options)
    return set(LETTERS[: len(options)]) - named if named else set()


def _set_against(text: str, options: list[str]) -> set[str]:
    """The letters of which the last sentence says what it denies of all others: ``A and C are primes; B and D are not``."""
    said = choice_said.SET_AGAINST.fullmatch(choice_said.last_sentence(text))
    if not said:
        return set()
    kept, denied = _letters(said["kept"], options), _letters(said["denied"], options)
    return kept if kept and not kept & denied and len(kept | denied) == len(options) else set()


def _then_the_others(lines: list[str], options: list[str]) -> bool:
    """Whether a choice on the first line is followed by words on the others: ``(B)``, then ``A: too cold``, ``C: too hot``."""
    head = _letters(lines[0], options) if re.fullmatch(r"\W*[A-J]\W*", _without_noun(lines[0])) else {_with_its_words(lines[0], options)}
    rest = [(_lead(line, options), line) for line in lines[1:]]
    return head != {None} and all(
        not lead or (not lead & head and re.search(r"[^\W\d_]{2}", line) and not _with_its_words(line, options)) for lead, line in rest
    )


def _only_number(text: str, options: list[str]) -> str | None:
    """The letter of an option's number where the text is nothing else: ``(3)``."""
    number = re.fullmatch(r"[\s(\[]*([1-9])[\s)\].]*", text)
    return LETTERS[int(number[1]) - 1] if number and int(number[1]) <= _by_number(options) else None


def _chooses(place: str, options: list[str]) -> bool:
    """Whether a place is nothing but a choice: letters and what joins them, or a letter that leads."""
    bare = _GAP.match(_PICKS.sub("", place)) and _letters(place, options)
    return bool(
        _lead(place, options) or bare or _LOWER.match(place) or re.fullmatch(r"[A-J]{2,6}\.?", place) or _several_words(place, options)
    )


def _without_noun(place: str) -> str:
    """``Option B`` says no more than ``B``, nor does ``Both A and C`` than its letters."""
    return _NOUN_BEHIND.sub("", _NOUN.sub("", place))


def _lead(line: str, options: list[str]) -> set[str]:
    """The letter of a line such as ``B) Oslo`` or ``(B)``; none for ``A dog``."""
    labelled = re.match(
        r"\s*(?:option\s+|choice\s+|选项|選項)?[(\[]?\s*([A-J])\s*(?:[)\].:、。!](?:\s|$|(?=[^\x00-\x7f]))|[,，](?=[^\x00-\x7f])|\s[-–—]\s(?!\d+\s*=)|$"
        r"|[,，]\s*(?:because|since|as|因为|因為))",
        line,
        re.I,
    )
    known = set(LETTERS[: len(options)] if options else LETTERS)
    listed = len(set(_LISTED.findall(line)))
    if listed > 2 or (listed == 2 and not _NEGATED.search(line)):
        return set()  # "A: too hot. B: too hot. C: no."
    if labelled and _TOLD_OF.match(line[labelled.end(1) :]) and not _with_its_words(line, options):
        return set()  # "[D] is a distractor"
    return (
        _labelled(line, options) or ({labelled[1].upper()} & known if labelled and not line.strip()[1:2].isalpha() else set())
        if labelled
        else set()
    )
