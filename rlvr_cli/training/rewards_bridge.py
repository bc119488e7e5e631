"""From TRL's batch of completions to a matrix of rewards, the same on every rank, and the verdicts for the log.

A step's rewards go: each rank judges its slice with all row-wise terms side by side; slices, or the error of the rank
whose reward broke, are gathered, so that one broken reward ends all ranks at once instead of leaving them in a
collective; then group-relative terms see whole groups. A row that any applicable term could not judge is NaN in every
column: TRL leaves it out of its group's mean and deviation and gives it advantage 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from rlvr_cli import rewards_api as api
from rlvr_cli.errors import RlvrError, TrainingError

NOT_COLUMNS = ("prompt", "completion", "completion_ids", "rlvr_row")


@dataclass
class Scored:
    """All rows of all ranks, in rank order. ``matrix``: [rows, terms] of unweighted scores, NaN where left out or not applicable."""

    results: dict[str, api.TermResult]
    matrix: Any
    answers: list[Any]
    unjudged: dict[str, int] = field(default_factory=dict)
    left_out: int = 0

    def term_means(self) -> dict[str, float | None]:
        """Mean raw score of each term over the rows it applies to and could judge."""
        return {name: mean_of([s for s in result.scores if s is not None]) for name, result in self.results.items()}


def mean_of(values: Sequence[float]) -> float | None:
    """The mean, or None of nothing."""
    return sum(values) / len(values) if values else None


class RewardBridge:
    """The bound terms of a run, ready to score TRL's batches."""

    def __init__(self, terms: Sequence[api.BoundTerm], *, unjudged_stop_share: float):
        self.terms = list(terms)
        self.stop_share = unjudged_stop_share

    def functions(self) -> list[Any]:
        """One callable a term for TRL, which reads their names; scoring itself goes through :meth:`score`."""
        return [as_function(term) for term in self.terms]

    def score(
        self,
        inputs: list[dict[str, Any]],
        prompts: list[Any],
        completions: list[Any],
        num_generations: int,
        extra: dict[str, Any],
        known: Sequence[Any] | None = None,
    ) -> Scored:
        """Score the local rows, gather, finish. Raises the RewardError of whichever rank broke, on every rank.

        known: what terms have said of each local row already (:mod:`.ahead`).
        """
        columns = {k: [row.get(k) for row in inputs] for k in inputs[0] if k not in NOT_COLUMNS}
        share: dict[str, Any] = {"answers": columns.get("answer") or [None] * len(inputs)}
        if api.group_terms(self.terms):
            share |= {"prompts": prompts, "completions": completions, "columns": columns, "ids": extra.get("completion_ids")}
        try:
            share["results"] = api.score_local(self.terms, prompts, completions, columns, extra=extra, known=known)
        except RlvrError as error:
            share["error"] = error
        parts = gather(share)
        broken = next((part["error"] for part in parts if "error" in part), None)
        if broken is not None:
            raise broken
        results = self.whole_groups(parts, num_generations, extra)
        return self.judged(results, [a for part in parts for a in part["answers"]])

    def whole_groups(self, parts: list[dict[str, Any]], num_generations: int, extra: dict[str, Any]) -> dict[str, api.TermResult]:
        """Results of all rows, group-relative terms included."""
        results = api.concat([part["results"] for part in parts])
        if not api.group_terms(self.terms):
            return results
        prompts = [p for part in parts for p in part["prompts"]]
        completions = [c for part in parts for c in part["completions"]]
        columns = {name: [v for part in parts for v in part["columns"][name]] for name in parts[0]["columns"]}
        groups = api.consecutive_groups(len(prompts), num_generations)
        extra = {**extra, "completion_ids": [i for part in parts for i in part["ids"] or []]}
        return api.score_group(self.terms, results, prompts, completions, columns, group_id=groups, extra=extra)

    def judged(self, results: dict[str, api.TermResult], answers: list[Any]) -> Scored:
        """The matrix, and the stop when too many rows could not be judged."""
        import numpy as np

        composed = api.compose(results, self.terms)
        values, _ = api.as_matrix(results, self.terms, not_applicable=float("nan"))
        for column, term in enumerate(self.terms):
            if term.weight:  # TRL multiplies by the weight itself
                values[:, column] /= term.weight
        left_out = sum(total is None for total in composed.total)
        self.stop_when_blind(left_out, len(composed.total), composed.unjudged)
        return Scored(results, np.asarray(values, dtype=np.float32), answers, composed.unjudged, left_out)

    def with_groups(self, base: Scored, other: Scored, pairs: Sequence[tuple[int, int]], num_generations: int) -> Scored:
        """``base`` with group ``a`` replaced by ``other``'s group ``b``, for each (a, b): the batch as if it had been so from the start."""
        source = [(base, row) for row in range(len(base.answers))]
        for a, b in pairs:
            for j in range(num_generations):
                source[a * num_generations + j] = (other, b * num_generations + j)
        keys = ("scores", "reasons", "extracted", "applicable")
        results = {
            name: api.TermResult(*([getattr(part.results[name], key)[row] for part, row in source] for key in keys))
            for name in base.results
        }
        return self.judged(results, [part.answers[row] for part, row in source])

    def stop_when_blind(self, left_out: int, rows: int, why: dict[str, int]) -> None:
        """Training on the rows that happen to be judged would be training on something else than asked."""
        if rows and left_out / rows > self.stop_share:
            reason, count = max(why.items(), key=lambda item: item[1])
            raise TrainingError(
                f"{left_out} of {rows} completions could not be judged, mostly ({count}) because: {reason}",
                where="reward.unjudged_stop_share",
                fix=f"rlvr check, or reward.unjudged_stop_share={min(1.0, left_out / rows + 0.05):.2f}",
            )


def gather(item: dict[str, Any]) -> list[dict[str, Any]]:
    """``item`` of every rank, in rank order."""
    from accelerate.utils import gather_object

    return gather_object([item])


def as_function(term: api.BoundTerm) -> Any:
    """A TRL reward function of one term: named, and callable by itself."""

    def reward(prompts: list[Any], completions: list[Any], **columns: Any) -> list[float | None]:
        return term.call(prompts, completions, columns).scores

    reward.__name__ = term.name
    return reward
