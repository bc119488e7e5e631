"""Terms that compare a completion with its group, and so can only run when the whole group is in one place.

A trainer's ranks each hold a slice, and a group may be cut in two by it. So a step is: every rank calls
:func:`~rlvr_cli.rewards_api.score.score_local` on its slice; the results, lengths and columns are gathered and joined
with :func:`concat`; then :func:`~rlvr_cli.rewards_api.score.score_group` runs on all rows, the same on every rank.

What ``correct`` means there, row by row, the first of these that applies to the row: the term named by the term's own
``correct`` key; else its ``gate``; else the term called ``correct``; else the other local terms in the order of the
file. Full marks are "right".

>>> consecutive_groups(6, 3)
[0, 0, 0, 1, 1, 1]
>>> groups_by_prompt(["a", "b", "a"])
[0, 1, 0]
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from rlvr_cli.rewards_api.bind import BoundTerm
from rlvr_cli.rewards_api.call import TermResult
from rlvr_cli.rewards_api.compose import applicability


def local_terms(terms: Sequence[BoundTerm]) -> list[BoundTerm]:
    """Terms that judge a row by itself."""
    return [term for term in terms if not term.group_relative]


def group_terms(terms: Sequence[BoundTerm]) -> list[BoundTerm]:
    """Terms that need the whole group."""
    return [term for term in terms if term.group_relative]


def consecutive_groups(n: int, num_generations: int) -> list[int]:
    """Group ids of TRL's gathered order: each prompt's G completions stand together."""
    return [i // num_generations for i in range(n)]


def groups_by_prompt(prompts: Sequence[Any]) -> list[int]:
    """Group ids where rows of the same prompt are one group, wherever they stand."""
    seen: dict[str, int] = {}
    keys = [prompt if isinstance(prompt, str) else json.dumps(prompt, sort_keys=True, default=str) for prompt in prompts]
    return [seen.setdefault(key, len(seen)) for key in keys]


def concat(parts: Sequence[Mapping[str, TermResult]]) -> dict[str, TermResult]:
    """The ranks' results of the same terms, joined in rank order."""
    joined = {}
    for name in parts[0]:
        pieces = [part[name] for part in parts]
        joined[name] = TermResult(
            *([v for piece in pieces for v in getattr(piece, key)] for key in ("scores", "reasons", "extracted", "applicable"))
        )
    return joined


def correct_of(term: BoundTerm, terms: Sequence[BoundTerm], results: Mapping[str, TermResult]) -> tuple[list[float | None], list[bool]]:
    """``(correct, applies)`` a row: the score that says how right it is, and whether any term says so at all."""
    named = term.correct or term.gate
    local = [t.name for t in local_terms(terms)]
    candidates = [named] if named else sorted(local, key=lambda name: name != "correct")
    n = max((len(result) for result in results.values()), default=0)
    correct: list[float | None] = [None] * n
    applies = [False] * n
    known = applicability(results, [t for t in terms if t.name in results])
    for i in range(n):
        for name in candidates:
            if name in known and known[name][i]:
                correct[i], applies[i] = results[name].scores[i], True
                break
    return correct, applies
