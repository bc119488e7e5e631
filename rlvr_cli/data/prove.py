"""Golds proved: each generated row's gold is judged by the reward of its kind, and anything short of full marks is a defect.

>>> from rlvr_cli.data.generate.arithmetic import generate
>>> proved = prove(list(generate(count=3, seed=0)))
>>> proved.rows, proved.bad
(3, [])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rlvr_cli.data.columns import plain_columns
from rlvr_cli.data.gold import Golds, check_golds

Row = dict[str, Any]
KIND_REWARDS = {  # the column `kind` -> the reward that judges such rows
    "math": {"fn": "rewards.math.correct"},
    "code": {"fn": "rewards.code.tests_passed", "options": {"mode": "all"}},
    "sql": {"fn": "rewards.sql.same_result"},
    "json_schema": {"fn": "rewards.json_schema.valid"},
    "choice": {"fn": "rewards.choice.correct"},
    "facts": {"fn": "rewards.facts.exact"},
    "logic": {"fn": "rewards.logic.correct"},
    "chat": {"fn": "rewards.general.expected"},
}


def prove(rows: Sequence[Row]) -> Golds:
    """The gold check of generated rows, each kind by its own reward; rows of a kind of the user's own are not checkable."""
    from rlvr_cli.rewards_api import bind

    plain = plain_columns([dict(row) for row in rows])
    for number, row in enumerate(plain, 1):
        row.setdefault("row_id", str(number))
    total = Golds(len(rows))
    for kind in dict.fromkeys(str(row.get("kind")) for row in plain):
        group = [row for row in plain if str(row.get("kind")) == kind]
        if kind not in KIND_REWARDS:
            total.not_checkable += [row["row_id"] for row in group]
            continue
        found = check_golds(group, bind({"terms": {kind: KIND_REWARDS[kind]}}, list(plain[0])))
        total.bad += found.bad
        total.not_checkable += found.not_checkable
    return total
