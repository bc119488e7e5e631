"""Two models on the same prompts: how far apart, how sure, and could chance alone have done it.

Pairing matters: two models that are each right on half the prompts can agree everywhere or nowhere. Only the prompts
where they differ say anything, so the test is McNemar's, exact, and the interval is of the paired difference::

    paired([True, False, False], [True, True, True])
    -> {"diff": 0.667, "ci95": [...], "p": 0.5, "gained": 2, "lost": 0, "n": 3}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rlvr_cli.evaluation.intervals import mcnemar_exact, paired_difference

READINGS = ("correct", "strict", "lenient")


def paired(before: Sequence[bool], after: Sequence[bool]) -> dict[str, Any]:
    """Difference ``after - before`` on the same prompts, its 95% interval and the exact two-sided p."""
    if len(before) != len(after):
        raise ValueError(f"{len(before)} and {len(after)} verdicts are not on the same prompts")
    lost = sum(b and not a for b, a in zip(before, after, strict=True))
    gained = sum(a and not b for b, a in zip(before, after, strict=True))
    diff, low, high = paired_difference(lost, gained, len(before))
    return {"diff": diff, "ci95": [low, high], "p": mcnemar_exact(lost, gained), "gained": gained, "lost": lost, "n": len(before)}


def compare(before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Greedy records of two models, matched by row id: the headline reading, and strict and lenient beneath it."""
    earlier = {s["row_id"]: s for s in before}
    pairs = [(earlier[s["row_id"]], s) for s in after if s["row_id"] in earlier]
    by_reading = {key: paired([b[key] for b, _ in pairs], [a[key] for _, a in pairs]) for key in READINGS}
    return {**by_reading["correct"], "strict": by_reading["strict"], "lenient": by_reading["lenient"]}


def sentence(result: Mapping[str, Any]) -> str:
    """The comparison as a person says it."""
    low, high = result["ci95"]
    diff, p = result["diff"], result["p"]
    moved = f"{100 * diff:+.1f} points [{100 * low:+.1f}, {100 * high:+.1f}]"
    sure = "chance alone would rarely do this" if p < 0.05 else "chance alone could do this"
    shown = "p < 0.0001" if p < 1e-4 else f"p = {p:.2g}"
    return f"{moved} on the same {result['n']} prompts ({result['gained']} gained, {result['lost']} lost; McNemar exact {shown}: {sure})"
