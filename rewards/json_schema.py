"""Reward for structured output: the answer's JSON keeps the row's schema.

The work is in rlvr_cli/verifiers/json_schema; this is the form that TRL calls. Schemas may hold patterns that take for
ever on a hostile string, so judging runs in killable workers.

>>> schema = '{"type": "object", "required": ["city"], "properties": {"city": {"enum": ["Lima", "Oslo"]}}}'
>>> answers = ['{"city": "Oslo"}', 'Sure:\\n```json\\n{"city": "Rome"}\\n```', "Oslo"]
>>> scores = valid(answers, schema=[schema] * 3)
>>> scores, [verdict.reason for verdict in scores.verdicts]
([1.0, 0.0, 0.0], ['valid', "at $.city: 'Rome' is not one of ['Lima', 'Oslo']", 'no JSON value found'])
"""

from rlvr_cli.verifiers import Scores, rows_of
from rlvr_cli.verifiers.json_schema import gold_completion
from rlvr_cli.verifiers.pool import pay_pooled

__all__ = ["gold_completion", "valid"]


def valid(
    completions,
    schema,
    values=None,
    prompts=None,
    *,
    partial: bool = False,
    formats: bool = False,
    remotes: dict[str, str] | None = None,
    timeout_s: float = 5.0,
    **kwargs,
) -> Scores:
    """1.0 for a legal JSON value that keeps the schema, 0.0 otherwise, None when the schema itself is broken.

    schema: a JSON Schema (draft 7 unless it names another), text or object. values: path -> value that must stand there.
    partial: credit for the share of properties that are right. formats: check ``format`` too. remotes: base URI -> folder
    of schemas that may be referred to; nothing is ever fetched.

    >>> valid(["[1, 2]"], [{"type": "array", "items": {"type": "integer"}}])
    [1.0]
    """
    rows = rows_of(len(completions), schema=schema, values=values)
    judge = "rlvr_cli.verifiers.json_schema:judge"
    return pay_pooled(judge, completions, rows, timeout_s=timeout_s, partial=partial, formats=formats, remotes=remotes)
