"""Is the final answer the gold answer? The mathematics verifier: find it, read it, compare it, run nothing.

``extract`` finds the final answer, ``fast`` settles plain numbers, ``reader`` parses the rest into a tree of this package's own
(no text ever reaches ``eval`` or a library's parser), ``compare`` decides exactly or at random points with 50 digits, and the few
integrals, limits and infinite sums go to sympy in a killable worker.

>>> judge("So 3 of 4 remain: \\\\boxed{\\\\frac{3}{4}}", {"answer": "0.75"})
Verdict(score=1.0, reason='equals the gold 0.75', extracted='\\\\frac{3}{4}')
>>> judge("The answer is 1, 2 or 3.", {"answer": "3"}).score
0.0
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from rlvr_cli.verifiers.verdict import Completion, Verdict, text_of

from . import compare, gold, numeric, phrases, unworked
from .extract import Found, find

__all__ = ["equal", "extract_answer", "gold_completion", "judge", "judge_batch"]


def judge(
    completion: Completion,
    row: dict[str, Any],
    *,
    tolerance: float = 1e-6,
    strict: bool = False,
    require_tag: str | None = None,
) -> Verdict:
    """1.0 when the completion's final answer equals ``row["answer"]``, 0.0 when not, None when the gold can not be read."""
    return judge_batch([completion], [row], tolerance=tolerance, strict=strict, require_tag=require_tag)[0]


def judge_batch(
    completions: Sequence[Completion],
    rows: Sequence[dict[str, Any]],
    *,
    tolerance: float = 1e-6,
    strict: bool = False,
    require_tag: str | None = None,
) -> list[Verdict]:
    """Verdicts in order."""
    options = {"tolerance": tolerance, "strict": strict, "require_tag": require_tag}
    verdicts: list[Verdict | None] = []
    for completion, row in zip(completions, rows, strict=True):
        try:
            verdicts.append(judge_here(completion, row, **options))
        except compare.NeedsCas:
            verdicts.append(None)
        except Exception as error:  # a fault of ours on one row is no verdict on it, and no reason to lose a run
            verdicts.append(Verdict(None, f"judging failed: {type(error).__name__}: {str(error)[:80]}"))
    hard = [i for i, verdict in enumerate(verdicts) if verdict is None]
    if hard:
        from rlvr_cli.verifiers.pool import judge_many

        judged = judge_many("rlvr_cli.verifiers.math.cas:judge", [completions[i] for i in hard], [rows[i] for i in hard], options=options)
        for i, verdict in zip(hard, judged, strict=True):
            verdicts[i] = verdict
    return verdicts


def judge_here(
    completion: Completion,
    row: dict[str, Any],
    *,
    tolerance: float = 1e-6,
    strict: bool = False,
    require_tag: str | None = None,
    same_value: compare.SameValue = numeric.same_value,
) -> Verdict:
    """The verdict in this process. Raises NeedsCas where only an algebra system could tell and ``same_value`` is none."""
    reference = gold.answers(row.get("answer"))
    if reference is None:
        return Verdict(None, f"gold unreadable: {str(row.get('answer'))[:60]!r}")
    found = find(text_of(completion), prompt=_prompt_text(row.get("prompt")), strict=strict, require_tag=require_tag)
    if found.text is None:
        return Verdict(0.0, found.problem or "no final answer found")
    if unworked.is_unworked(found.text, reference, _prompt_text(row.get("prompt"))):
        return Verdict(0.0, f"not worked out: {_short(found.text)}", found.text)
    same = _says(found, reference, Fraction(str(tolerance)), same_value)
    return Verdict(
        float(same),
        f"equals the gold {_short(reference)}" if same else f"gold {_short(reference)}, answer {_short(found.text)}",
        found.text,
    )


def _says(found: Found, reference: str, tolerance: Fraction, same_value: compare.SameValue) -> bool:
    """Whether what was found equals the gold; of a sentence in a tag or after a phrase, what the sentence ends on."""
    if compare.same(found.text, reference, tolerance, same_value):
        return True
    if found.how not in ("phrase", "tag", "hash"):
        return False
    if len(found.text) > phrases.LONGEST_SENTENCE:
        return False
    if reference in ("A", "B", "C", "D") and found.text == reference.lower():  # "answer: c" names an option, a boxed c may be a symbol
        return True
    tidied = phrases.tidy(found.text)
    if (
        tidied
        and tidied != found.text
        and not phrases.is_negated(found.text, "")
        and compare.same(tidied, reference, tolerance, same_value)
    ):
        return True
    core = phrases.core_of_sentence(found.text)
    return bool(core) and compare.same(core, reference, tolerance, same_value)


def extract_answer(text: str, *, prompt: str | None = None, strict: bool = False, require_tag: str | None = None) -> Found:
    """The final answer of a text: ``Found(text, how, problem)``."""
    return find(text, prompt=prompt, strict=strict, require_tag=require_tag)


def equal(a: str, b: str, *, tolerance: float = 1e-6) -> bool:
    """Whether answer ``a`` equals reference ``b``, both bare answers.

    >>> equal("1/2", "0.5"), equal("(1, 2)", "(2, 1)")
    (True, False)
    """
    return compare.same(a, b, Fraction(str(tolerance)))


def gold_completion(row: dict[str, Any]) -> str | None:
    """What a perfect completion of the row looks like; None when its gold is unreadable."""
    reference = gold.answers(row.get("answer"))
    return None if reference is None else f"<answer>\\boxed{{{reference}}}</answer>"


def _prompt_text(prompt: Any) -> str | None:
    """The question's text, of a prompt in either form."""
    if prompt is None or isinstance(prompt, str):
        return prompt
    return (
        "\n".join(m["content"] for m in prompt if isinstance(m, dict) and m.get("role") == "user" and isinstance(m.get("content"), str))
        or None
    )


def _short(text: str, width: int = 60) -> str:
    text = " ".join(text.split())
    return text if len(text) <= width else text[: width - 1] + "…"
