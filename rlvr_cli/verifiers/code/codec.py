"""Plain data across the wall between solution and tests, and nothing else.

JSON with tags, decoded by this code alone: never pickle, never a class that the other side names. A subclass is reduced
to its base value, whatever its methods claim; what is no plain data becomes a handle, an opaque number::

    [1, (2.5, "x"), {3}]     ->   ["l", 0, [1, ["t", [2.5, "x"]], ["s", 1, [3]]]]
    class I(int): __eq__ = lambda s, o: True
    I(7)                     ->   7
    Stack()                  ->   ["h", 0, "object", "Stack"]

Lists, sets, dictionaries, bytearrays and deques carry a number in their message, so that aliases, cycles and changes made
in place survive the trip.
"""

from __future__ import annotations

import builtins
import datetime
from collections import OrderedDict, deque
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

__builtins__ = dict(vars(builtins))  # this module runs beside model code, which may patch the real ones

DEPTH = 150
_HUGE_BITS = 8000
_SCALARS = frozenset({type(None), bool, int, float, str})
_BASES = (int, float, str, bytes, complex, tuple, list, dict, set, frozenset, bytearray, deque)
_NAMED = (int, float, str, bytes, bytearray, bool, complex, tuple, list, dict, set, frozenset, range, type(None), object)
_ERRORS = [t for t in vars(builtins).values() if isinstance(t, type) and issubclass(t, BaseException)]
_TYPES = {t.__name__: t for t in (*_NAMED, *_ERRORS)}


class ProtocolError(Exception):
    """The other side sent what it must not."""


class Encoder:
    """One message's values. ``known`` holds containers that the other side has already, by identity."""

    def __init__(self, export: Callable[[Any], list], known: dict[int, int] | None = None):
        self.export = export
        self.known = dict(known or {})
        self.told: set[int] = set()
        self.next = len(self.known)
        self.kept: list[Any] = []

    def encode(self, x: Any, depth: int = 0) -> Any:
        kind = type(x)
        if kind in _SCALARS:
            return ["i", hex(x)] if kind is int and x.bit_length() > _HUGE_BITS else x
        if depth > DEPTH:
            return self.export(x)
        maker = _MAKERS.get(kind)
        if maker is not None:
            return maker(self, x, depth + 1)
        for base in _BASES:
            if base in kind.__mro__ and not _is_enum(kind, base):
                return _reduced(self, x, base, depth)
        return _numpy(self, x, depth) if kind.__module__ == "numpy" else self.export(x)

    def items(self, values: Any, depth: int) -> list:
        values = list(values)
        if len(values) > 8 and set(map(type, values)) <= {str, float, bool}:
            return values
        return [self.encode(v, depth) for v in values]

    def numbered(self, tag: str, x: Any, content: Callable[[], list]) -> list:
        """A container: in full where it is met first, a reference after that."""
        number = self.known.get(id(x))
        if number is None:
            number = self.known[id(x)] = self.next
            self.next += 1
            self.kept.append(x)  # keeps the identity from being used again while this message lives
        if number in self.told:
            return ["r", number]
        self.told.add(number)
        return [tag, number, *content()]


def _is_enum(kind: type, base: type) -> bool:
    return type(kind).__name__ in ("EnumMeta", "EnumType") and base is tuple


def _pairs(encoder: Encoder, x: Any, depth: int) -> list:
    return [[encoder.encode(k, depth), encoder.encode(v, depth)] for k, v in x]


_MAKERS: dict[type, Callable[[Encoder, Any, int], Any]] = {
    list: lambda e, x, d: e.numbered("l", x, lambda: [e.items(x, d)]),
    set: lambda e, x, d: e.numbered("s", x, lambda: [e.items(x, d)]),
    dict: lambda e, x, d: e.numbered("d", x, lambda: [_pairs(e, x.items(), d)]),
    OrderedDict: lambda e, x, d: e.numbered("d", x, lambda: [_pairs(e, x.items(), d)]),
    bytearray: lambda e, x, d: e.numbered("ba", x, lambda: [x.decode("latin-1")]),
    deque: lambda e, x, d: e.numbered("q", x, lambda: [e.items(x, d), x.maxlen]),
    tuple: lambda e, x, d: ["t", e.items(x, d)],
    frozenset: lambda e, x, d: ["fs", e.items(x, d)],
    bytes: lambda e, x, d: ["b", x.decode("latin-1")],
    complex: lambda e, x, d: ["c", x.real, x.imag],
    range: lambda e, x, d: ["R", e.encode(x.start), e.encode(x.stop), e.encode(x.step)],
    slice: lambda e, x, d: ["sl", e.encode(x.start), e.encode(x.stop), e.encode(x.step)],
    Decimal: lambda e, x, d: ["D", str(x)],
    Fraction: lambda e, x, d: ["F", e.encode(x.numerator), e.encode(x.denominator)],
    datetime.date: lambda e, x, d: ["dt", "date", [x.year, x.month, x.day]],
    datetime.time: lambda e, x, d: ["dt", "time", [x.hour, x.minute, x.second, x.microsecond]] if x.tzinfo is None else e.export(x),
    datetime.timedelta: lambda e, x, d: ["dt", "timedelta", [x.days, x.seconds, x.microseconds]],
    datetime.datetime: lambda e, x, d: (
        ["dt", "datetime", [x.year, x.month, x.day, x.hour, x.minute, x.second, x.microsecond]] if x.tzinfo is None else e.export(x)
    ),
    type(Ellipsis): lambda e, x, d: ["e"],
    type(NotImplemented): lambda e, x, d: ["ni"],
    type: lambda e, x, d: ["ty", x.__name__] if _TYPES.get(x.__name__) is x else e.export(x),
}


def _reduced(encoder: Encoder, x: Any, base: type, depth: int) -> Any:
    """The base value under a subclass, read past any method that the subclass overrides."""
    fields = type(x).__dict__.get("_fields") if base is tuple else None
    if type(fields) is tuple and all(type(f) is str and f.isidentifier() for f in fields):
        return ["nt", str(type(x).__name__), list(fields), encoder.items(tuple.__iter__(x), depth + 1)]
    if base in (list, set, deque):
        tag, rest = {list: ("l", []), set: ("s", []), deque: ("q", [None])}[base]
        return encoder.numbered(tag, x, lambda: [encoder.items(base.__iter__(x), depth + 1), *rest])
    if base is dict:
        pairs = OrderedDict.items(x) if OrderedDict in type(x).__mro__ else dict.items(x)
        return encoder.numbered("d", x, lambda: [_pairs(encoder, pairs, depth + 1)])
    plain = {
        int: lambda: int.__add__(x, 0), float: lambda: float.__mul__(x, 1.0), str: lambda: str.__str__(x),
        complex: lambda: complex.__mul__(x, 1), bytes: lambda: bytes.__getitem__(x, slice(None)),
        bytearray: lambda: bytearray.__getitem__(x, slice(None)),
        tuple: lambda: tuple([*tuple.__iter__(x)]), frozenset: lambda: frozenset([*frozenset.__iter__(x)]),
    }[base]()  # fmt: skip
    return encoder.encode(plain, depth + 1)


def _numpy(encoder: Encoder, x: Any, depth: int) -> Any:
    """NumPy scalars as numbers, arrays as an array of the same type: plain data, as good as a list."""
    try:
        if hasattr(x, "tolist") and hasattr(x, "dtype"):
            values = x.tolist()
            if not hasattr(x, "shape") or x.shape == ():
                return encoder.encode(values, depth + 1)
            return ["np", str(x.dtype), encoder.encode(values, depth + 1)]
    except Exception:
        return encoder.export(x)
    return encoder.export(x)


class Decoder:
    """Builds values out of one message. ``table`` maps container numbers to objects that are already here."""

    def __init__(self, resolve: Callable[[list], Any], table: dict[int, Any] | None = None):
        self.resolve, self.table = resolve, dict(table or {})

    def decode(self, node: Any) -> Any:
        if type(node) in _SCALARS:
            return node
        if type(node) is not list or not node or type(node[0]) is not str:
            raise ProtocolError("not a value")
        builder = _BUILDERS.get(node[0])
        return builder(self, *node[1:]) if builder is not None else self.resolve(node)

    def all(self, nodes: list) -> list:
        return [self.decode(n) for n in nodes]

    def place(self, number: int, empty: Any, fill: Callable[[Any], None]) -> Any:
        """Make a container, or change the one that is here, and register it before its contents are decoded."""
        here = self.table.setdefault(number, empty)
        fill(here)
        return here

    def _list(self, number: int, nodes: list) -> list:
        def fill(target: Any) -> None:
            target[:] = self.all(nodes)

        return self.place(number, [], fill)

    def _dict(self, number: int, pairs: list) -> dict:
        def fill(target: Any) -> None:
            new = [(self.decode(k), self.decode(v)) for k, v in pairs]
            target.clear()
            target.update(new)

        return self.place(number, {}, fill)

    def _refill(self, number: int, empty: Any, nodes: list, add: str) -> Any:
        def fill(target: Any) -> None:
            new = self.all(nodes)
            target.clear()
            getattr(target, add)(new)

        return self.place(number, empty, fill)

    def _bytearray(self, number: int, text: str) -> bytearray:
        def fill(target: Any) -> None:
            target[:] = text.encode("latin-1")

        return self.place(number, bytearray(), fill)

    def _named(self, name: str, fields: list, nodes: list) -> Any:
        from collections import namedtuple

        return namedtuple(name, fields, rename=True)(*self.all(nodes))

    def _array(self, dtype: str, node: Any) -> Any:
        values = self.decode(node)
        try:
            import numpy
        except ImportError:
            return values
        return numpy.array(values, dtype=dtype if dtype.isalnum() and dtype != "object" else None)


_DATES = {"date": datetime.date, "time": datetime.time, "datetime": datetime.datetime, "timedelta": datetime.timedelta}
_BUILDERS: dict[str, Callable[..., Any]] = {
    "l": Decoder._list,
    "d": Decoder._dict,
    "s": lambda d, n, nodes: d._refill(n, set(), nodes, "update"),
    "q": lambda d, n, nodes, maxlen: d._refill(n, deque(maxlen=maxlen), nodes, "extend"),
    "ba": Decoder._bytearray,
    "nt": Decoder._named,
    "np": Decoder._array,
    "t": lambda d, nodes: tuple(d.all(nodes)),
    "fs": lambda d, nodes: frozenset(d.all(nodes)),
    "b": lambda d, text: text.encode("latin-1"),
    "c": lambda d, real, imag: complex(real, imag),
    "i": lambda d, text: int(text, 16),
    "R": lambda d, a, b, c: range(d.decode(a), d.decode(b), d.decode(c)),
    "sl": lambda d, a, b, c: slice(d.decode(a), d.decode(b), d.decode(c)),
    "D": lambda d, text: Decimal(text),
    "F": lambda d, a, b: Fraction(d.decode(a), d.decode(b)),
    "dt": lambda d, kind, fields: _DATES[kind](*fields),
    "e": lambda d: ...,
    "ni": lambda d: NotImplemented,
    "ty": lambda d, name: _TYPES[name],
    "r": lambda d, number: d.table[number],
}
