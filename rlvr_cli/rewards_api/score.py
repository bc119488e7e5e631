"""All terms of a reward on one batch, side by side.

``score_batch`` is for one process that holds whole groups (``rlvr score``, evaluation, a single rank); a trainer with
several ranks calls ``score_local`` on its slice, gathers, then ``score_group`` (see :mod:`.group_terms`).
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

from rlvr_cli.rewards_api.bind import BoundTerm
from rlvr_cli.rewards_api.call import TermResult
from rlvr_cli.rewards_api.group_terms import correct_of, group_terms, groups_by_prompt, local_terms
from rlvr_cli.verifiers.verdict import Completion

Columns = Mapping[str, Sequence[Any]]
Said = tuple[float | None, str, str | None]  # score, reason, extracted


def score_local(
    terms: Sequence[BoundTerm],
    prompts: Sequence[Any] | None,
    completions: Sequence[Completion],
    columns: Columns,
    *,
    extra: Mapping[str, Any] | None = None,
    known: Sequence[Mapping[str, Said]] | None = None,
) -> dict[str, TermResult]:
    """The terms that judge a row by itself, each in its own thread. Raises the RewardError of the first term, in order, that broke.

    known: for each row what terms have said of it already, by name; they are not asked again.
    """
    mine = local_terms(terms)
    outcomes: dict[str, Any] = {}

    def judged(term: BoundTerm) -> TermResult:
        said = {i: row[term.name] for i, row in enumerate(known or ()) if term.name in row}
        only = [i not in said for i in range(len(completions))] if said else None
        result = term.call(prompts, completions, columns, extra=extra, only=only)
        for i, verdict in said.items():
            result.put(i, *verdict)
        return result

    def work(term: BoundTerm) -> None:
        try:
            outcomes[term.name] = judged(term)
        except BaseException as error:
            outcomes[term.name] = error

    threads = [threading.Thread(target=work, args=(term,), daemon=True, name=f"rlvr-term-{term.name}") for term in mine]
    for thread in threads:
        thread.start()
    for thread in threads:  # each call has a deadline of its own, so this ends
        thread.join()
    for term in mine:
        if isinstance(outcomes[term.name], BaseException):
            raise outcomes[term.name]
    return {term.name: outcomes[term.name] for term in mine}


def score_group(
    terms: Sequence[BoundTerm],
    results: Mapping[str, TermResult],
    prompts: Sequence[Any] | None,
    completions: Sequence[Completion],
    columns: Columns,
    *,
    group_id: Sequence[Any],
    correct: Sequence[float | bool | None] | None = None,
    extra: Mapping[str, Any] | None = None,
) -> dict[str, TermResult]:
    """The group-relative terms, on all rows of all ranks; returned together with ``results``, in the order of ``terms``.

    A row whose ``correct`` could not be judged is left out of its group here too: it shortens nobody's L_max.
    ``correct`` overrides what the local terms say (labelled data with a column of that name).
    """
    both = dict(results)
    for term in group_terms(terms):
        right, applies = (list(correct), [True] * len(completions)) if correct is not None else correct_of(term, terms, results)
        judged = [a and r is not None for a, r in zip(applies, right, strict=True)]
        given = {**(extra or {}), "group_id": list(group_id), "correct": right}
        result = term.call(prompts, completions, columns, extra=given, only=judged)
        for i, routed in enumerate(term.applies(columns, len(completions))):
            if routed and applies[i] and right[i] is None:
                result.put(i, None, "whether the answer is right could not be judged", None)
        both[term.name] = result
    return {term.name: both[term.name] for term in terms if term.name in both}


def score_batch(
    terms: Sequence[BoundTerm],
    prompts: Sequence[Any] | None,
    completions: Sequence[Completion],
    columns: Columns,
    *,
    extra: Mapping[str, Any] | None = None,
    group_id: Sequence[Any] | None = None,
    correct: Sequence[float | bool | None] | None = None,
) -> dict[str, TermResult]:
    """Every term's result by name. ``group_id`` None groups rows of the same prompt; without prompts all rows are one group."""
    if not completions:
        return {term.name: TermResult.empty(0) for term in terms}
    results = score_local(terms, prompts, completions, columns, extra=extra)
    if not group_terms(terms):
        return results
    groups = group_id if group_id is not None else groups_by_prompt(prompts if prompts is not None else [""] * len(completions))
    return score_group(terms, results, prompts, completions, columns, group_id=groups, correct=correct, extra=extra)
