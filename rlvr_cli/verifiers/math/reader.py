"""Tokens to a tree of plain tuples: nothing in it can run, and nothing outside this package ever parses the text.

A node is ``(operation, operand, ...)``. Numbers are exact: ``("num", Fraction)``, with the digits after the point when it had one.

>>> read("2x + 1")
('add', (('mul', (('num', Fraction(2, 1), None), ('sym', 'x'))), ('num', Fraction(1, 1), None)))
>>> read("[0, 5)")
('seq', '[', ')', (('num', Fraction(0, 1), None), ('num', Fraction(5, 1), None)))
>>> read("x = 3 or x = -3")[0]
'list'
"""

from __future__ import annotations

from fractions import Fraction

from .fast import MAX_DIGITS, integer
from .tokens import FUNCTIONS, GREEK, Token, Unreadable, tokens

MAX_DEPTH = 40
Node = tuple

_RELATIONS = {
    "=": "=",
    "<": "<",
    ">": ">",
    "le": "<=",
    "ge": ">=",
    "ne": "!=",
    "in": "in",
    "approx": "~",
    "equiv": "equiv",
    "notin": "notin",
    "subset": "sub",
    "subseteq": "sub",
    "to": "to",
}
_CLOSERS = {")", "]", "\\}", "rangle", "}", "rfloor", "rceil"}
_NAMED = {"setR": "R", "setZ": "Z", "setN": "N", "setQ": "Q", "setC": "C", "emptyset": "empty", "Reals": "R", "R": "R"}
_PREFIXES = {"angle", "triangle", "vec", "hat", "widehat", "bar", "tilde", "parallel", "perp", "overline", "dot"}
NUMBER_BASES = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
    "sixteen": 16, "bin": 2, "oct": 8, "hex": 16,
}  # fmt: skip


def read(text: str) -> Node:
    """The tree of an answer. Raises Unreadable for what is no mathematics, or too deep or too long."""
    return parse(tokens(text))


def parse(stream: list[Token]) -> Node:
    """The tree of a stream of tokens."""
    return _Parser(stream).whole()


class _Parser:
    """Recursive descent with one token of look-ahead; ``depth`` bounds the recursion whatever the text."""

    def __init__(self, stream: list[Token]):
        self.toks = [t for t in stream if t[0] != "s"]
        self.at = 0
        self.depth = 0
        self.ratios = True  # off before the colon of a set-builder

    # -- stream
    def peek(self, ahead: int = 0) -> Token:
        return self.toks[self.at + ahead] if self.at + ahead < len(self.toks) else ("end", "")

    def next(self) -> Token:
        token = self.peek()
        self.at += 1
        return token

    def accept(self, *texts: str) -> str | None:
        kind, text = self.peek()
        if kind in ("o", "c") and text in texts:
            self.at += 1
            return text
        return None

    def expect(self, *texts: str) -> str:
        got = self.accept(*texts)
        if got is None:
            raise Unreadable(f"expected {texts[0]!r}, found {self.peek()[1]!r}")
        return got

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Unreadable("nested too deeply")

    # -- structure
    def whole(self) -> Node:
        while self.peek() == ("o", "."):
            self.at += 1
        if self.peek()[0] == "end":
            raise Unreadable("nothing to read")
        self.accept("approx")
        tree = self.items()
        while self.peek()[1] in (".", "?", ",", ";") and self.peek()[0] == "o":
            self.at += 1
        if self.peek()[0] != "end":
            raise Unreadable(f"did not expect {self.peek()[1]!r}")
        return tree

    def items(self) -> Node:
        """``a, b and c``: one item stays itself, several are a list."""
        groups, marks = [[self.item()]], set()
        while mark := self.accept(",", ";", "and", "\\\\"):
            before = self.at - 1
            while other := self.accept(",", ";", "and", "\\\\"):
                mark = ";" if ";" in (mark, other) else mark
            if self.peek()[0] == "end" or self.peek()[1] in _CLOSERS or self.peek() == ("o", "."):
                self.at = before if self.peek()[1] in _CLOSERS else self.at
                break
            marks.add(";" if mark == ";" else ",")
            groups.append([self.item()]) if mark == ";" else groups[-1].append(self.item())
        if len(marks) < 2:  # one kind of separator: one flat list
            groups = [[node] for group in groups for node in group]
        found = [group[0] if len(group) == 1 else ("list", tuple(group)) for group in groups]
        return found[0] if len(found) == 1 else ("list", tuple(found))

    def item(self) -> Node:
        """A chain of relations, or one side alone; ``a : b : c`` is a ratio."""
        self.deeper()
        sides, ops = [self.sets()], []
        while True:
            kind, text = self.peek()
            if kind in ("o", "c") and text in _RELATIONS:
                self.at += 1
                ops.append(_RELATIONS[text])
                self.accept("=")
                sides.append(self.sets())
            elif (kind, text) in (("c", "pmod"), ("c", "mod")) or (text == "(" and self.peek(1) == ("c", "mod")):
                sides[-1] = ("mod", sides[-1], self.modulus())
            else:
                break
        self.depth -= 1
        if not ops:
            return sides[0]
        return ("rel", tuple(ops), tuple(sides))

    def modulus(self) -> Node:
        bracket = self.accept("(")
        self.accept("pmod", "mod")
        value = self.factor()
        if bracket:
            self.expect(")")
        return value

    def sets(self) -> Node:
        left = self.ratio()
        while op := self.accept("cup", "cap", "setminus", "bigcup", "bigcap"):
            right = self.ratio()
            left = ({"cup": "union", "bigcup": "union", "cap": "inter", "bigcap": "inter"}.get(op, "minus"), left, right)
        return left

    def ratio(self) -> Node:
        parts = [self.sum()]
        while self.ratios and self.peek() == ("o", ":") and self.peek(1)[0] != "end":
            self.at += 1
            parts.append(("dots",) if self.accept("dots") else self.sum())
        return parts[0] if len(parts) == 1 else ("ratio", tuple(parts))

    def sum(self) -> Node:
        self.deeper()
        terms = [self.signed()]
        while True:
            if self.accept("+"):
                terms.append(self.signed())
            elif self.accept("-"):
                terms.append(negative(self.signed()))
            elif sign := self.accept("pm", "mp"):
                terms.append(("pm", 1 if sign == "pm" else -1, self.signed()))
            else:
                break
        self.depth -= 1
        return terms[0] if len(terms) == 1 else ("add", tuple(terms))

    def signed(self) -> Node:
        sign, branch = 1, None
        while True:
            if self.accept("-"):
                sign = -sign
            elif got := self.accept("pm", "mp"):
                branch = 1 if got == "pm" else -1
            elif not self.accept("+"):
                break
        node = self.product()
        node = negative(node) if sign < 0 else node
        return ("pm", branch, node) if branch else node

    def product(self) -> Node:
        """Explicit and implicit multiplication, left to right, flat."""
        factors = [self.factor()]
        while True:
            if self.accept("*"):
                factors.append(self.signed_factor())
            elif self.accept("/"):
                factors.append(("inv", self.signed_factor()))
            elif self.accept("bmod"):
                whole = factors[0] if len(factors) == 1 else ("mul", tuple(factors))
                factors = [("fn", "mod", (whole, self.factor()))]
            elif self.starts_factor():
                factors.append(self.joined(factors[-1]))
                if factors[-1][0] == "mixed":
                    whole, part, degrees = factors[-2], factors[-1][1], factors[-1][2:]
                    number = ("num", whole[1] + part, None)
                    factors[-2:] = [("deg", number) if degrees else number]
            else:
                break
        return factors[0] if len(factors) == 1 else ("mul", tuple(factors))

    def joined(self, before: Node) -> Node:
        """The next implicit factor; a whole number before a plain fraction makes a mixed number."""
        whole = before[0] == "num" and before[2] is None and before[1].denominator == 1
        if (
            whole
            and self.peek()[0] == "n"
            and self.peek(1) == ("o", "/")
            and self.peek(2)[0] == "n"
            and "." not in self.peek()[1] + self.peek(2)[1]
        ):
            top, low = integer(self.next()[1]), (self.next(), integer(self.next()[1]))[1]
            if low:
                return ("mixed", Fraction(top, low))
        elif self.peek()[0] == "n" and before[0] == "num":
            raise Unreadable("two numbers side by side")
        at = self.at
        node = self.factor()
        degrees = ("deg",) if node[0] == "deg" else ()  # 22\\frac12^\\circ: the sign is on the whole
        node = node[1] if degrees and whole else node
        if (
            whole
            and self.toks[at] == ("c", "frac")
            and node[0] == "mul"
            and all(p[0] == "num" or (p[0] == "inv" and p[1][0] == "num") for p in node[1])
        ):
            top, low = node[1][0][1], node[1][1][1][1]
            if low and top.denominator == low.denominator == 1 and top >= 0:
                return ("mixed", top / low, *degrees)
        return ("deg", node) if degrees and whole else node

    def signed_factor(self) -> Node:
        sign = 1
        while got := self.accept("-", "+"):
            sign = -sign if got == "-" else sign
        node = self.factor()
        return negative(node) if sign < 0 else node

    def starts_factor(self) -> bool:
        kind, text = self.peek()
        if kind in ("n", "l"):
            return True
        if kind == "o":
            return text in ("(", "{") or (text == "[" and self.opens())
        return kind == "c" and text not in _RELATIONS and text not in (
            "cup", "cap", "setminus", "bigcup", "bigcap", "and", "pm", "mp", "mid", "pmod", "mod", "rangle", "rfloor", "rceil",
            "Rightarrow", "end", "circ", "choose", "dots", "cur", "norm", "over",
        )  # fmt: skip

    def opens(self) -> bool:
        """Whether ``[`` opens a bracket here; in ``]1, 6[`` it closes one."""
        kind, text = self.peek(1)
        return kind != "end" and text not in ("cup", "cap", "and", ",", ";", ")", "]", "setminus", ".")

    # -- factors
    def factor(self) -> Node:
        self.deeper()
        node = self.postfix(self.primary())
        self.depth -= 1
        return node

    def postfix(self, node: Node) -> Node:
        count = 0
        while (count := count + 1) < 30:
            if self.accept("^"):
                node = self.power(node)
            elif self.accept("!"):
                node = ("fact", node)
            elif self.accept("%"):
                node = ("percent", node)
            elif self.accept("circ"):
                node = ("deg", node)
            elif self.accept("'"):
                node = ("sym", node[1] + "'") if node[0] == "sym" else ("app", "'", (node,))
            elif self.peek() == ("o", "_") and node[0] in ("num", "group"):
                self.at += 1
                node = self.based(node)
            elif self.accept("choose"):
                node = ("binom", node, self.factor())
            else:
                return ungroup(node)
        raise Unreadable("too many signs after one factor")

    def power(self, base: Node) -> Node:
        if self.accept("circ"):
            return ("deg", ungroup(base))
        if self.peek() == ("o", "{") and self.peek(1) in (("c", "circ"), ("o", "'")) and self.peek(2) == ("o", "}"):
            mark = self.peek(1)[1]
            self.at += 3
            return ("deg", ungroup(base)) if mark == "circ" else ("app", "'", (base,))
        if self.peek() == ("o", "{") and self.peek(1)[0] == "t" and self.peek(2) == ("o", "}"):
            self.at += 3  # 21^{st}
            return base
        if self.peek() == ("c", "prime") or self.peek()[0] == "t":
            self.at += 1
            return base
        exponent = self.signed_factor() if self.peek()[1] in ("-", "+") else self.exponent()
        return ("pow", ungroup(base), exponent)

    def exponent(self) -> Node:
        if self.peek()[0] == "o" and self.peek()[1] in ("*",):
            self.at += 1
            return ("sym", "*")
        self.deeper()
        node = ungroup(self.primary())
        if self.accept("^"):
            node = self.power(node)
        elif self.accept("!"):
            node = ("fact", node)
        self.depth -= 1
        return node

    def based(self, node: Node) -> Node:
        """``1011_2``: the digits of a number in a base."""
        if node[0] == "group":
            node = node[1]
        if node[0] != "num" or node[1].denominator != 1 or node[1] < 0:
            raise Unreadable("a subscript on what is no number")
        self.accept("{")
        bracket = self.accept("(")
        kind, text = self.next()
        if text.lower() == "base":
            kind, text = self.next()
        if kind == "n" and text.isdigit() and len(text) < 4:
            base = int(text)
        elif text.lower() in NUMBER_BASES:
            base = NUMBER_BASES[text.lower()]
        else:
            raise Unreadable("no number base")
        if bracket:
            self.expect(")")
        self.accept("}")
        return ("base", str(node[1].numerator), base)

    def primary(self) -> Node:
        kind, text = self.peek()
        if kind == "n":
            return self.number()
        if kind == "l":
            self.at += 1
            return self.symbol(text)
        if kind == "t" and self.peek(1) in (("o", "="), ("c", "approx")):
            self.at += 1
            return ("sym", text)
        if kind == "t":
            raise Unreadable(f"words: {text!r}")
        if kind == "o":
            return self.opened(text)
        if kind == "c":
            self.at += 1
            return self.command(text)
        raise Unreadable("ends too soon")

    def number(self) -> Node:
        text = self.next()[1]
        if len(text) > MAX_DIGITS:
            raise Unreadable("a number too long to read")
        whole, point, decimals = text.partition(".")
        value = Fraction(integer((whole or "0") + decimals), 10 ** len(decimals))
        if self.peek()[0] == "o" and self.peek()[1] == "." and self.peek(1) in (("c", "overline"), ("c", "dot"), ("c", "bar")):
            self.at += 1
            point = "."
        if point or self.peek() == ("o", "."):
            if self.peek() in (("c", "overline"), ("c", "dot"), ("c", "bar")):
                return ("num", value + self.repetend(len(decimals)), None)
            if self.peek() == ("o", ".") and self.peek(1) == ("o", "("):
                self.at += 1
            if self.peek() == ("o", "(") and self.peek(1)[0] == "n" and self.peek(2) == ("o", ")"):
                return ("num", value + self.repetend(len(decimals)), None)
            if self.peek() == ("c", "dots") and len(decimals) >= 2:
                return self.dotted(value, decimals)
        if self.peek() == ("l", "e") or self.peek() == ("l", "E"):
            return self.scientific(value, len(decimals) if decimals else None)
        return ("num", value, len(decimals) if decimals else None)

    def scientific(self, value: Fraction, decimals: int | None) -> Node:
        """``4.5E-7``; anything else after the letter leaves it a letter."""
        ahead = 2 if self.peek(1)[1] in ("-", "+") and self.peek(1)[0] == "o" else 1
        kind, text = self.peek(ahead)
        if kind != "n" or "." in text or len(text) > 4:
            return ("num", value, decimals)
        power = int(text) * (-1 if self.peek(1)[1] == "-" else 1)
        self.at += ahead + 1
        return ("num", value * Fraction(10) ** power, decimals)

    def repetend(self, shift: int) -> Fraction:
        self.next()
        dotted = []
        if self.accept("{") or self.toks[self.at - 1] == ("o", "("):
            dotted.append(self.next()[1])
            self.expect("}", ")")
        else:
            dotted.append(self.next()[1])
        digits = dotted[0]
        while self.accept("dot"):  # 0.\\dot1 4285 \\dot7
            digits += self.repeated_digit()
        if self.peek()[0] == "n" and self.peek(1) == ("c", "dot"):
            digits += self.next()[1]
            self.accept("dot")
            digits += self.repeated_digit()
        self.accept("dots")
        if not digits.isdigit() or len(digits) > 200:
            raise Unreadable("no repeating digits")
        return Fraction(int(digits), (10 ** len(digits) - 1) * 10**shift)

    def repeated_digit(self) -> str:
        braced = self.accept("{")
        digits = self.next()[1]
        if braced:
            self.expect("}")
        return digits

    def dotted(self, value: Fraction, decimals: str) -> Node:
        """``0.333...``: a repeating decimal when the digits do repeat, else just a long decimal."""
        self.at += 1
        for period in range(1, len(decimals) // 2 + 1):
            tail = decimals[-period:]
            if decimals.endswith(tail * 2) and (period > 1 or decimals.endswith(tail * 3) or len(decimals) == 2):
                return ("num", value + Fraction(int(tail), (10**period - 1) * 10 ** len(decimals)), None)
        return ("num", value, len(decimals))

    def symbol(self, name: str) -> Node:
        """A letter with its subscript; ``f(x)`` for the letters that name functions; ``e``, ``i`` are the constants."""
        while self.peek() == ("o", "'"):
            self.at += 1
            name += "'"
        if self.accept("_"):
            return self.subscripted(name)
        if name in ("e", "i"):
            return ("const", name)
        if name[0] in "fghFGH" and self.peek() == ("o", "("):
            inner = self.opened("(")
            return ("app", name, inner[3] if inner[0] == "seq" else (ungroup(inner),))
        return ("sym", name)

    def subscripted(self, name: str) -> Node:
        index = self.words_in_braces() or self.argument()
        if index[0] == "num" and index[1].denominator == 1:
            node: Node = ("sym", f"{name}_{index[1]}")
        elif index[0] == "text":
            node = ("sym", f"{name}_{index[1]}")
        else:
            node = ("app", name + "_", (index,))
        if name in "fghFGH" and self.peek() == ("o", "("):
            inner = self.opened("(")
            return ("app", f"{name}_", (index, *(inner[3] if inner[0] == "seq" else (ungroup(inner),))))
        return node

    def words_in_braces(self) -> Node | None:
        """A subscript that is a word or several letters: ``{max}``, ``{\\max}``, ``{AB}``."""
        if self.peek() != ("o", "{"):
            return None
        size = 1
        while self.peek(size)[0] in ("l", "t", "c") and self.peek(size)[1] != "}" and self.peek(size)[1] not in ("dots", "frac", "infty"):
            size += 1
        if self.peek(size) != ("o", "}") or size < 2 or (size == 2 and self.peek(1)[0] == "l"):
            return None
        words = "".join(self.peek(i)[1] for i in range(1, size))
        self.at += size + 1
        return ("text", words)

    def argument(self) -> Node:
        """A command's argument: a brace group, or the next token; of a number, all of it."""
        if self.peek() == ("o", "{"):
            if self.peek(1)[0] == "t" and self.peek(2) == ("o", "}"):
                self.at += 3
                return ("text", self.toks[self.at - 2][1])
            return ungroup(self.opened("{"))
        if self.peek()[0] == "t":
            return ("text", self.next()[1])
        if self.peek() == ("o", "-"):
            return self.signed_factor()
        return ungroup(self.primary())

    def digit(self) -> Node:
        r"""An argument of ``\frac``: of an unbraced number only the first digit."""
        kind, text = self.peek()
        if kind == "n" and len(text) > 1 and text.isdigit():
            self.toks[self.at] = ("n", text[1:])
            return ("num", Fraction(int(text[0])), None)
        if kind == "n":
            self.at += 1
            return ("num", Fraction(text), None)
        return self.argument()

    def opened(self, bracket: str) -> Node:
        """What stands in brackets: a group, a tuple, an interval, a set, an absolute value."""
        self.at += 1
        self.deeper()
        if bracket == "|":
            node: Node = ("fn", "abs", (self.sum(),))
            self.expect("|")
        elif bracket == "{":
            node = self.braced()
        elif bracket == "\\{":
            node = self.set_()
        elif bracket in ("(", "[", "]"):
            node = self.bracketed(bracket)
        else:
            raise Unreadable(f"did not expect {bracket!r}")
        self.depth -= 1
        return node

    def braced(self) -> Node:
        if self.accept("}"):
            return ("group", ("set", ()))
        inner = self.items()
        if self.accept("over"):
            inner = ("mul", (inner, ("inv", self.items())))
        elif self.accept("choose"):
            inner = ("binom", inner, self.items())
        self.expect("}")
        return ("group", ("set", inner[1], "loose") if inner[0] == "list" else inner)

    def set_(self) -> Node:
        if self.accept("\\}"):
            return ("set", ())
        self.ratios = False
        first = self.items()
        self.ratios = True
        if self.accept("mid", "|", ":"):
            conditions = self.items()
            self.expect("\\}")
            return ("builder", first, conditions)
        if first[0] == "ratio" and len(first[1]) == 2 and self.peek()[1] != "\\}":
            raise Unreadable("no set")
        self.expect("\\}")
        if first[0] == "rel" and first[2][0][0] == "ratio" and len(first[2][0][1]) == 2:  # {x : x > 3}
            return ("builder", first[2][0][1][0], ("rel", first[1], (first[2][0][1][1], *first[2][1:])))
        return ("set", first[1] if first[0] == "list" else (first,))

    def bracketed(self, bracket: str) -> Node:
        if self.peek()[1] in (")", "]"):
            self.at += 1
            return ("seq", bracket, self.toks[self.at - 1][1], ())
        inner = self.items()
        if self.accept("|", "mid"):  # P(A|B)
            inner = ("app", "|", (inner, self.items()))
        close = self.expect(")", "]", "[")
        if inner[0] == "list":
            return ("seq", bracket, close, inner[1])
        if inner[0] == "set" and len(inner) == 3 and bracket != "{":
            return ("seq", bracket, close, inner[1])
        if bracket == "[" and close == "]" and inner[0] not in ("mat", "add", "mul"):
            return ("seq", "[", "]", (inner,))
        return ("group", inner)

    # -- commands
    def command(self, name: str) -> Node:
        if name in ("frac", "binom"):
            top, low = self.digit(), self.digit()
            return ("binom", top, low) if name == "binom" else ("mul", (top, ("inv", low)))
        if name in ("sqrt", "cbrt"):
            return self.root(name)
        if name in ("pi", "infty"):
            return ("const", "inf" if name == "infty" else "pi")
        if name in _NAMED:
            return self.named(_NAMED[name])
        if name in GREEK:
            return self.symbol("\\" + name)
        if name in ("sum", "prod", "int", "lim", "iint", "oint"):
            return self.big(name)
        if name == "begin":
            return self.matrix()
        if name in ("lfloor", "lceil", "langle"):
            return self.fenced(name)
        if name == "dots":
            return ("dots",)
        if name == "cur":
            return self.factor()
        if name in _PREFIXES:
            inner = self.argument()
            conjugate = name in ("overline", "bar") and "'const', 'i'" in repr(inner)
            return ("fn", "conj", (inner,)) if conjugate else ("app", name, (inner,))
        if name == "norm":
            inner = self.sum()
            self.expect("norm")
            return ("app", "norm", (inner,))
        if name in FUNCTIONS or name == "log10":
            return self.function(name)
        if name in ("partial", "nabla", "hbar", "ell", "square", "diamond", "star", "top", "dagger"):
            return self.symbol("\\" + name)
        raise Unreadable(f"unknown command {name!r}")

    def named(self, which: str) -> Node:
        """R, Z, N with the usual decorations: plus or minus, star, subscripts."""
        mark = ""
        while self.accept("^", "_"):
            kind, text = self.next()
            while text == "{" or (kind == "o" and text in ("+", "-", "*", "}")) or text in ("ge", "le") or kind == "n":
                mark += text if text not in "{}" else ""
                if (text != "{" and self.peek()[1] not in ("}", "*", "+", "-")) or text == "}" or self.peek()[0] == "end":
                    break
                kind, text = self.next()
        if (which == "Z" and mark in ("+", "*+")) or (which == "N" and mark in ("*", "+")):
            return ("named", "Z+")
        return ("named", which + mark)

    def root(self, name: str) -> Node:
        degree: Node = ("num", Fraction(3 if name == "cbrt" else 2), None)
        if self.peek() == ("o", "[") and name == "sqrt":
            self.at += 1
            degree = self.sum()
            self.expect("]")
        return ("root", degree, self.argument())

    def fenced(self, name: str) -> Node:
        if name == "langle":
            inner = self.items()
            self.expect("rangle", ">")
            return ("seq", "(", ")", inner[1] if inner[0] == "list" else (inner,))
        inner = self.sum()
        self.expect("rfloor", "rceil")
        return ("fn", "floor" if name == "lfloor" else "ceil", (inner,))

    def function(self, name: str) -> Node:
        """``\\sin^2 x``, ``\\log_2 8``, ``\\tan^{-1}(2)``, ``exp(16)``."""
        if self.peek()[1] in _RELATIONS or self.peek()[0] == "end":
            return ("sym", "\\" + name)
        power = base = None
        for _ in range(2):
            if self.accept("_"):
                base = self.argument()
            elif self.accept("^"):
                power = self.argument()
        args = self.function_arguments()
        if name == "log10":
            name, base = "log", ("num", Fraction(10), None)
        inverse = power is not None and power == ("num", Fraction(-1), None)
        if inverse and "arc" + name in FUNCTIONS:
            name, power = "arc" + name, None
        node: Node = ("logb", base, args[0]) if name == "log" and base else ("fn", name, args)
        return ("pow", node, power) if power is not None else node

    def function_arguments(self) -> tuple[Node, ...]:
        if self.peek()[1] in ("(", "[", "{") and self.peek()[0] == "o":
            inner = self.opened(self.peek()[1])
            if inner[0] == "seq":
                return inner[3]
            node = self.postfix(inner) if self.peek()[1] in ("!", "circ") else ungroup(inner)
            if self.peek() in (("o", "^"),) and self.peek(1) in (("c", "circ"),):
                node = self.postfix(node)
            return (node,)
        factors = [self.signed_factor()]
        while self.starts_factor() and not (
            self.peek()[0] == "c" and self.peek()[1] in FUNCTIONS and self.peek()[1] not in ("sqrt", "frac")
        ):
            if self.peek() == ("o", "("):
                break
            factors.append(self.factor())
        return (factors[0] if len(factors) == 1 else ("mul", tuple(factors)),)

    def big(self, name: str) -> Node:
        """Sums, products, integrals and limits with their bounds."""
        low = high = None
        while True:
            if self.accept("_"):
                self.accept("{")
                braced = self.toks[self.at - 1] == ("o", "{")
                low = self.item() if braced else self.primary()
                if braced:
                    self.expect("}")
            elif self.accept("^"):
                high = self.argument()
            else:
                break
        if name in ("int", "iint", "oint"):
            return self.integral(low, high)
        body = self.product()
        if name == "lim":
            if low is None or low[0] != "rel" or low[1] != ("to",):
                raise Unreadable("a limit without its variable")
            return ("lim", low[2][0], low[2][1], body)
        if low is not None and low[0] == "rel" and low[2][0] == ("const", "i"):  # an index, not the imaginary unit
            low, high, body = (as_symbol(part) if part else part for part in (low, high, body))
        if low is None or low[0] != "rel" or low[1] != ("=",) or low[2][0][0] != "sym" or high is None:
            raise Unreadable("a sum without bounds")
        return (name, low[2][0][1], low[2][1], high, body)

    def integral(self, low: Node | None, high: Node | None) -> Node:
        body = self.sum()
        factors = list(body[1]) if body[0] == "mul" else [body]
        if len(factors) < 2 or factors[-2] != ("sym", "d") or factors[-1][0] != "sym":
            raise Unreadable("an integral without its variable")
        rest = tuple(factors[:-2]) or (("num", Fraction(1), None),)
        return ("int", factors[-1][1], low, high, rest[0] if len(rest) == 1 else ("mul", rest))

    def matrix(self) -> Node:
        kind = self.environment()
        if kind == "array":
            self.expect("{")
            while self.next()[1] not in ("}", ""):
                continue
        if "matrix" not in kind and kind != "array":
            raise Unreadable(f"environment {kind!r}")
        rows: list[tuple[Node, ...]] = []
        row: list[Node] = []
        while not self.accept("end"):
            if self.peek()[0] == "end":
                raise Unreadable("a matrix without an end")
            if self.accept("\\\\"):
                rows.append(tuple(row))
                row = []
            elif not self.accept("&", "hline"):
                row.append(self.item())
        self.environment()
        if row:
            rows.append(tuple(row))
        if not rows or len({len(r) for r in rows}) != 1:
            raise Unreadable("a ragged matrix")
        return ("fn", "det", (("mat", tuple(rows)),)) if kind == "vmatrix" else ("mat", tuple(rows))

    def environment(self) -> str:
        self.expect("{")
        name = ""
        while self.peek()[1] != "}" and self.peek()[0] != "end":
            name += self.next()[1]
        self.expect("}")
        return name.rstrip("*")


def negative(node: Node) -> Node:
    if node[0] == "num":
        return ("num", -node[1], node[2])
    return ("mul", (("num", Fraction(-1), None), node))


def as_symbol(node: Node) -> Node:
    """The tree with every ``i`` a plain symbol."""
    if node == ("const", "i"):
        return ("sym", "i")
    return tuple(as_symbol(part) if isinstance(part, tuple) else part for part in node)


def ungroup(node: Node) -> Node:
    """A node without its grouping brackets."""
    while node[0] == "group":
        node = node[1]
    return node
