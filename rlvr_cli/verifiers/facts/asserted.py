"""Whether an answer that names a gold also states it: "Lyon, south of Paris" and "it used to be Paris" name Paris and state another.

The places where a gold stands are marked first, so that no pattern here can trip over the gold's own words; then each place is looked at in
its sentence. One place that states the gold is enough.

>>> [states(text, ["Paris"]) for text in ("It is Paris.", "It used to be Paris.", "Lyon, south of Paris.", "Is it Paris?")]
[True, False, False, False]
>>> states("Some say Rome, but it is Paris.", ["Paris"]), states("Some say Paris, but it is Rome.", ["Paris"])
(True, False)
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from rlvr_cli.verifiers.denial import negated
from rlvr_cli.verifiers.facts.text import NUMBERS

_NUMBER_WORDS = {digits: word for word, digits in NUMBERS.items()}
MARK = "\ue000"
SHORT = 6  # words of an answer in which a range or a sum is all there is
READ = 300  # characters before a gold that are read
MOST = 40  # places that are looked at
NEAR = 4  # words before a gold in which a denial denies it
DENIALS = frozenset("not never isnt wasnt arent werent neither nor cannot without except unlike incorrect wrong false instead".split())  # noqa: SIM905
# no full stop behind an initial, a title or "vs." ends a sentence
SENTENCES = re.compile(
    r"(?<=[.!?;；])(?<!\b[A-Z]\.)(?<!\bDr\.)(?<!\bMr\.)(?<!\bMrs\.)(?<!\bMs\.)(?<!\bSt\.)(?<!\bMt\.)(?<!\bJr\.)(?<!\bSr\.)(?<!\bvs\.)(?<!\b\d\.)\s+"
    r"|(?<=[。！？])|\n+"
)
_CLAUSE = re.compile(r"(?<!all )(?<!thing )(?<!one )\b(?:but|yet|however|now|today|so|rather(?! than))\b|[:：—]|\s[–-]\s|而是|，")
_RIVAL = r"(?:(?:it|this|that)(?:'s|\s+(?:is|was|were|are|has been))\b"
_RIVAL += r"|(?:the\s+)?(?:correct|right|true|real|actual)\b|the\s+answer\b)"
# another answer is set against it: in the same sentence, or at the head of the next
_CONTRAST = re.compile(
    r"\b(?:but|yet|however|although|though|actually|in (?:fact|reality|truth)|now|today|nowadays|currently|instead|later|then|since"
    r"|took over)\b"
    r"|[;；]|现在|如今|后来|但|其实",
    re.I,
)
_CONTRAST_NEXT = re.compile(
    r"\W*(?:(?:but|yet|however|actually|in (?:fact|reality|truth)|now|today|nowadays|instead|so|really)\b,?\s+"
    rf"(?:[^.]{{0,40}}?\s)?{_RIVAL}|(?:now|today|nowadays|later|then)\b|{_RIVAL}|现在|如今|后来|但|其实)",
    re.I,
)
_THE = r"(?:(?:the|an?|his|her|its|their|old)\s+)*"
_KIN = (
    r"(?:friend|rival|contemporary|colleague|husband|wife|spouse|widow|son|daughter|father|mother|parent|brother|sister|cousin|uncle|aunt|nephew"
    r"|niece|student|pupil|teacher|mentor|disciple|follower|successor|predecessor|opposite|reverse|inverse|counterpart|critic|admirer|assistant"
    r"|partner|neighbou?r|suburb|copy|imitation|precursor|antonym|tributary)s?"
)
DENIED_AFTER = re.compile(
    r"(?:市|都|시)?(?:では(?:ない|なく|ありません)|じゃ(?:ない|なく)|でなく|(?:이|가|은|는)?\s?아니|(?:이|가|은|는)?\s?아닙|不是答案|是错)"
)
DENIED_FOREIGN = re.compile(
    r"(?<!\w)(?:не|нет,? не|nicht|no es|n'est pas|ce n'est pas|non è|não é)\s+(?:la |le |el |der |die |das |il |o |a |город )?$"
)
DENIED_CJK = re.compile(r"(?:不是|并非|不为|不等于)[^，。；]{0,3}$")
_QUESTION = re.compile(r"[?？]\W*$")
_TAG_QUESTION = re.compile(r",?\s*(?:(?:is|was|are|were|did|does)n't\s+(?:it|he|she|they|that)|right|no|correct)\s*[?？]\W*$", re.I)
_YES = re.compile(r"\W*(?:yes|yep|yeah|correct|right|exactly|indeed|it is|it was)\b|\W*(?:是的|对)", re.I)

# right before the gold: what stands here is no answer, whatever follows
_BARRED_BEFORE = re.compile(
    r"(?:\b(?:than|unlike|apart from|aside from|besides|(?<!none )(?<!no one )(?<!nobody )other than|excluding|instead of|rather than"
    r"|opposed to|confused with|compared (?:to|with)|in exchange for|different from|contrary to|second (?:after|to|only to|behind)"
    r"|behind only|(?:anything|everything|everyone|anyone|all|any\w*) but"
    r"|(?:replac(?:ed|es|ing)|supersed(?:ed|es)|over(?:took|taken|takes)|surpass(?:ed|es)|supplant(?:ed|s))(?! by)|beats?"
    r"|edge[sd]? out|(?:took|taken|takes) over from|vs?\.?|versus"
    r"|ahead of|in front of|near|close to|next to|far from|adjacent to|(?:old|former|previous|other) name (?:of|for)"
    r"|(?:could|may|might)(?: also| well)? (?:be|have been)|possibly|perhaps|maybe|whether it(?:'s| is| was)?|whether|no longer|formerly"
    r"|used to be(?: called| known as)?|was once|once(?: called| known as)?|previously)"
    rf"|[>＞]|^\W*[\w.-]+['’]s\s+\w+\s+(?:to|about|on|with|against)|\bif\b.*\bwould(?: have)? be(?:en)?"
    rf"|(?:^|[,(])\s*(?:after|before)|(?:以前|曾经?|过去|之前)(?:是|为|叫)?|可能是?|也许是?|或许是?"
    rf"|(?:^|[,(])\s*(?:(?:is|was|being)\s+)?{_THE}(?:\w+\s+)?{_KIN}\s+(?:of|to|for|after)"
    rf"|\b(?:i|we)\s+(?:first|initially|originally|used to|had)\s+(?:\w+\s+){{0,2}}?"
    rf"(?:thought|think|said|say|guess\w*|answered|believed|wrote)\b[^,]{{0,30}}"
    rf"|\b(?:until|till|up to)\s[^,]{{1,25}},?\s(?:it|this|that|he|she|they|the\s\w+)\s(?:was|were|had been)(?: called)?"
    rf"|^\W*before,?\s(?:that,?\s)?(?:it|this|that|he|she)\s(?:was|had been)"
    rf"|(?:^|[,(;])\s*(?:although|though|even though|despite|whereas|contrary to)\b[^,]*|^\W*(?:while|whilst)\b[^,]*"
    rf"|\b(?:our|another|the next|the new|a modern))"
    rf"\s*(?:(?:in|on|at|of|by|for|from)\s+)?{_THE}[\"'“‘(]*$",
    re.I,
)
_BOUND = re.compile(
    r"\b(?:before|after|more than|less than|fewer than|exceed\w*|up to|at least|at most|twice|thrice|double|half(?: of)?)"
    r"\s+(?:about\s+)?[$€£]?$",
    re.I,
)
_CHANGED = re.compile(
    r"\b(?:chang|went|mov|delay|switch|shift|renam|transfer|convert|turn|postpon|grew|rose|fell|dropp|risen)\w*\b[^,]*\bfrom\s+(?:the\s+)?$",
    re.I,
)
_TO = re.compile(r"\s+(?:to|into)\b", re.I)
# right behind it
_BARRED_BEHIND = re.compile(
    rf"['’]s?\s+(?:\w+\s+){{0,2}}?{_KIN}\b"
    r"|\s+(?:comes? to mind|(?:is |was )?excluded|aside\b|apart\b|is (?:out|disputed|second|wrong|incorrect)\b(?!\s+(?:of|to none)\b))"
    r"|\s+(?:is|was|are|were|has been|had been)\s+(?:\w+\s+)?(?:wrongly|falsely|mistakenly|erroneously)\b"
    r"|\s+(?:is|was|would be)\s+(?:just\s+)?(?:an?|the)\s+(?:(?:common|popular|frequent|usual|widespread)\s+)?"
    r"(?:misconception|mistake|myth|trap|decoy|wrong|error|opposite)\b"
    r"|\s+if\s+(?:you|it|the|we)\b(?!\s+(?:ask|want|recall|remember|believe|know))"
    r"|,?\s+(?:wrongly|mistakenly|incorrectly)\b|\s+of\s+(?:his|her|its|their|the)\s+(?:day|time|age|era)\b|-(?:plated|like|based|born|free|style|era|esque|colou?red)\b"
    r"|\s*[:=—-]+\s*(?:no|nope|wrong|incorrect|false)\b"
    r"|\s+(?:(?:is|comes?|came|ranks?)\s+)?(?:a\s+close\s+)?second(?:\s+(?:to(?! none)|after|behind)\b|\W*$)"
    r"|\s+(?:(?:is|are|was|were|has been|had been)\s+(?:replaced|superseded|overtaken|surpassed|supplanted|beaten)\s+by"
    r"|gave way to|lost (?:out )?to)\b"
    r"|\s+(?:vs?\.|versus)\s|\s*还是|\s+(?:BC|BCE|B\.C\.)(?!\w)",
    re.I,
)
# only with another answer set against it later on
_DOUBTFUL_BEFORE = re.compile(
    r"\b(?:some|many|most|people|they|others|everyone|students?|one|i|we|you)\s+(?:\w+\s+){0,2}?"
    r"(?:think|thinks|thought|believe[sd]?|say|says|said|claim(?:s|ed)?|credit(?:ed)?|assum(?:e|ed)|guess(?:ed)?|name[sd]?|cite[sd]?|consider(?:ed)?"
    r"|attribut(?:e|ed)|suspect(?:ed)?|answer(?:ed)?|expect(?:ed)?)\b[^,;]{0,30}$"
    r"|(?:\b(?:is|was|are|were|been)|'s)\s+(?:\w+\s+){0,2}?(?:thought|believed|said|claimed|credited|assumed|attributed)\b[^,;]{0,30}$"
    r"|\b(?:originally|initially|at first)\s+(?:(?:in|on|called|named)\s+)?$"
    r"|\b(?:planned|scheduled|intended|expected|slated|due|supposed)\s+(?:\w+\s+){0,2}$"
    r"|\b(?:it|this|that|he|she)\s+(?:was|were|had been)\s+$"
    r"|\bcredit\s+(?:is|was|goes|went)\b[^,;]*\bto\s+$"
    r"|(?:原来|原本|最初)(?:是|为)?$",
    re.I,
)
_DOUBTFUL_BEHIND = re.compile(
    r",?\s+until\b|\s+(?:did|does|do|has|had|can|could)(?:n't|\s+not)\b|\s+gets?\s+(?:all\s+)?(?:the\s+)?credit\b"
    r"|\s+(?:is|was|would be)\s+(?:an?\s+)?(?:\w+\s+)?(?:considered|proposed|suggested|rejected|nominated|planned|tempting"
    r"|guess|candidate)\b|\s*,?\s*(?:yesterday|before(?=\s*[,.;])|at first|earlier|in the past|back then|for (?:years|centuries|decades))\b"
    r"|\s+(?:is|was|has been|had been|were)\s+(?:\w+\s+)?"
    r"(?:long|often|commonly|usually|frequently|widely|popularly|sometimes|generally|traditionally)\b"
    r"|\s+(?:is|was)\s+the\s+(?:second|third|old|former|previous)\b"
    r"|\s+was\b[^.;]*\b(?:before|until|originally|back then|at first)\b",
    re.I,
)
_CONCLUDES = re.compile(
    r"\b(?:the|my)\s+(?:(?:correct|right|real|true|final|actual)\s+)*answer\s+(?:is|was)\s+(?!not\b)|(?:^|[.!?]\s+|\n)\W*(?:(?:final|correct)\s+)?answer\s*:\s*",
    re.I,
)
_LABELLED = re.compile(r"\W*(?:(?i:final|correct)\s+)?(?i:answer)\s*:\W*[A-Z\d][^:\n]{0,40}[.!;]\W*$")  # "Answer: Hooke."
_CHATTER_WORDS = """
    sure yes no hi hello hey ok okay certainly of course absolutely great good question correct right well hmm thanks thank you answer
    final got it ah oh indeed exactly true false not wait actually so here done fine nice easy interesting short long brief summary
    simple first second let's see mr mrs ms dr st mt
    """
_CHATTER = frozenset(_CHATTER_WORDS.split())
_IT_IS = re.compile(r"(?:[Ii]t|[Tt]hat|[Tt]his)(?:'s|\s+is|\s+was)\s+(?=(?:the\s+)?[A-Z\d])")  # a name or number behind it
_NOT_SO = re.compile(r"\W*(?:wrong|false|incorrect|not so|not quite|nope|no)\s*[:,.!]", re.I)
_TURNS = re.compile(
    r"\W*(?:no|now|today|nowadays|currently|later|since|actually|wait|sorry|correction|rather|i mean|hmm|then again)\b", re.I
)
_WITH_VERB = re.compile(r"\b(?:is|are|was|were|be|been|am|has|have|had|does|did|do|can|could|will|would)\b|'s\b|[?？]", re.I)
_HEAD = re.compile(
    r"^\W*(?:(?:it|that|this|he|she)(?:'s|\s+is|\s+was|\s+would be)\s+|(?:the\s+)?answer(?:\s+is|:)\s+)?"
    r"(?!(?:in|on|at|by|for|from|during|after|before|according|to|as|of|with|under|since|when|while|if|there|here|a|an|about|around|however|therefore|thus"
    r"|also|moreover|today|overall|\w+ly)\b)"
    r"(?P<head>[^\W_][\w.'’-]*(?:\s+[\w.'’-]+){0,4}),\s+"
    r"(?:(?:who|whom|which|whose|where|since|because|as|although|though|while|unlike|like|second|a|an|the|his|her|its|our|one|older|not"
    r"|(?:south|north|east|west) of|near|next|close|just|right|below|above|under)\b|(?!called|named|known|titled)\w+(?:ed|ing|er)\b)[^,]*$",
    re.I,
)
_ONLY_OWNED = re.compile(r"['’]s\s+[a-z]+\W*$")  # "Newton's apple"
_OWNED = re.compile(r"\W*[A-Z][\w.'’-]*(?:\s+[\w.'’-]+){0,3},\s*$")  # "Joe Biden, Obama's"
_TOLD = re.compile(
    _WITH_VERB.pattern + r"|\b(?:call|name|came|went|made|wrote|beat|took|until|formerly|previously)\w*\b|\b(?:some|or)\b", re.I
)
_ANOTHER_NAME = re.compile(
    r"\b(?:aka|also|known|i\.?e|called|n[ée]e|symbol|short for|abbreviat\w*|in (?:full|short)|born|in|from|as|by|on|at|and|e\.g|such"
    r"|like)\b",
    re.I,
)
_ASIDE = re.compile(r"\([^()]*\)")


def states(text: str, golds: list[str]) -> bool:
    """Whether one of the places where ``text`` names a gold states it; also where none is found, as in another way of writing."""
    marked = mark(text, tuple(golds))
    if MARK not in marked:
        return True
    sentences = [part for part in SENTENCES.split(marked) if part and part.strip()]
    labelled = [sentence for sentence in sentences if _LABELLED.match(sentence)]
    if labelled and MARK not in labelled[-1]:
        return False
    concluded = list(_CONCLUDES.finditer(marked))
    if concluded and MARK not in marked[concluded[-1].start() :] and re.match(r"\S*\w", marked[concluded[-1].end() :]):
        return False
    if _headed(sentences, golds):
        return False
    places = [(i, found.start()) for i, sentence in enumerate(sentences) for found in re.finditer(MARK, sentence)]
    return any(_states(sentences[i], place, sentences[:i], sentences[i + 1 :]) for i, place in places[:MOST])


def named(text: str, golds: list[str]) -> bool:
    """Whether the text names a gold in the gold's own letters."""
    return MARK in mark(text, tuple(golds))


def mark(text: str, golds: tuple[str, ...]) -> str:
    """The text without accents, a sign in each place where it names a gold."""
    return _pattern(golds).sub(MARK, _folded(text))


@lru_cache(maxsize=4_000)
def _pattern(golds: tuple[str, ...]) -> re.Pattern[str]:
    """Any gold in any case, the longest first, as whole words where it begins and ends with one of the Latin script."""
    kinds = []
    for gold in sorted({_folded(gold).strip() for gold in golds}, key=len, reverse=True):
        if gold in _NUMBER_WORDS:
            kinds.append(rf"(?<![A-Za-z-]){_NUMBER_WORDS[gold]}(?![A-Za-z-])")
        words = r"[\s\W]{1,3}".join(map(re.escape, re.findall(r"\w+", gold))) or re.escape(gold)
        kinds.append((r"(?<![A-Za-z0-9])" if gold[:1].isascii() else "") + words + (r"(?![A-Za-z0-9])" if gold[-1:].isascii() else ""))
    return re.compile("|".join(kinds) or r"(?!)", re.I)


def _folded(text: str) -> str:
    bare = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c) or c >= "\u3040")
    return unicodedata.normalize("NFC", bare)


def _headed(sentences: list[str], golds: list[str]) -> bool:
    """Whether a few words lead the text, as an answer does, and the gold stands only behind them: ``Blue. The left one is red.``"""
    first, rest = sentences[0], sentences[1:]
    if MARK in first or not rest:
        return False
    named = _IT_IS.match(first)
    first = first[named.end() :] if named else first
    words = re.findall(r"[^\W_]+(?:['’.-][^\W_]+)*", first)
    return (
        0 < len(words) <= 3
        and not any(word.lower() in gold.lower() for word in words for gold in golds)
        and first.rstrip()[-1:] in ".!;。；！"
        and not _WITH_VERB.search(first)
        and not {word.lower() for word in words} & _CHATTER
        and not any(MARK in sentence and (len(sentence.split()) <= 2 or _TURNS.match(sentence)) for sentence in rest)
    )


def _states(sentence: str, place: int, earlier: list[str], later: list[str]) -> bool:
    """Whether the gold at this place is what its sentence answers."""
    if _QUESTION.search(sentence) and not _TAG_QUESTION.search(sentence) and not _YES.match(" ".join(later[:1])):
        return False
    for aside in _ASIDE.finditer(sentence):
        inside = aside.start() < place < aside.end()
        if inside and _tells(aside[0]) and (earlier or re.search(r"\w", sentence[: aside.start()])):
            return False
    clause = _CLAUSE.split(sentence[max(0, place - READ) : place])[-1]
    after = sentence[place + 1 :]
    if later and _NOT_SO.match(later[0]):
        return False
    set_against = bool(_CONTRAST.search(after) or (later and _CONTRAST_NEXT.match(later[0])))
    if not clause.strip() and _ONLY_OWNED.match(after):
        return False
    return not (
        _denied(clause, sentence[:place], after)
        or _BARRED_BEFORE.search(clause)
        or _BARRED_BEHIND.match(after)
        or (_CHANGED.search(clause) and _TO.match(after))
        or (set_against and (_DOUBTFUL_BEFORE.search(clause) or _DOUBTFUL_BEHIND.match(after)))
        or (len(sentence.split()) <= SHORT and _of_range(clause, after))
        or _of_head(sentence, place)
    )


def _tells(aside: str) -> bool:
    """Whether brackets say more of the gold than that it is another name: ``(Newton only refined it)``, ``(some count 7)``."""
    more = re.findall(r"[^\W_]+", aside.replace(MARK, " "))
    return bool(_TOLD.search(aside)) or (len(more) > 1 and not _ANOTHER_NAME.search(aside))


def bounded(text: str, said: str) -> bool:
    """Whether a quantity is only a bound: ``more than 42 km``, ``before 1969``."""
    marked = mark(text, (said,))
    return MARK in marked and bool(_BOUND.search(marked[: marked.index(MARK)]))


def _denied(clause: str, before: str, after: str) -> bool:
    """Whether the words beside the gold deny it."""
    near = re.findall(r"[^\W_]+", clause.lower().replace("'", "").replace("’", ""))[-NEAR:]
    return bool(
        set(near) & DENIALS
        or re.search(r"\bno\s+$", clause, re.I)
        or negated("", after)
        or DENIED_FOREIGN.search(before.casefold())
        or DENIED_CJK.search(before)
        or DENIED_AFTER.match(after)
    )


def _of_range(before: str, after: str) -> bool:
    """Whether a number is the end of a range or a part of a sum: ``12-14``, ``12 + 1``."""
    return bool(
        re.match(r"\s*(?:[-–+*/×÷^]|to)\s*\d|\s+(?:minus|plus|times)\s|\s+(?:squared|cubed)\b", after)
        or re.search(r"\d\s*(?:[-–]|to)\s*$|\bbetween\s+\S*\d\S*\s+and\s*$", before, re.I)
    )


def _of_head(sentence: str, place: int) -> bool:
    """Whether the gold stands in what is told of another answer: ``K2, second after Everest``, ``Lyon, which is south of Paris``."""
    if re.match(r"['’]s?\s", sentence[place + 1 :]) and _OWNED.match(sentence[:place]):
        return True
    head = _HEAD.match(sentence[:place])
    return bool(
        head
        and not re.search(r"\b(?:known|called|named|referred to)(?: as)?\s+$", sentence[:place], re.I)
        and MARK not in head["head"]
        and not _WITH_VERB.search(head["head"])
        and head["head"].split()[0].lower() not in _CHATTER
    )
