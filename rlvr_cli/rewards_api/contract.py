"""What a reward function's parameters say, read once, and checked before any model loads.

Three kinds of parameter: the batch itself (``prompts``, ``completions`` and what the trainer adds), the columns of the
data set (no default: required), and the options (keyword-only, from YAML). ``**kwargs`` takes all other columns.

>>> def f(completions, answer, *, tolerance=0.0, **kwargs): return [0.0] * len(completions)
>>> needs = read(f)
>>> needs.required_columns, needs.options, needs.takes_rest
(('answer',), ('tolerance',), True)
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from rlvr_cli.config.nearest import nearest
from rlvr_cli.errors import RewardError

# What the trainer hands over beside the columns; one value a completion, or one for the whole batch.
PER_ROW = ("prompts", "completions", "completion_ids", "group_id", "correct", "environments")
PER_BATCH = ("trainer_state", "log_extra", "log_metric")
GIVEN = frozenset(PER_ROW + PER_BATCH)


@dataclass(frozen=True)
class Needs:
    """The parameters of one reward function, by kind."""

    required_columns: tuple[str, ...]
    optional_columns: tuple[str, ...]
    options: tuple[str, ...]
    given: tuple[str, ...]
    takes_rest: bool

    @property
    def group_relative(self) -> bool:
        """Runs after the gather over ranks: it asks for its group, or for what was right in it."""
        return "group_id" in self.given or "correct" in self.given


def read(fn: Callable, options: Iterable[str] = (), columns: Iterable[str] = ()) -> Needs:
    """Sort the parameters of ``fn``. A keyword-only parameter without default that is no option is a column.

    A parameter ``correct`` without ``group_id`` is a plain column where the data has one of that name.
    """
    options, parameters = set(options), inspect.signature(fn).parameters
    given = GIVEN - {"correct"} if "correct" in set(columns) and "group_id" not in parameters else GIVEN
    kinds: dict[str, list[str]] = {"required": [], "optional": [], "options": [], "given": [], "rest": [], "args": []}
    for name, parameter in parameters.items():
        kinds[_kind(name, parameter, options, given)].append(name)
    return Needs(*(tuple(kinds[k]) for k in ("required", "optional", "options", "given")), takes_rest=bool(kinds["rest"]))


def _kind(name: str, parameter: inspect.Parameter, options: set[str], given: frozenset[str]) -> str:
    if parameter.kind is parameter.VAR_KEYWORD:
        return "rest"
    if parameter.kind is parameter.VAR_POSITIONAL:
        return "args"
    if name in given:
        return "given"
    has_default = parameter.default is not parameter.empty
    if name in options or (parameter.kind is parameter.KEYWORD_ONLY and has_default):
        return "options"
    return "optional" if has_default else "required"


def check(term: str, dotted: str, fn: Callable, options: Mapping[str, Any], columns: Iterable[str] | None) -> Needs:
    """The needs of ``fn``, after the checks: it takes completions, knows its options, and its columns exist.

    ``columns`` None skips the last check (no data set is known yet).
    """
    where = f"reward.terms.{term}.fn"
    try:
        needs = read(fn, options, columns or ())
    except (TypeError, ValueError) as error:
        raise RewardError(f"{dotted} has no readable parameters, so it is no reward function", where=where) from error
    if "completions" not in needs.given and not needs.takes_rest:
        raise RewardError(f"{dotted} has no parameter 'completions'", where=where, fix="def f(completions, answer, **kwargs)")
    _check_positional_only(dotted, fn, where)
    _check_options(term, dotted, fn, options)
    if columns is not None:
        _check_columns(term, dotted, fn, needs, set(columns))
    return needs


def _check_positional_only(dotted: str, fn: Callable, where: str) -> None:
    for name, parameter in inspect.signature(fn).parameters.items():
        if parameter.kind is parameter.POSITIONAL_ONLY:
            raise RewardError(f"{dotted}: parameter {name!r} is positional-only; columns are passed by name", where=where)


def _check_options(term: str, dotted: str, fn: Callable, options: Mapping[str, Any]) -> None:
    """Every option is a named parameter. ``**kwargs`` does not count: it would swallow a typing mistake."""
    known = [name for name, p in inspect.signature(fn).parameters.items() if p.kind is not p.VAR_KEYWORD and name not in GIVEN]
    have = ", ".join(read(fn).options) or "none"
    for name in options:
        if name in known:
            continue
        near = nearest(name, known)
        fix = near and f"reward.terms.{term}.options.{near}={options[name]}"
        raise RewardError(f"{dotted} has no option {name!r} (it has: {have})", where=f"reward.terms.{term}.options", fix=fix)


def _check_columns(term: str, dotted: str, fn: Callable, needs: Needs, columns: set[str]) -> None:
    parameters = inspect.signature(fn).parameters
    for name in needs.required_columns:
        if name in columns:
            continue
        if parameters[name].kind is inspect.Parameter.KEYWORD_ONLY:
            fix = f"reward.terms.{term}.options.{name}=VALUE"
            raise RewardError(f"{dotted} needs the option {name!r}", where=f"reward.terms.{term}.options", fix=fix)
        near = nearest(name, columns)
        have = ", ".join(sorted(columns)) or "none"
        raise RewardError(
            f"{dotted} needs the column {name!r}, and the data has: {have}",
            where=f"reward.terms.{term}.fn",
            fix=f"dataset.columns.{name}={near or 'COLUMN'}",
        )
