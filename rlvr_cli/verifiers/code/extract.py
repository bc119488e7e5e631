"""Find the program in a completion, and look at it without running it.

It parses hostile text, so it runs inside the sandbox, in the process that will run the program a moment later; what it
finds is reported before any line of the program runs. One whole example::

    <think>maybe ```python\\ndef f(x): return None\\n``` no</think>
    Here it is:
    ```python
    def f(x):
        return x + 1
    ```
    ->  Program(code="def f(x):\\n    return x + 1", problem=None)

The rules: text after the last </think>; fences of ``` or ~~~ that are tagged as Python or not at all; the last one that
defines the entry point (tests by assert) or reads stdin (tests by stdin), else the last that parses; without a fence the
text itself, or its longest run of lines that parses.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_FENCE = re.compile(r"^(?P<indent>[ \t>]*)(?P<mark>`{3,}|~{3,})[ \t]*(?P<info>[^\n]*)$")
_PYTHON = re.compile(r"^[{.]*(python[\d.]*|py[\d]*|sage|ipython3?)?([\s{:,}.(].*)?$", re.IGNORECASE)
_SPECIAL = re.compile(r"\s*(<\|[a-z_]+\|>|</s>|<eos>|<end_of_turn>)\s*$", re.IGNORECASE)
_READERS = {"input", "raw_input", "stdin", "fileinput"}
_CLOSERS_TRIED, _LINES_TRIED, _LONGEST = 6, 400, 1 << 20


@dataclass(frozen=True)
class Program:
    """The code that will run, or the problem that kept it from being found."""

    code: str
    problem: str | None = None


@dataclass(frozen=True)
class Block:
    """A fence: its code, and whether another language was named."""

    code: str
    foreign: bool


def extract(completion: str, *, entry_point: str | None, stdio: bool) -> Program:
    """The program of a completion. ``stdio``: prefer the block that reads stdin, else the one that defines ``entry_point``."""
    if len(completion) > _LONGEST:
        return Program("", f"the answer is longer than {_LONGEST} characters")
    text = completion.replace("\r\n", "\n").rpartition("</think>")[2]
    while _SPECIAL.search(text):
        text = _SPECIAL.sub("", text)
    blocks = list(fences(text))
    if blocks:
        return _best([b.code for b in blocks if not b.foreign], entry_point, stdio)
    if parse(text) is not None and text.strip():
        return Program(text)
    run = _longest_run(text)
    return Program(run) if run else Program("", "no code: no fence, and no lines that parse as Python")


def parse(code: str) -> ast.Module | None:
    """The syntax tree, or None. Never raises, whatever the text."""
    try:
        return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        return None


def complaint(code: str) -> str:
    """Why a text does not parse, in a few words."""
    try:
        ast.parse(code)
    except SyntaxError as error:
        return f"does not parse: {error.msg} (line {error.lineno})"
    except (ValueError, RecursionError, MemoryError, OverflowError) as error:
        return f"does not parse: {type(error).__name__}"
    return "parses"


def fences(text: str) -> Iterator[Block]:
    """All fenced blocks in order. A block that is cut short by a fence inside a string literal is tried with later closers."""
    lines = text.split("\n")
    i = 0
    while i < len(lines):
        opening = _FENCE.match(lines[i])
        if not opening or (opening["mark"][0] == "`" and "`" in opening["info"]):
            i += 1
            continue
        code, i = _body(lines, i + 1, opening)
        if code.strip():
            yield Block(code, foreign=not _PYTHON.match(opening["info"].strip()))


def _body(lines: list[str], start: int, opening: re.Match[str]) -> tuple[str, int]:
    """The code of a fence and the line after it; an unclosed fence ends with the text."""
    closers = [j for j in range(start, len(lines)) if _closes(lines[j], opening["mark"])]
    first = closers[0] if closers else len(lines)
    python = _PYTHON.match(opening["info"].strip())
    for end in closers[:_CLOSERS_TRIED] if python else []:
        code = _dedent(lines[start:end], opening["indent"])
        if parse(code) is not None:
            return code, end + 1
    return _dedent(lines[start:first], opening["indent"]), first + 1


def _closes(line: str, mark: str) -> bool:
    bare = line.strip(" \t>")
    return len(bare) >= len(mark) and set(bare) == {mark[0]}


def _dedent(lines: list[str], indent: str) -> str:
    """Take off the fence's own indentation (a list item, a quote), and what all lines share."""
    code = "\n".join(line[len(indent) :] if line.startswith(indent) else line if line.strip() else "" for line in lines)
    return code if parse(code) is not None else textwrap.dedent(code)


def _best(codes: list[str], entry_point: str | None, stdio: bool) -> Program:
    """The last block that does what the tests need, else the last that parses."""
    if not codes:
        return Program("", "no code: only fences of other languages")
    trees = [(code, tree) for code in codes if (tree := parse(code)) is not None]
    if not trees:
        return Program("", complaint(codes[-1]))
    trees = [(code, tree) for code, tree in trees if _says_something(code)] or trees  # a fence that shows the output is no program
    wanted: Callable[[ast.Module], bool] = reads_stdin if stdio else (lambda tree: bool(entry_point) and defines(tree, entry_point))
    for code, tree in reversed(trees):
        if wanted(tree):
            return Program(code)
    return Program(trees[-1][0])


def defines(tree: ast.Module, name: str) -> bool:
    """True when the module binds ``name`` at top level, also below an if, try or with."""
    return any(name in _bound(node) for node in _top_level(tree.body))


def _top_level(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        yield node
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        for inner in ("body", "orelse", "finalbody"):
            yield from _top_level(getattr(node, inner, []) or [])
        for handler in getattr(node, "handlers", []):
            yield from _top_level(handler.body)


def _bound(node: ast.stmt) -> set[str]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {node.name}
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return {(a.asname or a.name).split(".")[0] for a in node.names}
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, (ast.AnnAssign, ast.AugAssign)) else []
    return {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}


def reads_stdin(tree: ast.Module) -> bool:
    """True when the program looks at its standard input."""
    for node in ast.walk(tree):
        if (isinstance(node, ast.Name) and node.id in _READERS) or (isinstance(node, ast.Attribute) and node.attr == "stdin"):
            return True
        if isinstance(node, (ast.Import, ast.ImportFrom)) and any(a.name in _READERS for a in node.names):
            return True
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant) and node.args[0].value in (0, "/dev/stdin"):
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            if name in ("open", "read", "fdopen", "FileIO", "Path"):
                return True
    return False


def _longest_run(text: str) -> str:
    """The longest run of lines that parses and says more than words. Starts only where a statement can, ends where the parser stops."""
    lines = text.split("\n")[:_LINES_TRIED]
    best = ""
    for start, line in enumerate(lines):
        if not line.strip() or len("\n".join(lines[start:])) <= len(best):
            continue
        run = _parsable_prefix(lines[start:])
        if len(run.strip()) > len(best.strip()) and _says_something(run):
            best = run
    return best


def _parsable_prefix(lines: list[str]) -> str:
    """The longest prefix that parses: cut before the line the parser complains about, again and again."""
    end = len(lines)
    while end > 0:
        code = textwrap.dedent("\n".join(lines[:end]))
        try:
            ast.parse(code)
            return code
        except SyntaxError as error:
            end = min(end - 1, max((error.lineno or end) - 1, 0))
        except (ValueError, RecursionError, MemoryError, OverflowError):
            end -= 1
    return ""


_VALUES = (ast.Constant, ast.Name, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.UnaryOp, ast.USub, ast.UAdd, ast.Load)


def _says_something(code: str) -> bool:
    """A lone word of prose parses as a name, a printed result as a value; a program does more."""
    tree = parse(code)
    return tree is not None and any(
        not (isinstance(n, ast.Expr) and all(isinstance(part, _VALUES) for part in ast.walk(n.value))) for n in tree.body
    )
