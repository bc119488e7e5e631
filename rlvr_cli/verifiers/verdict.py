"""The verdict, and the bridge from a judge of one completion to a reward of a batch.

Three outcomes: a number (right, wrong or in between), ``None`` (could not judge: the gold is unreadable, the
infrastructure failed, our own deadline passed). The fourth, "not applicable", is no verdict: the term is routed away.

>>> def judge(completion, row, *, strict=False):
...     same = text_of(completion).strip() == row["answer"]
...     return Verdict(float(same), "same text" if same else "differs", text_of(completion))
>>> scores = pay(judge, completions=["4", [{"role": "assistant", "content": "5"}]], rows=rows_of(2, answer=["4", "4"]))
>>> scores, scores.verdicts[1].reason
([1.0, 0.0], 'differs')
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

Completion = str | Sequence[dict[str, Any]]


@dataclass(frozen=True)
class Verdict:
    """What a verifier says of one completion.

    score: full marks are 1.0, none 0.0; ``None`` means could not judge, and the row never trains.
    reason: short and true, for a person who reads the log ("gold 12, answer 13").
    extracted: the text that was judged, or None where no answer was found.
    """

    score: float | None
    reason: str
    extracted: str | None = None


class Scores(list):
    """A plain ``list[float | None]`` that still knows the verdicts behind it, so that reasons reach the logs."""

    def __init__(self, verdicts: Iterable[Verdict]):
        self.verdicts = list(verdicts)
        super().__init__(v.score for v in self.verdicts)


def text_of(completion: Completion) -> str:
    """The text of a completion: a string as it is, or the assistant turns of a message list joined."""
    if isinstance(completion, str):
        return completion
    parts = []
    for message in completion or ():
        if message.get("role", "assistant") != "assistant":
            continue
        content = message.get("content") or ""
        if not isinstance(content, str):  # content blocks: [{"type": "text", "text": "..."}]
            content = "".join(block.get("text", "") for block in content if isinstance(block, dict))
        thought = message.get("reasoning_content")  # a chat parser takes the thinking out of the text; a verifier wants it back in
        parts.append(f"<think>{thought}</think>{content}" if isinstance(thought, str) else content)
    return "\n".join(parts)


def rows_of(n: int, **columns: Sequence[Any] | None) -> list[dict[str, Any]]:
    """Columns to rows: ``n`` dictionaries. A column that is None is left out of every row.

    Raises ValueError when a column's length is not ``n``: a reward that zipped it would judge the wrong rows.
    """
    for name, values in columns.items():
        if values is not None and len(values) != n:
            raise ValueError(f"column {name!r} has {len(values)} values for {n} completions")
    present = {name: values for name, values in columns.items() if values is not None}
    return [{name: values[i] for name, values in present.items()} for i in range(n)]


def pay(judge: Callable[..., Verdict], completions: Sequence[Completion], rows: Sequence[dict[str, Any]], **options: Any) -> Scores:
    """Judge each completion in order, in this process. Right for verifiers that always end quickly."""
    return Scores(judge(completion, row, **options) for completion, row in zip(completions, rows, strict=True))
