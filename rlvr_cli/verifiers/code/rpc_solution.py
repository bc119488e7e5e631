"""The solution's end: load the program as a module, then do what the tests ask until they hang up.

Nothing here is trusted, it shares a process with model code; whatever it answers, it can only say what a solution could
have returned. Tests that read what a function prints get the text through ``printed``.
"""

from __future__ import annotations

import builtins
import io
import os
import sys
import types
from typing import Any

from rlvr_cli.verifiers.code import rpc

__builtins__ = dict(vars(builtins))  # see codec


class SolutionPeer(rpc.Peer):
    """Exports anything, answers anything."""

    def __init__(self, wire: rpc.Wire, scope: dict[str, Any], failure: BaseException | None, tape: Tape):
        super().__init__(wire)
        self.scope, self.broken, self.tape = scope, failure, tape

    def perform(self, name: str, args: list, kwargs: dict) -> Any:
        if name == "globals":
            if self.broken is not None:
                raise self.broken
            return [[n, _module_name(self.scope[n]) or self.scope[n]] for n in args[0] if n in self.scope]
        if name == "printed":
            return self.tape.take().decode("utf-8", "replace")
        return super().perform(name, args, kwargs)

    def describe(self, x: Any) -> tuple[str, str]:
        kind = type(x)
        if isinstance(x, type):
            return ("error:" + ",".join(k.__name__ for k in x.__mro__) if issubclass(x, BaseException) else "class"), x.__name__
        if isinstance(x, types.CoroutineType):
            return "coroutine", kind.__name__
        if hasattr(kind, "__next__"):
            return "iterator", kind.__name__
        measured = any("__bool__" in k.__dict__ or "__len__" in k.__dict__ for k in kind.__mro__)
        return ("measured" if measured else "object"), kind.__name__

    def failure(self, names: list, args: list) -> BaseException:
        """An exception that the tests raised, of the solution's own class where it has one of that name."""
        kind = self.scope.get(names[0]) if names and type(names[0]) is str else None
        if not (isinstance(kind, type) and issubclass(kind, BaseException)):
            return super().failure(names, args)
        try:
            return kind(*args)
        except Exception:  # its __init__ wants other arguments than it keeps
            error = kind.__new__(kind)
            error.args = tuple(args)
            return error


class _Module(dict):
    """Marks a module among the globals."""


def _module_name(x: Any) -> Any:
    return {"module": x.__name__} if isinstance(x, types.ModuleType) else None


class Tape(io.BytesIO):
    """Standard output of a solution under assert tests: kept for tests that read it, up to a megabyte."""

    def write(self, data: Any) -> int:
        if self.tell() > _TAPE:
            self.take()
        return super().write(data)

    def take(self) -> bytes:
        text = self.getvalue()
        self.seek(0)
        self.truncate()
        return text

    def fileno(self) -> int:
        return 1


_TAPE = 1 << 20


def serve(code: types.CodeType, fd: int, file: str) -> None:
    """Run the module body, then answer."""
    rpc.unlimited_integers()
    wire = rpc.Wire(fd)
    module = types.ModuleType("solution")
    module.__file__ = os.path.abspath(file)
    module.__dict__["__builtins__"] = builtins
    sys.modules["solution"] = module
    scope = module.__dict__
    failure = None
    tape = Tape()
    sys.stdout = sys.__stdout__ = io.TextIOWrapper(tape, encoding="utf-8", write_through=True)
    try:
        exec(code, scope)  # the walls are the sandbox's
    except BaseException as error:
        failure = error
    peer = SolutionPeer(wire, scope, failure, tape)
    try:
        while True:
            peer.answer(wire.receive())
    except rpc.PeerGone:
        os._exit(0)
