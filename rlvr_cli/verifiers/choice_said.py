"""Where the prose of a multiple-choice answer says which option it chose.

Three ways of saying it, the most explicit first: an announcement ("the answer is", 答案是, la respuesta es), a verdict on a letter or a
conclusion ("B is correct", "so B.", "we are left with B"), a closing sentence whose last words are an option's ("The speed is 6 m/s.").
This module finds the places; which option a place names is :mod:`choice`'s to say.

>>> announcement("It cannot be (A). The answer is (B), since it rains.")
('(B)', 35)
>>> [place for place, _ in verdicts("C is wrong. So B is the answer.")]
['B']
>>> [place for place, _ in endings("First we add. The speed is 6 m/s.")]
['6 m/s']
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_NOUN = r"(?:answer|choice|option|selection|response|letter|pick)"
_NOUN += r"(?:\s+(?:here|(?:to|for|of|in|from|among)\s+(?:this|the|your|these)(?:\s+\w+){1,4}?))?"
_SAYS = re.compile(
    rf"\b(?:(?:the\s+|my\s+)?(?:final\s+|correct\s+|right\s+|best\s+)?{_NOUN}s?"
    r"(?<!this option)(?<!that option)(?<!no option)(?<!each option)(?<!other option)"
    r"(?:\s+(?:(?:is|are)(?!n't|\w)|can only be|(?:seems|appears|turns out) to be|(?:would|must|should|has to|will)"
    r"(?:\s+(?:then|therefore|thus))?\s+be)|'s|[\"']?\s*[:=]|\s+[-–—](?=\s))"
    r"|\b(?:correct|right)\s*[:=]|the (?:correct|right|true) (?:ones?|statements?)\s+(?:is|are)\b"
    r"|ans\s*(?:[:.=]|-\s|(?=\())|i(?:'d| would| will|'ll)?\s+(?:choose|pick|select|go with|say)"
    r"|(?:therefore|so|thus|hence),?\s+(?:it(?:'s| is)\s+)?(?:option\b|choice\b)"
    r"|(?:la |una )?(?:respuesta|opción|réponse|risposta|resposta|opção|opzione)(?: (?:final|finale|correcta|correcte|corretta|correta"
    r"|certa|giusta|juste))*"
    r"\s*(?:es|est|è|é|:)(?:(?: la| il| a)? (?:letra|lettre|lettera)| la| il)?(?!\w)"
    r"|(?:je choisis|elijo|escojo|ich wähle|escolho|scelgo)(?: la| die| a| il)?"
    r"(?: réponse| respuesta| opción| antwort| resposta| opção| risposta| lettre| letra)?(?!\w)"
    r"|la bonne réponse est(?: la)?(?!\w)|(?:die |das )?(?:richtige |korrekte )?(?:antwort|lösung)(?: ist|\s+lautet|\s*:)"
    r"|(?:het )?(?:juiste )?antwoord\s*(?:is|:)|(?:poprawna )?odpowiedź(?: to|\s*:)|(?:doğru )?(?:cevap|yanıt)\s*:?"
    r"|jawaban(?:nya)?\s*(?:adalah|:)"
    r"|(?:правильный |верный )?(?:ответ|вариант)\s*[:：—-])"
    r"|(?:vậy )?(?:đáp án|câu trả lời)(?: đúng)?\s*(?:là|:)|(?:الإجابة|الجواب|الاجابة)(?: (?:الصحيحة|النهائية|الصحيح))?\s*(?:هي|هو|:)"
    r"|(?:सही )?उत्तर\s*(?:है|:)|คำตอบ\s*(?:คือ|:)"
    r"|(?:正确|正確)?(?:答案|选项|選項)(?:应该|應該|应|應|就|显然|当然)?(?:是|为|為|选|[:：]|(?=\s?[A-J](?![A-Za-z])))|(?:符合题意|合适)的(?:有|是|为)|正[确確]的?(?:有|是|为|為)[:：]?|\[答案\]|【答案】"
    r"|(?:故|应|應|所以|因此)?(?:(?<![A-J])(?:选项|選項)(?=\W*[A-Ja-j1-9]|\s*[:：])|(?:选|選)(?:择|擇)?(?![项項]))"
    r"|(?:正解|答え|解答|答)\s*(?:は|[:：])|(?:정답|답)\s*(?:은|는|[:：])",
    re.I,
)
_SECOND = re.compile(
    r"\b(?:second|2nd|third|alternat(?:iv)?e|backup|other|another)\s+(?:possible\s+)?(?:answer|guess|pick|choice)\s*(?:is|was"
    r"|would be|could be|:|=)\s*\(?[A-J]\b",
    re.I,
)
_NOT_THE_ANSWER = re.compile(
    r"\b(?:worst|wrong|incorrect|least\s+\w+|poor(?:est)?|bad|tempting|popular|common|false|weak(?:est)?|next|previous|earlier|initial|old|students?'?s?|opponent'?s?|his|her|their|second|other|another"
    r"|excluded|eliminated)\s*(?:of the\s+)?$",
    re.I,
)
_ANOTHERS = re.compile(r"\b(?:your|his|her|their|previous|old|first|second|initial|[a-z]+'s)\s+$", re.I)  # guess, not the one that is given
_STOP = re.compile(
    r"\n|[;；。…【]|\[解析|\.\.|(?<=[a-z)\]}*])\.(?:\s|$)"
    r"|\b(?:because|since|as it|which|not|rather than|instead of)\b|,\s*(?:because|since|as|not)\b"
    r"|因为|因為|而不是",
    re.I,
)
_ONE = r"(?:\([A-J]\)|\[[A-J]\]|(?<![A-Za-z0-9'])[A-J](?![A-Za-z0-9'])\)?)"
_JOINT = r"\s*(?:[,，、;&/]|(?i:and)\b|[和与及])\s*(?:(?i:and)\s+)?"
_SOME = rf"(?P<said>{_ONE}(?:{_JOINT}{_ONE}){{0,9}})(?!\s*(?:[,，、/]|(?i:and|or)\b|[和或])\s*(?:(?i:and|or)\s+)?{_ONE})"
_KIND = r"(?:(?i:options?|choices?|statements?|letters?|alternatives?|answers?)\s+)?"
_VERDICT = re.compile(
    rf"{_KIND}{_SOME}(?:\)?[ :]+(?<=[):] )[^.?!\n]{{1,60}}?)?\s+(?i:is|are|must be|has to be)\s+"
    r"(?i:(?:therefore|thus|indeed|clearly|definitely|also|both)\s+)?"
    r"(?i:(?:the\s+)?(?:only\s+|best\s+|most\s+)?(?:correct|right|true|best|accurate|appropriate)(?:\s+(?:answer|choice|option|one|statement|response)s?)?"
    r"|(?:the|my|our)\s+(?:final\s+)?(?:answer|choice|one|pick|solution)s?)"
    r"(?=\s*[.,;:!)\n]|\s*$|\s+(?i:because|since|as|and|but|here|given|for|to|among"
    r"|(?<=one )(?:that|which)(?!\s+(?:is|fails|does|was)\b))\b)"
    rf"|\b(?i:only)\s+{_KIND}{_SOME.replace('said', 'only')}\s+(?i:fits?|works?|holds?|remains?(?! to be)"
    r"|matche?s?|satisf\w+|meets?|is left|makes sense|(?:can|could) be|is (?:consistent|valid|possible|plausible|compatible)|agrees"
    r"|(?:is|are)\s+(?:an?\s+)?(?!not\b|an?\b|wrong\b|false\b|un|in|im|ir|out\b|excluded|eliminated|left)[a-z]{3,}(?=\s*[.!]|\s*$))\b"
    rf"|\b(?i:of (?:the|these) (?:\w+|\w+ options)),\s+{_KIND}{_SOME.replace('said', 'among')}\s+(?i:fits?|works?|is (?:right|correct"
    rf"|best))\b"
    rf"|\b(?i:supports|favou?rs|points\s+to)\s+{_KIND}{_SOME.replace('said', 'supported')}(?=\s*[.!]|\s*$|\s+(?i:best|most)\b)"
    rf"|{_KIND}{_SOME.replace('said', 'best')}\s+(?i:stands out|(?:it is|is it|then)(?=\s*[.!]|\s*$)|(?:fits|works|matches) best"
    rf"|best\s+(?:fits|describes"
    r"|matches"
    r"|captures|explains|reflects|represents|answers|completes|summari[sz]es|expresses))\b"
    rf"|{_KIND}{_SOME.replace('said', 'foreign')}\s+(?i:es|est|ist|è|é)\s+(?i:la|le|die|das|a|o|il)\s+(?i:(?:bonne|richtige|mejor)\s+)?"
    r"(?i:respuesta|réponse|antwort|lösung|resposta|risposta|opción|opção)\b"
    rf"|(?:选项|選項)?{_SOME.replace('said', 'cn')}\s*(?:选项|選項|项|項)?"
    r"(?:是|才是|都)?(?:正确|正確|对|符合题意|符合|成立)(?:的|答案|选项)*(?=[\s,，。.;；!！]|$)"
)
_CONCLUSION = re.compile(
    r"(?:(?i:\b(?:so|without\s+(?:a\s+|any\s+)?doubt|(?:(?<=^)|(?<=\n)|(?<=\. ))(?:definitely|clearly|certainly|obviously|ergo)"
    r"|i(?:'m|\s+am)\s+(?:going\s+(?:with|for|to\s+(?:say|go\s+with))|choosing|picking|selecting)"
    r"|by (?:the )?(?:process of )?elimination|yes(?=,)"
    r"|therefore|thus|hence|and so|consequently|leaving(?:\s+us\s+with|\s+only)?|left with"
    r"|leaves(?:\s+us\s+with|\s+only)?|remains?(?! to be)"
    r"|(?:matche?s|matching|corresponds\s+to|corresponding\s+to|agrees\s+with|aligns\s+with|which\s+is|this\s+is)(?=\s+(?:option|choice|answer|letter)\b)"
    r"|(?:it|this|that|the best|the rest)(?:'s|\s+(?:is|must be|has to be))"
    r"|(?:we|i)(?:'d|'ll|\s+would|\s+will|\s+should|\s+can|\s+must)?(?:\s+have\s+to)?\s+(?:pick|choose|select|go\s+(?:with|for)|take|mark|get|obtain|arrive\s+at|settle\s+on|opt\s+for|lean(?:\s+towards?)?)"
    r"|you(?:'d|\s+would)\s+want|(?:it|this)(?:'s|\s+has)\s+got\s+to\s+be|(?:got|has)\s+to\s+be|i\.e\.,?))"
    r"|(?i:\b(?:guess|solution|result|verdict|conclusion|decision)\s*(?=:)|\blet's\s+(?:go\s+with|pick|choose|select)|(?:^|\n)(?:choose|pick|select))"
    r"|[-=]>|[→⇒∴]|(?:^|(?<=[\s,，。]))(?:应该|應該)?是|(?:所以|因此|故)(?:应该|就)?[是选]?)[,，:：]?\s*(?<![A-Za-z])(?i:(?:it(?:'s|\s+is|\s+must\s+be)|we\s+(?:get|have|pick|choose)|the\s+answer\s+is|only|just|is|definitely|clearly|certainly|probably|likely)\s+){0,2}"
    rf"{_KIND}{_SOME}(?=\s*[.,;:!()\n。，；！]|\s*$|\s+(?i:because|since|as|here|rather than|instead of|not)\b)"
)
_SENTENCES = re.compile(
    r"(?<=[.!?])\s+(?=(?:Let me know|(?:I )?[Hh]ope (?:this|that)|Feel free|If you (?:have|need|want)|Is there anything)\b)"
    r"|(?<=\w\w[.!?])\s+|(?<=[%)\]][.!?])\s+|(?<=[。！？])|\n+"
)
_COPULA = re.compile(
    r"(?:\b(?:(?:happens?|occurs?|takes?\s+place|runs?|located|found|lies)\s+in|comes?\s+to|pays?|costs?|totals?|weighs?|measures?|takes?|(?:caused|made|produced|written|supported|discovered|done|driven|formed"
    r"|created|invented|composed|painted|called|provided|proposed|explained|described|given)\s+by"
    r")\b|\b(?:is|are|was|were|be|equals?|becomes|gives|yields|therefore|thus|hence|so)\b|\b(?:it|that|this|he|she)'s\b|=)[,:]?"
    r"\s+(?:equal to\s+)?|[是为為即]",
    re.I,
)
# what stands behind these closes a sentence, whatever is denied before: "Not Lima, not Rome: Oslo"
_POINTER = re.compile(r"(?<=[^\W\d_][^\W_])\s*(?::|[→⇒]|[-=]>|\s[—–])\s+")
_NOT_POINTING = re.compile(
    r"\b(?:options?|choices?|candidates?|e\.g|examples?|compar\w+|distract\w+|trap|decoy|least|worst|second|third|next|question|includ\w+|among|between"
    r"|first|consider\w*|try|check|mistak\w+|myth|misconception|fallacy|error|unlikely|opposite|reverse|contrary|previous\w*|earlier|initial\w*|old"
    r"|your|his|her|their|students?|people|friends?|classmates?|teacher|other|another|alternativ\w*|guess|lose\w*|reason|note|hint|clue|would|could|might|may|if)\b",
    re.I,
)
DENIES = re.compile(
    r"\b(?:not|never|no|neither|nor|cannot|except|avoid|wrong|incorrect|false|discarded|dropped|crossed|reject\w*|remov\w*|rul(?:ed?|ing)\s+out|eliminat\w*"
    r"|exclud\w*|skip\w*|fails?|failed|un\w+ed)\b|n't\b",
    re.I,
)
_MISLEADS = re.compile(r"\b(?:trap|decoy|least|worst|mistak\w+|myth|misconception|fallacy|unlikely|opposite|previous\w*)\b", re.I)
_WORST = re.compile(r"\b(?:worst|weakest|poorest|second[- ]best|wrong|least\s+\w+)\s+(?:choice|answer|option|pick)\b", re.I)
_EXPLAINED = re.compile(r":\s|,?\s+(?:because|since|as\s+(?:it|the|this|that))\b|;\s", re.I)
_NOT_THE_OTHERS = re.compile(r",\s+(?:and\s+)?(?:not|rather\s+than|instead\s+of|unlike)\s+[^.;:]*[.!]?$", re.I)
_IN_ALL = re.compile(r"\s+(?:time|in total|in all|altogether|overall)$|\s*\([^()]*\)$", re.I)
_TELLS_OF_OPTION = re.compile(
    r"(?<![A-Za-z0-9'])[A-J]\)?\s+(?:states?|says?|reads?|claims?|describes?|mentions?|asserts?|argues?|suggests?|proposes?|is\s+about|talks|refers?|[a-z]+s\s+that)\b"
)
_HYPOTHETICAL = re.compile(
    r"\b(?:if|whether|suppos\w+|assum\w+|unless|why|thought"
    r"|says?|said|claim(?:s|ed)?\s+(?:that\b|[A-J]\b)|believes?|tempt\w+|hypothe\w+|were to|imagine)\b"
    r"|如果|假如|若|假设|是否",
    re.I,
)
_UNSURE = re.compile(
    r"\b(?:not|isn't|never|neither|nor|or|maybe|perhaps|possibly|might|may|could|unsure|wrong|incorrect|cannot)\b|\b(?:false|untrue)\s+(?:that|to)\b"
    r"|n't\b|[?？]|不|或|可能",
    re.I,
)
_THEN = re.compile(r"(?:so|therefore|thus|hence|consequently|所以|因此|故)\b", re.I)  # it concludes, whatever was supposed before
_DOUBTED = re.compile(
    r"\b(?:not|never|or|either|neither|nor|maybe|perhaps)\W+$|n't\W+$"
    r"|(?:n't|\bnot|\bcannot)\s+(?:think|believe|say|see)(?:\s+that)?\W+$|(?<!without a )(?<!without any )\bdoubt(?:\s+that)?\W+$"
    r"|(?:[不或]|除了?)$",
    re.I,
)
SET_AGAINST = re.compile(
    rf"\W*{_SOME.replace('said', 'kept')}\s+(?:is|are|do|does|fits?|works?|holds?|satisf\w+)\b[^;.!?]{{0,60}}(?:;|,?\s+(?:but|while"
    rf"|whereas))\s+"
    rf"{_SOME.replace('said', 'denied')}\s+(?:(?:is|are|do|does)(?:\s+not|n't)|fails?)\b[^;!?]{{0,40}}"
)
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")
_ORDINAL = re.compile(
    rf"\b(?:the\s+)?({'|'.join(_ORDINALS)})\s+(?:option|choice|alternative|answer(?:\s+choice)?)\b"
    r"|第([一二三四五六])[个個]?(?:选项|選項|项|項)",
    re.I,
)
_ORDINAL_ONE = re.compile(
    rf"(?:(?<=^)|\b(?<=is )|(?<=\n))(?:the\s+)?({'|'.join(_ORDINALS)})(?:\s+(?:one|statement))?(?=\s*[.!]?\s*$)", re.I
)
_BY_NUMBER = re.compile(r"((?<![A-Za-z])(?:option|choice)|选项|選項)s?\s*[(#]?([1-9])(?![\d.,/%]\d|\d)\)?", re.I)
_EITHER_WAY = re.compile(r"\b(?:otherwise|if)\b", re.I)
_OTHERS_SAY = re.compile(
    r"\b(?:he|she|they|someone|some|most|many|students?|people|book|friend)\s+(?:says?|said|claims?|claimed|thinks?|believes?)\b", re.I
)
_PLURAL = re.compile(r"(?:answers|options|choices|ones|statements)\b|选项|選項|答案", re.I)
_RIGHT = re.compile(r"correct|right|best|true|final|answers\b|正确|正確|答案", re.I)
_LINE = re.compile(r"^[\s\-•>#*|]*(?:option\s+|选项|選項)?[(\[]?([A-J])(?:\s*[)\].:、|]|(?=\s*[(✅✔✓☑❌✗✘✖])|\s[-–—]\s)\s*(.*)$", re.I)
# the verdict closes the line, or stands behind a dash, colon, arrow or cell wall and a reason follows
_MARK = re.compile(
    r"(?:^|[-–—:：|(→=]\s*|\s(?=[✅✔✓☑❌✗✘✖]))(?:(?:this|that|it)(?:'s|\s+is)\s+)?"
    r"(?:(?P<right>[✅✔✓☑]|(?:correct|right|true|yes)\b|正确|正確|对)"
    r"|(?P<wrong>[❌✗✘✖]|(?:incorrect|not correct|wrong|false|no)\b|不正确|不对|错误?))(?=[\s\ufe0f.,;:!|)。，；-]|$)",
    re.I,
)
# words that only say which option is chosen, and how sure one is of it; whatever else a sentence holds makes it prose
_CUES = """
    answer answers correct right true best fit fits choose chose chosen choosing pick picked select selected selecting go going
    guess tl work works sense conclude conclusion summary summarize think believe say feel mark likely definitely certainly surely
    final looks seems appears solution answering satisfies valid holds match matches appropriate suitable accurate result decision
    vote course brings end ends ended arrive arrived wins winner points point undoubtedly indeed consistent matching
    """
_FILLERS = """
    the an i i'd i'm i've i'll we we'd we'll my our me it it's its is be been would should must will can has have had to so this
    that that's these those here all of on in with for from by at as one only just and thus hence therefore then considering given
    based above reasoning analysis information question letter statement most more very clearly obviously simply probably makes
    make made like which who where condition conditions criteria description i.e sure pretty fairly quite confident tl dr now ok
    okay well yes let's let us are was forced option choice up everything data evidence shows checking every alternative get find
    obtain
    """
_CHOOSING = frozenset(_CUES.split())
_TALK = _CHOOSING | frozenset(_FILLERS.split())
_CHINESE_TALK = re.compile(
    "选项|選項|选择|選擇|答案|正确|正確|认为|認為|觉得|应该|應該|应当|因此|所以|综上|所述|结论|符合|题意|題意|本题|此题|这题|该题|这道题|显然|最终"
    "|最佳|最合适|合适|由此|可知|可见|于是|[选選是为為的我我们故应即则对得就项最因它这个题]"
)
_REASON = re.compile(
    r"\s*(?:[;；](?!\S)|,?\s*\b(?:because|since(?!\s+\d)|as (?:it|this|that|the)|given that|whereas|while)\b|[,，]?\s*(?:因为|由于)).*$",
    re.I | re.S,
)
MOST = 40
"""Verdicts and conclusions that are looked at, from the end."""


def numbered(text: str, options: int = 0) -> str:
    """``The second option`` and 第二个选项 by their letters; ``option 2`` too, of as many options as go by number."""
    text = _ORDINAL_ONE.sub(lambda m: "option " + "ABCDEF"[_ORDINALS.index(m[1].lower())] if options else m[0], text)
    text = _BY_NUMBER.sub(lambda m: f"{m[1]} {'ABCDEFGHIJ'[int(m[2]) - 1]}" if int(m[2]) <= options else m[0], text)
    return _ORDINAL.sub(lambda m: "option " + "ABCDEF"[_ORDINALS.index(m[1].lower()) if m[1] else "一二三四五六".index(m[2])], text)


def second_answer(text: str) -> bool:
    """Whether a text numbers its answers and goes past the first: "First answer: A. Second answer: C."."""
    found = list(_SECOND.finditer(text))
    return bool(found) and not re.search(r"\b(?:final|last|correct|so|therefore)\b", text[found[-1].end() :], re.I)


def announcement(text: str) -> tuple[str, int] | None:
    """What follows the last "the answer is" and its like, and where that statement ends; a negated or supposed one does not count."""
    for said in reversed(list(_SAYS.finditer(text))):
        rest = text[said.end() :].lstrip(" :：\n\t\"'")
        before = text[max(0, said.start() - 12) : said.start()]
        if (
            rest
            and not _NOT_THE_ANSWER.search(text[max(0, said.start() - 30) : said.start()])
            and not re.match(r"(?:not|isn't)\b|不是", rest, re.I)
            and not re.search(r"(?:not|isn't)\s*$|(?:不|不能|不要|不应该?|别|勿|有人|为什么|大家都?)$|无法|n't\s*$", before, re.I)
            and not _OTHERS_SAY.search(_sentence_before(text, said.start()))
            and not re.match(r"[(\[]?[A-J][)\]]?\s*[?？]", rest)
            and not (_EITHER_WAY.search(rest[:120]) and _HYPOTHETICAL.search(_sentence_before(text, said.start())))
            and not ("would" in said[0].lower() and _HYPOTHETICAL.search(_sentence_before(text, said.start())))
        ):
            block = _labelled_lines(rest) if _PLURAL.search(said[0]) else []
            if len(block) > 1:
                if not _RIGHT.search(said[0]):
                    continue  # "The options are:" restates the question
                return "\n".join(block), len(text) - len(rest) + len("\n".join(block))
            end = _STOP.search(rest)
            place = rest[: end.start()] if end and end.start() else rest.split("\n")[0]
            if re.search(r"\w", place):
                return place.rstrip("\"'}”. "), len(text) - len(rest) + len(place)
    return None


def _labelled_lines(text: str) -> list[str]:
    """The labelled lines that a text begins with, without their bullets: ``A) Lima``."""
    lines = []
    for line in text.split("\n"):
        if not re.match(r"[\s\-•>#]*[(\[]?[A-J]\s*[)\].:、]", line):
            break
        lines.append(line.strip(" -•>#"))
    return lines


def marks(text: str) -> Iterator[tuple[str, str, bool]]:
    """The lines that judge an option: its letter, what stands behind it, and whether it is called right."""
    apart = re.sub(r"(?<=[.;,。；]) (?=\(?[A-J][):.] )|(?<=[✅✔✓☑❌✗✘✖]) (?=\(?[A-J]\)?[:.]? ?[✅✔✓☑❌✗✘✖])", "\n", text)
    for line in apart.split("\n"):
        labelled = _LINE.match(line)
        mark = _MARK.search(labelled[2]) if labelled and labelled[1].isupper() else None
        if mark:
            yield labelled[1], labelled[2], bool(mark["right"])


def verdicts(text: str) -> list[tuple[str, int]]:
    """What is called correct, concluded or picked, in order, each with where that is said; nothing that is only supposed or asked."""
    found = sorted([*_VERDICT.finditer(text), *_CONCLUSION.finditer(text)], key=lambda m: m.start())[-MOST:]
    places = []
    for said in found:
        group = next(name for name, value in said.groupdict().items() if value)
        start = said.start(group)
        before = re.split(r"\b(?:but|however)\b", _sentence_before(text, start))[-1]
        after = text[said.end() : said.end() + 60]
        asked = re.match(r"[^.!\n。]*[?？]", after)
        supposed = _HYPOTHETICAL.search(before) and not _THEN.match(said[0])
        misled = text[said.start()] in "→⇒-=" and _MISLEADS.search(before)
        if not (asked or supposed or misled or _DOUBTED.search(before) or _ANOTHERS.search(text[max(0, said.start() - 20) : said.start()])):
            places.append((said[group], said.end()))
    return places


def clauses(text: str) -> Iterator[tuple[str, int]]:
    """The last sentence and the first, without the reason they give, each with where it ends; no question, none that doubts or supposes."""
    for start, end in _last_and_first(text):
        clause = _REASON.sub("", text[start:end].rstrip()) if end - start <= 400 else ""
        if clause and clause != text[start:end].rstrip() and re.fullmatch(r"\W*[A-J]\W*", clause):
            clause = f"choose {clause}"  # a letter with its reason: "B since it fits"
        if clause and not _UNSURE.search(text[start:end] if "?" in text[start:end] else clause):
            yield clause, end


def only_chooses(clause: str) -> bool:
    """Whether a sentence, its letter apart, holds only words of choosing and at least one that says so: ``I'd answer B``."""
    if re.match(
        r"\W*A\s+(?!is\b|fits\b|works\b|makes\b|seems\b|looks\b|would\b|should\b|must\b|has\b|appears\b|matches\b|satisfies\b)[a-z]", clause
    ):
        return False  # the article
    if _WORST.search(clause):
        return False
    if re.search(r"(?:^|,)\W*(?:hmm\W+|well\W+)?[A-J]\s+(?:it\s+is|is\s+it|then)\W*$", clause):
        return True
    rest = re.sub(r"(?<![A-Za-z0-9_'])[A-J](?![A-Za-z0-9_'])", " ", clause)
    chinese = _CHINESE_TALK.findall(rest)
    words = re.findall(r"[^\W_]+(?:['.][^\W_]+)*", _CHINESE_TALK.sub(" ", rest).lower())
    cue = any(word in _CHOOSING for word in words) or any(word[0] in "选選答正结符觉認认" for word in chinese)
    return cue and all(word in _TALK for word in words) and not re.search(r"[=+<>^/]", rest)


def pointed(text: str) -> tuple[str, str] | None:
    """What points, and what it points at behind a colon, arrow or dash at the end of the text: ``("The sum", "18")``."""
    sentence = last_sentence(text)
    found = list(_POINTER.finditer(sentence)) if len(sentence) <= 400 else []
    if not found or _TELLS_OF_OPTION.search(sentence):
        return None
    head, place = sentence[: found[-1].start()], sentence[found[-1].end() :]
    return None if _NOT_POINTING.search(head) or _UNSURE.search(place) else (head, place.rstrip(" .!。"))


def concludes(head: str) -> bool:
    """Whether a sentence before a colon concludes, and does not end in a denial: ``So the statement does not hold``."""
    return bool(_THEN.match(head)) and not re.search(rf"(?:{DENIES.pattern})\W*$", head, re.I)


def unsure(text: str) -> bool:
    """Whether a text denies, doubts, asks or supposes."""
    return bool(_UNSURE.search(text) or _HYPOTHETICAL.search(text) or _WORST.search(text) or _MISLEADS.search(text))


def endings(text: str) -> Iterator[tuple[str, int]]:
    """The last words of the last sentence, then of the first, behind "is" and its like: places that may be an option's own words."""
    for start, end in _last_and_first(text):
        sentence = _NOT_THE_OTHERS.sub("", text[start:end].rstrip())
        if len(sentence) > 400 or _HYPOTHETICAL.search(sentence) or _WORST.search(sentence) or _TELLS_OF_OPTION.search(sentence):
            continue
        if _UNSURE.search(sentence):
            continue
        for link in _COPULA.finditer(sentence):
            place = sentence[link.end() :].rstrip(" .!。")
            for form in dict.fromkeys((place, _EXPLAINED.split(place)[0], _IN_ALL.sub("", place))):
                yield form, start + len(sentence)


_POLITE = re.compile(
    r"\W*(?:(?:sure|certainly|absolutely|ok|okay|great|thanks|hello|hi|of course|(?:great|good) question|happy to help)\W*$"
    r"|(?:let me know|(?:i )?hope (?:this|that)|feel free|if you (?:have|need|want)|is there anything)\b)",
    re.I,
)


def _last_and_first(text: str) -> Iterable[tuple[int, int]]:
    """Where the last sentence stands, and then the first, if that is another one."""
    starts = [0, *(m.end() for m in _SENTENCES.finditer(text))]
    spans = [(a, b) for a, b in zip(starts, [*starts[1:], len(text)], strict=True) if text[a:b].strip() and not _POLITE.match(text, a, b)]
    return dict.fromkeys([*spans[-1:], *spans[:1]])


def last_sentence(text: str) -> str:
    """The last sentence of a text; a full stop behind a single letter ends none."""
    return _SENTENCES.split(text.strip())[-1].strip()


def _sentence_before(text: str, place: int) -> str:
    """What stands before a place in its own sentence."""
    return re.split(r"(?<=\w\w[.!?])\s|[。！？\n]", text[max(0, place - 200) : place])[-1]
