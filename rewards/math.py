"""Pays for the right final answer in mathematics: boxed, tagged, after ``####`` or "the answer is", equal as mathematics, not as text.

>>> correct(["So it is \\\\boxed{\\\\frac{1}{2}}", "#### 3", "The answer is 1 or 2."], answer=["0.5", "4", "2"])
[1.0, 0.0, 0.0]
"""

from rlvr_cli.verifiers.math import gold_completion, judge_batch
from rlvr_cli.verifiers.verdict import Scores, rows_of

__all__ = ["correct", "gold_completion"]


def correct(completions, answer, *, prompts=None, tolerance=1e-6, strict=False, require_tag=None, **kwargs) -> Scores:
    r"""1.0 where the final answer equals the gold, 0.0 where not, None where the gold can not be read.

    tolerance: relative, and only for a decimal against a gold that is no integer; exact forms are compared exactly.
    strict: only a tag, a box or ``####`` counts; otherwise also answer phrases, then the last number of a finished text.
    require_tag: "answer", "boxed" or "hash": only that form counts.

    >>> scores = correct(["2 + 2 is <answer>4</answer>", "It is 4."], answer=["4", "4"], strict=True)
    >>> scores, scores.verdicts[1].reason
    ([1.0, 0.0], 'the asked form of answer is missing')
    """
    rows = rows_of(len(completions), answer=answer, prompt=prompts)
    return Scores(judge_batch(completions, rows, tolerance=tolerance, strict=strict, require_tag=require_tag))
