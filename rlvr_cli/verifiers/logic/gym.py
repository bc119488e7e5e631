"""Any other task of the ``reasoning_gym`` library, by its own scorer.

Some of its scorers evaluate the answer's text, so a text that could be more than a value never reaches one: for those tasks only
digits, signs, brackets and single variable names pass. The library gives small pay to wrong answers; here only full marks are right.
"""

from __future__ import annotations

import contextlib
import re
from decimal import Decimal
from functools import lru_cache
from typing import Any

from rlvr_cli.verifiers.verdict import Verdict

LONGEST = 5_000
FULL = 0.999
# Tasks whose scorer parses the answer as an expression (sympy, eval): only what cannot be a program may pass.
EVALUATED = {
    "simple_equations", "polynomial_equations", "polynomial_multiplication", "simple_integration", "intermediate_integration",
    "complex_arithmetic", "basic_arithmetic", "decimal_arithmetic", "products", "chain_sum", "power_function", "simple_geometry",
    "advanced_geometry", "bitwise_arithmetic", "fraction_simplification", "number_format", "leg_counting", "list_functions",
}  # fmt: skip
EXACT = {"number_format", "number_sorting"}  # their scorers take a number that is only close
_VARIABLE = re.compile(r"[A-Za-z]")
_VALUE = re.compile(r"[-+*/^=().,\[\]\s\d%$<>e√ijπxyzabcnkC]*")
_PROGRAM = re.compile(r"[A-Za-z]{2,}|[A-Za-z]\s*\.|\*\*\s*\d{3,}|\d{40,}")  # a name, an attribute, a giant power, a giant number
GOLD_KEYS = ("example_answer", "possible_answer", "solution")


def judge_by_library(answer: str, task: str, gold: Any, state: dict[str, Any]) -> Verdict:
    """The library's score of the answer; None when the library is not there or does not know the task."""
    dataset = _dataset(task)
    if dataset is None:
        return Verdict(None, f"no rules for the task {task!r}; for reasoning_gym's: pip install 'rlvr[logic]'")
    if len(answer) > LONGEST:
        return Verdict(0.0, f"longer than {LONGEST} characters", answer[:200])
    if task in EVALUATED and not harmless(answer):
        return Verdict(0.0, "is not a plain value", answer[:200])
    if task in EXACT and gold is not None and decimals(answer) != decimals(str(gold)):
        return Verdict(0.0, "not the gold's numbers, digit for digit", answer[:200])
    strange = set(_VARIABLE.findall(answer)) - set(state.get("variables") or []) if task == "propositional_logic" else set()
    if strange:
        return Verdict(0.0, f"speaks of {', '.join(sorted(strange))}, which the premises do not", answer[:200])
    try:
        score = float(dataset.score_answer(answer, {"question": "", "answer": gold, "metadata": state}))
    except Exception as error:  # a scorer of the library met text it did not expect
        return _unscored(answer, gold, error)
    return Verdict(float(score >= FULL), f"{task}: the library scores it {score:g}", answer[:200])


def decimals(text: str) -> list[Decimal]:
    """The numbers of a text, exactly, thousands separators dropped."""
    return [Decimal(number.replace(",", "")) for number in re.findall(r"-?\d+(?:,\d{3})*(?:\.\d+)?", text)]


def _unscored(answer: str, gold: Any, error: Exception) -> Verdict:
    """The scorer broke: the answer is wrong when the scorer is sound on the gold's own text, unknown otherwise."""
    if gold is not None and str(gold).strip() == answer.strip():
        return Verdict(None, f"the library's scorer fails on its own gold: {type(error).__name__}", answer[:200])
    return Verdict(0.0, f"the library can not read it: {type(error).__name__}", answer[:200])


def harmless(answer: str) -> bool:
    """Whether the text is made of digits, signs and single letters only: no name, no call, no attribute."""
    return bool(_VALUE.fullmatch(answer)) and not _PROGRAM.search(answer)


def load() -> None:
    """Import the library, where it is installed."""
    with contextlib.suppress(ImportError):
        import reasoning_gym  # noqa: F401


@lru_cache(maxsize=64)
def _dataset(task: str) -> Any:
    try:
        import reasoning_gym

        return reasoning_gym.create_dataset(task, size=1, seed=0)
    except (ImportError, ValueError):
        return None


def gold_of(task: Any, state: dict[str, Any]) -> str | None:
    """A solution from the metadata, for tasks whose rows carry no answer."""
    value = next((state[key] for key in GOLD_KEYS if state.get(key)), None)
    if value is None:
        return None
    if isinstance(value, str):
        return value
    import json

    return json.dumps(value)
