"""Right or wrong, from the run's own reward: evaluation calls the functions that training paid, no second opinion.

A reward mixes terms; *accuracy* is about the answer alone. Which terms those are, and the three readings of them::

    terms:
      correct: {fn: rewards.math.correct, options: {require_tag: answer}}    the answer: judged
      tag:     {fn: rewards.format.answer_tag, weight: 0.1}                  the form: part of strict

    configured   full marks from the answer's terms, with the options that trained it: the headline accuracy
    strict       and in the asked form: `strict=True` where the function has it, full marks from every format term
    lenient      the answer anywhere: `strict=False, require_tag=None` where the function has them

A run can gain 47 points strict and 17 lenient; then most of what it learnt was the form, and a reader must see that.
"Could not judge" (None) counts as wrong here and is counted by reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

FULL_MARKS = 1.0 - 1e-6
FORMAT_MODULE = "rewards.format."
# Terms about how an answer is written, how long it is, or how it was reached: never what makes it right.
NOT_THE_ANSWER = (FORMAT_MODULE, "rewards.length.", "rewards.control.", "rewards.process.", "rewards.hybrid.", "rewards.language.")


@dataclass(frozen=True)
class Judged:
    """One completion's verdicts. ``scores`` holds applicable terms only; None there means could not judge."""

    correct: bool
    strict: bool
    lenient: bool
    total: float | None
    scores: dict[str, float | None]
    reasons: dict[str, str]
    extracted: dict[str, str | None]
    unjudged: str | None


def plain_terms(terms: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """``reward.terms`` as plain mappings, whether it came as YAML or as the typed schema."""
    return {name: dict(term) if isinstance(term, Mapping) else term.model_dump(exclude_none=True) for name, term in terms.items()}


def answer_terms(terms: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Names of the terms that say whether the answer is right: ``correct`` if there is one, with any that is routed beside it.

    >>> answer_terms({"correct": {"fn": "rewards.math.correct"}, "tag": {"fn": "rewards.format.answer_tag"}})
    ['correct']
    """
    substance = [name for name, term in terms.items() if not term["fn"].startswith(NOT_THE_ANSWER)]
    if "correct" in substance:
        return [name for name in substance if name == "correct" or terms[name].get("when")]
    return substance or list(terms)


def reading(terms: Mapping[str, Mapping[str, Any]], **wanted: Any) -> dict[str, dict[str, Any]]:
    """The answer's terms with ``wanted`` options set where their function has them."""
    changed = {}
    for name in answer_terms(terms):
        term = dict(terms[name])
        has = options_of(term["fn"])
        term["options"] = {**(term.get("options") or {}), **{k: v for k, v in wanted.items() if k in has}}
        changed[name] = {k: v for k, v in term.items() if k != "gate"}
    return changed


def options_of(dotted: str) -> tuple[str, ...]:
    """Names of the keyword-only options of a reward function."""
    from rlvr_cli.rewards_api.contract import read
    from rlvr_cli.rewards_api.resolve import resolve

    return read(resolve(dotted)).options


def judge(
    terms: Mapping[str, Any],
    rows: Sequence[Mapping[str, Any]],
    prompts: Sequence[Any],
    texts: Sequence[str | list[dict[str, Any]]],
    *,
    pool: Mapping[str, Any] | None = None,
    environments: Sequence[Any] | None = None,
) -> list[Judged]:
    """Judge ``texts[i]``, or the messages of several turns, as an answer to ``rows[i]``: configured, strict and lenient.

    ``pool`` is ``reward.pool``: the deadlines. ``environments`` are those that the completions acted in.
    Raises RewardError where a reward breaks its contract.
    """
    terms = plain_terms(terms)
    completions = [as_completion(p, t) for p, t in zip(prompts, texts, strict=True)]
    columns = columns_of(rows)
    extra = {"environments": list(environments)} if environments is not None else None
    configured = scored(terms, prompts, completions, columns, pool, extra)
    answers = answer_terms(terms)
    formats = [name for name, term in terms.items() if term["fn"].startswith(FORMAT_MODULE)]

    def read_as(**wanted: Any) -> list[Scored]:
        other = reading(terms, **wanted)
        same = other == reading(terms)
        return configured if same else scored(other, prompts, completions, columns, pool, extra)

    strict, lenient = read_as(strict=True), read_as(strict=False, require_tag=None)
    return [
        Judged(
            correct=all_full(c, answers),
            strict=all_full(s, answers) and all_full(c, formats, empty=True),
            lenient=all_full(le, answers),
            total=c.total,
            scores=c.scores,
            reasons=c.reasons,
            extracted=c.extracted,
            unjudged=unjudged_reason(c, answers),
        )
        for c, s, le in zip(configured, strict, lenient, strict=True)
    ]


def as_completion(prompt: Any, text: str | list[dict[str, Any]]) -> Any:
    """The form that training hands to rewards: a message list after chat messages, text after text; several turns as they are."""
    return text if isinstance(prompt, str) or not isinstance(text, str) else [{"role": "assistant", "content": text}]


def columns_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Rows as columns; a key that some row lacks is None there. The prompt is handed over apart."""
    names = dict.fromkeys(name for row in rows for name in row if name not in ("prompt", "prompts", "completion", "completions"))
    return {name: [row.get(name) for row in rows] for name in names}


@dataclass(frozen=True)
class Scored:
    """One row under one reading: total, and the scores and reasons of the terms that apply to it."""

    total: float | None
    scores: dict[str, float | None]
    reasons: dict[str, str]
    extracted: dict[str, str | None]


def scored(
    terms: Mapping[str, Any],
    prompts: Sequence[Any],
    completions: Sequence[Any],
    columns: Mapping[str, Sequence[Any]],
    pool: Mapping[str, Any] | None = None,
    extra: Mapping[str, Any] | None = None,
) -> list[Scored]:
    """What the reward's terms say of each row, by the same code that pays in training."""
    from rlvr_cli.rewards_api import bind, compose, score_batch

    if not completions:
        return []
    bound = bind({"terms": terms, **({"pool": pool} if pool else {})})
    results = score_batch(bound, prompts, completions, columns, extra=extra)
    sums = compose(results, bound)
    rows = []
    for i in range(len(completions)):
        here = [name for name in results if sums.applicable[name][i]]
        rows.append(
            Scored(
                total=sums.total[i],
                scores={name: results[name].scores[i] for name in here},
                reasons={name: results[name].reasons[i] for name in here},
                extracted={name: results[name].extracted[i] for name in here},
            )
        )
    return rows


def all_full(row: Scored, names: Sequence[str], *, empty: bool = False) -> bool:
    """Full marks from each of ``names`` that applies to the row; ``empty`` is the answer where none does."""
    applying = [name for name in names if name in row.scores]
    if not applying:
        return empty
    return all(row.scores[name] is not None and row.scores[name] >= FULL_MARKS for name in applying)


def unjudged_reason(row: Scored, names: Sequence[str]) -> str | None:
    """Why the answer could not be judged, or None when it was."""
    applying = [name for name in names if name in row.scores]
    if not applying:
        return "no term of the reward applies to this row"
    return next((f"{name}: {row.reasons[name]}" for name in applying if row.scores[name] is None), None)
