"""One alphabet for the rest of the package: other scripts' digits, full-width forms and invisible characters become plain ones.

Two strengths, because a whole completion is prose and an answer is mathematics:

>>> plain("答案是 ４２，或 ٣.٥")
'答案是 42,或 3.5'
>>> mathematical("2½≤x²")
'2\\\\frac{1}{2}\\\\le x^{2}'
"""

from __future__ import annotations

import re
import unicodedata

_PLAIN = {
    "−": "-", "–": "-", "‐": "-", "‑": "-", "‒": "-", "﹣": "-", "٫": ".", "٬": ",", "、": ",", "\u3000": " ",
    "“": '"', "”": '"', "‘": "'", "’": "'", "\x08": "\\b", "\x0c": "\\f", "／": "/", "∕": "/", "⁄": "/", "【": "[", "】": "]", "｡": "。",
}  # fmt: skip
_MATH = {
    "×": "\\times ", "·": "\\cdot ", "⋅": "\\cdot ", "∙": "\\cdot ", "•": "\\cdot ", "✕": "\\times ", "÷": "\\div ",
    "√": "\\sqrt ", "∛": "\\sqrt[3] ",
    "∜": "\\sqrt[4] ", "∞": "\\infty ", "≤": "\\le ", "≥": "\\ge ", "≦": "\\le ", "≧": "\\ge ", "⩽": "\\le ", "⩾": "\\ge ", "≠": "\\ne ",
    "≈": "\\approx ", "≃": "\\approx ", "≅": "\\approx ", "≒": "\\approx ", "∈": "\\in ", "∉": "\\notin ", "∪": "\\cup ",
    "∩": "\\cap ", "∅": "\\emptyset ",
    "Ø": "\\emptyset ", "ø": "\\emptyset ", "⌀": "\\emptyset ", "±": "\\pm ", "∓": "\\mp ", "°": "^{\\circ}", "º": "^{\\circ}",
    "˚": "^{\\circ}",
    "∖": "\\setminus ", "′": "'", "″": "''", "→": "\\to ", "⇒": "\\Rightarrow ", "∘": "\\circ ", "…": "\\ldots ",
    "⋯": "\\cdots ", "≡": "\\equiv ",
    "ℝ": "\\mathbb{R}", "ℤ": "\\mathbb{Z}", "ℕ": "\\mathbb{N}", "ℚ": "\\mathbb{Q}", "ℂ": "\\mathbb{C}", "⟨": "\\langle ",
    "⟩": "\\rangle ",
    "〈": "\\langle ", "〉": "\\rangle ", "⌊": "\\lfloor ", "⌋": "\\rfloor ", "⌈": "\\lceil ", "⌉": "\\rceil ", "∑": "\\sum ",
    "∏": "\\prod ",
    "∫": "\\int ", "∠": "\\angle ", "△": "\\triangle ", "∥": "\\parallel ", "⊥": "\\perp ", "ⅈ": "i", "ℯ": "e", "∶": ":",
    "ϕ": "\\phi ", "∣": "|",
    "—": " - ", "〜": "~",
}  # fmt: skip
_GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "ζ": "zeta", "η": "eta", "θ": "theta", "κ": "kappa",
    "λ": "lambda",
    "μ": "mu", "µ": "mu", "ν": "nu", "ξ": "xi", "π": "pi", "ρ": "rho", "σ": "sigma", "τ": "tau", "φ": "phi", "χ": "chi",
    "ψ": "psi", "ω": "omega",
    "Γ": "Gamma", "Δ": "Delta", "Θ": "Theta", "Λ": "Lambda", "Π": "Pi", "Σ": "Sigma", "Φ": "Phi", "Ψ": "Psi", "Ω": "Omega",
}  # fmt: skip
_MATH.update({letter: f"\\{name} " for letter, name in _GREEK.items()})
_SUPER = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ", "0123456789+-=()ni", strict=True))
_SUB = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₙₖ", "0123456789+-=()nk", strict=True))
_SUPER_RUN = re.compile("[" + "".join(_SUPER) + "]+")
_SUB_RUN = re.compile("[" + "".join(_SUB) + "]+")
_SMALL_FRACTION = re.compile("([" + "".join(_SUPER) + "]+)/([" + "".join(_SUB) + "]+)")
_KEEP = set("。¿¡") | set(_SUPER) | set(_SUB)


class _Lazy(dict):
    """A translation table that works out each character once, when it is first met."""

    def __missing__(self, code: int) -> str:
        self[code] = value = _plain_char(chr(code))
        return value


def _plain_char(char: str) -> str:
    if char in _PLAIN:
        return _PLAIN[char]
    if char in _KEEP:
        return char
    kind = unicodedata.category(char)
    if kind == "Nd":
        return str(unicodedata.decimal(char))
    if kind == "Cs":  # half of a surrogate pair: no character
        return "\ufffd"
    if kind == "Zs":
        return " "
    if kind == "Cf":  # zero-width joiners, direction marks: invisible, so they carry no answer
        return ""
    if 0xFF01 <= ord(char) <= 0xFF5E:
        return chr(ord(char) - 0xFEE0)
    if 0x1D400 <= ord(char) <= 0x1D7FF:  # mathematical bold and italic letters
        return unicodedata.normalize("NFKC", char)
    return char


_TABLE = _Lazy({code: chr(code) for code in range(128)} | {8: "\\b", 12: "\\f"})


def plain(text: str) -> str:
    """Digits, punctuation and spaces of any script as ASCII; letters and mathematics stay as they are. Linear in the text."""
    if text.isascii() and "\x08" not in text and "\x0c" not in text:
        return text
    return text.translate(_TABLE)


def mathematical(text: str) -> str:
    """An answer's Unicode mathematics as LaTeX: ``²`` to ``^{2}``, ``½`` to ``\\frac{1}{2}``, ``π`` to ``\\pi``."""
    text = plain(text)
    if text.isascii():
        return text
    text = _SMALL_FRACTION.sub(_small_fraction, text)
    text = _SUPER_RUN.sub(lambda m: "^{" + "".join(_SUPER[c] for c in m[0]) + "}", text)
    text = _SUB_RUN.sub(lambda m: "_{" + "".join(_SUB[c] for c in m[0]) + "}", text)
    return "".join(_math_char(char) if char > "\x7f" else char for char in text)


def _small_fraction(m: re.Match[str]) -> str:
    """``⁵⁄₁₂``: raised digits over lowered ones."""
    top, low = ("".join(table[c] for c in part) for table, part in ((_SUPER, m[1]), (_SUB, m[2])))
    return f"\\frac{{{top}}}{{{low}}}"


def _math_char(char: str) -> str:
    if char in _MATH:
        return _MATH[char]
    if unicodedata.category(char) == "No" and "FRACTION" in unicodedata.name(char, ""):
        top, _, bottom = unicodedata.normalize("NFKC", char).partition("⁄")
        return f"\\frac{{{top}}}{{{bottom}}}" if bottom else char
    return char
