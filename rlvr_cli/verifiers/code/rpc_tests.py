"""The tests' end, the one that is trusted: it holds the expected values and says which assertions held.

It runs in a sandbox of its own and sees of the solution only plain data and handles. A handle equals no plain value and is
never smaller or larger than one, so an object that answers yes to everything fails. Report lines::

    {"plan": 3}  {"i": 0, "ok": true}  {"i": 1, "ok": false, "why": "line 2: assert f(2) == 4"}  {"end": true}
    {"broken": "the tests do not parse: ..."}      the task's fault, no verdict
"""

from __future__ import annotations

import ast
import builtins
import json
import operator
import os
import sys
import types
from typing import Any

from rlvr_cli.verifiers.code import plan, rewrite, rpc

_MODULES = frozenset(
    [
        "math", "cmath", "re", "string", "random", "itertools", "functools", "collections", "heapq", "bisect", "json", "copy",
        "operator", "typing", "datetime", "decimal", "fractions", "statistics", "time",
    ]
)  # fmt: skip
_HIDDEN = ("_", "gi_", "cr_", "ag_", "f_", "tb_", "co_", "func_")
_TEST_OBJECT_OPERATIONS = frozenset([
    "call", "getattr", "setattr", "iter", "next", "len", "bool", "getitem", "setitem", "contains", "repr", "str", "eq", "lt", "le",
    "gt", "ge", "isinstance",
])  # fmt: skip


_CARRIED = (
    types.FunctionType, types.MethodType, types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType,
    types.ClassMethodDescriptorType, operator.itemgetter, operator.attrgetter, operator.methodcaller, types.GeneratorType,
    type(iter([])), map, filter, zip,
)  # fmt: skip


class TestsPeer(rpc.Peer):
    """Exports only functions and instances of the tests' own classes, and lets nothing private be read through them."""

    def __init__(self, wire: rpc.Wire, entry_point: str | None):
        super().__init__(wire)
        self.wants_class = bool(entry_point) and entry_point.lstrip("_")[:1].isupper()
        self.errors: dict[str, type] = {}
        self.trusted_equality = 0

    def may_compare(self, other: Any) -> bool:
        """Both sides of a comparison must be the solution's own objects; the use is counted, for such an answer can be forged."""
        if type(other) is rpc.Remote:
            self.trusted_equality += 1
            return True
        return False

    def may_answer_yes(self) -> bool:
        return self.wants_class

    def perform(self, name: str, args: list, kwargs: dict) -> Any:
        if name not in _TEST_OBJECT_OPERATIONS or not args:
            raise TypeError(f"{name} is not offered")
        if name in ("getattr", "setattr") and (type(args[1]) is not str or args[1].startswith(_HIDDEN)):
            raise AttributeError(f"no attribute {args[1]!r}")
        return super().perform(name, args, kwargs)

    def describe(self, x: Any) -> tuple[str, str]:
        if isinstance(x, _CARRIED):
            return ("iterator" if hasattr(x, "__next__") else "object"), type(x).__name__
        kind = x if isinstance(x, type) else type(x)
        if kind.__module__ in ("tests", "types", "functools", "_io"):
            measured = any("__bool__" in k.__dict__ or "__len__" in k.__dict__ for k in type(x).__mro__)
            return ("measured" if measured else "iterator" if hasattr(type(x), "__next__") else "object"), kind.__name__
        raise rpc.NotCarried(f"the tests hand a {kind.__name__} to the solution, which cannot cross the wall")

    def adopt(self, number: int, kind: str, name: str) -> Any:
        if kind.startswith("error:"):
            return self.error_class(kind[6:].split(","))
        remote = super().adopt(number, kind, name)
        return _coroutine(remote) if kind == "coroutine" else remote

    def error_class(self, names: list[str]) -> type:
        """A local class for an exception that the solution defines, so that tests can catch it."""
        if names[0] not in self.errors and not rpc._is_error(names[0]):
            base = self.error_class(names[1:]) if len(names) > 1 else Exception
            self.errors[names[0]] = type(names[0], (base,), {"__module__": "solution"})
        return self.errors.get(names[0]) or vars(builtins)[names[0]]

    def request(self, name: str, args: tuple, kwargs: dict) -> Any:
        """StopIteration out of a plain call would end ``all(map(f, xs))`` early, and so pass it."""
        listening = sys.stdout is not sys.__stdout__
        if listening:  # what was printed before nobody asked for
            super().request("printed", (), {})
        try:
            return super().request(name, args, kwargs)
        except StopIteration as stop:
            if name == "call" and args[0]._rlvr[3] == "function":
                raise RuntimeError("the solution raised StopIteration") from stop
            raise
        finally:
            if listening:
                sys.stdout.write(super().request("printed", (), {}))

    def failure(self, names: list, args: list) -> BaseException:
        if names and names[0] in self.errors:
            return self.errors[names[0]](*args)
        return super().failure(names, args)


def _coroutine(remote: rpc.Remote) -> Any:
    async def run() -> Any:
        return await remote

    return run()


class Reporter:
    """Writes one line per finished check, at once: a later hang must not take the earlier credit."""

    def __init__(self, fd: int):
        self.fd = fd

    def __call__(self, **line: Any) -> None:
        data = json.dumps(line).encode() + b"\n"
        while data:
            data = data[os.write(self.fd, data) :]


def run(spec: dict, report_fd: int, peer_fd: int) -> None:
    """Run the tests of ``spec`` ({"tests": source, "entry_point": name}) and report."""
    rpc.unlimited_integers()
    say = Reporter(report_fd)
    source, entry_point = spec["tests"], spec.get("entry_point")
    fault = plan.fault(source, entry_point)
    if fault:
        return say(broken=fault)
    tree = ast.parse(source)
    peer = TestsPeer(rpc.Wire(peer_fd), entry_point)
    scope = _scope()
    try:
        _import_solution(peer, scope, tree, entry_point)
    except rpc.PeerGone as error:
        return say(dead=f"the solution ended while loading: {error}")
    except BaseException as error:
        return say(dead=f"the solution does not load: {_short(error)}")
    checks = plan.checks(tree, entry_point)
    shown = [node for node, _ in checks]
    runnable = rewrite.rewritten(ast.Module(shown, [])).body if rewrite.worth_it(source) else shown
    _run_checks([(new, old, counts) for new, (old, counts) in zip(runnable, checks, strict=True)], scope, peer, say)


def _scope() -> dict[str, Any]:
    module = types.ModuleType("tests")
    sys.modules["tests"] = module
    module.__dict__.update({"__builtins__": builtins, rewrite.TYPE: _type, rewrite.SUPER: _super, rewrite.ATTRIBUTE: _attribute})
    return module.__dict__


def _type(function: Any, x: Any) -> Any:
    """``type(x)``, of a solution's object the solution's class."""
    return rpc._do(x, "type", x) if function is type and type(x) is rpc.Remote else function(x)


def _super(kind: Any, x: Any) -> Any:
    """``super()`` in a method of a class that may live on the other side."""
    return rpc.RemoteSuper(rpc._do(kind, "super", kind, x)) if type(kind) is rpc.Remote else super(kind, x)


def _attribute(x: Any, name: str) -> Any:
    """A special attribute of what the object is, not of the handle for it."""
    return rpc._do(x, "getattr", x, name) if type(x) is rpc.Remote else getattr(x, name)


def _import_solution(peer: TestsPeer, scope: dict[str, Any], tree: ast.Module, entry_point: str | None) -> None:
    """Bring in those names of the solution that the tests use. A name of Python's own is never taken, except the entry point."""
    used = plan.names_used(tree)
    wanted = sorted(name for name in used if name not in vars(builtins)) + ([entry_point] if entry_point else [])
    for pair in peer.request("globals", (wanted,), {}):
        name, value = pair
        if type(value) is dict and set(value) == {"module"}:
            value = __import__(value["module"]) if value["module"] in _MODULES else None
        if name in wanted and value is not None:
            scope[name] = value
    solution = types.ModuleType("solution")
    solution.__dict__.update({k: v for k, v in scope.items() if not k.startswith("__")})
    for name in ("solution", "main", "submission"):
        sys.modules.setdefault(name, solution)


def _run_unittest(scope: dict[str, Any]) -> None:
    """Run every TestCase of the tests; raises when one fails."""
    import unittest

    suite = unittest.TestSuite()
    for value in list(scope.values()):
        if isinstance(value, type) and issubclass(value, unittest.TestCase):
            suite.addTests(unittest.defaultTestLoader.loadTestsFromTestCase(value))
    result = unittest.TestResult()
    suite.run(result)
    if not result.testsRun or not result.wasSuccessful():
        failed = [*result.failures, *result.errors]
        raise AssertionError(failed[0][1].strip().splitlines()[-1] if failed else "no test ran")


def _run_checks(checks: list[tuple[ast.stmt, ast.stmt, bool]], scope: dict[str, Any], peer: TestsPeer, say: Reporter) -> None:
    """Execute statement by statement: (as it runs, as it was written, whether it counts). A failing one costs only itself; a dead
    solution ends it all."""
    scope[plan.UNITTEST] = _run_unittest
    counted = sum(counts for _, _, counts in checks)
    say(plan=counted or 1)
    all_well, done = "", 0
    for node, written, counts in checks:
        try:
            why = _one(node, written, scope)
        except rpc.PeerGone as error:
            return say(dead=str(error), trusted=peer.trusted_equality)
        except rpc.NotCarried as error:
            return say(broken=str(error))
        except ModuleNotFoundError as error:
            return say(broken=f"the tests need a module that the sandbox does not have: {error.name}")
        if counts:
            say(i=done, ok=not why, why=why)
            done += 1
        all_well = all_well or why
    if not counted:
        say(i=0, ok=not all_well, why=all_well)
    say(end=True, trusted=peer.trusted_equality)


def _one(node: ast.stmt, written: ast.stmt, scope: dict[str, Any]) -> str:
    """Run one statement; why it failed, or nothing."""
    code = compile(ast.Module([node], []), "tests", "exec")
    try:
        exec(code, scope)  # the tests' own code, in the tests' own sandbox
        return ""
    except (rpc.PeerGone, rpc.NotCarried):
        raise
    except ModuleNotFoundError as error:
        if isinstance(node, (ast.Import, ast.ImportFrom)) and error.__traceback__ is not None:
            raise
        return _short(error)
    except BaseException as error:
        plain = isinstance(node, ast.Assert) and isinstance(error, AssertionError)
        return _failed(written) if plain else f"line {getattr(node, 'lineno', 0)}: {_short(error)}"


def _failed(node: ast.stmt) -> str:
    return f"line {getattr(node, 'lineno', 0)}: {ast.unparse(node)[:160]}"


def _short(error: BaseException) -> str:
    return f"{type(error).__name__}: {str(error)[:160]}".rstrip(": ")
