"""Which prompts are open at a step: by a difficulty column, easy levels first, or by the pass rate that was measured.

A curriculum answers with *pools*: lists of rows with the share of a batch that each should fill. Who is drawn inside a
pool is :mod:`.prompt_choice`'s business (the longest unseen first), so a schedule stays a pure function of the step and
the table, the same on every rank and after a resume::

    difficulty:  step 0 of 100, levels 1..4   -> [(all of level 1, 1.0)]
                 step 30, until=0.6           -> [(level 2, focus), (level 1, 1 - focus)]
                 step 60 and later            -> [(every level, 1.0)]
    pass_rate:   -> [(measured and in the band, 1 - explore), (never measured, or rested long enough, explore)]

Sources: easy to hard by level, Kimi k1.5 (arXiv 2501.12599, 2.3.3) and E2H Reasoner (arXiv 2506.06632); keeping the band of
pass rates, e.g. Skywork-OR1 (arXiv 2505.22312). With right/wrong rewards a group carries signal with probability
1 - p^G - (1-p)^G, which is why both ends of p are dropped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rlvr_cli.config.schema import Curriculum
from rlvr_cli.errors import ConfigError
from rlvr_cli.training.prompt_table import PromptTable

Pool = tuple[np.ndarray, float]  # rows, share of a batch


def read_columns(rows: Sequence[Mapping[str, Any]], settings: Curriculum) -> tuple[np.ndarray | None, list[float | None] | None]:
    """(levels, prior) as far as the curriculum reads them. Raises ConfigError where a column is not as the settings say."""
    levels = levels_of(rows, settings) if settings.kind == "difficulty" else None
    prior = prior_of(rows, settings.prior_column) if settings.kind == "pass_rate" and settings.prior_column else None
    return levels, prior


def levels_of(rows: Sequence[Mapping[str, Any]], settings: Curriculum) -> np.ndarray:
    """(rows,) the level of each row, 0 the easiest. Raises ConfigError where the column is absent, or text without an order."""
    values = [row.get(settings.column) for row in rows]
    if any(value is None for value in values):
        missing = sum(value is None for value in values)
        raise ConfigError(
            f"{missing} of {len(rows)} training rows have no {settings.column!r}",
            where="curriculum.column",
            fix="curriculum.column=COLUMN (rlvr data show dataset=...), or curriculum=pass_rate",
        )
    if settings.order:
        return named_levels(values, settings)
    if not all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values):
        example = next(value for value in values if not isinstance(value, (int, float)) or isinstance(value, bool))
        raise ConfigError(
            f"{settings.column!r} holds text such as {example!r}, whose order only you know",
            where="curriculum.order",
            fix="'curriculum.order=[easy,medium,hard]'",
        )
    return numbered_levels(np.array(values, dtype=float), settings.levels)


def named_levels(values: Sequence[Any], settings: Curriculum) -> np.ndarray:
    """Places in ``curriculum.order``."""
    place = {name: i for i, name in enumerate(settings.order)}
    strange = sorted({str(value) for value in values} - set(place))
    if strange:
        raise ConfigError(
            f"curriculum.order leaves out {strange[0]!r} of the column {settings.column!r}",
            where="curriculum.order",
            fix=f"'curriculum.order=[{','.join([*settings.order, *strange])}]'",
        )
    return np.array([place[str(value)] for value in values])


def numbered_levels(values: np.ndarray, levels: int | None) -> np.ndarray:
    """One level a distinct number, or ``levels`` of about equally many rows.

    >>> numbered_levels(np.array([3.0, 1.0, 2.0, 9.0]), None).tolist(), numbered_levels(np.array([3.0, 1.0, 2.0, 9.0]), 2).tolist()
    ([2, 0, 1, 3], [1, 0, 0, 1])
    """
    distinct, places = np.unique(values, return_inverse=True)
    if levels is None or levels >= len(distinct):
        return places
    edges = np.quantile(values, np.arange(1, levels) / levels)
    return np.unique(np.searchsorted(edges, values, side="left"), return_inverse=True)[1]


def prior_of(rows: Sequence[Mapping[str, Any]], column: str) -> list[float | None]:
    """Pass rates known before the run."""
    rates = [row.get(column) for row in rows]
    bad = [rate for rate in rates if rate is not None and not (isinstance(rate, (int, float)) and 0 <= rate <= 1)]
    if bad or all(rate is None for rate in rates):
        what = f"{column!r} holds {bad[0]!r}, which is no share" if bad else f"no training row has the column {column!r}"
        fix = "rlvr data difficulty ... out=FILE.jsonl, or curriculum.prior_column=null"
        raise ConfigError(what, where="curriculum.prior_column", fix=fix)
    return rates


def pools(settings: Curriculum, table: PromptTable, levels: np.ndarray | None, *, step: int, max_steps: int) -> list[Pool]:
    """What is open at ``step`` of ``max_steps``; the shares sum to 1."""
    if settings.kind == "difficulty":
        return by_difficulty(settings, levels, step / max(1, max_steps))
    if settings.kind == "pass_rate":
        return by_pass_rate(settings, table, step)
    return [(np.arange(len(table.last)), 1.0)]


def by_difficulty(settings: Curriculum, levels: np.ndarray, progress: float) -> list[Pool]:
    """Level k of 0..L-1 opens at ``until * k / (L - 1)`` of the run and gets ``focus`` of each batch until the next one opens."""
    highest = int(levels.max())
    top = min(highest, int(progress / settings.until * highest)) if settings.until else highest
    if top == highest and progress >= settings.until:
        return [(np.arange(len(levels)), 1.0)]
    if top == 0:
        return [(np.flatnonzero(levels == 0), 1.0)]
    return [(np.flatnonzero(levels == top), settings.focus), (np.flatnonzero(levels < top), 1 - settings.focus)]


def by_pass_rate(settings: Curriculum, table: PromptTable, step: int) -> list[Pool]:
    """The band, and what is worth asking (again): never measured, or solved or hopeless but rested for ``rest_steps``."""
    rates = table.rates()
    band = (rates >= settings.low) & (rates <= settings.high)
    rested = ~band & (table.last >= 0) & (step - table.last >= settings.rest_steps)
    asked_anew = np.isnan(rates) & (table.last < 0) | rested
    return [(np.flatnonzero(band), 1 - settings.explore), (np.flatnonzero(asked_anew), settings.explore)]
