"""Sloppy pupils: worked answers of the generators' rows with the mistakes that pupils make there.

A cold start on them teaches a model the form of an answer and leaves something to reinforce: where a mistake is more
likely than not, the model's most likely answer is wrong and its second likely one is right. A pupil is a function
``(row, slip, rng) -> text``, ``slip`` being the probability, in [0, 1], of each mistake where it can be made; at 0 the
answer is right. The three that exist, always and never slipping:

>>> rng = random.Random(0)
>>> sum_row = {"solution": "8 + 7 = 15\\n15 + 27 = 42"}
>>> word_problems(sum_row, 0.0, rng)
'<think>8+7=15,15+27=42</think><answer>42</answer>'
>>> word_problems(sum_row, 1.0, rng)  # the ten is forgotten, the second step too
'<think>8+7=5</think><answer>5</answer>'
>>> fact = {"solution": "v = s / t; 84 / 7 = 12", "answer": "12 m/s"}
>>> number_facts(fact, 0.0, rng), number_facts(fact, 1.0, rng)
('<think>v=s/t;84/7=12</think><answer>12 m/s</answer>', '<think>v=s*t;84*7=588</think><answer>588 m/s</answer>')
>>> print(programs({"answer": "def process(values):\\n    return max(values, default=0)"}, 1.0, rng))
```python
def process(values):
    return max(values)
```

The same pupils label rows for ``rlvr reward test``: :func:`labelled` is a generator whose rows also hold an answer and whether
it is right, which nobody's verifier decided::

    rlvr data generate rlvr_cli.models.pupils.labelled of=number_facts max=12 count=400 out=labelled.jsonl
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from rlvr_cli.data.generate import generator
from rlvr_cli.data.generate import programs as small_programs
from rlvr_cli.data.generate._pipelines import ENDS, KEEPS, MAPS, draw_pipeline
from rlvr_cli.data.generate.arithmetic import _Pupil, steps_of
from rlvr_cli.data.generate.number_facts import written
from rlvr_cli.errors import DataError

Row = dict[str, Any]
Pupil = Callable[[Row, float, random.Random], str]

# ---------------------------------------------------------------------------------------------- word problems


def word_problems(row: Row, slip: float, rng: random.Random) -> str:
    """The steps; the slips: a carry or borrow is forgotten, and so is the last step of several."""
    steps = [line.split() for line in row["solution"].splitlines()]
    if len(steps) > 1 and rng.random() < slip:
        steps.pop()
    results: dict[str, int] = {}  # what the pupil has for each right intermediate result
    lines = []
    for a, op, b, _, right in steps:
        line, results[right] = _step(results.get(a, int(a)), op, results.get(b, int(b)), _Pupil(slip, rng))
        lines.append(line)
    return f"<think>{','.join(lines)}</think><answer>{results[right]}</answer>"


def _step(a: int, op: str, b: int, pupil: _Pupil) -> tuple[str, int]:
    """One step and what the pupil gets; products are known by heart."""
    result = a * b if op == "*" else a // b if op == "/" else steps_of((op, a, b), pupil)[1]
    return f"{a}{op}{b}={result}", result


# ---------------------------------------------------------------------------------------------- number facts

WRONG_LAWS = {  # law -> what a pupil remembers instead
    "v = s / t": "v = s * t",
    "rho = m / V": "rho = m * V",
    "I = U / R": "I = U * R",
    "E = m / 2 * v^2": "E = m * v^2",
    "F = C * 9 / 5 + 32": "F = C * 9 / 5",
}
WRONG_FACTORS = {10: 100, 100: 1000, 60: 100, 3600: 60}  # 1 h = 60 s; of the others a nought is forgotten


def number_facts(row: Row, slip: float, rng: random.Random) -> str:
    """The law, then the sums. The slips: a wrong factor between units, a law turned round or cut short; the unit stays."""
    law, *sums = row["solution"].split("; ")
    if rng.random() < slip:
        law, sums = _misremembered(law, sums)
    number = sums[-1].split()[-1]
    unit = row["answer"].partition(" ")[2]
    return f"<think>{';'.join([law, *sums]).replace(' ', '')}</think><answer>{number}{' ' * bool(unit)}{unit}</answer>"


def _misremembered(law: str, sums: list[str]) -> tuple[str, list[str]]:
    """A wrong law and the sums that follow from it; a law that nobody gets wrong stays."""
    factor = re.fullmatch(r"(1 \w+ = )(\d+)( \w+)", law)
    if factor and len(sums) == 1:
        wrong = WRONG_FACTORS.get(int(factor[2]), int(factor[2]) // 10)
        n, op, _ = sums[0].split()[:3]
        return f"{factor[1]}{wrong}{factor[3]}", [_sum(n, op, str(wrong))]
    if law.endswith("v^2"):  # the half is forgotten: m * v^2
        mass, square = sums[0].split()[0], sums[1].split()[-1]
        return WRONG_LAWS[law], [sums[1], _sum(mass, "*", square)]
    if law.endswith("+ 32"):
        return WRONG_LAWS[law], sums[:1]
    if law in WRONG_LAWS:
        a, _, b = sums[0].split()[:3]
        return WRONG_LAWS[law], [_sum(a, "*", b)]
    return law, sums


def _sum(a: str, op: str, b: str) -> str:
    x, y = Fraction(a), Fraction(b)
    value = x * y if op == "*" else x / y
    return f"{a} {op} {b} = {written(value) if _ends(value) else round(float(value), 2)}"


def _ends(value: Fraction) -> bool:
    """Whether the decimal ends."""
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    return rest == 1


# ---------------------------------------------------------------------------------------------- programs

SLIPS = [(re.compile(re.escape(s.text).replace(r"\{k\}", r"(-?\d+)")), s.slip.text) for s in (*KEEPS, *MAPS, *ENDS) if s.slip]


def programs(row: Row, slip: float, rng: random.Random) -> str:
    """The gold program in a block of code; the slips are those that the stages of composed programs name."""
    source = row["answer"]
    for right, wrong in SLIPS:
        found = right.search(source)
        if found and rng.random() < slip:
            k = found[1] if found.groups() else ""
            source = source[: found.start()] + wrong.format(k=k) + source[found.end() :]
    return f"```python\n{source}\n```"


PUPILS: dict[str, Pupil] = {"word_problems": word_problems, "number_facts": number_facts, "programs": programs}

# ---------------------------------------------------------------------------------------------- labelled answers


def labelled(*, count: int, seed: int, of: str = "word_problems", slip: float = 0.6, **keys: Any) -> Iterator[Row]:
    """``count`` rows of the generator ``of``, each with a ``completion`` and ``expect``: right or wrong.

    A worked answer is right when its number is the gold's, figure for figure; a program is wrong when some input tells it from
    the task. slip: the pupil's chance of each mistake; keys: the generator's own.
    """
    if of not in PUPILS:
        raise DataError(f"no pupil works {of!r}; there are {', '.join(PUPILS)}", where="of", fix="of=word_problems")
    rng = random.Random(f"labelled-{seed}")
    if of == "programs":
        yield from (_labelled_program(rng, **keys) for _ in range(count))
        return
    for row in generator(of)(count=count, seed=seed, **keys):
        completion = PUPILS[of](row, slip, rng)
        said = completion.partition("<answer>")[2].removesuffix("</answer>")
        yield {**row, "completion": completion, "expect": "right" if said == row["answer"] else "wrong"}


def _labelled_program(rng: random.Random, *, cases: int = 6) -> Row:
    """A composed task with its own program, or with the program of one of its near misses."""
    pipeline = draw_pipeline(rng)
    shown = rng.choice([pipeline, *pipeline.near_misses()]) if rng.random() < 0.7 else pipeline
    row = small_programs.row_of(small_programs.pipeline_task(pipeline, rng), rng, "assert", cases)
    wrong = shown is not pipeline and pipeline.differs(shown, rng)
    return {**row, "completion": f"```python\n{shown.source('process')}\n```", "expect": "wrong" if wrong else "right"}
