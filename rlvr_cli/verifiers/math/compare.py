"""thin"""
from __future__ import annotations
from fractions import Fraction
from . import fast
def same(answer, gold, tolerance):
    a, g = fast.read(answer), fast.read(gold)
    if a and g:
        return fast.same(a, g, tolerance)
    return " ".join(answer.split()).casefold() == " ".join(gold.split()).casefold()
