"""Pays for programs that pass their tests, run where they can do no harm.

>>> tests = {"type": "stdio", "cases": [["2\\n", "4\\n"], ["3\\n", "6\\n"]]}
>>> tests_passed(["```python\\nprint(int(input()) * 2)\\n```", "```python\\nprint(4)\\n```"], tests=[tests, tests])
[1.0, 0.5]
"""

from rlvr_cli.verifiers.code import gold_completion, in_parallel, judge_all
from rlvr_cli.verifiers.code.soft import judge_compiles, judge_run_time
from rlvr_cli.verifiers.verdict import Scores, rows_of

__all__ = ["compiles", "gold_completion", "run_time", "tests_passed"]


def tests_passed(completions, tests, *, prompts=None, entry_point=None, mode="fraction", workers=None, unsafe=False,
                 cpu_s=4.0, wall_s=14.0, memory_mb=512, **kwargs) -> Scores:  # fmt: skip
    """The share of tests passed, or with ``mode="all"`` 1.0 for all of them and 0.0 otherwise; None where the task is broken.

    tests: a row's tests as JSON text or object: ``{"type": "stdio", "cases": [[in, out], ...]}`` or
    ``{"type": "assert", "code": ..., "entry_point": ...}``; HumanEval's and MBPP's own forms too.
    cpu_s, wall_s, memory_mb: limits of a case (stdio) or of an answer (assert). workers: runs at once, at most the cores.
    unsafe: run although no sandbox works on this machine.

    >>> task = '{"type": "assert", "code": "assert inc(1) == 2", "entry_point": "inc"}'
    >>> scores = tests_passed(["```python\\ndef inc(x):\\n    return x + 1\\n```", "I do not know."], tests=[task, task], mode="all")
    >>> scores, scores.verdicts[1].reason
    ([1.0, 0.0], '0 of 1 passed; no code: no fence, and no lines that parse as Python')
    """
    rows = rows_of(len(completions), tests=tests, entry_point=entry_point)
    limits = {"cpu_s": cpu_s, "wall_s": wall_s, "memory_mb": memory_mb}
    return Scores(judge_all(completions, rows, mode=mode, workers=workers, unsafe=unsafe, **limits))


tests_passed.__test__ = False  # its name is no test's
tests_passed.judge_ahead = True  # takes long: an answer may be judged while others are drawn


def compiles(completions, *, prompts=None, tests=None, workers=None, unsafe=False, **kwargs) -> Scores:
    """1.0 where the answer holds Python that compiles, 0.0 where not. A soft term: it says nothing about being right.

    >>> compiles(["```python\\nprint(1)\\n```", "```python\\nprint(1\\n```"])
    [1.0, 0.0]
    """
    rows = rows_of(len(completions), tests=tests)
    pairs = list(zip(completions, rows, strict=True))
    return Scores(in_parallel(lambda pair: judge_compiles(*pair, unsafe=unsafe), pairs, workers))


compiles.judge_ahead = True


def run_time(
    completions, tests, reference, *, prompts=None, entry_point=None, full_marks=1.0, workers=None, unsafe=False, **kwargs
) -> Scores:
    """How fast a right program is against a reference: reference seconds / own seconds, at most 1.0; 0.0 for a wrong one.

    reference: CPU seconds, or a reference program that is measured in the same sandbox. ``full_marks``: the ratio that
    earns 1.0 (0.5: half as fast as the reference is good enough).

    >>> tests = {"type": "stdio", "cases": [["2\\n", "4\\n"]]}
    >>> run_time(["```python\\nprint(int(input()) * 2)\\n```", "```python\\nprint(5)\\n```"], [tests, tests], reference=[9.0, 9.0])
    [1.0, 0.0]
    """
    rows = rows_of(len(completions), tests=tests, reference=reference, entry_point=entry_point)
    pairs = list(zip(completions, rows, strict=True))
    return Scores(in_parallel(lambda pair: judge_run_time(*pair, full_marks=full_marks, unsafe=unsafe), pairs, workers))
