"""Reward for SQL: the query must give the gold query's result on every database instance of its row.

The work is in rlvr_cli/verifiers/sql; this is the form that TRL calls. Queries run in a confined process, read-only.

>>> schema = "CREATE TABLE emp(name TEXT, pay REAL); INSERT INTO emp VALUES ('Ann', 5000), ('Bob', 4000), ('Cid', NULL);"
>>> answers = ["```sql\\nSELECT name FROM emp WHERE pay >= 4000\\n```", "```sql\\nSELECT name FROM emp\\n```", "I do not know."]
>>> scores = same_result(answers, gold_sql=["SELECT name FROM emp WHERE pay > 100"] * 3, schema_sql=[schema] * 3)
>>> scores, [verdict.reason for verdict in scores.verdicts]
([1.0, 0.0, 0.0], ['same 2 rows', 'gold has 2 rows, answer 3', 'no SQL query found'])
"""

from rlvr_cli.verifiers import Scores, rows_of
from rlvr_cli.verifiers.pool import pay_pooled
from rlvr_cli.verifiers.sql import gold_completion
from rlvr_cli.verifiers.sql.engine import check_engine

__all__ = ["gold_completion", "same_result"]


def same_result(
    completions,
    gold_sql,
    schema_sql,
    schema_sql_2=None,
    order_matters=None,
    order_key_cols=None,
    gold_alt=None,
    limit=None,
    prompts=None,
    *,
    engine: str = "sqlite",
    cpu_s: float = 1.0,
    timeout_s: float = 30.0,
    workers: int | None = None,
    **kwargs,
) -> Scores:
    """1.0 for the gold result, 0.0 for another one, an error, a write or too long a query; None when the gold does not run.

    gold_sql: a query, or several accepted ones separated by semicolons. schema_sql: the statements that build the database;
    schema_sql_2: a second instance with other data. order_matters: positions count, or with order_key_cols (output columns,
    from 0) only the sequence of these. gold_alt, limit: any `limit` rows of that query are right too.
    engine: "sqlite" or "duckdb". cpu_s: CPU seconds of a query, or five times the gold's. timeout_s: backstop in wall time.

    >>> same_result(["SELECT 2"], ["SELECT 1 + 1"], ["CREATE TABLE t(x)"])
    [1.0]
    """
    check_engine(engine)
    rows = rows_of(
        len(completions),
        gold_sql=gold_sql,
        schema_sql=schema_sql,
        schema_sql_2=schema_sql_2,
        order_matters=order_matters,
        order_key_cols=order_key_cols,
        gold_alt=gold_alt,
        limit=limit,
    )
    judge = "rlvr_cli.verifiers.sql:judge"
    return pay_pooled(judge, completions, rows, timeout_s=timeout_s, workers=workers, engine=engine, cpu_s=cpu_s)


same_result.judge_ahead = True  # takes long: an answer may be judged while others are drawn
