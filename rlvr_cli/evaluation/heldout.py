"""Held-out greedy accuracy: what training asks every ``eval_steps``, and the first half of ``rlvr eval``.

Both use this one function, so the curve of a run and the number of its evaluation are the same measurement::

    held = greedy_accuracy(model, tokenizer, rows, cfg.reward.terms, max_new_tokens=32, batch_size=64, stop_ids=[])
    held.accuracy, held.ci95          -> 0.97, (0.936, 0.986)
    held.samples[0]                   -> {"row_id": ..., "prompt": ..., "completion": ..., "correct": True, ...}
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rlvr_cli.evaluation.generate import Completion, Draw, Sampling, generate
from rlvr_cli.evaluation.intervals import wilson
from rlvr_cli.evaluation.judging import Judged, judge


@dataclass(frozen=True)
class HeldOut:
    """Counts over ``n`` prompts; see :mod:`.judging` for the three readings. ``samples`` has one mapping a prompt.

    called: completions with a tool call in them; None without tools.
    """

    n: int
    correct: int
    strict: int
    lenient: int
    truncated: int
    tokens: int
    called: int | None = None
    unjudged: dict[str, int] = field(default_factory=dict)
    samples: list[dict[str, Any]] = field(default_factory=list)

    @property
    def accuracy(self) -> float:
        """Share right under the reward as it is configured."""
        return self.correct / self.n if self.n else 0.0

    @property
    def ci95(self) -> tuple[float, float]:
        """Wilson's interval of ``accuracy``."""
        return wilson(self.correct, self.n)


def row_id_of(row: Mapping[str, Any], index: int) -> str:
    """The row's own id, or its place in the set."""
    value = row.get("row_id")
    return str(index) if value is None else str(value)


def draws_of(rows: Sequence[Mapping[str, Any]], k: int = 1) -> list[Draw]:
    """``k`` draws a row, a row's draws side by side."""
    return [Draw(row_id_of(row, i), row["prompt"], s) for i, row in enumerate(rows) for s in range(k)]


def sample_record(row: Mapping[str, Any], draw: Draw, completion: Completion, verdict: Judged, kind: str) -> dict[str, Any]:
    """One line of a samples file: what was asked, what came, what was said of it and why; with tools also the turns."""
    turns = {} if completion.messages is None else {"messages": completion.messages, "calls": completion.calls}
    return {
        **turns,
        "row_id": draw.prompt_id,
        "kind": kind,
        "sample": draw.sample,
        "prompt": draw.prompt,
        "completion": completion.text,
        "answer": row.get("answer"),
        "correct": verdict.correct,
        "strict": verdict.strict,
        "lenient": verdict.lenient,
        "total": verdict.total,
        "scores": verdict.scores,
        "reasons": verdict.reasons,
        "extracted": verdict.extracted,
        "unjudged": verdict.unjudged,
        "tokens": completion.tokens,
        "truncated": completion.truncated,
    }


def judged_samples(
    rows: Sequence[Mapping[str, Any]],
    draws: Sequence[Draw],
    completions: Sequence[Completion],
    terms: Mapping[str, Any],
    *,
    kind: str,
    pool: Mapping[str, Any] | None = None,
) -> list[dict[str, Any]]:
    """Records of completions, in order; ``rows[i]`` is the row of ``draws[i]``."""
    acted = [c.environment for c in completions] if any(c.environment is not None for c in completions) else None
    answers = [c.text if c.messages is None else c.messages for c in completions]
    verdicts = judge(terms, rows, [d.prompt for d in draws], answers, pool=pool, environments=acted)
    return [sample_record(*each, kind) for each in zip(rows, draws, completions, verdicts, strict=True)]


def held_out_of(samples: Sequence[Mapping[str, Any]]) -> HeldOut:
    """Counts of greedy records."""
    count = {key: sum(bool(s[key]) for s in samples) for key in ("correct", "strict", "lenient", "truncated")}
    return HeldOut(
        n=len(samples),
        **count,
        tokens=sum(s["tokens"] for s in samples),
        called=sum(s["calls"] > 0 for s in samples) if samples and "calls" in samples[0] else None,
        unjudged=dict(Counter(s["unjudged"] for s in samples if s["unjudged"])),
        samples=list(samples),
    )


def greedy_accuracy(
    model: Any,
    tokenizer: Any,
    rows: Sequence[Mapping[str, Any]],
    terms: Mapping[str, Any],
    *,
    max_new_tokens: int,
    batch_size: int = 64,
    stop_ids: Iterable[int] = (),
    repetition_penalty: float = 1.0,
    pool: Mapping[str, Any] | None = None,
    on_batch: Callable[[int, int], None] | None = None,
) -> HeldOut:
    """Answer every row greedily with ``model`` and judge it with the reward's ``terms`` (``reward.terms``, typed or plain)."""
    draws = draws_of(rows)
    sampling = Sampling(max_new_tokens, greedy=True, stop_ids=tuple(stop_ids), repetition_penalty=repetition_penalty)
    completions = generate(model, tokenizer, draws, sampling, batch_size=batch_size, on_batch=on_batch)
    return held_out_of(judged_samples(rows, draws, completions, terms, kind="greedy", pool=pool))
