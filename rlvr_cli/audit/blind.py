"""Blind policies: what does a data set pay somebody who never reads the question, or only copies from it?

If the commonest gold earns 0.6 of the marks, a policy that learns one word beats one that reasons. Each policy's earnings
are a mean with Wilson's interval of the share of rows it takes in full; "reasoning" is what the completions in the file
earn, where it has any.

>>> commonest(["B", "A", "B"])
'B'
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from rlvr_cli.audit.cases import Case, numbers_in, options_of
from rlvr_cli.audit.target import Target
from rlvr_cli.evaluation.intervals import wilson

CONSTANTS = ("0", "1", "2", "10", "yes", "no", "true", "A", "B", "C", "D")
LETTERS = "ABCDEFGHIJ"


@dataclass
class Earned:
    """What a blind policy earns: mean share of full marks, and the share of rows it takes in full."""

    policy: str
    mean: float
    full: int
    n: int
    example: str = ""

    @property
    def ci95(self) -> tuple[float, float]:
        """Wilson's interval of full / n."""
        return wilson(self.full, self.n)


@dataclass
class BlindReport:
    """All policies, best first; what the file's own completions earn (None: it has none)."""

    policies: list[Earned]
    reasoning: float | None = None
    limit: float = 0.5
    notes: list[str] = field(default_factory=list)

    @property
    def best(self) -> Earned | None:
        """The policy that earns most."""
        return self.policies[0] if self.policies else None

    @property
    def serious(self) -> bool:
        """Does guessing pay too well: over the limit, or better than the completions in the file?"""
        best = self.best
        return best is not None and (best.mean > self.limit or (self.reasoning is not None and best.mean > self.reasoning))


def play(target: Target, cases: Sequence[Case], *, seed: int = 0, limit: float = 0.5) -> BlindReport:
    """Every policy on every row."""
    rng, rows = random.Random(seed), [case.row for case in cases]
    earned = []
    for name, make in policies(cases, rng).items():
        said = [make(case) for case in cases]
        paid = target.pay([text for text in said], rows)
        shares = [max(0.0, p.share or 0.0) for p in paid]
        earned.append(Earned(name, sum(shares) / len(shares), sum(p.full for p in paid), len(paid), said[0][:60]))
    earned.sort(key=lambda e: -e.mean)
    return BlindReport(earned, own_completions(target, cases), limit)


def policies(cases: Sequence[Case], rng: random.Random) -> dict[str, Callable[[Case], str]]:
    """Name -> what it says to a row."""
    answers = [case.answer for case in cases if case.answer is not None]
    made: dict[str, Callable[[Case], str]] = {"say nothing": lambda case: "", "repeat the question": lambda case: case.question}
    if answers:
        usual = commonest(answers)
        made[f"always the commonest gold ({usual[:20]!r})"] = lambda case: case.dress(usual)
        made["the gold of a random other row"] = lambda case: case.dress(rng.choice(answers))
        made |= {f"always {word!r}": lambda case, word=word: case.dress(word) for word in CONSTANTS if word != usual}
    if any(len(options_of(case.row)) > 1 for case in cases):
        made["a random option"] = lambda case: case.dress(rng.choice(LETTERS[: max(1, len(options_of(case.row)))]))
        made["the longest option"] = lambda case: case.dress(_longest(options_of(case.row)))
    if any(numbers_in(case.question) for case in cases):
        made |= {name: lambda case, pick=pick: case.dress(_picked(case, pick)) for name, pick in NUMBER_PICKS.items()}
    return made


def commonest(answers: Sequence[str]) -> str:
    """The answer that most rows have."""
    return Counter(answers).most_common(1)[0][0]


def _whole(value: float) -> str:
    return str(int(value)) if value == int(value) else f"{value:g}"


NUMBER_PICKS: dict[str, Callable[[list[float]], float]] = {
    "the first number of the question": lambda numbers: numbers[0],
    "the last number of the question": lambda numbers: numbers[-1],
    "the largest number of the question": max,
    "the sum of the question's numbers": lambda numbers: sum(numbers),
    "the product of the last two": lambda numbers: numbers[-1] * numbers[-2] if len(numbers) > 1 else numbers[-1],
    "the difference of the first two": lambda numbers: numbers[0] - numbers[1] if len(numbers) > 1 else numbers[0],
}


def _picked(case: Case, pick: Callable[[list[float]], float]) -> str:
    numbers = [float(n) for n in numbers_in(case.question) if len(n) < 16]
    return _whole(pick(numbers)) if numbers else "0"


def _longest(options: Sequence[Any]) -> str:
    return LETTERS[max(range(len(options)), key=lambda i: len(str(options[i])))] if options else "A"


def own_completions(target: Target, cases: Sequence[Case]) -> float | None:
    """Mean share of full marks of the completions that the rows hold; None when they hold none."""
    with_text = [case for case in cases if case.row.get("completion")]
    if not with_text:
        return None
    paid = target.pay([case.row["completion"] for case in with_text], [case.row for case in with_text])
    return sum(max(0.0, p.share or 0.0) for p in paid) / len(paid)
