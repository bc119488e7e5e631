"""Two policies measured on the same rows: what got better, what held, what was lost, each with a paired interval.

Shares (accuracy, format, replies) by the interval of a paired difference (Agresti and Min 2005), means (loss, learned
reward) by a bootstrap over rows. A metric *held* when the interval of its change does not lie wholly on the bad side::

    >>> compared("accuracy", {"a": 1.0, "b": 0.0, "c": 0.0}, {"a": 1.0, "b": 1.0, "c": 1.0})["verdict"]
    'same'
    >>> compared("accuracy", {str(i): 0.0 for i in range(20)}, {str(i): 1.0 for i in range(20)})["verdict"]
    'better'
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from rlvr_cli.evaluation.intervals import paired_difference, wilson

Values = Mapping[str, Any]
SHARES = ("accuracy", "format", "replies")
DOWN = ("general",)  # metrics of which less is better
DRAWS = 1000


def read(file: Path, learned: Mapping[str, float] | None = None) -> dict[str, dict[str, Any]]:
    """Each metric's values by row of one ``judged/LABEL.jsonl``; ``general`` is (nats, tokens) a text."""
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    tasks = [row for row in rows if row["set"].startswith("task:")]
    named = {f"{row['set']}/{row['row_id']}": row for row in tasks}
    return {
        "accuracy": {key: float(row["right"]) for key, row in named.items()},
        "format": {key: float(row["form"]) for key, row in named.items()},
        "length": {key: float(row["tokens"]) for key, row in named.items()},
        "replies": {row["row_id"]: float(row["right"]) for row in rows if row["set"] == "prompts"},
        "refused": {row["row_id"]: float(row["right"]) for row in rows if row["set"] == "prompts" and row["refuse"]},
        "general": {row["row_id"]: (row["nll"], row["tokens"]) for row in rows if row["set"] == "text"},
        "learned": dict(learned or {}),
    }


def summarised(values: Mapping[str, Values]) -> dict[str, Any]:
    """One policy's numbers, each share with its interval and n."""
    told: dict[str, Any] = {name: share(values[name]) for name in (*SHARES, "refused")}
    told["tasks"] = {task: share(rows) for task, rows in by_task(values["accuracy"]).items()}
    told["mean_tokens"] = round(fmean(values["length"].values()), 2) if values["length"] else None
    loss = ratio(list(values["general"].values()))
    told["general_loss"] = None if loss is None else round(loss, 4)
    told["perplexity"] = None if loss is None else round(math.exp(min(loss, 50.0)), 3)
    told["learned"] = round(fmean(values["learned"].values()), 4) if values["learned"] else None
    return told


def share(rows: Values) -> dict[str, Any] | None:
    """A share with Wilson's interval; None without rows."""
    if not rows:
        return None
    right = round(sum(rows.values()))
    return {"share": right / len(rows), "ci95": list(wilson(right, len(rows))), "n": len(rows)}


def by_task(rows: Values) -> dict[str, dict[str, float]]:
    """Rows of each task by its name."""
    found: dict[str, dict[str, float]] = {}
    for key, value in rows.items():
        found.setdefault(key.split("/", 1)[0].removeprefix("task:"), {})[key] = value
    return found


def ratio(pairs: Sequence[tuple[float, int]]) -> float | None:
    """Nats a token over all texts."""
    tokens = sum(count for _, count in pairs)
    return sum(nll for nll, _ in pairs) / tokens if tokens else None


def compared(metric: str, before: Values, after: Values) -> dict[str, Any] | None:
    """The change of one metric on the rows that both have: ``diff``, ``ci95``, and ``better``, ``same`` or ``worse``."""
    keys = [key for key in after if key in before]
    if not keys:
        return None
    pairs = [(before[key], after[key]) for key in keys]
    diff, low, high = of_shares(pairs) if metric in SHARES else of_losses(pairs) if metric in DOWN else of_means(pairs)
    good = (-high, -low) if metric in DOWN else (low, high)
    verdict = "better" if good[0] > 0 else "worse" if good[1] < 0 else "same"
    moved = -diff if metric in DOWN else diff
    return {"diff": round(diff, 5), "ci95": [round(low, 5), round(high, 5)], "n": len(keys), "verdict": verdict, "improved": moved > 0}


def of_shares(pairs: Sequence[tuple[float, float]]) -> tuple[float, float, float]:
    """Paired difference of two shares."""
    lost, gained = sum(b > a for b, a in pairs), sum(a > b for b, a in pairs)
    return paired_difference(lost, gained, len(pairs))


def of_means(pairs: Sequence[tuple[float, float]]) -> tuple[float, float, float]:
    """Difference of two means, bootstrapped over rows."""
    return bootstrapped(pairs, lambda chosen: fmean(a - b for b, a in chosen))


def of_losses(pairs: Sequence[Any]) -> tuple[float, float, float]:
    """Difference of two losses in nats a token, bootstrapped over texts."""
    return bootstrapped(pairs, lambda chosen: (ratio([a for _, a in chosen]) or 0.0) - (ratio([b for b, _ in chosen]) or 0.0))


def bootstrapped(pairs: Sequence[Any], statistic: Callable[[Sequence[Any]], float]) -> tuple[float, float, float]:
    """A statistic with its percentile interval (95%), seeded."""
    rng = random.Random(0)
    drawn = sorted(statistic(rng.choices(pairs, k=len(pairs))) for _ in range(DRAWS))
    return statistic(pairs), drawn[int(0.025 * DRAWS)], drawn[min(DRAWS - 1, int(0.975 * DRAWS))]


def verdict(improves: str, before: Mapping[str, Values], after: Mapping[str, Values]) -> dict[str, Any]:
    """A stage's verdict: did its named metric improve, and which of the others were lost beyond their interval."""
    changes = {name: compared(name, before[name], after[name]) for name in (*SHARES, "general", "learned")}
    named = changes.get(improves)
    lost = [name for name, change in changes.items() if name != improves and change and change["verdict"] == "worse"]
    return {
        "improves": improves,
        "improved": bool(named and named["improved"] and named["verdict"] != "worse"),
        "sure": bool(named and named["verdict"] == "better"),
        "lost": lost,
        "held": not lost,
        "changes": changes,
    }
