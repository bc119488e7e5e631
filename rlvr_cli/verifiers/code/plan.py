"""Read test code without running it: what is run, what counts, and whether it can fail at all.

A top-level assert is a check of its own; test code without one is a single check. What the tests define but never run is run
for them, because nothing would be tested otherwise::

    def check(candidate): assert candidate(2) == 4      ->   ... check(f)
    def test_f(): assert f(2) == 4                      ->   ... test_f()
    class T(unittest.TestCase): ...                     ->   ... every test of T
"""

from __future__ import annotations

import ast
import builtins

UNITTEST = "__rlvr_unittest__"
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_SOLUTION_MODULES = frozenset({"solution", "main", "submission"})


def fault(source: str, entry_point: str | None) -> str | None:
    """Why these tests can not judge anything, or None."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return f"the tests do not parse: {error}"
    if not _can_fail(tree):
        return "the tests check nothing"
    if not _uses_solution(tree, entry_point):
        return "the tests never use the solution"
    return None


def checks(tree: ast.Module, entry_point: str | None) -> list[tuple[ast.stmt, bool]]:
    """Statements in order, each with whether it counts."""
    body = [node for node in tree.body if not _is_runner(node)]
    if not any(isinstance(node, ast.Assert) for node in body):
        body += _calls_that_lack(tree, entry_point)
    return [(node, isinstance(node, ast.Assert)) for node in body]


def names_used(tree: ast.AST) -> set[str]:
    """Every name that is read or written anywhere."""
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _can_fail(tree: ast.Module) -> bool:
    """False for tests that are nothing but imports, constants and definitions that nobody calls."""
    return any(isinstance(node, (ast.Assert, ast.Call, ast.Raise)) for node in ast.walk(tree))


def _uses_solution(tree: ast.Module, entry_point: str | None) -> bool:
    """True when some name can only come from the solution. Coarse: it is there for tests that compare constants."""
    bound: set[str] = set()
    for node in tree.body:
        if isinstance(node, _DEFINITIONS):
            bound.add(node.name)
        elif isinstance(node, ast.ImportFrom) and node.module in _SOLUTION_MODULES:
            return True
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            bound |= {(a.asname or a.name).split(".")[0] for a in node.names}
        else:
            bound |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    functions = {node.name for node in tree.body if isinstance(node, _DEFINITIONS)}
    if entry_point and "check" in functions:
        return True
    return bool(names_used(tree) - bound - set(vars(builtins))) or entry_point in names_used(tree)


def _is_runner(node: ast.stmt) -> bool:
    """``unittest.main()``: it looks for tests in another module and then exits; the tests are run without it."""
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "main"


def _calls_that_lack(tree: ast.Module, entry_point: str | None) -> list[ast.stmt]:
    """Calls of what is defined and not run."""
    running = [node for node in tree.body if not isinstance(node, _DEFINITIONS)]
    called = {getattr(n.func, "id", "") for node in running for n in ast.walk(node) if isinstance(n, ast.Call)}
    functions = {node.name: node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}
    if "check" in functions and entry_point and "check" not in called:
        return ast.parse(f"check({entry_point})").body
    lacking = []
    for name, node in functions.items():
        if name.startswith("test") and name not in called and not node.args.args:
            lacking.append(f"__import__('asyncio').run({name}())" if isinstance(node, ast.AsyncFunctionDef) else f"{name}()")
    if any("TestCase" in ast.unparse(base) for node in tree.body if isinstance(node, ast.ClassDef) for base in node.bases):
        lacking.append(f"{UNITTEST}(globals())")
    return ast.parse("\n".join(lacking)).body
