"""YAML to bound terms: each term of ``reward.terms`` with its function, its options and its place in the sum.

``bind`` is called by ``rlvr check`` in the parent and again by every rank on the same frozen file; all that can be
wrong with a term is said here, before a model loads.

>>> [term] = bind({"terms": {"tag": {"fn": "rewards.format.answer_tag", "weight": 0.2, "when": {"kind": "math"}}}}, columns=["kind"])
>>> term.name, term.weight, term.group_relative, term.required_columns
('tag', 0.2, False, ('kind',))
>>> term.call(["q", "q"], ["<answer>4</answer>", "4"], {"kind": ["math", "sql"]}).scores
[1.0, None]
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from rlvr_cli.config.nearest import nearest
from rlvr_cli.config.schema import Config, Pool, Reward, Term
from rlvr_cli.errors import ConfigError, RewardError
from rlvr_cli.rewards_api import contract, routing
from rlvr_cli.rewards_api.call import TermResult, checked, scores_of
from rlvr_cli.rewards_api.resolve import resolve
from rlvr_cli.verifiers.verdict import Completion

BATCH_BASE_S = 30.0


@dataclass(frozen=True)
class BoundTerm:
    """One named reward, ready to call."""

    name: str
    dotted: str
    fn: Callable
    needs: contract.Needs
    options: dict[str, Any] = field(default_factory=dict)
    weight: float = 1.0
    gate: str | None = None
    cap: float | None = None
    when: routing.When = None
    correct: str | None = None
    row_timeout_s: float = 5.0
    batch_timeout_s: float | None = None

    @property
    def group_relative(self) -> bool:
        """True where the function must see its whole group: it runs after the gather over ranks."""
        return self.needs.group_relative

    @property
    def required_columns(self) -> tuple[str, ...]:
        """Columns without which the term can not be called, those of ``when`` included."""
        return tuple(dict.fromkeys((*self.needs.required_columns, *routing.columns_of(self.when))))

    @property
    def gold_completion(self) -> Callable[[dict[str, Any]], str | None] | None:
        """``row -> a perfect answer`` of the function's module, or None where it has none."""
        module = sys.modules.get(getattr(_unwrapped(self.fn), "__module__", "") or "")
        return getattr(module, "gold_completion", None)

    @property
    def loads_model(self) -> str | None:
        """The option that names a model which the function loads, as it says itself (``loads_model``), or None."""
        return getattr(_unwrapped(self.fn), "loads_model", None)

    @property
    def judges_ahead(self) -> bool:
        """May it judge some rows before the others are drawn? As the function says itself (``judge_ahead``): each row alone decides its
        score, and the trainer gives it nothing but prompts, completions and columns."""
        alone = not self.group_relative and not set(self.needs.given) - {"prompts", "completions"}
        return alone and getattr(_unwrapped(self.fn), "judge_ahead", False)

    def deadline_s(self, n: int) -> float:
        """Seconds that a batch of ``n`` rows may take."""
        return self.batch_timeout_s if self.batch_timeout_s is not None else BATCH_BASE_S + self.row_timeout_s * n

    def applies(self, columns: Mapping[str, Sequence[Any]], n: int) -> list[bool]:
        """For each row: is this term routed to it?"""
        return routing.rows_for(self.when, columns, n)

    def call(
        self,
        prompts: Sequence[Any] | None,
        completions: Sequence[Completion],
        columns: Mapping[str, Sequence[Any]],
        *,
        extra: Mapping[str, Any] | None = None,
        only: Sequence[bool] | None = None,
    ) -> TermResult:
        """Judge the applicable rows. ``extra``: what the trainer gives beside columns. ``only`` narrows the rows further.

        Raises RewardError, one line, when the function breaks its contract.
        """
        result, applies = TermResult.empty(len(completions)), self.applies(columns, len(completions))
        rows = [i for i, applicable in enumerate(applies) if applicable and (only is None or only[i])]
        if not rows:
            return result
        batch = [completions[i] for i in rows]

        def call(indexes: Sequence[int]) -> Any:
            return self.fn(**self._arguments(prompts, completions, columns, extra or {}, [rows[i] for i in indexes]))

        raw = scores_of(self.name, call, batch, self.deadline_s(len(rows)))
        self._fill(result, rows, raw, checked(raw, batch, self.name))
        return result

    def _arguments(self, prompts, completions, columns, extra, rows: Sequence[int]) -> dict[str, Any]:
        """Keyword arguments of the function for these rows."""
        per_row = {"prompts": prompts, "completions": completions, **{k: v for k, v in extra.items() if k in contract.PER_ROW}}
        values = {name: column for name, column in columns.items() if self._wants(name)}
        values |= {name: v for name, v in per_row.items() if name in self.needs.given or (self.needs.takes_rest and name not in values)}
        arguments = {name: None if v is None else [v[i] for i in rows] for name, v in values.items()}
        arguments |= {k: v for k, v in extra.items() if k in contract.PER_BATCH and (k in self.needs.given or self.needs.takes_rest)}
        return arguments | self.options

    def _wants(self, column: str) -> bool:
        """Is this column passed? A column never fills a keyword-only option of the same name."""
        if column in self.options or column in self.needs.options:
            return False
        return self.needs.takes_rest or column in self.needs.required_columns or column in self.needs.optional_columns

    def _fill(self, result: TermResult, rows: Sequence[int], raw: Any, scores: Sequence[float | None]) -> None:
        verdicts = getattr(raw, "verdicts", None) or [None] * len(rows)
        for row, score, verdict in zip(rows, scores, verdicts, strict=True):
            reason = verdict.reason if verdict else f"{self.dotted} gave {'no score' if score is None else f'{score:g}'}"
            result.put(row, score, reason, verdict.extracted if verdict else None)


def bind(
    reward: Reward | Mapping[str, Any], columns: Iterable[str] | None = None, *, search: Path | None = None, alone: bool = False
) -> list[BoundTerm]:
    """The terms of a reward, each resolved and checked. ``columns``: those of the data set; None checks all but them.

    ``alone`` lets a function that is only safe behind a gate (``needs_gate``) stand by itself, to be looked at, not trained on.
    """
    config = validated(reward)
    if not config.terms:
        raise RewardError("the reward has no terms", where="reward.terms", fix="reward=math")
    known = None if columns is None else list(columns)
    terms = [_bind_one(name, term, config.pool, known, search) for name, term in config.terms.items()]
    _check_references(terms)
    if not alone:
        _check_gated(terms)
    return terms


def validated(reward: Reward | Mapping[str, Any]) -> Reward:
    """The reward as its schema. Raises ConfigError, one line, for an unknown key or a wrong type."""
    if isinstance(reward, Reward):
        return reward
    try:
        return Reward.model_validate(dict(reward))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(["reward", *map(str, first["loc"])])
        parent, _, key = place.rpartition(".")
        near = nearest(key, Term.model_fields if parent.startswith("reward.terms.") else Reward.model_fields)
        unknown = first["type"] == "extra_forbidden"
        what = f"{place} is not a key" if unknown else f"{place}: {first['msg']}"
        raise ConfigError(what, fix=f"{parent}.{near}=..." if unknown and near else None) from error


def _bind_one(name: str, term: Term, pool: Pool, columns: list[str] | None, search: Path | None) -> BoundTerm:
    fn = resolve(term.fn, search=search, where=f"reward.terms.{name}.fn")
    needs = _needs(name, term, fn, columns)
    for column in routing.columns_of(term.when):
        if columns is not None and column not in columns:
            raise RewardError(
                f"the data has no column {column!r} to route by", where=f"reward.terms.{name}.when", fix=nearest(column, columns)
            )
    mix = {key: getattr(term, key) for key in ("weight", "gate", "cap", "when", "correct")}
    limits = {"row_timeout_s": pool.timeout_s, "batch_timeout_s": pool.batch_timeout_s}
    options = dict(term.options)
    if pool.unsafe and "unsafe" in needs.options:  # run model-written code although nothing confines it
        options.setdefault("unsafe", True)
    return BoundTerm(name, term.fn, fn, needs, options, **mix, **limits)


def _needs(name: str, term: Term, fn: Callable, columns: list[str] | None) -> contract.Needs:
    """What the function needs, checked. A routed term whose columns no row has may simply have no rows: it can be dropped."""
    try:
        return contract.check(name, term.fn, fn, term.options, columns)
    except RewardError as error:
        if term.when and (error.fix or "").startswith("dataset.columns."):
            error.fix += f", or, if no row is of its kind, '~reward.terms.{name}'"
        raise


def _check_references(terms: Sequence[BoundTerm]) -> None:
    """``gate`` and ``correct`` name other terms, and gates do not go in a circle."""
    by_name = {term.name: term for term in terms}
    for term in terms:
        for key, other in (("gate", term.gate), ("correct", term.correct)):
            if other is not None and (other not in by_name or other == term.name):
                near = nearest(other, [n for n in by_name if n != term.name])
                what = f"{other!r} is not another term of this reward"
                raise RewardError(what, where=f"reward.terms.{term.name}.{key}", fix=near and f"reward.terms.{term.name}.{key}={near}")
    for term in terms:
        seen, at = [term.name], term.gate
        while at is not None:
            if at in seen:
                raise RewardError(f"gates go in a circle: {' -> '.join([*seen, at])}", where=f"reward.terms.{term.name}.gate")
            seen.append(at)
            at = by_name[at].gate


def _check_gated(terms: Sequence[BoundTerm]) -> None:
    """A function marked ``needs_gate`` pays for the look of an answer: ungated, it is farmed."""
    for term in terms:
        if getattr(_unwrapped(term.fn), "needs_gate", False) and term.gate is None and term.weight > 0:
            others = [t.name for t in terms if t is not term and not t.group_relative]
            what = f"{term.dotted} pays whether or not the answer is right, so it needs a gate"
            gate = "correct" if "correct" in others else next(iter(others), None)
            raise RewardError(what, where=f"reward.terms.{term.name}", fix=gate and f"reward.terms.{term.name}.gate={gate}")


def _unwrapped(fn: Callable) -> Callable:
    while isinstance(fn, functools.partial):
        fn = fn.func
    return fn


def terms_ahead(config: Config, backend: str, terms: Sequence[BoundTerm]) -> list[BoundTerm]:
    """The terms that judge an answer while others are drawn: with a server that sends them one by one, and in a single turn."""
    several_turns = config.environment.tools or config.environment.fn
    if backend != "vllm_server" or not config.reward.pool.ahead or several_turns:
        return []
    return [term for term in terms if term.judges_ahead]


def configure_pool(reward: Reward | Mapping[str, Any]) -> None:
    """Apply ``reward.pool`` to the workers of this process; call it once, before the first verdict."""
    config = validated(reward)
    from rlvr_cli.verifiers import pool, sandbox

    sandbox.configure(unsafe=config.pool.unsafe)
    pool.configure(workers=config.pool.workers, timeout_s=config.pool.timeout_s, backend=config.pool.backend, cache=config.pool.cache)
