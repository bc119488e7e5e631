"""Calls between two sandboxes over one socket; each side may call the other while it waits for an answer.

The same code runs on both sides. What is no plain data stays where it was born and travels as a handle; the other side
holds a :class:`Remote`, whose every use is a call back. A request and its answer::

    ["do", "call", [["own", 0], 3, 4], {}]     ->     ["ok", 7, []]
    ["do", "getattr", [["own", 5], "size"], {}] ->    ["err", ["AttributeError", ...], ["no size"], []]

The last field of an answer tells how the containers among the arguments look afterwards.
"""

from __future__ import annotations

import abc
import builtins
import io
import json
import operator
import socket
import struct
import sys
import types
from _thread import RLock
from collections.abc import Callable
from typing import Any

from rlvr_cli.verifiers.code.codec import Decoder, Encoder, ProtocolError

__builtins__ = dict(vars(builtins))  # see codec

LARGEST = 64 << 20
# straight to the C parts of json: its Python parts would use the builtins that a solution has patched
_encode = json.encoder.c_make_encoder(None, None, json.encoder.encode_basestring_ascii, None, ":", ",", False, False, True)
_scan = json.JSONDecoder().scan_once


class PeerGone(BaseException):
    """The other side has ended or sent nonsense: no ``except Exception`` of a test may swallow it."""


class NotCarried(BaseException):
    """The tests want something that cannot cross the wall: the task's fault, not the solution's."""


class Wire:
    """Length-prefixed JSON over a stream socket."""

    def __init__(self, fd: int):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, fileno=fd)
        self.file = io.BufferedReader(io.FileIO(fd, closefd=False))

    def send(self, message: list) -> None:
        data = "".join(_encode(message, 0)).encode()
        try:
            self.socket.sendall(struct.pack(">I", len(data)) + data)
        except OSError as error:
            raise PeerGone(f"the other side is gone: {error}") from None

    def receive(self) -> list:
        try:
            head = self.file.read(4)
            size = struct.unpack(">I", head)[0] if len(head) == 4 else 0
            data = self.file.read(size) if 0 < size <= LARGEST else b""
        except OSError as error:
            raise PeerGone(f"the other side is gone: {error}") from None
        if len(head) != 4 or len(data) != size:
            raise PeerGone("the other side has ended")
        try:
            message, _ = _scan(data.decode(), 0)
        except (ValueError, RecursionError, StopIteration) as error:
            raise PeerGone(f"the other side sent no message: {error}") from None
        if type(message) is not list or not message:
            raise PeerGone("the other side sent no message")
        return message


class Remote:
    """An object that lives on the other side. Uses no attribute names that a real object could have."""

    __slots__ = ("__weakref__", "_rlvr")

    def __init__(self, peer: Peer, number: int, kind: str, name: str):
        object.__setattr__(self, "_rlvr", (peer, number, kind, name))

    def __getattr__(self, name: str) -> Any:
        return _do(self, "getattr", self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        _do(self, "setattr", self, name, value)

    def __delattr__(self, name: str) -> None:
        _do(self, "delattr", self, name)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return _do(self, "call", self, *args, **kwargs)

    def __repr__(self) -> str:
        return str(_do(self, "repr", self))

    def __hash__(self) -> int:
        return int(_do(self, "hash", self))

    def __mro_entries__(self, bases: tuple) -> tuple:
        return (Derived,)

    def __bool__(self) -> bool:
        return self._rlvr[2] != "measured" or _do(self, "bool", self) is True

    def __eq__(self, other: Any) -> Any:
        if self is other:
            return True
        return _do(self, "eq", self, other) is True if self._rlvr[0].may_compare(other) else False

    def __ne__(self, other: Any) -> Any:
        return not self == other

    def __iter__(self) -> Any:
        if self._rlvr[2] == "iterator":
            return self
        found = _do(self, "iter", self)
        return found if type(found) is Remote else iter(found)

    def __contains__(self, item: Any) -> bool:
        if self._rlvr[0].may_answer_yes():
            return _do(self, "contains", self, item) is True
        return any(item is x or item == x for x in self)

    def __instancecheck__(self, instance: Any) -> bool:
        return type(instance) is Remote and _do(self, "isinstance", instance, self) is True

    def __subclasscheck__(self, cls: Any) -> bool:
        return type(cls) is Remote and _do(self, "issubclass", cls, self) is True

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> bool:
        """The exception crosses, its traceback stays: it is made of the tests' own frames."""
        return _do(self, "exit", self, error) is True

    def __aenter__(self) -> Any:
        raise NotCarried("the tests use async with or async for on the solution's objects, which cannot cross the wall")

    __aexit__ = __aiter__ = __aenter__

    def __await__(self) -> Any:
        yield from ()
        return _do(self, "await", self)


class RemoteSuper:
    """``super()`` of an instance on the other side: every name, special ones too, is looked up there."""

    __slots__ = ("_target",)

    def __init__(self, target: Remote):
        object.__setattr__(self, "_target", target)

    def __getattribute__(self, name: str) -> Any:
        target = object.__getattribute__(self, "_target")
        return _do(target, "getattr", target, name)


class _Derive(abc.ABCMeta):
    """Makes of a class statement with a remote base a class on the other side, whose methods are calls to the functions here."""

    def __new__(mcs, name: str, bases: tuple, body: dict, **keywords: Any) -> Any:
        if "__rlvr_base__" in body:
            return super().__new__(mcs, name, bases, body)
        if "__rlvr_decorated__" in body:
            raise NotCarried(f"the tests decorate {name}, a class derived from one of the solution's, which cannot cross the wall")
        originals = body.get("__orig_bases__", bases)
        if foreign := [b.__name__ for b in originals if type(b) is not Remote and b.__module__ != "builtins"]:
            raise NotCarried(f"the tests derive {name} from the solution's class and their own {foreign[0]}, which cannot cross the wall")
        base = next(b for b in originals if type(b) is Remote)
        members = [[key, *_member(value)] for key, value in body.items() if key not in _LEFT_HERE]
        return _do(base, "derive", name, list(originals), members, keywords)


class Derived(metaclass=_Derive):
    """Stands for the solution's class among the bases of a class statement of the tests."""

    __rlvr_base__ = True


_LEFT_HERE = ("__orig_bases__", "__module__", "__qualname__", "__annotations__", "__classcell__", "__firstlineno__",
              "__static_attributes__")  # fmt: skip
_WRAPPERS: dict[type, Callable[[Any], list]] = {
    staticmethod: lambda x: [x.__func__],
    classmethod: lambda x: [x.__func__],
    property: lambda x: [x.fget, x.fset, x.fdel],
}


def _member(value: Any) -> tuple[str, list]:
    """(kind, parts) of a class attribute: functions travel as handles, the rest as plain data."""
    kind = type(value)
    if kind in _WRAPPERS:
        return kind.__name__, _WRAPPERS[kind](value)
    return ("function" if hasattr(value, "__code__") else "value"), [value]


def _derive(name: str, bases: list, members: list, keywords: dict) -> type:
    """The solution's side of :class:`Derived`."""
    body = {key: _rebuilt(kind, key, parts) for key, kind, parts in members}
    return types.new_class(name, tuple(bases), keywords, lambda namespace: namespace.update(body))


def _rebuilt(kind: str, name: str, parts: list) -> Any:
    makers = {"staticmethod": staticmethod, "classmethod": classmethod, "property": property}
    if kind == "value":
        return parts[0]
    functions = [part and _method(name, part) for part in parts]
    return makers[kind](*functions) if kind in makers else functions[0]


def _method(name: str, handle: Any) -> Callable[..., Any]:
    """A real function, so that it binds to instances."""

    def method(*args: Any, **kwargs: Any) -> Any:
        return handle(*args, **kwargs)

    method.__name__ = method.__qualname__ = name
    return method


def _do(target: Remote, name: str, /, *args: Any, **kwargs: Any) -> Any:
    return object.__getattribute__(target, "_rlvr")[0].request(name, args, kwargs)


def _forward(name: str) -> Callable[..., Any]:
    def method(self: Remote, *args: Any) -> Any:
        return _do(self, name, self, *args)

    return method


def _reflected(name: str) -> Callable[..., Any]:
    def method(self: Remote, other: Any) -> Any:
        return _do(self, name, other, self)

    return method


def _ordered(name: str) -> Callable[..., Any]:
    def method(self: Remote, other: Any) -> Any:
        return _do(self, name, self, other) is True if self._rlvr[0].may_compare(other) else NotImplemented

    return method


_BINARY = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor", "lshift", "rshift"]
_PLAIN = [
    "getitem", "setitem", "delitem", "len", "next", "neg", "pos", "abs", "invert", "int", "float", "index", "complex", "str",
    "format", "round", "reversed", "enter",
]  # fmt: skip
for _name in _BINARY:
    setattr(Remote, f"__{_name}__", _forward(_name))
    setattr(Remote, f"__r{_name}__", _reflected(_name))
    setattr(Remote, f"__i{_name}__", _forward(f"i{_name}"))
for _name in _PLAIN:
    setattr(Remote, f"__{_name}__", _forward(_name))
for _name in ("lt", "le", "gt", "ge"):
    setattr(Remote, f"__{_name}__", _ordered(_name))


def _await(coroutine: Any) -> Any:
    import asyncio

    async def waiter() -> Any:
        return await coroutine

    return asyncio.run(waiter())


def _call(function: Any, /, *args: Any, **kwargs: Any) -> Any:
    return function(*args, **kwargs)


_UNARY = ("getitem", "setitem", "delitem", "contains", "neg", "pos", "abs", "invert", "index", "eq", "lt", "le", "gt", "ge")
OPERATIONS: dict[str, Callable[..., Any]] = {
    "call": _call, "getattr": getattr, "setattr": setattr, "delattr": delattr, "iter": iter, "next": next, "len": len, "bool": bool,
    "hash": hash,
    "repr": repr, "str": str, "format": format, "int": int, "float": float, "complex": complex, "round": round, "reversed": reversed,
    "isinstance": isinstance, "issubclass": issubclass, "await": _await, "divmod": divmod,
    "type": type, "super": super, "derive": _derive,
    "enter": lambda x: type(x).__enter__(x),
    "exit": lambda x, error: type(x).__exit__(x, None if error is None else type(error), error, None),
    **{name: getattr(operator, f"__{name}__") for name in _UNARY},
    **{name: getattr(operator, f"__{name}__") for name in _BINARY},
    **{f"i{name}": getattr(operator, f"__i{name}__") for name in _BINARY},
}  # fmt: skip


class Peer:
    """One end. Subclasses say what may be exported and which operations may be asked for."""

    def __init__(self, wire: Wire):
        self.wire, self.lock = wire, RLock()
        self.exports: list[Any] = []
        self.export_numbers: dict[int, int] = {}
        self.remotes: dict[int, Remote] = {}
        self.calls = 0

    # what a side may do; the tests' side is stricter
    def may_compare(self, other: Any) -> bool:
        return True

    def may_answer_yes(self) -> bool:
        return True

    def perform(self, name: str, args: list, kwargs: dict) -> Any:
        return OPERATIONS[name](*args, **kwargs)

    def describe(self, x: Any) -> tuple[str, str]:
        raise ProtocolError(f"cannot pass a {type(x).__name__}")

    def failure(self, names: list, args: list) -> BaseException:
        kind = next((vars(builtins)[n] for n in names if type(n) is str and _is_error(n)), Exception)
        try:
            return kind(*args)
        except Exception:  # UnicodeDecodeError and friends want more
            return Exception(*args)

    def export(self, x: Any) -> list:
        """A handle; the same object always gets the same number."""
        if type(x) is Remote and x._rlvr[0] is self:
            return ["own", x._rlvr[1]]
        if isinstance(x, BaseException) and _is_plain([*x.args, *vars(x).values()]):
            return ["x", _lineage(x), list(x.args), vars(x)]
        kind, name = self.describe(x)
        number = self.export_numbers.get(id(x))
        if number is None:
            number = self.export_numbers[id(x)] = len(self.exports)
            self.exports.append(x)
        return ["h", number, kind, name]

    def resolve(self, node: list) -> Any:
        if node[0] == "own" and type(node[1]) is int and 0 <= node[1] < len(self.exports):
            return self.exports[node[1]]
        if node[0] == "h" and len(node) == 4 and type(node[1]) is int:
            return self.adopt(node[1], str(node[2]), str(node[3]))
        if node[0] == "x" and len(node) == 4 and type(node[2]) is list and type(node[3]) is dict:
            return self.error(*node[1:])
        raise ProtocolError(f"unknown value {node[0]!r}")

    def error(self, names: list, args: list, attributes: dict) -> BaseException:
        """An exception with its attributes, of a class of this side."""
        error = self.failure(names, args)
        error.__dict__.update({k: v for k, v in attributes.items() if not k.startswith("_")})
        return error

    def adopt(self, number: int, kind: str, name: str) -> Any:
        if number not in self.remotes:
            self.remotes[number] = Remote(self, number, kind, name)
        return self.remotes[number]

    def request(self, name: str, args: tuple, kwargs: dict) -> Any:
        """Ask the other side, serving its own questions until the answer is here."""
        with self.lock:
            self.calls += 1
            encoder = Encoder(self.export)
            nodes, named = [encoder.encode(a) for a in args], {k: encoder.encode(v) for k, v in kwargs.items()}
            self.wire.send(["do", name, nodes, named])
            table = {encoder.known[id(x)]: x for x in encoder.kept}
            while True:
                message = self.wire.receive()
                if message[0] != "do":
                    return self._take(message, table)
                self.answer(message)

    def _take(self, message: list, table: dict[int, Any]) -> Any:
        """Apply the changes to our own containers, then return the value or raise the error."""
        try:
            decoder = Decoder(self.resolve, table)
            status, value, after = (message[0], message[-2], message[-1])
            decoder.all(after)
            if status == "ok":
                return decoder.decode(value)
            error = self.error(message[1], decoder.all(value), decoder.decode(message[2]))
        except (ProtocolError, LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as nonsense:
            raise PeerGone(f"the other side broke the protocol: {nonsense}") from None
        raise error

    def answer(self, message: list) -> None:
        """Do what the other side asks."""
        try:
            decoder = Decoder(self.resolve)
            _, name, nodes, named = message
            args, kwargs = decoder.all(nodes), {k: decoder.decode(v) for k, v in named.items()}
        except (ProtocolError, LookupError, TypeError, ValueError, AttributeError) as nonsense:
            raise PeerGone(f"the other side broke the protocol: {nonsense}") from None
        known = {id(x): number for number, x in decoder.table.items()}
        try:
            result = ["ok", self.perform(name, args, kwargs)]
        except (PeerGone, NotCarried):
            raise
        except BaseException as error:
            result = ["err", _lineage(error), dict(getattr(error, "__dict__", {})), list(getattr(error, "args", ()))]
        self.wire.send(self._reply(result, known, decoder.table))

    def _reply(self, result: list, known: dict[int, int], table: dict[int, Any]) -> list:
        encoder = Encoder(self.export, known)
        try:
            after = [node for node in (encoder.encode(x) for x in table.values()) if node[0] != "r"]
            if result[0] == "ok":
                return ["ok", encoder.encode(result[1]), after]
            return ["err", result[1], encoder.encode(result[2]), [encoder.encode(a) for a in result[3]], after]
        except Exception as error:
            return ["err", _lineage(error), ["d", 0, []], [f"{error}"], []]


def _is_plain(values: list) -> bool:
    return all(type(value) in (type(None), bool, int, float, str) for value in values)


def _is_error(name: str) -> bool:
    found = vars(builtins).get(name)
    return isinstance(found, type) and issubclass(found, BaseException)


def _lineage(error: BaseException) -> list[str]:
    return [kind.__name__ for kind in type(error).__mro__]


def unlimited_integers() -> None:
    """Numbers of any length may be printed and read; the frame size bounds them."""
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(0)
