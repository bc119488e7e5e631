"""The DuckDB engine: the same verdicts, its own types, and no way out."""

import pytest

from rewards.sql import same_result
from rlvr_cli.verifiers import cache, pool
from rlvr_cli.verifiers.sql import confinement, judge
from rlvr_cli.verifiers.sql.engine import engine

pytest.importorskip("duckdb", reason="duckdb is not installed")

SCHEMA = """
CREATE TABLE emp(id INTEGER, name VARCHAR, pay DECIMAL(8, 2), hired DATE);
INSERT INTO emp VALUES (1, 'Ann', 5000.50, DATE '2020-01-31'), (2, 'Bob', NULL, DATE '2021-05-01'), (3, 'Cid', 4000, NULL);
"""
SCHEMA_2 = "CREATE TABLE emp(id INTEGER, name VARCHAR, pay DECIMAL(8, 2), hired DATE); INSERT INTO emp VALUES (7, 'Zoe', 1, NULL);"


@pytest.fixture(scope="module", autouse=True)
def no_cache():
    cache.switch(False)
    yield
    pool.shutdown()
    engine("duckdb").close()


def score(answer, gold, **row):
    return judge(f"```sql\n{answer}\n```", {"schema_sql": SCHEMA, "gold_sql": gold, **row}, engine="duckdb")


@pytest.mark.parametrize(
    "answer, gold, expected",
    [
        ("SELECT name FROM emp ORDER BY ALL", "SELECT name FROM emp", 1),
        ("FROM emp SELECT name", "SELECT name FROM emp", 1),
        ("SELECT name FROM emp QUALIFY row_number() OVER () > 0", "SELECT name FROM emp", 1),
        ("SELECT pay::DOUBLE FROM emp", "SELECT pay FROM emp", 1),
        ("SELECT pay::VARCHAR FROM emp", "SELECT pay FROM emp", 0),
        ("SELECT hired::TIMESTAMP FROM emp", "SELECT hired FROM emp", 1),
        ("SELECT hired::VARCHAR FROM emp", "SELECT hired FROM emp", 0),
        ("SELECT hired + INTERVAL 1 DAY FROM emp", "SELECT hired FROM emp", 0),
        ("SELECT list(name ORDER BY id) FROM emp", "SELECT ['Ann', 'Bob', 'Cid']", 1),
        ("SELECT list(name ORDER BY id DESC) FROM emp", "SELECT ['Ann', 'Bob', 'Cid']", 0),
        ("SELECT {'a': 1, 'b': 2.0}", "SELECT {'a': 1.0, 'b': 2}", 1),
        ("SELECT 1::HUGEINT << 100", "SELECT (1::HUGEINT << 100) + 1", 0),
        ("SELECT 'nan'::DOUBLE", "SELECT 'nan'::DOUBLE", 1),
        ("SELECT 'A'::BLOB", "SELECT 'A'", 0),
        ("SELECT COUNT(*) FROM emp", "SELECT 3", 1),
        ("SELECT nope FROM emp", "SELECT name FROM emp", 0),
        ("SELECT '\ud800'", "SELECT name FROM emp", 0),
    ],
)
def test_results(answer, gold, expected):
    assert score(answer, gold).score == expected


HOSTILE = [
    "INSERT INTO emp VALUES (9, 'x', 1, NULL) RETURNING name",
    "DELETE FROM emp",
    "WITH x AS (SELECT 1) DELETE FROM emp",
    "SELECT name FROM emp; DROP TABLE emp",
    "COPY emp TO '{tmp}/out.csv'",
    "EXPORT DATABASE '{tmp}/out'",
    "ATTACH '{tmp}/out.db'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET threads = 8",
    "PRAGMA database_list",
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM '/etc/passwd'",
    "SELECT * FROM glob('/*')",
    "SELECT COUNT(*) FROM range(10000000000) a, range(1000000) b",
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT COUNT(*) FROM r",
    "SELECT repeat('x', 1000000000)",
    "SELECT * FROM range(1000000000)",
]


def test_hostile_queries_are_wrong_and_change_nothing(tmp_path):
    answers = [f"```sql\n{sql.format(tmp=tmp_path)}\n```" for sql in HOSTILE]
    n = len(answers)
    scores = same_result(answers, ["SELECT name FROM emp"] * n, [SCHEMA] * n, engine="duckdb", cpu_s=0.3, timeout_s=100)
    assert scores == [0.0] * n, [v.reason for v in scores.verdicts]
    assert list(tmp_path.iterdir()) == []
    assert score("SELECT name FROM emp", "SELECT name FROM emp").score == 1.0


def test_instances_and_broken_tasks():
    assert score("SELECT 3", "SELECT COUNT(*) FROM emp", schema_sql_2=SCHEMA_2).score == 0.0
    assert score("SELECT COUNT(id) FROM emp", "SELECT COUNT(*) FROM emp", schema_sql_2=SCHEMA_2).score == 1.0
    assert score("SELECT 3", "SELECT nope FROM emp").score is None
    assert score("SELECT 3", "SELECT 3", schema_sql="CREATE TABLE").score is None


def test_more_instances_than_are_kept():
    for n in range(40):
        schema = f"CREATE TABLE t(x INTEGER); INSERT INTO t VALUES ({n});"
        assert score("SELECT x FROM t", f"SELECT {n}", schema_sql=schema).score == 1.0


def test_the_engine_is_confined():
    assert confinement("duckdb")["leaks"] == []
