"""Training rows that an evaluation set gives away: the same question after normalisation, or a long run of words in common.

A run of n tokens (13 by default, as is usual) that stands in a held-out question and in a training row is a match, unless the
run is part of a template: runs that more than ``common`` of the training rows share are left out, and said. A held-out
question shorter than n tokens is only matched whole.

>>> held = [{"prompt": "Mia has 12 apples and gives 5 of them to Ben. How many are left over?"}]
>>> train = [{"prompt": "MIA has 12 apples, and gives 5 of them to Ben! How many are left over"}, {"prompt": "1+1=?"}]
>>> matches, _ = find_matches(train, {"held": held}, n=13, column="prompt", against_column="prompt")
>>> [(m.row, m.kind, m.source, m.held_row) for m in matches]
[(0, 'the same text', 'held', 0)]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rlvr_cli.data.files import progressing, text_in
from rlvr_cli.data.normal import ngrams, normal, tokens

Row = dict[str, Any]
MIN_TEMPLATE_ROWS = 10  # in a small file a run shared by a handful of rows is still a leak


@dataclass(frozen=True)
class Match:
    """A training row that gives a held-out row away. ``share``: of the held-out question's runs that it has, 0 to 1."""

    row: int
    source: str
    held_row: int
    kind: str
    share: float
    text: str


@dataclass
class HeldOut:
    """The held-out questions, indexed for look-up: whole texts, and each run of n tokens."""

    whole: dict[str, tuple[str, int]]
    runs: dict[tuple[str, ...], list[tuple[str, int]]]
    count: dict[tuple[str, int], int]


def index(sets: Mapping[str, Sequence[Row]], n: int, column: str) -> HeldOut:
    """All held-out questions by whole text and by run."""
    held = HeldOut({}, {}, {})
    for source, rows in sets.items():
        for number, row in enumerate(rows):
            text = text_in(row.get(column))
            if not text.strip():
                continue
            held.whole.setdefault(normal(text), (source, number))
            runs = set(ngrams(tokens(text), n))
            held.count[(source, number)] = len(runs)
            for run in runs:
                held.runs.setdefault(run, []).append((source, number))
    return held


def find_matches(
    rows: Sequence[Row],
    sets: Mapping[str, Sequence[Row]],
    *,
    n: int = 13,
    column: str,
    against_column: str,
    share: float = 0.0,
    common: float = 0.01,
) -> tuple[list[Match], int]:
    """(matches in the order of the rows, number of template runs left out).

    share: least part of a held-out question's runs that a training row must have; 0 takes one run as enough.
    """
    held = index(sets, n, against_column)
    found = [set(ngrams(tokens(text_in(row.get(column))), n)) & held.runs.keys() for row in progressing(rows, "decontaminate")]
    spread = Counter(run for runs in found for run in runs)
    template = {run for run, times in spread.items() if times > max(MIN_TEMPLATE_ROWS, common * len(rows))}
    matches = []
    for number, (row, runs) in enumerate(zip(rows, found, strict=True)):
        match = _match(number, text_in(row.get(column)), runs - template, held, share)
        if match:
            matches.append(match)
    return matches, len(template)


def _match(number: int, text: str, runs: set[tuple[str, ...]], held: HeldOut, share: float) -> Match | None:
    """The strongest match of one row, or None."""
    if (same := held.whole.get(normal(text))) is not None:
        return Match(number, *same, "the same text", 1.0, normal(text)[:120])
    hits = Counter(place for run in runs for place in held.runs[run])
    if not hits:
        return None
    place, most = max(hits.items(), key=lambda item: (item[1] / held.count[item[0]], item[0]))
    part = most / held.count[place]
    if part < share:
        return None
    run = next(run for run in sorted(runs) if place in held.runs[run])
    return Match(number, *place, f"a run of {len(run)} tokens", round(part, 3), " ".join(run))
