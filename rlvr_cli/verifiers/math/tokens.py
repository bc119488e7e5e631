"""An answer's text as tokens: LaTeX in its many dialects, plain notation, and what lost its backslash.

A token is ``(kind, text)``: ``n`` a number, ``l`` a letter, ``c`` a command or function without its backslash, ``o`` an operator,
``t`` words.

>>> tokens(r"\\dfrac{1}{2}x")
[('c', 'frac'), ('o', '{'), ('n', '1'), ('o', '}'), ('o', '{'), ('n', '2'), ('o', '}'), ('l', 'x')]
>>> tokens("3 sqrt(2) \\\\text{ cm}")
[('n', '3'), ('c', 'sqrt'), ('o', '('), ('n', '2'), ('o', ')'), ('t', 'cm')]
"""

from __future__ import annotations

import re

from .unicode import mathematical

MAX_CHARS = 20_000
MAX_TOKENS = 8_000

Token = tuple[str, str]


class Unreadable(ValueError):
    """The text is no mathematics that this package reads; it may still be compared as words."""


FUNCTIONS = frozenset(
    "sin cos tan cot sec csc arcsin arccos arctan arccot arcsec arccsc sinh cosh tanh coth sech csch arcsinh arccosh arctanh asin"  # noqa: SIM905
    " acos atan ln log lg exp "
    "max min gcd lcm det abs floor ceil sgn sign arg Re Im cis operatorname sqrt cbrt frac binom tan tg ctg arctg".split()
)
_WORDS_AS_COMMANDS = FUNCTIONS | {
    "pi",
    "infty",
    "infinity",
    "inf",
    "oo",
    "theta",
    "alpha",
    "beta",
    "gamma",
    "lambda",
    "sigma",
    "omega",
    "phi",
    "mu",
    "dfrac",
    "tfrac",
    "cdot",
    "times",
    "pm",
}
_GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi rho sigma tau upsilon phi chi psi omega Gamma"
    " Delta Theta Lambda Xi Sigma Upsilon Phi Psi Omega Pi"
)
GREEK = frozenset(_GREEK.split())
_DROP = frozenset(
    "left right big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr middle displaystyle textstyle scriptstyle limits"  # noqa: SIM905
    " nolimits quad qquad "
    "hspace vspace hfill mathstrut strut bf it rm sf tt large Large LARGE huge Huge small normalsize centering nonumber notag"
    " thinspace enspace allowbreak".split()
)
_RENAME = {
    "dfrac": "frac", "tfrac": "frac", "cfrac": "frac", "dbinom": "binom", "tbinom": "binom", "leq": "le", "leqslant": "le",
    "leqq": "le", "geq": "ge", "geqslant": "ge", "geqq": "ge",
    "neq": "ne", "lt": "<", "gt": ">", "varnothing": "emptyset", "O": "emptyset", "varepsilon": "epsilon", "varphi": "phi",
    "vartheta": "theta", "varrho": "rho", "varsigma": "sigma",
    "smallsetminus": "setminus", "backslash": "setminus", "lvert": "|", "rvert": "|", "vert": "|", "mid": "mid", "lVert": "norm",
    "rVert": "norm", "Vert": "norm", "|": "norm",
    "lbrace": "\\{", "rbrace": "\\}", "{": "\\{", "}": "\\}", "lbrack": "[", "rbrack": "]", "ast": "*", "times": "*",
    "cdot": "*", "cdotp": "*", "bullet": "*", "div": "/", "colon": ":",
    "ldots": "dots", "cdots": "dots", "dotsc": "dots", "dotsb": "dots", "dotsm": "dots", "vdots": "dots", "infinity": "infty",
    "inf": "infty", "oo": "infty", "approx": "approx",
    "simeq": "approx", "cong": "approx", "sim": "approx", "doteq": "=", "coloneqq": "=", "tg": "tan", "ctg": "cot",
    "arctg": "arctan", "asin": "arcsin", "acos": "arccos", "atan": "arctan",
    "lg": "log10", "arsinh": "arcsinh", "lnot": "neg", "land": "and", "lor": "and", "wedge": "and", "vee": "and",
    "Longrightarrow": "Rightarrow", "implies": "Rightarrow", "iff": "Rightarrow",
    "%": "%", "$": "cur", "&": "and", "#": "#", "degree": "circ", "overrightarrow": "vec", "overset": "vec", "colonequals": "=",
    "equiv": "equiv", "pmod": "pmod", "isin": "in", "to": "to", "rightarrow": "to",
    "longrightarrow": "to", "perthousand": "permille", "sign": "sgn", "Dot": "dot", "textdegree": "circ", "ang": "angle",
    "oplus": "oplus", "prime": "'", "textdollar": "cur", "pounds": "cur", "euro": "cur", "yen": "cur",
}  # fmt: skip
_TEXTUAL = frozenset(
    "text textrm textbf textit textsf texttt textnormal mathrm mathbf mathit mathsf mathtt mathcal boldsymbol bm mbox hbox"  # noqa: SIM905
    " operatorname operatorname* textup mathbb mathfrak emph underline textsc".split()
)
_LEX = re.compile(
    r"(?P<sp>[\s~]+)|(?P<brk>\\\\(?:\[[^\]]*\])?)|\\(?P<cmd>[A-Za-z]+\*?|[^A-Za-z\s\d])|\\(?P<ctl>\s|\d)|(?P<num>\d+(?:\.(?!\.)\d*)?"
    r"|\.\d+)|(?P<word>[A-Za-z]+)|(?P<dots>\.{2,})"
    r"|(?P<op><=|>=|!=|==|:=|\*\*|->|=>|[-+*/^_=<>(){}\[\]|,;:!%'&.?])|(?P<cur>[€£¥₹₽₩$])|(?P<other>[^\x00-\x7f]+|.)",
    re.S,
)
_GROUPING = re.compile(r"(?<=\d)\s*(?:\{,\}|\\,|\\!|\\;|\\ |~|,\\!|,\s*\\!|\{\s*,\s*\}|\\thinspace)+\s*(?=\d{3}(?!\d))")
_NUMBER_WORDS = {
    w: str(i)
    for i, w in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen"  # noqa: SIM905
        " nineteen twenty".split()
    )
} | {w: str(10 * i) for i, w in enumerate("thirty forty fifty sixty seventy eighty ninety".split(), 3)}  # fmt: skip  # noqa: SIM905
_UNIT_LETTERS = frozenset("msgJNWVAKLhFHTCl")
PERCENT = frozenset(
    (
        "percent",
        "pct",
        "percentage",
        "per cent",
        "prozent",
        "процентов",
        "процента",
        "процент",
        "por ciento",
        "pour cent",
        "per cento",
        "por cento",
        "パーセント",
        "퍼센트",
        "％",
    )
)
_CJK_AND = ("和", "或", "与", "及", "以及", "或者", "と", "および", "または", "와", "과", "또는", "и", "или")
LONE = frozenset("and or in mod if for where with is the of to no not yes true false none all real numbers number".split())  # noqa: SIM905


def tokens(text: str) -> list[Token]:
    """The tokens of an answer. Raises Unreadable when it is too long."""
    if len(text) > MAX_CHARS:
        raise Unreadable("too long to read")
    text = _undouble(mathematical(text))
    text = _GROUPING.sub("", text)
    out: list[Token] = []
    position = 0
    while position < len(text):
        position = _step(text, position, out)
        if len(out) > MAX_TOKENS:
            raise Unreadable("too many symbols")
    return out


def _undouble(text: str) -> str:
    """``\\\\frac`` that was escaped once too often; row breaks of a matrix stay."""
    text = text.replace("\\\\\\\\", "\\\\")  # a row break that was escaped once too often
    if re.search(
        r"(?<!\\)\\\\(?:[dt]?frac|sqrt|begin|end|left|right|text|boxed|cdot|times|cup|infty|pi|pm|in|le|ge|mathrm)(?![A-Za-z])|\\\\[{}]",
        text,
    ):
        if "begin" in text and not re.search(r"(?<!\\)\\\\begin", text):  # a matrix whose row breaks are right
            return re.sub(r"(?<!\\)\\\\(?=[dt]?frac|sqrt|pi|text|cdot|times)", r"\\", text)
        return text.replace("\\\\", "\\")
    return text


def _step(text: str, position: int, out: list[Token]) -> int:
    m = _LEX.match(text, position)
    kind, piece = m.lastgroup, m[m.lastgroup]
    if kind == "cmd" and piece == "cr":
        kind = "brk"
    if kind == "cmd":
        return _command(text, m.end(), piece, out)
    if kind == "brk":
        out.append(("o", "\\\\"))
    elif kind == "num":
        out.append(("n", piece.rstrip(".") or piece))
        if piece.endswith("."):
            out.append(("o", "."))
    elif kind == "word":
        _word(piece, out)
    elif kind == "dots":
        out.append(("c", "dots"))
    elif kind == "op":
        out.append(_operator(piece))
    elif kind == "cur" and piece != "$":
        out.append(("c", "cur"))
    elif kind == "other":
        out.append(
            ("o", "%")
            if piece.strip() in PERCENT
            else ("c", "and")
            if piece.strip() in _CJK_AND
            else ("t", piece.strip())
            if piece.strip(' "`“”')
            else ("s", "")
        )
    elif kind == "cur" and re.match(r"\s*-?\d", text[m.end() :]) and text.count("$") % 2:
        out.append(("c", "cur"))
    return m.end()


def _operator(piece: str) -> Token:
    return {
        "<=": ("c", "le"), ">=": ("c", "ge"), "!=": ("c", "ne"), "==": ("o", "="), ":=": ("o", "="), "**": ("o",
        "^"), "->": ("c", "to"), "=>": ("c", "Rightarrow"),
        "&": ("o", "&"),
    }.get(piece, ("o", piece))  # fmt: skip


def _command(text: str, end: int, name: str, out: list[Token]) -> int:
    """One LaTeX command: spacing is dropped, wrappers are opened, the rest gets one name a meaning."""
    name = name.rstrip("*") if name != "*" else name
    if name.startswith(("quad", "qquad")) and name not in ("quad", "qquad"):  # \\quadx
        for letter in name.partition("quad")[2]:
            out.append(("l", letter))
        return end
    if name in (",", ";", "!", ":", " ", "/", ">") or name in _DROP:
        if name in ("left", "right") and text[end : end + 1] == ".":
            end += 1
        if name in ("hspace", "vspace"):
            end = _group_end(text, end)
        out.append(("s", ""))
    elif name in ("(", ")") or (name in ("[", "]") and text[end - 2 : end - 1] == "\\"):
        out.append(("s", ""))  # mathematics delimiters of a whole answer
    elif name in _TEXTUAL:
        return _textual(text, end, name, out)
    elif name in ("color", "textcolor"):
        return _group_end(text, end)
    elif name in (
        "boxed",
        "fbox",
        "framebox",
        "mathstrut",
        "hat",
        "widehat",
        "bar",
        "vec",
        "tilde",
        "overrightarrow",
        "overset",
        "dot",
        "overline",
        "not",
    ):
        out.append(("c", _RENAME.get(name, name)) if name not in ("boxed", "fbox", "framebox") else ("s", ""))
    elif name in ("phantom", "tag", "label", "cancel", "checkmark", "blacksquare", "qedsymbol", "qed", "Box", "square", "surd"):
        return _group_end(text, end)
    else:
        name = _RENAME.get(name, name)
        operator = name in ("<", ">", "|", "*", "/", ":", "=", "[", "]", "\\{", "\\}", "%", "'")
        out.append(("o" if operator else "c", name))
    return end


def _group_end(text: str, position: int) -> int:
    """The end of the brace group at ``position``; ``position`` itself where there is none."""
    m = re.compile(r"\s*\{").match(text, position)
    if not m:
        return position
    depth = 0
    for brace in re.compile(r"\\.|[{}]", re.S).finditer(text, m.end() - 1):
        depth += {"{": 1, "}": -1}.get(brace[0], 0)
        if depth == 0:
            return brace.end()
    raise Unreadable("a brace is not closed")


def _textual(text: str, end: int, name: str, out: list[Token]) -> int:
    r"""``\text{...}`` and its kin: a number or formula inside counts as such, words become one token, ``\mathbb{R}`` a set's name."""
    stop = _group_end(text, end)
    inner = text[end:stop].strip()[1:-1].strip() if stop > end else ""
    if stop == end and name == "mathbb" and (m := re.compile(r"\s*([RZNQC])(?![A-Za-z])").match(text, end)):
        out.append(("c", "set" + m[1]))
        return m.end()
    if stop == end:  # \mathbf x
        return end
    if name == "mathbb" or (
        name in ("mathbf", "mathrm", "text")
        and inner in ("R", "Z", "N", "Q")
        and re.search(r"\\in\s*$", text[max(0, end - 20) : end - len(name) - 1])
    ):
        out.append(("c", "set" + inner))
    elif name == "operatorname" or inner in FUNCTIONS:
        out.append(("c", _RENAME.get(inner, inner)))
    elif inner in _UNIT_LETTERS and out and out[-1][0] in ("n", "s", "o") and (out[-1][0] != "o" or out[-1][1] in (")", "}")):
        out.append(("t", inner))
    elif re.search(r"[\d\\^_=+]", inner) or (len(inner) == 1 and inner.isalpha()):
        for token in tokens(inner.replace("$", "")):
            out.append(token)
    elif inner:
        _text_words(inner, out)
    else:
        out.append(("s", ""))
    return stop


def _text_words(inner: str, out: list[Token]) -> None:
    lowered = inner.lower().strip(" .,;:")
    if lowered == "to":
        out.append(("o", ":"))
    elif lowered in _WORDS_AS_COMMANDS and len(lowered) > 2 and lowered not in ("max", "min", "arg", "times", "cdot"):
        out.append(("c", _RENAME.get(lowered, lowered)))
    elif lowered in ("and", "or", "in", "mod", "und", "et", "y", "o", "oder", "ou", *_CJK_AND):
        out.append(("c", {"in": "in", "mod": "mod"}.get(lowered, "and")))
    elif lowered.startswith(("or ", "and ")) and lowered.count(" ") == 0:
        out.append(("c", "and"))
    elif lowered in _NUMBER_WORDS:
        out.append(("n", _NUMBER_WORDS[lowered]))
    elif lowered in PERCENT:
        out.append(("o", "%"))
    elif lowered:
        out.append(("t", inner.strip()))


_UNIT_WORDS = frozenset("cm mm km kg mg ml min sec hr hrs mph yr deg pct cents usd pts rad ft mi lb lbs oz am pm".split())  # noqa: SIM905
_PARTED = re.compile(r"([A-Za-z]*?)(sqrt|frac|sin|cos|tan|log|exp|pi|ln)([A-Za-z]?)")
_ANY_CASE = frozenset(("sqrt", "frac", "pi", "infinity", "sin", "cos", "tan", "exp", "ln"))


def _word(word: str, out: list[Token]) -> None:
    """Plain letters: a function, a constant, a number word, a separator, a word of text, or a product of letters."""
    lowered = word.lower()
    token = _by_context(word, lowered, out) or _by_name(word, lowered)
    if token:
        out.append(token)
    elif m := re.fullmatch(r"(or|and)([A-Z])", word):
        out.extend((("c", "and"), ("l", m[2])))
    elif len(word) > 1 and (m := _PARTED.fullmatch(word)):
        for part in (*m[1], m[2], *m[3]):
            out.append(("c", part) if len(part) > 1 else ("l", part))
    elif len(word) > 1 and (lowered in LONE or _is_unit_word(word, lowered) or (len(word) > 3 and not word.isupper())):
        out.append(("t", word))
    else:
        out.extend(("l", letter) for letter in word)


def _is_unit_word(word: str, lowered: str) -> bool:
    """``kg`` and ``Kg``; ``Mm`` and ``mM`` are products of masses."""
    return lowered in _UNIT_WORDS and (
        word in (lowered, word.upper()) or (word == lowered.capitalize() and lowered not in ("mm", "mg", "ml", "mi"))
    )


def _by_context(word: str, lowered: str, out: list[Token]) -> Token | None:
    """What a word means by what stands before it: ``)U(``, ``21st``, ``2 to 3``."""
    before = out[-1] if out else ("", "")
    if word == "U" and before[1] in (")", "]", "\\}"):
        return ("c", "cup")
    if lowered in ("st", "nd", "rd", "th") and (before[0] == "n" or out[-2:] == [("o", "^"), ("o", "{")]):
        return ("t", word)
    return ("o", ":") if lowered == "to" and before[0] == "n" else None


def _by_name(word: str, lowered: str) -> Token | None:
    """What a word means by itself."""
    if word in _WORDS_AS_COMMANDS or (lowered in _ANY_CASE and word != "Pi"):
        name = word if word in _WORDS_AS_COMMANDS else lowered
        name = _RENAME.get(name, name)
        return ("o" if name in ("*", "/") else "c", name)
    if lowered in ("and", "or", "und", "oder", "et", "ou"):
        return ("c", "and")
    if lowered in _NUMBER_WORDS:
        return ("n", _NUMBER_WORDS[lowered])
    return ("o", "%") if lowered in PERCENT else None
