"""What an attacker knows of a row: its question, its gold, how this reward wants an answer dressed, and wrong answers.

>>> wrong_numbers("42")[:4]
['43', '41', '-42', '420']
>>> wrong_numbers("3/4")[:3]
['4/3', '-3/4', '4/4']
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rlvr_cli.audit.target import Row, Target

TEMPLATES = ("<answer>{}</answer>", "\\boxed{{{}}}", "#### {}", "The answer is {}.", "Answer: {}", "Final answer: {}", "{}")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


@dataclass
class Case:
    """One row to attack.

    gold: a completion that earns full marks, or None. answer: the gold's text. shape: how an answer is dressed.
    wrong: texts of wrong answers. other: a perfect answer to another row.
    """

    row: Row
    question: str
    answer: str | None
    gold: str | None
    shape: str
    wrong: list[str]
    other: str | None = None

    def dress(self, content: str) -> str:
        """``content`` where this reward looks for an answer."""
        return self.shape.replace("\0", content)

    @property
    def numeric(self) -> bool:
        """Is the gold a plain number or fraction?"""
        return self.answer is not None and re.fullmatch(r"-?\d+(?:\.\d+)?(?:/\d+)?", self.answer) is not None


def cases_of(target: Target, rows: Sequence[Row]) -> list[Case]:
    """The rows as an attacker sees them, with full marks of each measured on the way."""
    answers = [answer_text(row) for row in rows]
    template = best_template(target, rows, answers)
    cases = [_case(target, row, answer, answers, template) for row, answer in zip(rows, answers, strict=True)]
    for i, case in enumerate(cases):
        if case.row.get("tests") is not None:  # another task's program is no answer to this one: it may not even be run
            case.other = case.row.get("wrong_solution")
            continue
        others = [c.gold for c in cases[i + 1 :] + cases[:i] if c.gold and c.gold != case.gold and c.answer != case.answer]
        others += [c.gold for c in cases if c.gold and c.gold != case.gold]
        case.other = next((gold for gold in others if not target.pay([gold], [case.row])[0].full), None)
    return cases


def answer_text(row: Row) -> str | None:
    """The gold as text: ``answer`` (the first of several accepted ones). None where many answers are right: schemas, tests, queries."""
    if any(row.get(column) is not None for column in ("schema", "tests", "gold_sql")):
        return None
    value = row.get("answer", row.get("gold"))
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = json.loads(value)
        except ValueError:
            return value
    if isinstance(value, (list, tuple)):
        value = value[0] if value else None
    return None if value is None else str(value)


def question_text(row: Row) -> str:
    """The question of a row: text, or the user's turns."""
    prompt = row.get("prompt", row.get("question"))
    if isinstance(prompt, str):
        return prompt
    return "\n".join(str(m.get("content")) for m in prompt or () if isinstance(m, dict) and m.get("role") == "user")


def best_template(target: Target, rows: Sequence[Row], answers: Sequence[str | None]) -> str:
    """The first plain form of an answer that this reward pays for on most rows."""
    known = [(row, answer) for row, answer in zip(rows, answers, strict=True) if answer is not None][:8]
    best, most = TEMPLATES[0], 0.0
    for template in TEMPLATES if known else ():
        paid = target.pay([template.format(answer) for _, answer in known], [row for row, _ in known])
        total = sum(p.share or 0.0 for p in paid)
        if total > most + 1e-9:
            best, most = template, total
    return best


def _case(target: Target, row: Row, answer: str | None, answers: Sequence[str | None], template: str) -> Case:
    golds = target.golds(row) + ([template.format(answer)] if answer is not None else [])
    paid = [(p.share or 0.0, -i) for i, p in enumerate(target.pay(golds, [row] * len(golds)))] if golds else []
    gold = golds[-max(paid)[1]] if paid and max(paid)[0] > 0 else None
    if gold is not None:
        target.measure(row, gold)
    shape = template.format("\0")
    if gold and answer and answer in gold:
        before, _, behind = gold.rpartition(answer)
        shape = before + "\0" + behind
    wrong = wrong_numbers(answer) if answer else []
    wrong += [a for a in dict.fromkeys(answers) if a is not None and a not in wrong and not (answer and same_answer(a, answer))]
    return Case(row, question_text(row), answer, gold, shape, wrong or ["nothing of the kind"])


def wrong_numbers(answer: str) -> list[str]:
    """Numbers near ``answer`` that are not it; none where it is no number."""
    fraction = re.fullmatch(r"(-?\d+)/(\d+)", answer)
    if fraction:
        top, bottom = int(fraction[1]), int(fraction[2])
        near = [f"{bottom}/{top}", f"{-top}/{bottom}", f"{top + 1}/{bottom}", f"{top}/{bottom + 1}"]
        return [f for f in near if "/0" not in f and not same_answer(f, answer)]
    if not re.fullmatch(r"-?\d+(?:\.\d+)?", answer):
        return []
    value = float(answer)
    step = 1 if "." not in answer else 10 ** -len(answer.partition(".")[2])
    near = [
        _written(value + step, answer),
        _written(value - step, answer),
        _negated(answer),
        answer + "0" if "." not in answer else answer + "5",
    ]
    near += [f"{answer}1", f"1{answer.lstrip('-')}"] + ([f"{answer}.5"] if "." not in answer else [])
    return [n for n in dict.fromkeys(near) if float(n) != value]


def same_answer(a: str, b: str) -> bool:
    """The same text or the same number.

    >>> same_answer("8", "8.0"), same_answer("1/2", "0.5"), same_answer("a", "b")
    (True, True, False)
    """
    try:
        return Fraction(a) == Fraction(b)
    except (ValueError, ZeroDivisionError):
        return a == b


def _written(value: float, like: str) -> str:
    return f"{value:.{len(like.partition('.')[2])}f}"


def _negated(answer: str) -> str:
    return answer[1:] if answer.startswith("-") else f"-{answer}"


def numbers_in(text: str) -> list[str]:
    """Numbers of a text, in order.

    >>> numbers_in("120 km in 1.5 hours")
    ['120', '1.5']
    """
    return NUMBER.findall(text)


def options_of(row: Row) -> list[Any]:
    """The choices of a multiple-choice row, or none."""
    value = row.get("choices", row.get("options"))
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return []
    if isinstance(value, dict):
        return list(value)
    return list(value) if isinstance(value, (list, tuple)) else []
