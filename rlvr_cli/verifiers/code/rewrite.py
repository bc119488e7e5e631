"""Test code, changed where Python asks an object's own type and so would never ask the solution's side.

``type(x)``, ``x.__class__`` and other special names, and ``super()`` inside a class that tests derive from one of the solution's
(there is no such class on this side, see :mod:`rpc_tests`). Everything else stays as written::

    type(s) is Stack                              ->   __rlvr_type__(type, s) is Stack
    class Loud(Dog):                                   class Loud(Dog):
        def speak(self): return super().speak()   ->       def speak(self): return __rlvr_super__(Loud, self).speak()
"""

from __future__ import annotations

import ast
import builtins
import copy

TYPE, SUPER, ATTRIBUTE, DECORATED = "__rlvr_type__", "__rlvr_super__", "__rlvr_attribute__", "__rlvr_decorated__"
SOLUTION_MODULES = frozenset({"solution", "main", "submission"})
# Names that a proxy of ours or every object has, so that looking them up would not reach the solution.
_SPECIAL = frozenset(dir(object)) | {f"__{name}__" for name in (
    "len", "call", "iter", "next", "getitem", "setitem", "delitem", "contains", "enter", "exit", "bool", "int", "float", "add", "radd",
    "sub", "mul", "truediv", "neg", "lt", "le", "gt", "ge", "module", "slots", "getattr",
)}  # fmt: skip
_HINTS = ("type", "super", "__")


def rewritten(tree: ast.Module) -> ast.Module:
    """A copy of the tests to run; the tree itself still shows what a person wrote."""
    return ast.fix_missing_locations(_Rewriter(_known_names(tree)).visit(copy.deepcopy(tree)))


def worth_it(source: str) -> bool:
    """Whether there may be anything to change."""
    return any(hint in source for hint in _HINTS) or "class " in source


def _known_names(tree: ast.Module) -> set[str]:
    """Names that can not be the solution's: Python's own, and what the tests import from elsewhere."""
    known = set(vars(builtins))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import) or (isinstance(node, ast.ImportFrom) and node.module not in SOLUTION_MODULES):
            known |= {(alias.asname or alias.name).split(".")[0] for alias in node.names if alias.name not in SOLUTION_MODULES}
    return known


class _Rewriter(ast.NodeTransformer):
    def __init__(self, known: set[str]):
        self.known = known
        self.classes: list[str | None] = []  # around the current node; None where super() can stay as it is
        self.firsts: list[str | None] = []  # first parameter of the methods around it

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        remote = any(self._may_be_remote(base) for base in node.bases)
        if not remote:
            self.known.add(node.name)
        self.classes.append(node.name if remote else None)
        node.body = [self._member(child) for child in node.body]
        self.classes.pop()
        if remote and node.decorator_list:
            node.body.insert(0, ast.parse(f"{DECORATED} = True").body[0])
        return node

    def _may_be_remote(self, base: ast.expr) -> bool:
        if isinstance(base, ast.Attribute):
            return isinstance(base.value, ast.Name) and base.value.id in SOLUTION_MODULES
        return isinstance(base, ast.Name) and base.id not in self.known

    def _member(self, node: ast.stmt) -> ast.stmt:
        """A method knows its first parameter; what is nested in it is the method's."""
        is_method = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        first = (node.args.posonlyargs + node.args.args)[:1] if is_method else []
        self.firsts.append(first[0].arg if first else None)
        result = self.visit(node)
        self.firsts.pop()
        return result

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        name = node.func.id if isinstance(node.func, ast.Name) else None
        if name == "type" and len(node.args) == 1 and not node.keywords:
            return ast.Call(_name(TYPE), [node.func, *node.args], [])
        if name == "super" and not node.args and self.classes and self.classes[-1] and self.firsts and self.firsts[-1]:
            return ast.Call(_name(SUPER), [_name(self.classes[-1]), _name(self.firsts[-1])], [])
        if name == "super" and len(node.args) == 2:
            return ast.Call(_name(SUPER), node.args, [])
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load) and node.attr in _SPECIAL:
            return ast.Call(_name(ATTRIBUTE), [node.value, ast.Constant(node.attr)], [])
        return node


def _name(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())
