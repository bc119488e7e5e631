"""Records of one model to the numbers of ``summary.json``; no clock and no path in it, so equal runs give equal files.

The whole shape::

    {"n": 200,
     "greedy": {"accuracy": 0.97, "ci95": [0.936, 0.986], "correct": 194,
                "strict": 0.97, "strict_ci95": [...], "lenient": 0.975, "lenient_ci95": [...], "truncated": 0.0},
     "k": 8, "mean_at_k": 0.89, "mean_at_k_ci95": [...],
     "pass_at_k": {"1": 0.89, "2": 0.95, "4": 0.98, "8": 0.99}, "pass_at_k_ci95": {"1": [...], ...},
     "truncated": 0.01, "mean_tokens": 24.1, "unjudged": {"count": 0, "reasons": {}},
     "baseline": {"checkpoint": ..., the same keys}, "paired": {"diff", "ci95", "p", "gained", "lost", ...},
     "settings": {"checkpoint", "dataset", "seed", "temperature", ...}}
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from rlvr_cli.evaluation.intervals import share_or_bootstrap, wilson
from rlvr_cli.evaluation.pass_at_k import pass_at_k_table

Samples = Sequence[Mapping[str, Any]]


def share(samples: Samples, key: str) -> float:
    """Share of records where ``key`` holds."""
    return sum(bool(s[key]) for s in samples) / len(samples) if samples else 0.0


def greedy_block(samples: Samples) -> dict[str, Any]:
    """Accuracy in its three readings, each with Wilson's interval."""
    n = len(samples)
    block: dict[str, Any] = {}
    for key, name in (("correct", "accuracy"), ("strict", "strict"), ("lenient", "lenient")):
        right = sum(bool(s[key]) for s in samples)
        block[name] = right / n if n else 0.0
        block["ci95" if key == "correct" else f"{name}_ci95"] = list(wilson(right, n))
    return {**block, "correct": sum(bool(s["correct"]) for s in samples), "truncated": share(samples, "truncated")}


def sampled_block(samples: Samples, *, seed: int) -> dict[str, Any]:
    """mean@k and pass@k for powers of two, with intervals over prompts."""
    by_row: dict[str, list[bool]] = defaultdict(list)
    for sample in samples:
        by_row[sample["row_id"]].append(bool(sample["correct"]))
    k = len(next(iter(by_row.values())))
    rights = [sum(v) for v in by_row.values()]
    table = pass_at_k_table(rights, n=k, seed=seed)
    return {
        "k": k,
        "mean_at_k": fmean(r / k for r in rights),
        "mean_at_k_ci95": list(share_or_bootstrap([r / k for r in rights], seed=seed)),
        "pass_at_k": {name: entry["value"] for name, entry in table.items()},
        "pass_at_k_ci95": {name: entry["ci95"] for name, entry in table.items()},
    }


def tools_block(samples: Samples) -> dict[str, Any]:
    """How often tools were called: the share of completions with a call, and calls a completion."""
    called = sum(s["calls"] > 0 for s in samples)
    rate = {"call_rate": called / len(samples), "call_rate_ci95": list(wilson(called, len(samples)))}
    return {"tools": {**rate, "calls": fmean(s["calls"] for s in samples)}}


def summarise(samples: Samples, *, seed: int) -> dict[str, Any]:
    """The numbers of one model's records, greedy and sampled together."""
    greedy = [s for s in samples if s["kind"] == "greedy"]
    sampled = [s for s in samples if s["kind"] == "sample"]
    unjudged = Counter(s["unjudged"] for s in samples if s["unjudged"])
    return {
        "n": len({s["row_id"] for s in samples}),
        "greedy": greedy_block(greedy) if greedy else None,
        **(sampled_block(sampled, seed=seed) if sampled else {"k": 0, "mean_at_k": None, "pass_at_k": {}}),
        "truncated": share(samples, "truncated"),
        "mean_tokens": fmean(s["tokens"] for s in samples) if samples else 0.0,
        **(tools_block(samples) if samples and "calls" in samples[0] else {}),
        "unjudged": {"count": sum(unjudged.values()), "reasons": dict(unjudged.most_common())},
    }
