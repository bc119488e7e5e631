"""Small programs with their tests, as stdin/stdout cases or as asserts.

A family is a plain function below with its parameter ``k``; the gold is that function's own source text with ``k`` filled
in, and the expected outputs come from calling the function, so nothing is ever executed from text. Other tasks are composed
of stages (``_pipelines``), and their cases are chosen to fail the likely mistakes. A whole row:

>>> row = next(generate(count=1, seed=10, form="assert", pipelines=0))
>>> print(row["prompt"])
Write a Python function count_above(values) that returns how many of the whole numbers in the list values are greater than 1.
>>> print(row["answer"])
def count_above(values, k=1):
    return sum(1 for v in values if v > k)
>>> row["tests"]["type"], row["tests"]["code"].splitlines()[0]
('assert', 'assert count_above([22]) == 1')
"""

from __future__ import annotations

import functools
import inspect
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from rlvr_cli.data.generate._pipelines import Pipeline, draw_pipeline
from rlvr_cli.errors import DataError

FORMS = ("stdio", "assert")


@dataclass(frozen=True)
class Family:
    """One kind of task. ``asks`` completes "that returns ..." and "prints ..."; ``takes``: numbers, text or pair."""

    solve: Callable[..., Any]
    takes: str
    asks: str
    difficulty: int
    k: tuple[int, int] | None = None


@dataclass(frozen=True)
class Task:
    """A family with its parameter filled in: what is asked, the gold source and the function that knows the outputs."""

    name: str
    takes: str
    asks: str
    difficulty: int
    source: str
    solve: Callable[..., Any]
    key: str
    telling: tuple[tuple, ...] = ()  # inputs that tell the task from its near misses


def generate(
    *, count: int, seed: int, form: str = "both", cases: int = 6, difficulty_max: int = 3, pipelines: float = 0.5
) -> Iterator[dict[str, Any]]:
    """``count`` tasks. form: ``stdio``, ``assert`` or ``both``; cases: tests a task; difficulty_max: 1 to 3.

    pipelines: share, in [0, 1], of tasks composed of stages (thousands of different ones) rather than of the named families.
    """
    forms = FORMS if form == "both" else (form,)
    families = [family for family in FAMILIES if family.difficulty <= difficulty_max]
    if not set(forms) <= set(FORMS) or cases < 1 or not families or not 0 <= pipelines <= 1:
        raise DataError(f"form is stdio, assert or both, cases and difficulty_max at least 1, not {form!r}, {cases}, {difficulty_max}",
                        where="dataset.form", fix="dataset.form=both")  # fmt: skip
    rng = random.Random(f"programs-{seed}")
    for _ in range(count):
        task = pipeline_task(draw_pipeline(rng), rng) if rng.random() < pipelines else _family_task(rng, families)
        yield row_of(task, rng, rng.choice(forms), cases)


def _family_task(rng: random.Random, families: list[Family]) -> Task:
    family = rng.choice(families)
    k = rng.randint(*family.k) if family.k else None
    name = family.solve.__name__
    solve = family.solve if k is None else functools.partial(_with_k, family.solve, k)
    return Task(name, family.takes, family.asks.format(k=k), family.difficulty, source_of(family, k), solve, f"{name} {k}")


def _with_k(solve: Callable[..., Any], k: int, *given: Any) -> Any:
    return solve(*given, k)


def pipeline_task(pipeline: Pipeline, rng: random.Random) -> Task:
    """A composed task, with the inputs that tell it from its near misses."""
    difficulty = 2 if pipeline.change else 1
    telling = tuple((values,) for values in pipeline.telling_inputs(rng))
    return Task("process", "numbers", pipeline.asks(), difficulty, pipeline.source("process"), pipeline.solve, pipeline.asks(), telling)


def row_of(task: Task, rng: random.Random, form: str, cases: int) -> dict[str, Any]:
    """The row of a task in a form (``assert`` or ``stdio``), with its cases drawn."""
    inputs = _inputs(task.takes, rng, cases, task.telling)
    outputs = [task.solve(*given) for given in inputs]
    prompt, tests, answer = (_as_assert if form == "assert" else _as_stdio)(task, inputs, outputs)
    return {"prompt": prompt, "answer": answer, "tests": tests, "difficulty": task.difficulty, "kind": "code", "split_key": task.key}


def _as_assert(task: Task, inputs: list[tuple], outputs: list[Any]) -> tuple[str, dict[str, Any], str]:
    """Prompt, tests and gold of the form in which a function is called."""
    calls = [f"{task.name}({', '.join(map(repr, given))})" for given in inputs]
    lines = [f"assert {call} == {out!r}" for call, out in zip(calls, outputs, strict=True)]
    prompt = f"Write a Python function {task.name}({PARAMETERS[task.takes]}) that returns {task.asks.format(it=WORDS[task.takes])}."
    return prompt, {"type": "assert", "code": "\n".join(lines), "entry_point": task.name}, task.source


def _as_stdio(task: Task, inputs: list[tuple], outputs: list[Any]) -> tuple[str, dict[str, Any], str]:
    """Prompt, tests and gold of the form in which a program reads and prints."""
    pairs = [[_as_input(given), _as_output(out)] for given, out in zip(inputs, outputs, strict=True)]
    asks = task.asks.format(it=STDIN_WORDS[task.takes])
    prompt = f"Write a Python program that reads {READS[task.takes]} and prints {asks}.{_how(outputs)}"
    answer = f"{task.source}\n\n\n{READERS[task.takes]}\n{_printer(task.name, task.takes, outputs)}"
    return prompt, {"type": "stdio", "cases": pairs}, answer


def source_of(family: Family, k: int | None) -> str:
    """The family's source text as a gold answer, ``k`` having its value as default."""
    source = inspect.getsource(family.solve).strip()
    return source if k is None else source.replace(", k):", f", k={k}):", 1)


PARAMETERS = {"numbers": "values", "text": "text", "pair": "a, b"}
WORDS = {"numbers": "the whole numbers in the list values", "text": "the string text", "pair": "the positive whole numbers a and b"}
STDIN_WORDS = {"numbers": "the numbers", "text": "the line", "pair": "the two numbers"}
READS = {
    "numbers": "whole numbers from one line, separated by spaces,",
    "text": "one line",
    "pair": "two positive whole numbers from one line",
}
READERS = {"numbers": "values = [int(v) for v in input().split()]", "text": "text = input()", "pair": "a, b = map(int, input().split())"}


def _inputs(takes: str, rng: random.Random, cases: int, telling: tuple[tuple, ...] = ()) -> list[tuple]:
    """Different inputs, short and long, with repeats and edges among them; those that tell the task from its near misses first."""
    found: list[tuple] = list(telling)[:cases]
    if len(found) == cases:
        return found
    for attempt in range(50 * cases):
        given = _input(takes, rng, attempt)
        if given not in found:
            found.append(given)
        if len(found) == cases:
            break
    return found


WORD_LIST = [
    "level",
    "sun",
    "moon",
    "river",
    "stone",
    "noon",
    "Green",
    "tree",
    "eye",
    "Apple",
    "red",
    "kayak",
    "bird",
    "light",
    "table",
    "radar",
    "cloud",
    "sea",
]


def _input(takes: str, rng: random.Random, attempt: int) -> tuple:
    if takes == "numbers":
        size = 1 if attempt == 0 else rng.randint(2, 9)
        return ([rng.randint(-20, 40) if rng.random() < 0.8 else 7 for _ in range(size)],)
    if takes == "text":
        return (" ".join(rng.choices(WORD_LIST, k=1 if attempt < 2 else rng.randint(2, 5))),)
    return (rng.randint(1, 12), 1) if attempt == 0 else (rng.randint(2, 99), rng.randint(2, 99))


def _as_input(given: tuple) -> str:
    return (" ".join(map(str, given[0] if isinstance(given[0], list) else given))) + "\n"


def _as_output(out: Any) -> str:
    if isinstance(out, bool):
        return "yes\n" if out else "no\n"
    return (" ".join(map(str, out)) if isinstance(out, list) else str(out)) + "\n"


def _how(outputs: list[Any]) -> str:
    """How a program writes what is neither one number nor one text."""
    if isinstance(outputs[0], bool):
        return " Print yes for true and no for false."
    return " Separate them by spaces; print an empty line if there are none." if isinstance(outputs[0], list) else ""


def _printer(name: str, takes: str, outputs: list[Any]) -> str:
    call = f"{name}({PARAMETERS[takes]})"
    if isinstance(outputs[0], bool):
        return f'print("yes" if {call} else "no")'
    return f"print(*{call})" if isinstance(outputs[0], list) else f"print({call})"


# ------------------------------------------------------------------- the families: each is its own gold answer


def sum_divisible(values, k):
    return sum(v for v in values if v % k == 0)


def count_above(values, k):
    return sum(1 for v in values if v > k)


def largest_gap(values):
    ordered = sorted(values)
    return max((ordered[i + 1] - ordered[i] for i in range(len(ordered) - 1)), default=0)


def without_repeats(values):
    return list(dict.fromkeys(values))


def running_totals(values):
    totals = []
    for v in values:
        totals.append(v + (totals[-1] if totals else 0))
    return totals


def rotate_left(values, k):
    k %= len(values)
    return values[k:] + values[:k]


def clip_to(values, k):
    return [min(v, k) for v in values]


def is_rising(values):
    return all(values[i] < values[i + 1] for i in range(len(values) - 1))


def longest_rise(values):
    best = run = 1
    for i in range(1, len(values)):
        run = run + 1 if values[i] > values[i - 1] else 1
        best = max(best, run)
    return best


def best_run_sum(values):
    best = run = values[0]
    for v in values[1:]:
        run = max(v, run + v)
        best = max(best, run)
    return best


def pairs_with_sum(values, k):
    return sum(1 for i in range(len(values)) for j in range(i + 1, len(values)) if values[i] + values[j] == k)


def count_vowels(text):
    return sum(1 for c in text.lower() if c in "aeiou")


def reverse_words(text):
    return " ".join(reversed(text.split()))


def is_palindrome(text):
    letters = text.lower().replace(" ", "")
    return letters == letters[::-1]


def shift_letters(text, k):
    shifted = []
    for c in text:
        if c.isalpha():
            start = ord("a") if c.islower() else ord("A")
            c = chr(start + (ord(c) - start + k) % 26)
        shifted.append(c)
    return "".join(shifted)


def run_lengths(text):
    parts = []
    for c in text:
        if parts and parts[-1][0] == c:
            parts[-1][1] += 1
        else:
            parts.append([c, 1])
    return "".join(c + str(n) for c, n in parts)


def long_words(text, k):
    return sum(1 for word in text.split() if len(word) > k)


def common_divisor(a, b):
    while b:
        a, b = b, a % b
    return a


def common_multiple(a, b):
    big, small = a, b
    while small:
        big, small = small, big % small
    return a * b // big


def power_last_digits(a, b):
    return pow(a, b, 100)


FAMILIES = [
    Family(sum_divisible, "numbers", "the sum of those of {{it}} that are divisible by {k}", 1, (2, 9)),
    Family(count_above, "numbers", "how many of {{it}} are greater than {k}", 1, (-5, 30)),
    Family(largest_gap, "numbers", "the largest difference between neighbours when {{it}} are sorted, or 0 if there is only one", 2),
    Family(without_repeats, "numbers", "{{it}} without repeats, in the order of their first appearance", 1),
    Family(running_totals, "numbers", "the running totals of {{it}}", 1),
    Family(rotate_left, "numbers", "{{it}} rotated to the left by {k} places", 2, (1, 6)),
    Family(clip_to, "numbers", "{{it}}, each one above {k} replaced by {k}", 1, (0, 25)),
    Family(is_rising, "numbers", "whether {{it}} are strictly rising", 1),
    Family(longest_rise, "numbers", "the length of the longest run of neighbours that is strictly rising in {{it}}", 2),
    Family(best_run_sum, "numbers", "the largest sum of a run of one or more neighbours in {{it}}", 3),
    Family(pairs_with_sum, "numbers", "how many pairs of different places in {{it}} add up to {k}", 2, (0, 30)),
    Family(count_vowels, "text", "how many vowels (a, e, i, o, u in either case) are in {{it}}", 1),
    Family(reverse_words, "text", "the words of {{it}} in reverse order, joined by single spaces", 1),
    Family(is_palindrome, "text", "whether {{it}} reads the same backwards, ignoring case and spaces", 2),
    Family(
        shift_letters, "text", "{{it}} with each letter moved {k} places along the alphabet, z being followed by a, case kept", 3, (1, 12)
    ),
    Family(run_lengths, "text", "{{it}} with each run of one character written as the character and the run's length (aab is a2b1)", 3),
    Family(long_words, "text", "how many words of {{it}} have more than {k} letters", 1, (2, 5)),
    Family(common_divisor, "pair", "the greatest common divisor of {{it}}", 2),
    Family(common_multiple, "pair", "the least common multiple of {{it}}", 2),
    Family(power_last_digits, "pair", "the remainder by 100 of the first to the power of the second of {{it}}", 2),
]
