"""Which program is found in a completion, and which outputs are the same: no process runs here."""

from __future__ import annotations

import pytest

from rlvr_cli.verifiers.code.cases import BrokenTests, read
from rlvr_cli.verifiers.code.compare import same_output
from rlvr_cli.verifiers.code.extract import defines, extract, parse, reads_stdin

F = "def f(x):\n    return x"
G = "def g(x):\n    return x"

FOUND = {
    "plain": (f"```python\n{F}\n```", F),
    "py": (f"text\n```py\n{F}\n```\nmore", F),
    "capital": (f"```Python3\n{F}\n```", F),
    "attributes": (f'```python title="a.py"\n{F}\n```', F),
    "untagged": (f"```\n{F}\n```", F),
    "tildes": (f"~~~python\n{F}\n~~~", F),
    "unclosed": (f"```python\n{F}", F),
    "special token": (f"```python\n{F}\n```<|im_end|>", F),
    "unclosed with token": (f"```python\n{F}<|im_end|>", F),
    "crlf": (f"```python\n{F}\n```".replace("\n", "\r\n"), F),
    "in a list": ("1. Do:\n   ```python\n   def f(x):\n       return x\n   ```", F),
    "bare": (F, F),
    "prose around bare code": (f"Here is the function:\n\n{F}\n\nThat's all, folks!", F),
    "bash first": (f"```bash\npip install x\n```\n```python\n{F}\n```", F),
    "draft in think": (f"<think>\n```python\n{G}\n```\n</think>\n```python\n{F}\n```", F),
    "last definition wins": (f"```python\ndef f(x):\n    return None\n```\nbetter:\n```python\n{F}\n```", F),
    "usage example after": (f"```python\n{F}\n```\nUse:\n```python\nprint(f(3))\n```", F),
    "broken last fence": (f"```python\n{F}\n```\n```python\ndef f(:\n```", F),
    "longer fence": (f"````python\n{F}\n````", F),
    "empty last fence": (f"```python\n{F}\n```\n```python\n```", F),
    "output fence": (f"```python\n{F}\n```\nOutput:\n```\n3 4 5 six\n```", F),
    "conditional definition": ("```python\ntry:\n    from m import f\nexcept ImportError:\n    f = None\n```", None),
}


@pytest.mark.parametrize("text, code", FOUND.values(), ids=FOUND.keys())
def test_found(text, code):
    program = extract(text, entry_point="f", stdio=False)
    assert program.problem is None
    assert program.code.strip() == (code if code is not None else program.code.strip())
    assert code is not None or defines(parse(program.code), "f")


@pytest.mark.parametrize(
    "text, problem",
    {
        "```javascript\nfunction f(x) { return x }\n```": "other languages",
        "I can not solve this.": "no code",
        "": "no code",
        "```python\ndef f(x:\n```": "does not parse",
        "```python\nx = '\x00'\n```": "does not parse",
        "```python\n" + "(" * 5000 + "\n```": "does not parse",
        "```python\n" + "x = " + "-" * 200_000 + "1\n```": "does not parse",
    }.items(),
)
def test_not_found(text, problem):
    assert problem in extract(text, entry_point="f", stdio=False).problem


def test_a_fence_inside_a_string_is_not_the_end():
    code = "def f(x):\n    return '''\n```\n''' + x"
    assert extract(f"```python\n{code}\n```", entry_point="f", stdio=False).code == code


def test_the_block_that_reads_stdin_wins():
    text = "```python\nn = int(input())\nprint(n)\n```\nprints\n```\n10\n```"
    assert extract(text, entry_point=None, stdio=True).code == "n = int(input())\nprint(n)"
    assert extract(text, entry_point=None, stdio=False).code == "n = int(input())\nprint(n)"


@pytest.mark.parametrize("shown", ["5", "[1, 2]", "-1.5", "'a'", "Yes", "(1, {2: 3})"])
def test_a_fence_that_shows_the_output_is_no_program(shown):
    text = f"```python\nprint(5)\n```\nThe output is:\n```\n{shown}\n```"
    assert extract(text, entry_point=None, stdio=True).code == "print(5)"
    assert extract(f"```\n{shown}\n```", entry_point=None, stdio=True).code == shown  # where there is nothing else, it is taken


@pytest.mark.parametrize(
    "code", ["input()", "import sys\nfor l in sys.stdin: pass", "open(0).read()", "import fileinput", "import os\nos.read(0, 9)"]
)
def test_reads_stdin(code):
    assert reads_stdin(parse(code))
    assert not reads_stdin(parse("print(1)\nopen('a')"))


@pytest.mark.parametrize(
    "got, expected, same",
    [
        ("4\n", "4", True), ("4 \r\n\r\n", "4\n", True), ("a\n\nb", "a\nb", False), ("YES", "yes", False), ("\n4", "4", False),
        ("0.3333333", "0.33333330001", True), ("1.4", "1.41421356", False), ("3.0", "3", True), ("3.1", "3", False), ("2", "2.00", True),
        ("1e17", "100000000000000001", False), ("100000000000000000", "1e17", True), ("nan", "1.5", False), ("inf", "1e308", False),
        ("nan", "nan", True), ("1_000", "1000", False), ("３", "3", False), ("1  2", "1 2", True), ("1 2 3", "1 2", False),
        ("[1, 2]", "[1,2]", False), ("1000000.5", "1000001.0", True), ("1e99999", "1.5", False), ("-0", "0", True), ("007", "7", True),
        ("0x10", "16", False), ("1e9999999999", "2.5", False), ("", "", True), ("x", "", False), ("1.0000001", "1.0", True),
    ],
)  # fmt: skip
def test_same_output(got, expected, same):
    assert same_output(got, expected) is same


@pytest.mark.parametrize(
    "tests",
    [None, "", "[]", [], {}, 5, {"type": "stdio", "cases": []}, {"cases": [["a"]]}, {"cases": [[1, 2]]}, "{oops",
     {"type": "assert", "code": None},
     {"type": "assert", "code": " \n"}, {"inputs": ["1"], "outputs": []}],
)  # fmt: skip
def test_broken_tests(tests):
    with pytest.raises(BrokenTests):
        read(tests)
