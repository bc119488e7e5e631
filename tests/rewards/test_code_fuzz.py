"""Generated answers against the code verifier, whose programs run: a verdict for each, no exception, none over its deadline."""

from __future__ import annotations

import random
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from rlvr_cli.verifiers import sandbox
from rlvr_cli.verifiers.code import judge

FENCES = [
    *("```python\n", "```py\n", "```\n", "~~~\n", "```js\n", "\n```\n", "\n~~~"),
    *("</think>", "<think>", "<answer>", "Here:\n", "\n\n"),
]
RIGHT = ["print(int(input()) * 2)", "def f(x):\n    return x * 2", "f = lambda x: x * 2\nif __name__ == '__main__': print(f(int(input())))"]
WRITTEN = r"""
n = int(input())~print(n * 2)~import sys~print(sys.stdin.read())~def f(x):~    return x * 2~    yield x~class f:~while True: pass
    def __new__(cls, x): return x * 2~import time; time.sleep(99)~raise SystemExit(0)~import os; os._exit(0)~os.kill(0, 9)~exit()
print('4')~print('x' * 10**7)~x = [0] * 10**9~def g(): g()~g()~for i in range(10**5): print(i)~sys.stdout.close()~import threading
threading.Thread(target=lambda: f(3)).start()~import ctypes; ctypes.string_at(0)~import os; os.fork()~[os.fork() for _ in range(9)]
open('a', 'w').write('b')~print(open('/etc/passwd').read())~eval('1+')~if n:~    pass~else:~try:~    1/0~except: pass~assert False
print('é', '🙂')~'''~#~return 3~async def f(x):~import rlvr_cli~__builtins__.print = None~import os; os.dup2(1, 4)~del sys.modules['sys']
import os; os.write(4, b'{"i": 0, "ok": true}')~from solution import f~import unittest; unittest.main()~global n~lambda: (yield)
"""
LINES = [
    *WRITTEN.strip().replace("~", "\n").split("\n"),
    "\x00",
    "\ud800",
    "(" * 300,
    "9" * 5000,
    "\t",
    "print(" + "-" * 2000 + "1)",
    *RIGHT,
    *RIGHT,
]
TASKS = [
    {"type": "stdio", "cases": [["2\n", "4\n"], ["3\n", "6\n"]]},
    {"type": "assert", "code": "assert f(2) == 4\nassert f(3) == 6", "entry_point": "f"},
    {"type": "assert", "code": "def check(c):\n    assert c(2) == 4", "entry_point": "f"},
]
CPU_S, WALL_S, DEADLINE_S = 0.3, 1.0, 20.0  # the deadline of a row: its cases one by one, on a machine that does other work as well

pytestmark = pytest.mark.skipif(sandbox.probe().name == "none", reason="no sandbox works on this machine")


def texts(n: int, seed: int):
    """Random joins of fences and lines, half of them with a fence around lines."""
    rng = random.Random(seed)
    for _ in range(n):
        lines = "\n".join(rng.choice(LINES) for _ in range(rng.choice((0, 1, 2, 3, 5, 9))))
        if rng.random() < 0.5:
            yield f"{rng.choice(FENCES)}```python\n{lines}\n```{rng.choice(FENCES)}"
        else:
            yield "".join(rng.choice((*FENCES, lines)) for _ in range(rng.choice((1, 3, 6))))


def check(n: int, seed: int) -> None:
    tasks = random.Random(seed + 1)
    pairs = [(text, {"tests": tasks.choice(TASKS)}) for text in texts(n, seed)]

    def timed(pair):
        start = time.monotonic()
        return judge(*pair, cpu_s=CPU_S, wall_s=WALL_S, memory_mb=256), time.monotonic() - start

    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(timed, pairs))
    for (text, _), (verdict, seconds) in zip(pairs, results, strict=True):
        assert verdict.score is not None and 0.0 <= verdict.score <= 1.0 and verdict.reason, (text, verdict)
        assert seconds < DEADLINE_S, (text, seconds)
    right = sum(verdict.score == 1.0 for verdict, _ in results)
    assert 0 < right < n / 2  # both outcomes occur, so that the texts are worth judging
    print(f"{n} texts: {right} right, slowest {max(seconds for _, seconds in results):.1f} s")


@pytest.mark.timeout(120)
def test_a_hundred_texts():
    check(100, seed=0)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_two_thousand_texts():
    check(2_000, seed=1)
