"""Answers announced in words, in many languages, and the last resort: the closing formula or number of a finished text.

>>> [inner for _, _, inner in stated("La respuesta es 45.\\nFinal answer: -0.25")]
['45', '-0.25']
>>> conclusion("She gives 9 away. So 15 marbles are left.")
('15', 'number')
>>> conclusion("We are given 12 and 15 and must find the sum.") is None
True
"""

from __future__ import annotations

import re

from rlvr_cli.verifiers import denial
from rlvr_cli.verifiers.denial import FOREIGN_NOT, FOREIGN_NOT_BEHIND

from . import fast, units
from .form import readable

_LINK = (
    r"(?:\s*(?:is|are|was|equals|would be|will be|should be|must be|has to be|comes out to(?: be)?|comes to|turns out to be"
    r"|becomes|=|:|->|→|⇒)\s*)"
)
_SUBJECT = (
    r"(?:(?:the|my|our|your|a)\s+)?(?:(?:final|correct|right|only|required|numerical|exact|complete|simplified|desired|overall"
    r"|resulting|best|true|actual)\s+){0,2}"
    r"(?:answer|answers|ans)(?:\s+(?:choice|option|value|here|to (?:the|this|that|your|part)\s[\w' ]{0,40}?|of the (?:problem"
    r"|question)|in [\w ]{1,20}?|to [^.\n:?]{1,40}?|"
    r"(?:i|we) (?:get|find|give|have|submit|arrive at)|then|therefore|thus))?"
)
_ENGLISH = rf"\b{_SUBJECT}[*_\s]*(?:\([^()\n]{{0,20}}\)\s*)?{_LINK}"
_OPTION = (
    r"\b(?:the\s+)?(?:correct|right|best|matching|true)\s+(?:option|choice|statement|alternative|letter)s?\s*(?:is|are|:|would be|=)\s*"
    r"|\b(?:so|thus|therefore|hence),?\s+(?:the\s+)?(?:option|choice)\s+(?=[*(]{0,3}[A-J]\b)"
    r"|\b(?:i|we)(?: would|'ll| will|'d)? go with\s+(?:option\s+|choice\s+|answer\s+)?(?=[*(\\$]{0,3}[A-J]\b)"
    r"|\b(?:i|we)(?: would|'ll| will)? "
    r"(?:choose|select|pick)\s*:?\s*"
)
_WEAK_HEAD = r"\b(?:the\s+)?(?:final\s+)?(?:result|solution|value)s?\s*[*_]*\s*(?::|is\s*:|are\s*:)\s*"
_OTHERS = (
    r"(?:最终|最后|正确|标准|参考)?(?:答案|结果|选项)(?:应该|应|就)?(?:是|为|等于|：|:|選|选)\s*[:：]?\s*|(?:故|应|因此|所以|综上|，"
    r"|,|。|^)[ \t]*(?:本题)?(?:应)?选(?:择"
    r"|项)?\s*[:：]?\s*"
    r"|而是\s*|(?<![问回解])答\s*[:：]\s*|(?:最終的な)?(?:答え|解答|正解|答)(?:は|：|:)[、,]?\s*|(?:최종\s*)?(?:정답|답|해답)(?:은|:|는)\s*[:：]?\s*"
    r"|\b(?:la\s+|una\s+)?(?:respuesta|opción|opção|opzione|réponse|risposta|resposta|solución|resultado)(?:\s+(?:final|finale|correcta|correcte|corretta"
    r"|correta|es|definitiva))*\s*(?:est|es|è|é|:|será|=)\s*:?\s*"
    r"|\b(?:die\s+|das\s+)?(?:richtige\s+|endgültige\s+)?(?:end)?(?:antwort|ergebnis|resultat)(?:\s+(?:ist|lautet|beträgt))?\s*(?::"
    r"|(?<=ist)|(?<=lautet)|(?<=beträgt))\s*:?\s*"
    r"|(?:окончательный\s+|правильный\s+|итоговый\s+)?(?:ответ|відповідь)\s*(?::|—|-|=|равен|это)\s*|(?:vậy\s+)?(?:đáp án|đáp số|kết"
    r" quả|câu trả lời)(?:\s+(?:đúng|cuối cùng))?\s*(?:là|:)\s*:?\s*"
    r"|(?:الإجابة|الجواب|الاجابة)(?:\s+(?:النهائية|الصحيحة|النهائي|الصحيح))?\s*(?:هي|هو|:)\s*:?\s*|(?:अंतिम\s+)?उत्तर\s*(?:है|:"
    r"|=)\s*:?\s*|\b(?:jawaban(?:nya)?)(?:\s+akhir)?\s*(?:adalah|:)\s*"
    r"|\b(?:sonuç|cevap|yanıt)\s*:?\s*|\b(?:het\s+)?(?:eind)?antwoord\s*(?:is|:)\s*|\b(?:odpowiedź|odpověď|svar(?:et)?|vastaus"
    r"|răspuns(?:ul)?|válasz|odgovor)\s*(?:to|je|är|er|on|este|:)\s*:?\s*"
    r"|\bans\.\s*|(?:คำตอบ)\s*(?:คือ|:)\s*|(?:התשובה|תשובה)\s*(?:היא|:)\s*|(?:απάντηση)\s*(?:είναι|:)\s*|(?:پاسخ)\s*:?\s*|উত্তর\s*:?\s*"
)
_A_LINE = (
    r"^[ \t]*(?:\*\*)?A(?:NSWER)?(?:\*\*)?\s*:[ \t]*|^[ \t]*(?:#{1,6}[ \t]*)?(?:\*\*)?(?:final\s+)?answer(?:\*\*)?["
    r" \t]*:?(?:\*\*)?[ \t]*\n+|\banswer\s*(?=\$|\\\(|\\\[)"
)
_JSON = r"(?P<json>\"(?:final_)?answer\"\s*:\s*)"
_STATED = re.compile("|".join((_A_LINE, _JSON, _ENGLISH, _OPTION, _WEAK_HEAD, _OTHERS)), re.I | re.M)

READ_BACK = 8_000
"""Characters from the end in which an announcement is looked for."""
LONGEST_SENTENCE = 800
MOST = 40
"""Announcements that are looked at, from the end; the last one wins."""

_REVERSED = re.compile(
    r"(?:\b[Oo]ption|\b[Cc]hoice|\b[Aa]nswer|\b[Ss]tatement)\s+\**\(?(?P<option>[A-J])\)?\**\s+(?:is|must"
    r" be)\s+(?:the\s+)?(?:correct|right|best|true)\b"
    r"|(?:^|[.!?\n]\s*)\**\(?(?P<lead>[A-J])\)?\**\s+is\s+(?:correct|right)(?=\s*[.!\n]|\s*$)"
    r"|(?<![\w$])\**\(?(?P<letter>[A-J])\)?\**\s+(?:is|must be)\s+(?:the|our|my)"
    r"\s+(?:final\s+|correct\s+|right\s+|best\s+)?(?:answer|option|choice)\b"
    r"|(?<![\w$])(?P<inner>\$[^$\n]{1,80}\$|(?<![\d.,/])-?\d[\d.,/]{0,30}%?)\s+(?:is|must be)\s+(?:the|our|my)\s+(?:final\s+"
    r"|correct\s+|right\s+)?answer\b"
)
_ABBREVIATION = re.compile(r"\b(?:i\.e|e\.g|a\.m|p\.m|no|approx|etc|sq|ft|in|vs|cu|st|mr|dr)$", re.I)
_SENTENCE_END = re.compile(r"[.!?](?=[\s*_\"')\]$]|$)|[。！？]|\n")
_CLAUSE_END = re.compile(
    r",?\s+(?:because|since|as (?:required|desired|claimed|we|the|it|shown|expected)|which|where|so that|so\b(?! far)|hence"
    r"|therefore|thus|for (?:a|the|this|all|each|every)\b"
    r"|by (?:the|using)|and (?:we|so|this|it|you|that|he|she|they|thus|hence|therefore)\b|when|assuming|given that|from|note|but"
    r"|although|after|obtained|meaning|corresponding|is what)\b"
    r"|,\s+\\?\$?\d[\d.,]*%?\s+(?:\w+\s+){0,2}(?:less|more|fewer|higher|lower|cheaper|greater|larger"
    r"|smaller|older|younger|longer|shorter) than\b"
    r"|,\s+(?=(?!and\b|or\b|y\b|und\b|et\b|e\b|o\b|ou\b|oder\b)"
    r"[a-zà-ÿ]{2,}\b(?!\s*=))|\s+(?:になります|となります|です|だ|입니다|이다|이에요|है)|(?<=[\d\w}$)])\s*(?:です|となる|입니다|이다|である)|，(?=[\u4e00-\u9fff])",
    re.I,
)
_LEAD = re.compile(
    r"^(?:that|at(?= \()|therefore|thus|simply|just|exactly|equal to|equals|given by|indeed|clearly|about|approximately|roughly"
    r"|option|choice|answer|letter|选项)\s+",
    re.I,
)
_ECHO = re.compile(
    r"^\W*(?:find|compute|evaluate|determine|solve|simplify|express|to (?:solve|find|answer)|we know|given)\b|\bscore\s*[:=]"
    r"|\b(?:grader|grading|reward|asked|asking|whether|assum\w+|(?:are|is|was|were) given|given (?:that|a|an|as)|suppose|imagine"
    r"|if the answer|restat\w+|quote[sd]?|we are told|(?:user|they|question) wants?|wants? (?:us|me|you|to (?:know|find))"
    r"|(?:task|goal|aim|objective) is to|to begin,?|first,? i note|we start (?:with|from)|(?:our|my|the) goal|it says"
    r"|(?:read|look at) (?:it|this|that) again"
    r"|need to (?:find|know|compute|determine|show|check|see)|must (?:find|compute|determine|show)"
    r"|have to (?:find|compute|determine)|will now|i will|i'll|we will|how many|what is|calculate the|might (?:think|say)|could be|may be"
    r"|impossible that|unlikely that|nobody|no one|(?:some|many|most|other) (?:people|students)|people (?:think|say|believe)"
    r"|might be|not sure|guess|perhaps|maybe|possibly"
    r"|a (?:first|naive|common|wrong|typical|rough) (?:guess|answer|mistake|error|attempt))\b"
    r"|\b(?:some|several|a few) (?:more|of them)\b|\b(?:un)?known:|已知|假设|问：|是否|如果|^\W*(?:设|求)|，求|,求",
    re.I,
)
# Words that only a sentence which does not conclude ("So each student ...") is suspected for.
_ECHO_UNLESS_CONCLUDING = re.compile(
    r"\b(?:question|problem|prompt|exercise|task|asks?|repeat\w*|to find|let us|let's|how much|determine|someone|student|one might"
    r"|you might|unless)\b|题目|问题",
    re.I,
)
_ANSWERS_IT = re.compile(
    r"\b(?:the|a) \w+(?: \w+){0,3}? (?:we|i|you) (?:were|are|was) asked for\b"
    r"|\bwhat (?:is|was) asked(?: for)?\b|\b(?:the|a) \w+(?: of \w+)? asked for\b|"
    r"\b(?:solution|answer|solves?|response)\s+(?:to|of|for)\s+(?:the|this|our|your)\s+(?:given\s+)?(?:question|problem|exercise|task)\b",
    re.I,
)
_OPEN_QUESTION = re.compile(r"[?？]")
_CUE = re.compile(
    r"(?:=|≈|\\approx|\bequals?|\bequal to|\bis|\bare|\bwas|\bwere|\bbe|\bgets?|\bgot|\bgives?|\byields?|\bobtains?|\bfinds?|\bhas"
    r"|\bhave|\bhad|\bleaves?|\bmakes?|\bcosts?|\bneeds?|\bpays?|\bearns?|\btotals?"
    r"|\bof|\bprints|\breturns|\boutputs?"
    r"|\bresult|\btotal|:|\bi\.e\.,?|\bthat is,|\bnamely,?|是|为|等于|共|有|得|にな|は|=|\bes|\best|\bist|\bsono|\bè|\bé|\bsind"
    r"|\bson)\s*(?:about|approximately|exactly|only|just|therefore|then|also|a total of|\\?\$)?\s*$",
    re.I,
)
_NUMBER = re.compile(
    r"(?<![A-Za-z0-9.^_\\{])[-+]?(?:[$€£¥₹]\s*)?[-+]?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)?(?:(?<=\d)[.,]\d+"
    r"|(?<!\d)\.\d+)?(?<=\d)(?:\s*/\s*\d+(?:\.\d+)?)?(?:[eE][-+]?\d+)?(?:\s*\\?%)?(?![\d^])"
)
_FORMULA = re.compile(
    r"\$\$(.+?)\$\$|\\\[(.+?)\\\]|\\\((.+?)\\\)|(?<![\\\d])\$(?!\s*\d+(?:,\d{3})*(?:\.\d+)?[\s.,;)]+[a-z])([^$\n]+?)(?<!\\)\$", re.S
)
_CODE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.S)
_NOT_WORD = re.compile(rf"\b(?:not|isn't|never|cannot|can't|neither|wasn't)\b|n't\b|{FOREIGN_NOT}|ではない|아니", re.I)
_DENIED_AFTER = re.compile(rf"{FOREIGN_NOT_BEHIND}|\bdeğil", re.I)
_CONCLUDING_START = re.compile(r"\W*(?:so|thus|therefore|hence|finally|altogether|in total|consequently|this means)\b", re.I)
_CONCLUDING = re.compile(
    r"=|\b(?:so|thus|therefore|hence|total|altogether|in all|finally|result|answer|conclude|consequently|gives?|equals?|sum|overall)\b"
    r"|所以|因此|共|故|よって|따라서",
    re.I,
)
_ITEM = re.compile(r"\s*(?:\d+[.):]|[-•]|\(?[a-z]\)|(?:step|option|case|part)\s+\w+\s*[:.])\s", re.I)
_COPULA = re.compile(r"\b(?:is|are|equals?|be)\s+(?=\S)")
_RESTATES = re.compile(r"\brestat\w+|\b(?:the|this) (?:problem|question) (?:says|states|asks|is)|题目", re.I)
_NO_SOLUTION = re.compile(
    r"\b(?:has|have|had|there (?:is|are)|there's|admits?) no (?:real |integer |rational |positive |such |common )*(?:solutions?|roots?"
    r"|answers?)\b[^,;]{0,40}$|(?:无|没有)(?:实数)?解\s*$",
    re.I,
)
_INFINITELY_MANY = re.compile(r"\b(?:has|have|are|admits?) infinitely many (?:real |integer |distinct )*solutions?\b[^,;]{0,40}$", re.I)
_NAMED_VALUES = re.compile(
    r"\b(?P<a>[a-z](?:_\d)?)\s*=\s*(?P<x>[^=,;$]{1,40}?)[\s$]*(?:,|;|\bor\b|\band\b)+[\s$]*(?P<b>[a-z](?:_\d)?)\s*=\s*(?P<y>[^=,;$]{1,40}?)"
    r"[\s$]*[.!]?\s*$",
    re.I,
)
_COMPOUND = re.compile(
    r"\b(\d[\d,]*) (dollars?|hours?|hrs?|minutes?|feet|foot|weeks?|days?|years?|pounds?|meters?|kilograms?)(?:,| and|, and)? (\d{1,3}) "
    r"(cents?|minutes?|mins?|seconds?|inch(?:es)?|hours?|days?|months?|ounces?|centimeters?|grams?)\b(?!.*\d)"
)
_CLOCK_TIME = re.compile(r"(?<![\d:.])([01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?![\d:])(?:\s*[ap]\.?\s?m\b\.?)?", re.I)
_ASIDE = re.compile(r"\s*\((?:about|approx\w*\.?|≈|roughly|around|or about|i\.e\.,? about)[^()]{1,40}\)(?=\s*[.。]?\s*$)", re.I)
_UNWORKED = re.compile(r"[\s$]*\d[\d.]*(?:\s*[-+*×÷·]\s*\d[\d.]*)+[\s$.]*")
_CLOSER = re.compile(r"hope|thank|let me know|good luck|q\.?e\.?d|complet|done|verified|check|consistent|note", re.I)


def stated(text: str) -> list[tuple[int, int, str]]:
    """The announced answers of a text's end as (start, end, inner), in order; those that are no answer but prose are left out."""
    found = _reversed(text)
    text = text.replace("__", "  ")
    for cue in list(_STATED.finditer(text, max(0, len(text) - READ_BACK)))[-MOST:]:
        line = _line_before(text, cue.start())
        if is_echo(line) or (
            is_negated(line, "") and not re.search(r"[,;:]\s*(?:so|and|thus|hence|therefore|but|then|because|而是|所以)?\s*$", line, re.I)
        ):
            continue
        start, end = _span(text, cue.end())
        if _is_cut(text[start:end]) and not text[end:].strip():
            continue
        if _DENIED_AFTER.search(text[start:end]):
            continue
        if text[end : end + 1] in ("?", "？"):
            continue
        inner = tidy(text[start:end])
        if cue["json"] and (quoted := re.match(r"\"((?:[^\"\\\n]|\\.)*)\"|([^,}\n]+)", text[start : start + 2000])):
            end, inner = start + quoted.end(), (quoted[1] if quoted[1] is not None else quoted[2]).strip()
        if inner and answer_like(inner):
            found.append((cue.start(), end, inner))
    return sorted(found)


def _is_cut(text: str) -> bool:
    """Whether a formula is opened and not closed; a single dollar may be money."""
    opened = (text.count("\\(") > text.count("\\)"), text.count("\\[") > text.count("\\]"), text.count("$$") % 2)
    return any(opened) and "boxed" not in text


def _reversed(text: str) -> list[tuple[int, int, str]]:
    """``Option B is correct``, ``7 is the answer``."""
    found = []
    for m in list(_REVERSED.finditer(text, max(0, len(text) - READ_BACK)))[-MOST:]:
        if not is_echo(_line_before(text, m.start())):
            found.append((m.start(), m.end(), (m["option"] or m["lead"] or m["letter"] or m["inner"]).strip("*")))
    return found


def _line_before(text: str, position: int) -> str:
    """What stands before, in the same sentence."""
    before = text[max(0, position - 200) : position]
    return re.split(r"[.!?。！？;；](?:\s|$)|\n", before)[-1]


def _span(text: str, start: int) -> tuple[int, int]:
    """From a cue to the end of its sentence; over blank lines and into display mathematics when the cue ends its line."""
    gap = re.compile(r"[\s*_:#>]*").match(text, start)
    start = gap.end()
    opener = re.compile(r"\$\$|\\\[|\\\(|\$").match(text, start)
    if opener:
        close = {"$$": "$$", "\\[": "\\]", "\\(": "\\)", "$": "$"}[opener[0]]
        if (end := text.find(close, opener.end())) > 0 and "\n\n" not in text[opener.end() : end]:
            tail = _sentence_end(text, end + len(close))
            return start, tail
    return start, _sentence_end(text, start)


def _sentence_end(text: str, start: int) -> int:
    """The first full stop, line end or the like that does not belong to a number or an abbreviation."""
    for stop in _SENTENCE_END.finditer(text, start, start + LONGEST_SENTENCE):
        if stop[0] == "." and (
            _ABBREVIATION.search(text, max(0, stop.start() - 8), stop.start())
            or re.match(r"\.(?:\s*[a-z]\.|\d)", text[stop.start() : stop.start() + 4])
        ):
            continue
        if (
            stop[0] == "!"
            and re.match(r"!\s*(?:[=+*/$)]|$)", text[stop.start() : stop.start() + 3])
            and text[stop.start() - 1 : stop.start()].isdigit()
        ):
            return stop.end() if text[stop.end() : stop.end() + 1] in ("", "\n") else _sentence_end(text, stop.end())
        return stop.start()
    return min(len(text), start + LONGEST_SENTENCE)


def tidy(inner: str) -> str:
    """An announced answer without mark-up, quotes, lead words and explanations after it."""
    inner = re.sub(r"[*_`]{2,}|`|^[*_]+|(?<=[\w)$}%])[*_]+$", "", inner.strip()).strip()
    if m := re.search(r"\b(?:i\.e\.|that is,|namely,?)\s*(\S.*)$", inner, re.I):
        inner = m[1]
    if m := re.search(r"\bnot\s+[^,;]{1,30}?\s*,?\s+but(?: rather)?\s+(\S.*)$", inner, re.I):
        inner = m[1]
    if m := re.search(
        r"[,;.]?\s*\b(?:no,? wait|wait,? no|or rather|sorry|i mean|make that)\b[,:;]?\s*(?:it(?:'s| is)\s+)?(\S.*)$", inner, re.I
    ):
        inner = m[1]
    for _ in range(3):
        inner = _LEAD.sub("", inner)
    inner = re.sub(r"\s+#+$", "", inner)
    inner = re.sub(r",?\s+or,? equivalently,?\s+", " or ", inner)
    inner = re.sub(r"(?<=\d)'\w+$|,?\s+(?:and not|rather than|instead of)\s.*$", "", inner)
    inner = re.sub(r"(?<=\S)\s+\([a-z][a-z ,'-]*\)$", "", inner)
    clause = _CLAUSE_END.search(inner)
    if clause and clause.start() > 0:
        inner = inner[: clause.start()]
    return re.sub(r"\\$", "", inner.strip().strip("\"'“”").rstrip(" .;:,!。").strip("*")).removeprefix('\\"').strip()


def answer_like(inner: str) -> bool:
    """Whether an announced text can be an answer: mathematics, a letter, or a few words; not a clause of prose."""
    if not inner or len(inner) > LONGEST_SENTENCE:
        return False
    if re.search(r"[\d$\\=]", inner):
        return True
    words = inner.split()
    if re.match(
        r"(?:in|to|as|of|the following|obtained|found|correct|wrong|incorrect|right|clear|obvious|below|above|always|also|this|very)\b",
        inner,
        re.I,
    ):
        return len(words) == 1 and inner.lower() in ("wrong", "incorrect", "right", "correct")
    return len(words) <= 8


def short_answer(inner: str) -> bool:
    """Whether what follows ``####`` is an answer and no heading ("#### Step 2: solve")."""
    return not re.match(
        r"(?:\*\*)?(?:step|part|case|solution|answer|final|explanation|method|approach|verification|conclusion|check|note)\b", inner, re.I
    ) and ((len(inner) <= 60 and not inner.rstrip("* ").endswith(":")) or bool(re.match(r"[-$\\\d({\[]", inner)))


def is_negated(sentence: str, inner: str) -> bool:
    """Whether the words say that ``inner`` is not the answer."""
    at = sentence.rfind(inner[:20]) if inner else -1
    head = sentence[:at] if at >= 0 else sentence
    if re.search(r"\bbut\b|\bsondern\b|\bsino\b|而是", head):
        head = re.split(r"\bbut\b|\bsondern\b|\bsino\b|而是", head)[-1]
    return bool(_NOT_WORD.search(head[-60:])) or bool(inner and re.match(r"(?:not|nicht|never|不是)\b", inner, re.I))


def is_echo(text: str) -> bool:
    """Whether the words restate the question or announce work rather than conclude."""
    if re.search(r"(?:\b(?:if|suppose|assume|assuming|whether|unless|imagine|pretend|when)\s+(?:that\s+)?|如果|假设|若)$", text, re.I):
        return True
    sentence = re.split(r"[.!。！;；](?:\s|$)|\n|,\s+but\b", text)[-1]
    sentence = _ANSWERS_IT.sub("", sentence)
    return bool(
        re.search(
            r"\b(?:question|problem|asks?|asked|whether|if the answer|suppose|imagine|student|someone"
            r"|common mistake|first guess|impossible|unlikely|false that|doubt|nobody|no one"
            r"|(?:some|many|most|other) (?:people|students|would)|people (?:think|say|believe))\b|题目|是否",
            sentence,
            re.I,
        )
    )


_ANOTHER = re.compile(
    r"\W*(?:\w+\s+){0,3}?(?:if|had|forgetting|omitting|without|some|many|one might|somebody|someone|students)\b.*\d", re.I
)


def speaks_of_another(said: str) -> bool:
    """Whether words that end in "is wrong" speak of another value: "if one forgets the last group, one gets 25, which"."""
    return bool(_ANOTHER.match(re.split(r"[.!?](?:\s|$)|\n", said)[-1]))


def conclusion(text: str) -> tuple[str, str] | None:
    """The closing formula or number of a text that is finished; None when nothing concludes. The stated fall-back."""
    text = _CODE.sub(" ", text[-3000:])
    if re.search(r"<<[^<>\n]*=", text):
        return None  # calculator annotations belong to a form that ends with #### or "A:"; without it the text was cut
    stated_now = stated(text)
    if stated_now and not is_negated(text[stated_now[-1][0] : stated_now[-1][1]], stated_now[-1][2]):
        return stated_now[-1][2], "phrase"
    text = _ASIDE.sub("", text)
    text = re.sub(r"\.(\s*(?:\$\$?|\\\]|\\\)))", r"\1.", text)
    whole = text.strip().strip("*`").strip()
    if _is_cut(whole[-LONGEST_SENTENCE:]) and "\n" not in whole:
        return None
    if len(whole) <= 120 and "\n" not in whole and _is_answer_alone(whole):
        return whole, "whole"
    words = text.split()[-20:]
    if len(words) == 20 and len(set(words)) == 1:
        return None  # a loop, not an end
    sentences = _sentences(text)
    if said := _said_in_words(text, sentences):
        return said, "words"
    for count, (sentence, finished) in enumerate(reversed(sentences)):
        if _NO_SOLUTION.search(sentence) and finished and not _restates(sentence) and not _OPEN_QUESTION.search(sentence):
            return "no solution", "words"
        if _INFINITELY_MANY.search(sentence) and finished and not _restates(sentence) and not _OPEN_QUESTION.search(sentence):
            return "infinitely many solutions", "words"
        if re.search(r"[\d$]|\\\(|\\\[", sentence):
            before = sentences[-count - 2][0] if len(sentences) > count + 1 else ""
            if not before and _SETS_OUT.match(sentence) and not _concludes(sentence):
                return None
            if _is_listed(text) or (_RESTATES.search(before) and not _concludes(sentence)):
                return None
            return _closing(sentence, finished)
        if denial.retraction(sentence, hard=True) is not None:
            return None
        if count >= 2 or _restates(sentence) or _OPEN_QUESTION.search(sentence) or not finished:
            return None
    return None


_SETS_OUT = re.compile(r"\W*an?\s+(?!total\b|final\b)[a-z]+\s+(?:[a-z]+\s+)?(?:with|of|was|had|[a-z]{1,12}s)\b", re.I)
_SHORT_VERDICT = re.compile(
    r"\W*(?P<said>yes|no),?\s+(?:it|they|this|that|he|she|there)\s+(?:is|are|does|do|can|will|has|have)(?:\s*(?:not|n't))?", re.I
)
_VERDICT = re.compile(r"\W*(?P<so>so|thus|therefore|hence)?,?\s*(?P<said>yes|no)\s*[,:]\s+(?!\s*(?:wait|it|that|but)\b)[^,;]+$", re.I)
_SAYS_WORD = re.compile(
    r"\W*(?:(?P<so>so|thus|therefore|hence|finally|consequently)\b,?\s+)?(?P<subject>(?:\w+[\s-]+){1,8}?)"
    r"(?:is|was|must be|will be|falls on|lands on|turns out to be)\s+"
    r"(?P<said>(?:an?\s+|the\s+)?[^\W\d_]+(?:[ -][^\W\d_]+)?)$",
    re.I,
)
_NO_VALUE = re.compile(
    r"\b(?:correct|incorrect|right|wrong|done|complete|valid|invalid|clear|possible|needed|enough|true|false|found|given|known|unknown|not|no"
    r"|above|below|here|there|it|this|that|so|also|as|in|of|to|for|\w{3,}ed|\w{3,}ing|either|maybe|perhaps|same|consistent|unique|proof)\b",
    re.I,
)


def _said_in_words(text: str, sentences: list[tuple[str, bool]]) -> str | None:
    """The verdict or the word that the last sentence of a text without numbers concludes on ("So the last ball is green")."""
    if not sentences or not sentences[-1][1] or re.search(r"[\d$\\]", text) or len(text) > 1000:
        return None
    last = re.sub(r"[*_]{2,}", "", sentences[-1][0]).strip(" .!")
    if len(sentences) == 1 and (m := _SHORT_VERDICT.fullmatch(last)):
        return m["said"]
    if _OPEN_QUESTION.search(last) or _NOT_WORD.search(last) or re.search(r"\b(?:or|if|unless|maybe|perhaps|depends?)\b", last, re.I):
        return None
    alone = len(sentences) == 1
    if (m := _VERDICT.fullmatch(last)) and (alone or m["so"]):
        return m["said"]
    m = _SAYS_WORD.fullmatch(last)
    if m is None or _restates(last):
        return None
    if re.search(r"\b(?:statement|claim|assertion|proposition)\s*$", m["subject"], re.I) and m["said"].casefold() in ("true", "false"):
        return m["said"]
    return m["said"] if m["so"] and not _NO_VALUE.search(m["said"]) else None


_BROKEN_OFF = re.compile(
    r"(?:[-+*/=^({\[,<]|\\(?:times|cdot|frac|div|pm)|\b(?:equals?|equal to|is|are|was|were|be|gives?|makes?|yields?))$|[?？]", re.I
)
"""A line that ends before its answer ("12 + 19 equals"), or asks."""


def _is_answer_alone(line: str) -> bool:
    """Whether a completion of one short line is nothing but its answer: mathematics, a number with its unit, or one to three words."""
    if _BROKEN_OFF.search(line) or _restates(line) or _NOT_WORD.search(line):
        return False
    words = re.findall(r"[^\W\d_]{2,}", re.sub(r"\\[A-Za-z]+", "", line))
    if line.count("$") % 2 and not re.search(r"\$\s*\d|\d\s*\$$", line):
        return False
    if _COMPOUND.fullmatch(line.rstrip(". ")):
        return True
    if _UNWORKED.fullmatch(line) or (re.search(r"\d", line) and not readable(line)):
        return False
    if len(_FORMULA.findall(line)) > 1 or not re.search(r"\w", line):
        return False
    return (
        len(words) <= 1
        or (not re.search(r"\d", line) and len(words) <= 3)
        or bool(re.fullmatch(r"[-+$€£]*[\d.,/ ]+(?: ?[^\W\d_]+){1,2}[.]?", line))
    )


def _sentences(text: str) -> list[tuple[str, bool]]:
    """Non-empty sentences with whether each is finished: ended by punctuation, or a line of its own before another."""
    out, start = [], 0
    while start < len(text):
        end = _sentence_end(text, start)
        stop = text[end : end + 1]
        if text[start:end].strip(" \n\t*_#-"):
            finished = stop not in ("", "\n") or end < len(text.rstrip()) or _bare(text[start:end])
            out.append((text[start:end] + (stop if stop in "?？" else ""), bool(finished)))
        start = max(end, start) + 1
    return out[-12:]


def _restates(sentence: str) -> bool:
    """Whether a closing sentence restates the question, supposes or announces instead of concluding."""
    said = _ANSWERS_IT.sub("", sentence[-200:])
    return bool(_ECHO.search(said)) or (not _CONCLUDING_START.match(said) and bool(_ECHO_UNLESS_CONCLUDING.search(said)))


def _concludes(sentence: str) -> bool:
    """Whether a sentence says that it is the end of the work."""
    return bool(_CONCLUDING.search(sentence))


def _is_listed(text: str) -> bool:
    """Whether the text ends in a numbered or bulleted list, which states nothing, unless its last item concludes."""
    last = text.strip().splitlines()[-2:]
    return len(last) == 2 and all(_ITEM.match(line) for line in last) and not _concludes(last[-1])


def _stated_whole(sentence: str) -> str | None:
    """What follows the last "is" or "are" of a sentence, when it is more than one number: a pair, a ratio, an interval, several values."""
    for verb in reversed(list(_COPULA.finditer(sentence))):
        rest = tidy(sentence[verb.end() :])
        if re.fullmatch(r"\d{1,2}:\d\d\s*(?:[ap]\.?\s?m\.?)?", rest, re.I):
            return rest
        if fast.read(rest):
            return None
        if re.search(r"\d", rest) and readable(rest):
            return None if re.fullmatch(r"\S+", rest) and not re.search(r"[:(\[{]", rest) else rest
    return None


def _bare(line: str) -> bool:
    """A last line without a full stop counts as finished when it is nothing but a short formula or number, or ends in a closed formula."""
    if re.search(r"\s[*]$", line.rstrip()) or (line.count("$") % 2 and not re.search(r"\$\s*\d|\d\s*\$$", line)):
        return False
    line = line.strip().strip("*_ ")
    if re.search(r"(?:[-+*/=^({\[,<]|\\(?:times|cdot|frac|div|pm))$", line):
        return False
    words = re.findall(r"[A-Za-z]{2,}", re.sub(r"\\[A-Za-z]+", "", line))
    return (
        len(words) <= 1
        or bool(re.search(r"(?:\$|\\\)|\\\]|[\"')!:*_✓✔✅🚗😊]|[^\x00-\u2fff])$", line))
        or bool(re.search(r"[=:：]\s*[$€£]?-?[\d.,/]+\s*%?$", line))
    )


def _closing(sentence: str, finished: bool) -> tuple[str, str] | None:
    """The last formula or number of the last sentence with one, when that sentence concludes."""
    sentence = sentence[-LONGEST_SENTENCE:].replace("**", "")
    if not finished or sentence.lstrip().startswith("|") or _OPEN_QUESTION.search(sentence) or _restates(sentence):
        return None
    if re.search(r"\w\(['\"]|^\s*\{\s*\"", sentence) or (_ITEM.match(sentence) and not _concludes(sentence)):
        return None
    explained = re.search(r",?\s+(?:because|since|as (?=\$?\d)|which|where)\b", sentence)
    if explained and re.search(r"\d", sentence[: explained.start()]):
        sentence = sentence[: explained.start()]
    if re.search(r"(?:\bis|\bare|=|\bequals)\s*\d[\d.]*(?:\s*[+*×÷·]\s*\d[\d.]*)+\s*[.!]?\s*$", sentence):
        return None  # "the sum is 1 + 2 + 3" is not worked out
    if m := _NAMED_VALUES.search(sentence):  # "x = 5 or x = -5" states both, and so does "x = 4 and y = 5"
        x, y = m["x"].strip("$ "), m["y"].strip("$ ")
        return (f"{x}, {y}" if m["a"][0] == m["b"][0] else f"{m['a']} = {x}, {m['b']} = {y}"), "formula"
    whole = _stated_whole(sentence)
    if whole:
        return whole, "formula"
    formulas = [m for m in _FORMULA.finditer(sentence)]
    if formulas:
        last = formulas[-1]
        inner = next(group for group in last.groups() if group)
        tail = sentence[last.end() :]
        lone = len(formulas) == 1 or bool(re.search(r"[A-Za-z\u4e00-\u9fff]{2,}", sentence[formulas[-2].end() : last.start()]))
        if lone and not re.search(r"\d", tail) and not _NOT_WORD.search(sentence[max(0, last.start() - 30) : last.start()]):
            return inner.strip() + _unit_after(tail), "formula"
    return _closing_number(sentence)


def _unit_after(tail: str) -> str:
    m = re.match(r"\s*(\\?%|percent\b|pct\b)", tail)
    return " " + m[1] if m else ""


def _closing_number(sentence: str) -> tuple[str, str] | None:
    numbers = [m for m in _NUMBER.finditer(sentence) if m[0].strip()]
    if not numbers:
        return None
    if m := _COMPOUND.search(sentence):  # "100 dollars and 50 cents" is not 100
        dollars = m[2].startswith("dollar") and m[4].startswith("cent")
        return (f"{m[1]}.{m[3]:0>2} dollars" if dollars else m[0]), "number"
    clocks = list(_CLOCK_TIME.finditer(sentence))
    if clocks and clocks[-1].end() > numbers[-1].start():  # "starts at 10:30" says no 30
        denied = _NOT_WORD.search(sentence[max(0, clocks[-1].start() - 25) : clocks[-1].start()])
        return None if denied or len(clocks) > 1 else (clocks[-1][0].strip(), "number")
    for number in numbers[:-4:-1]:
        head, tail = sentence[: number.start()], sentence[number.end() :]
        if (
            _NOT_WORD.search(head[-25:])
            or denial.negated(head)
            or re.match(r"\s*(?:less|more|fewer) than|\s*(?:is|was) not|\s*(?:(?:or|and|to)\s|或|和|、)", tail)
        ):
            continue
        if denial.negated("", tail):
            continue
        apart = re.search(r"\d\D*\band\b\D*$", head) and not _concludes(sentence)
        if apart and number is numbers[-1] and not re.match(r"\W*$", tail):
            return None  # "24 students and 3 teachers" states two numbers
        cue = _CUE.search(head) and (number is numbers[-1] or not re.search(r"(?:^|\W)of\s*$", head, re.I))  # "Of 30 students, 24 passed"
        conclusive = len(numbers) == 1 or (not apart and (cue or (number is numbers[-1] and not tail.strip(" .*_!,)"))))
        listed = len(numbers) > 1 and re.search(r"\d\s+$|\d[%$\w]*\s*(?:,|;|or|and|或|和|/)\s*(?:or |and )?[$€£]?$", head)
        if conclusive and not listed:
            both = "\\pm " if re.search(r"(?:±|\\pm|\+/-)\s*$", head) else ""
            return both + number[0].strip() + _measure_after(tail), "number"
    return None


def _measure_after(tail: str) -> str:
    """The unit of measure behind a number ("180 minutes"), where it is one that could contradict the gold's."""
    if half := re.match(r"\s*([ap])\.?m\b", tail, re.I):
        return f" {half[1]}m"
    m = re.match(r"\s*([A-Za-z]{1,12}(?:\s*/\s*[A-Za-z]{1,6}|\s+per\s+[A-Za-z]{1,8})?)\b(?![\^²³])", tail)
    return f" {m[1]}" if m and units.ratio(m[1], m[1]) == 1 and m[1].lower() not in ("a", "in", "s", "m", "h", "g", "l") else ""


_OPERATION = re.compile(
    r"\b(?:at least|at most|more|less|fewer|greater|smaller|larger|between|half|third|twice|double|triple|square|squared|cube|cubed"
    r"|factorial|times|minus|plus|negative|root|sum|product"
    r"|difference|quotient|percent of|multiple|divisible|from|range|power|inverse|reciprocal|than|above|below|over|under|up to"
    r"|depends?|unknown|any)\b|至少|至多|大于|小于|之间|一半|倍",
    re.I,
)


def core_of_sentence(text: str) -> str | None:
    """What an announced sentence comes down to: after its last "is" or "equals", or its only number. None when that is not clear."""
    if (
        len(text) > 400
        or not re.search(r"[A-Za-z]{2,} [A-Za-z$\\]|[\u4e00-\u9fff]|\s(?:is|equals)\s", text)
        or _NOT_WORD.search(text)
        or re.search(r"\bor\b|或", text)
        or _OPERATION.search(text)
    ):
        return None
    pieces = re.split(r"\s(?:is|are|equals?|be|was|were)\s|(?<=[A-Za-z$])\s*=\s*", text)
    if len(pieces) > 1 and re.search(r"[\d$\\]", pieces[-1]):
        return tidy(pieces[-1])
    without = _FORMULA.sub(lambda m: m[0] if re.search(r"\d", m[0]) else " ", text)
    numbers = [m[0].strip() for m in _NUMBER.finditer(without) if m[0].strip()]
    return numbers[0] if len(numbers) == 1 and not re.search(r"\d[A-Za-z(]|[\\^_]", without) else None
