"""The SQL verifier on messy, wrong and hostile answers, kind by kind, and on the labelled cases where they are at hand."""

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from rewards.sql import gold_completion, same_result
from rlvr_cli.errors import RewardError
from rlvr_cli.verifiers import cache, pool
from rlvr_cli.verifiers.sql import cacheable, confinement, judge
from rlvr_cli.verifiers.sql.engine import Engine, engine
from rlvr_cli.verifiers.sql.text import query_of

ROOT = Path(__file__).parents[2]
CASES = ROOT / "../shared/cases/sql_cases_dev.jsonl"

SHOP = """
CREATE TABLE film(id INTEGER PRIMARY KEY, title TEXT, year INTEGER, score REAL, genre TEXT, tags TEXT);
INSERT INTO film VALUES (1,'Alien',1979,8.5,'horror','["space","cat"]'), (2,'Brazil',1985,7.9,'satire','[]'),
 (3,'Clue',1985,7.2,'comedy',NULL), (4,'Dune',1984,6.3,'space',NULL), (5,'E.T.',1982,7.9,NULL,'["kid"]'), (6,'It''s',1985,NULL,'','x');
CREATE TABLE rent(film INTEGER, day TEXT, price REAL);
INSERT INTO rent VALUES (1,'2024-01-01',3.1),(1,'2024-01-05',3.1),(2,'2024-01-05',2.2),
 (5,'2024-02-01',0.1),(5,'2024-02-02',0.2),(9,'2024-02-02',1);
CREATE VIEW good AS SELECT title FROM film WHERE score > 7.5;
"""
SHOP_2 = """
CREATE TABLE film(id INTEGER PRIMARY KEY, title TEXT, year INTEGER, score REAL, genre TEXT, tags TEXT);
INSERT INTO film VALUES (1,'Fargo',1996,8.1,'crime',NULL), (7,'Gattaca',1997,7.7,'space',NULL), (8,'Heat',1995,8.3,'crime',NULL);
CREATE TABLE rent(film INTEGER, day TEXT, price REAL);
INSERT INTO rent VALUES (7,'2023-03-03',5),(8,'2023-03-04',5);
CREATE VIEW good AS SELECT title FROM film WHERE score > 7.5;
"""


@pytest.fixture(scope="module", autouse=True)
def no_cache():
    cache.switch(False)
    yield
    pool.shutdown()
    engine("sqlite").close()
    engine("duckdb").close()


def score(answer, gold, fence=True, **row):
    completion = f"```sql\n{answer}\n```" if fence else answer
    return judge(completion, {"schema_sql": SHOP, "gold_sql": gold, **row})


TITLES = "SELECT title FROM film"
RENTED = "SELECT title FROM film WHERE id IN (SELECT film FROM rent)"
RESULTS = [
    # equivalent
    ("SELECT title FROM film WHERE id IN (SELECT film FROM rent)", "SELECT DISTINCT f.title FROM film f JOIN rent r ON r.film = f.id", 1),
    (
        "SELECT title FROM film f WHERE EXISTS (SELECT 1 FROM rent WHERE film = f.id)",
        "SELECT title FROM film WHERE id IN (SELECT film FROM rent)",
        1,
    ),
    (
        "WITH m AS (SELECT MAX(score) s FROM film) SELECT title FROM film, m WHERE score = s",
        "SELECT title FROM film ORDER BY score DESC LIMIT 1",
        1,
    ),
    ("SELECT genre, COUNT(*) FROM film GROUP BY 1", "SELECT DISTINCT genre, COUNT(*) OVER (PARTITION BY genre) FROM film", 1),
    ("SELECT value FROM film, json_each(tags) WHERE film.id = 1", "SELECT 'space' UNION SELECT 'cat'", 1),
    ("select * from good", "SELECT title FROM film WHERE score > 7.5", 1),
    ("SELECT title FROM film EXCEPT SELECT 'Dune'", "SELECT title FROM film WHERE title <> 'Dune'", 1),
    ("SELECT AVG(score) FROM film", "SELECT SUM(score) / COUNT(score) FROM film", 1),
    ("SELECT AVG(score) FROM film", "SELECT SUM(score) / COUNT(*) FROM film", 0),
    # columns
    ("SELECT title AS a, year AS b FROM film", "SELECT title, year FROM film", 1),
    ("SELECT year, title FROM film", "SELECT title, year FROM film", 0),
    ("SELECT title, year, id FROM film", "SELECT title, year FROM film", 0),
    ("SELECT title, id FROM film WHERE 0", "SELECT title FROM film WHERE year > 3000", 0),
    # duplicates
    ("SELECT DISTINCT year FROM film", "SELECT year FROM film", 0),
    ("SELECT year FROM film", "SELECT DISTINCT year FROM film", 0),
    ("SELECT year FROM film UNION SELECT year FROM film", "SELECT DISTINCT year FROM film", 1),
    ("SELECT 1 UNION ALL SELECT 1 UNION ALL SELECT 2", "SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 2", 0),
    # nulls
    ("SELECT IFNULL(score, 0) FROM film", "SELECT score FROM film", 0),
    ("SELECT genre FROM film WHERE id = 5", "SELECT ''", 0),
    ("SELECT 'NULL'", "SELECT NULL", 0),
    ("SELECT NULL", "SELECT score FROM film WHERE id = 6", 1),
    ("SELECT title FROM film WHERE score = NULL", "SELECT title FROM film WHERE score IS NULL", 0),
    ("SELECT MAX(score) FROM film WHERE year > 3000", "SELECT score FROM film WHERE year > 3000", 0),
    # numbers and text
    ("SELECT 0.1 + 0.2", "SELECT 0.3", 1),
    ("SELECT SUM(price) FROM rent WHERE film = 5", "SELECT 0.3", 1),
    ("SELECT 0.3001", "SELECT 0.3", 0),
    ("SELECT 6.0", "SELECT COUNT(*) FROM film", 1),
    ("SELECT '6'", "SELECT COUNT(*) FROM film", 0),
    ("SELECT CAST(year AS TEXT) FROM film", "SELECT year FROM film", 0),
    ("SELECT x'41'", "SELECT 'A'", 0),
    ("SELECT x'41'", "SELECT CAST('A' AS BLOB)", 1),
    ("SELECT 1985 / 2", "SELECT 1985 / 2.0", 0),
    ("SELECT 9007199254740993", "SELECT 9007199254740992", 0),
    ("SELECT 9e999", "SELECT 1e308", 0),
    ("SELECT 9e999", "SELECT 9e999", 1),
    ("SELECT 'ALIEN'", "SELECT 'Alien'", 0),
    ("SELECT 'Alien '", "SELECT 'Alien'", 0),
    ("SELECT ROUND(AVG(score), 1) FROM film", "SELECT AVG(score) FROM film", 0),
    # dialect: whatever the engine takes
    ("SELECT [title] FROM `film`", TITLES, 1),
    ('SELECT title FROM film WHERE title = "Dune"', "SELECT 'Dune'", 1),
    ("SELECT TOP 1 title FROM film", "SELECT title FROM film LIMIT 1", 0),
    ("SELECT title FROM film WHERE title ILIKE 'd%'", "SELECT 'Dune'", 0),
    ("SELECT title::text FROM film", TITLES, 0),
    # errors
    ("SELECT titel FROM film", TITLES, 0),
    ("SELEC title FROM film", TITLES, 0),
    ("SELECT title FROM film GROUP", TITLES, 0),
    ("SELECT title FROM film WHERE id = ?", TITLES, 0),
    ("SELECT title FROM film WHERE title = 'x", TITLES, 0),
    ("SELECT \0 title FROM film", TITLES, 0),
    ("SELECT '\ud800'", TITLES, 0),
    ("", TITLES, 0),
    # the answer is a constant but the only one possible on this instance: the second instance is what catches it
    ("SELECT 6", "SELECT COUNT(*) FROM film", 1),
]


@pytest.mark.parametrize("answer, gold, expected", RESULTS)
def test_results(answer, gold, expected):
    assert score(answer, gold).score == expected


WRITES = [
    "DELETE FROM film",
    "DELETE FROM film RETURNING title",
    "UPDATE film SET title = 'x' RETURNING title",
    "INSERT INTO film(title) SELECT title FROM film RETURNING title",
    "REPLACE INTO film(id, title) VALUES (1, 'x')",
    "WITH x AS (SELECT 1) INSERT INTO film(title) VALUES ('y') RETURNING title",
    "WITH x AS (SELECT 1) UPDATE film SET title = 'z'",
    "DROP TABLE film",
    "ALTER TABLE film RENAME TO movie",
    "CREATE TABLE t AS SELECT title FROM film",
    "CREATE TEMP TABLE t(x)",
    "CREATE VIEW w AS SELECT 1",
    "CREATE TRIGGER t AFTER INSERT ON film BEGIN DELETE FROM rent; END",
    "CREATE VIRTUAL TABLE f USING fts5(x)",
    "VACUUM",
    "ANALYZE",
    "REINDEX",
    "BEGIN",
    "BEGIN IMMEDIATE",
    "SAVEPOINT a",
    "PRAGMA user_version = 7",
    "PRAGMA table_info(film)",
    "PRAGMA query_only = OFF",
    "EXPLAIN SELECT title FROM film",
    "SELECT title FROM film; DELETE FROM film",
    "DELETE FROM film; SELECT title FROM film",
    "SELECT title FROM film; SELECT title FROM film",
    "BEGIN; SELECT title FROM film; COMMIT",
]


@pytest.mark.parametrize("answer", WRITES)
def test_only_one_read_only_statement(answer):
    assert score(answer, TITLES).score == 0.0
    assert score(TITLES, TITLES).score == 1.0  # nothing was changed


ESCAPES = [
    "SELECT load_extension('/tmp/x.so')",
    "SELECT readfile('/etc/passwd')",
    "SELECT writefile('{tmp}/out', 'x')",
    "SELECT edit('a', 'touch {tmp}/out')",
    "SELECT fts3_tokenizer('simple', x'0000000000000000')",
    "ATTACH '{tmp}/out' AS a",
    "ATTACH 'file:{tmp}/out?mode=rwc' AS a",
    "VACUUM INTO '{tmp}/out'",
    "PRAGMA temp_store_directory = '{tmp}'",
    "SELECT file FROM pragma_database_list",
    "SELECT * FROM pragma_function_list",
    "SELECT * FROM sqlite_dbpage",
    "SELECT * FROM sqlite_stmt",
    "CREATE VIRTUAL TABLE c USING csv(filename='/etc/passwd')",
]


@pytest.mark.parametrize("answer", ESCAPES)
def test_no_way_out(answer, tmp_path):
    assert score(answer.format(tmp=tmp_path), TITLES).score == 0.0
    assert list(tmp_path.iterdir()) == []


RESOURCES = [
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT COUNT(*) FROM r",
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n FROM r",
    "SELECT COUNT(*) FROM film a, film b, film c, film d, film e, film f, film g, film h, film i, film j, film k, film l, film m",
    "SELECT printf('%.*c', 1000000000, 'x')",
    "SELECT zeroblob(2000000000)",
    "SELECT instr(hex(zeroblob(900000)), hex(zeroblob(400000)) || '1')",
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT group_concat(n) FROM r",
    "WITH RECURSIVE r(s) AS (SELECT 'x' UNION ALL SELECT s || s FROM r) SELECT s FROM r",
    "WITH RECURSIVE r(n, s) AS (SELECT 1, hex(zeroblob(50000)) UNION ALL SELECT n + 1, s FROM r ORDER BY 1) SELECT n FROM r ORDER BY n",
    "SELECT a.title FROM film a, film b, film c, film d, film e, film f, film g, film h ORDER BY random()",
    "SELECT " + "(" * 5000 + "1" + ")" * 5000,
    "SELECT " + "+".join(["1"] * 20_000),
    "SELECT title FROM film WHERE title = '" + "x" * 150_000 + "'",
]


def test_a_greedy_query_is_wrong_and_ends():
    """One call, so that the CPU limits run side by side."""
    n = len(RESOURCES)
    answers = [f"```sql\n{sql}\n```" for sql in RESOURCES]
    scores = same_result(answers, [TITLES] * n, [SHOP] * n, cpu_s=0.3, timeout_s=60.0)
    assert scores == [0.0] * n, [v.reason for v in scores.verdicts]
    assert same_result([TITLES], [TITLES], [SHOP]) == [1.0]


def test_a_gold_that_is_slow_gives_the_answer_time():
    slow = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 400000) SELECT COUNT(*) FROM r"
    assert judge(slow, {"schema_sql": SHOP, "gold_sql": slow}, cpu_s=0.001).score == 1.0


ORDER = [
    ("SELECT title FROM film ORDER BY title", True, None, "SELECT title FROM film ORDER BY title", 1),
    ("SELECT title FROM film ORDER BY title", True, None, "SELECT title FROM film ORDER BY title DESC", 0),
    ("SELECT title FROM film ORDER BY title", False, None, "SELECT title FROM film ORDER BY title DESC", 1),
    ("SELECT title FROM film ORDER BY title", None, None, "SELECT title FROM film ORDER BY title DESC", 1),
    ("SELECT title, year FROM film ORDER BY year, title", True, [1], "SELECT title, year FROM film ORDER BY year, title DESC", 1),
    ("SELECT title, year FROM film ORDER BY year, title", True, "[1]", "SELECT title, year FROM film ORDER BY year, title DESC", 1),
    ("SELECT title, year FROM film ORDER BY year, title", True, [1.0], "SELECT title, year FROM film ORDER BY year, title DESC", 1),
    ("SELECT title, year FROM film ORDER BY year, title", True, [1], "SELECT title, year FROM film ORDER BY year DESC", 0),
    ("SELECT title, year FROM film ORDER BY year, title", True, [1], "SELECT upper(title), year FROM film ORDER BY year", 0),
    ("SELECT title, year FROM film ORDER BY year, title", True, [1, 0], "SELECT title, year FROM film ORDER BY year, title DESC", 0),
    ("SELECT title, year FROM film ORDER BY year, title", "false", [1], "SELECT title, year FROM film", 1),
]


@pytest.mark.parametrize("gold, matters, keys, answer, expected", ORDER)
def test_order(gold, matters, keys, answer, expected):
    assert score(answer, gold, order_matters=matters, order_key_cols=keys).score == expected


TOP = {"gold": "SELECT title FROM film ORDER BY year DESC LIMIT 1", "gold_alt": "SELECT title FROM film WHERE year = 1985", "limit": 1}
TIES = [
    ("SELECT 'Brazil'", 1),
    ("SELECT 'Clue'", 1),
    ("SELECT title FROM film ORDER BY year DESC LIMIT 1 OFFSET 2", 1),
    ("SELECT 'Dune'", 0),
    ("SELECT title FROM film WHERE year = 1985", 0),
    ("SELECT title FROM film WHERE 0", 0),
    ("SELECT title, year FROM film ORDER BY year DESC LIMIT 1", 0),
]


@pytest.mark.parametrize("answer, expected", TIES)
@pytest.mark.parametrize("form", ["query", "rows", "json rows", "float limit"])
def test_any_of_the_tied_rows_is_right(answer, expected, form):
    row = dict(TOP)
    if form == "rows":
        row["gold_alt"] = [["Brazil"], ["Clue"], ["It's"]]
    elif form == "json rows":
        row["gold_alt"] = json.dumps([["Brazil"], ["Clue"], ["It's"]])
    elif form == "float limit":
        row["limit"] = 1.0
    gold = row.pop("gold")
    assert score(answer, gold, **row).score == expected


def test_limit_counts_duplicates_once_each():
    row = {"gold_alt": "SELECT year FROM film", "limit": 2}
    gold = "SELECT year FROM film LIMIT 2"
    assert score("SELECT 1985 UNION ALL SELECT 1985", gold, **row).score == 1.0
    assert score("SELECT 1979 UNION ALL SELECT 1979", gold, **row).score == 0.0


@pytest.mark.parametrize(
    "answer, gold",
    [
        ("SELECT 6", "SELECT COUNT(*) FROM film"),
        ("VALUES ('Alien')", "SELECT title FROM film ORDER BY score DESC LIMIT 1"),
        ("SELECT title FROM film WHERE id IN (1, 2, 5)", "SELECT title FROM film WHERE id IN (SELECT film FROM rent)"),
        ("SELECT title FROM film WHERE 0", "SELECT title FROM film WHERE year > 1990"),
        ("SELECT title FROM film WHERE id = 1", "SELECT title FROM film WHERE genre = 'horror'"),
    ],
)
def test_a_constant_is_caught_by_the_second_instance(answer, gold):
    assert score(answer, gold).score == 1.0
    verdict = score(answer, gold, schema_sql_2=SHOP_2)
    assert verdict.score == 0.0
    assert verdict.reason.startswith("instance 2: ")
    assert score(gold, gold, schema_sql_2=SHOP_2).score == 1.0
    assert score(answer, gold, schema_sql_2=[SHOP, SHOP_2]).score == 0.0


def test_several_accepted_queries():
    cell = "SELECT title FROM film WHERE score > 8; SELECT id FROM film WHERE score > 8; SELECT title, ';' FROM film WHERE score > 8;"
    for answer, expected in [("SELECT 'Alien'", 1), ("SELECT 1", 1), ("SELECT 'Alien', ';'", 1), ("SELECT 2", 0)]:
        assert score(answer, cell).score == expected
        assert score(answer, json.dumps([cell])).score == expected
    assert gold_completion({"gold_sql": cell}) == "```sql\nSELECT title FROM film WHERE score > 8\n```"


def test_one_accepted_query_must_hold_on_all_instances():
    cell = "SELECT COUNT(*) FROM film; SELECT 6"  # 6 and 3 on the instances
    assert score("SELECT COUNT(*) FROM film", cell, schema_sql_2=SHOP_2).score == 1.0
    assert score("SELECT 6", cell, schema_sql_2=SHOP_2).score == 1.0
    mixed = "SELECT COUNT(*) FROM film; SELECT 7"
    assert score("SELECT 6 + (SELECT COUNT(*) = 3 FROM film)", mixed, schema_sql_2=SHOP_2).score == 0.0


FORMAT = [
    ("```sql\nSELECT 6\n```", 1),
    ("```SQL\nSELECT 6\n```", 1),
    ("```sqlite\nSELECT 6;\n```", 1),
    ("~~~sql\nSELECT 6\n~~~", 1),
    ("```\nSELECT 6\n```", 1),
    ("````sql\nSELECT 6 -- ``` inside\n````", 1),
    ("```sql\nSELECT 6", 1),
    ("```sql\r\nSELECT 6\r\n```\r\n", 1),
    ("1. so\n   ```sql\n   SELECT 6\n   ```\n", 1),
    ("Use ```sql SELECT 6``` here", 1),
    ("```sql\n-- count them\n/* all; of them */ SELECT 6; -- done\n```", 1),
    ("SELECT 6", 1),
    ("The query:\nselect 6;\nIt counts.", 1),
    ("  WITH a AS (SELECT 6 x)\nSELECT x FROM a", 1),
    ("VALUES (6)", 1),
    ("SELECT 6<|im_end|>", 1),
    ("<think>SELECT 7</think><answer>SELECT 6</answer>", 1),
    ("<think>```sql\nSELECT 7\n```</think>\nSELECT 6", 1),
    ("```sql\nSELECT 7\n```\nno, better\n```sql\nSELECT 6\n```", 1),
    ("```sql\nSELECT 6\n```\n```\n| 6 |\n```", 1),
    ("```sql\nSELECT 6\n```\n```python\nprint(7)\n```", 1),
    ("```sql\nSELECT 6\n```\n```json\n[7]\n```", 1),
    ("```sql\nSELECT 6\n```\nor\n```sql\nSELECT 7\n```", 0),
    ("<think>SELECT 6", 0),
    ("<think>```sql\nSELECT 6\n```", 0),
    ("<think>```sql\nSELECT 6\n```</think> I do not know.", 0),
    ('```json\n{"sql": "SELECT 6"}\n```', 0),
    ("```python\nx = 'SELECT 6'\n```", 0),
    ("6", 0),
    ("", 0),
    ("I would select 6 of them.", 0),
    ("```sql\n```", 0),
    ("```sql\n-- SELECT 6\n```", 0),
    ("```sql\nSELECT 6;\nSELECT 6;\n```", 0),
    ("```sql\nCREATE TEMP VIEW v AS SELECT 6;\nSELECT * FROM v;\n```", 0),
]


@pytest.mark.parametrize("completion, expected", FORMAT)
def test_format(completion, expected):
    for form in (completion, [{"role": "assistant", "content": completion}]):
        assert judge(form, {"schema_sql": SHOP, "gold_sql": "SELECT COUNT(*) FROM film"}).score == expected


@pytest.mark.parametrize(
    "row, reason",
    [
        ({"gold_sql": "SELECT nope FROM film"}, "gold query fails: no such column: nope"),
        ({"gold_sql": "DELETE FROM film"}, "gold query fails: only SELECT, WITH and VALUES are read-only queries"),
        ({"gold_sql": None}, "gold_sql is empty"),
        ({"gold_sql": "  -- nothing"}, "gold_sql is empty"),
        ({"gold_sql": 7}, "gold_sql is not text"),
        ({"schema_sql": "CREATE TABLE film(title"}, "schema fails: incomplete input"),
        ({"schema_sql": "CREATE TABLE x(a); INSERT INTO y VALUES (1)"}, "schema fails: no such table: y"),
        ({"schema_sql": "ATTACH '/tmp/rlvr_x' AS a"}, "schema fails: not authorized"),
        ({"schema_sql": None, "schema_sql_2": SHOP_2}, "schema_sql is empty although schema_sql_2 is not"),
        ({"schema_sql_2": "CREATE TABLE film(name)"}, "gold query fails: no such column: title"),
        ({"schema_sql_2": "nonsense"}, 'schema fails: near "nonsense": syntax error'),
        ({"gold_alt": "SELECT nope"}, "gold_alt fails: no such column: nope"),
        ({"gold_alt": '{"a": 1}'}, "gold_alt fails: only SELECT, WITH and VALUES are read-only queries"),
        ({"order_matters": True, "order_key_cols": [5]}, "order_key_cols [5] do not fit 1 columns"),
        ({"order_key_cols": "first"}, "order_key_cols or limit is not a number"),
        ({"limit": "many"}, "order_key_cols or limit is not a number"),
    ],
)
def test_a_broken_task_is_none(row, reason):
    for answer in (TITLES, "I do not know."):
        verdict = judge(answer, {"schema_sql": SHOP, "gold_sql": TITLES, **row})
        assert (verdict.score, verdict.reason) == (None, reason)


def test_gold_gets_full_marks_and_none_where_there_is_none():
    row = {"schema_sql": SHOP, "gold_sql": "SELECT title FROM film ORDER BY year", "schema_sql_2": SHOP_2, "order_matters": True}
    assert judge(gold_completion(row), row).score == 1.0
    assert gold_completion({"schema_sql": SHOP}) is None


def test_the_face_takes_columns_as_datasets_returns_them():
    datasets = pytest.importorskip("datasets")
    rows = [
        {"gold_sql": "SELECT COUNT(*) FROM film", "schema_sql": SHOP, "schema_sql_2": SHOP_2},
        {"gold_sql": "SELECT title, year FROM film ORDER BY year", "schema_sql": SHOP, "order_matters": True, "order_key_cols": [1]},
        {"gold_sql": TOP["gold"], "schema_sql": SHOP, "gold_alt": TOP["gold_alt"], "limit": 1},
    ]
    keys = sorted({key for row in rows for key in row})
    table = datasets.Dataset.from_list([{key: row.get(key) for key in keys} for row in rows])
    columns = {key: table[key][:] for key in keys}
    answers = ["SELECT COUNT(id) FROM film", "SELECT title, year FROM film ORDER BY year, id DESC", "SELECT 'Clue'"]
    scores = same_result(answers, prompts=["?"] * 3, other_column=[1, 2, 3], **columns)
    assert scores == [1.0, 1.0, 1.0], [v.reason for v in scores.verdicts]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        (" " * 200_000 + "4", None),
        ("\n" * 100_000 + "4", None),
        (" \n" * 100_000, None),
        ("<|a|>" * 40_000, None),
        ("<" * 200_000, None),
        (" " * 150_000 + "SELECT 1", "SELECT 1"),
        ("\n" * 150_000 + "SELECT 1", "SELECT 1"),
        ("SELECT 1 <|im_end|> </s>\n", "SELECT 1"),
        ("SELECT 1" + " " * 150_000 + "<|im_end|>", "SELECT 1"),
    ],
)
@pytest.mark.timeout(10)
def test_extraction_is_linear_in_spaces_and_end_marks(text, query):
    """A pattern that is tried at each space took minutes for these."""
    assert query_of(text) == query


def test_reasons_and_extraction_reach_the_verdict():
    verdict = score("SELECT title FROM film WHERE id = 1", "SELECT title FROM film WHERE id = 2")
    assert verdict.reason == "gold row ('Brazil',) is missing, answer has ('Alien',)"
    assert verdict.extracted == "SELECT title FROM film WHERE id = 1"
    assert score("SELECT nope", "SELECT 1").reason == "SQL error: no such column: nope"


def test_verdicts_about_now_are_not_kept():
    assert cacheable("SELECT 1", {"gold_sql": "SELECT 1"})
    assert not cacheable("SELECT 1", {"gold_sql": "SELECT date('now')"})
    assert not cacheable("SELECT random()", {"gold_sql": "SELECT 1"})


def test_an_unknown_engine_is_an_error_with_a_fix():
    with pytest.raises(RewardError, match="none of"):
        same_result(["SELECT 1"], ["SELECT 1"], [SHOP], engine="oracle")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Landlock and seccomp are Linux's")
def test_the_engine_is_confined():
    found = confinement()
    assert found["leaks"] == []
    assert "no_new_privs" in found["held"]
    assert {"seccomp"} <= set(found["held"]) or any("landlock" in layer for layer in found["held"])


def test_an_engine_that_dies_is_replaced():
    own = Engine("sqlite")
    assert own.ask(SHOP, "SELECT 1").rows == [[1]]
    own.child.process.kill()
    assert own.ask(SHOP, "SELECT 2").rows == [[2]]
    own.close()


def test_an_engine_dies_with_its_owner():
    code = (
        "import os\n"
        "from rlvr_cli.verifiers.sql.engine import Engine\n"
        "own = Engine('sqlite'); own.ask('', 'SELECT 1'); print(own.child.process.pid, flush=True); os.kill(os.getpid(), 9)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    status = Path(f"/proc/{int(done.stdout)}/stat")
    until = time.monotonic() + 20
    while status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z":
        assert time.monotonic() < until, "the engine process lives on"
        time.sleep(0.05)


def test_many_rows_compare_within_the_tolerance():
    schema = "CREATE TABLE n(a REAL, b TEXT);"
    schema += "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r LIMIT 3000)"
    schema += "INSERT INTO n SELECT x / 7.0, 't' || (x % 3) FROM r;"
    row = {"schema_sql": schema, "gold_sql": "SELECT a, b FROM n"}
    assert judge("SELECT a * (1 + 1e-9), b FROM n ORDER BY a DESC", row).score == 1.0
    assert judge("SELECT a * (1 + 1e-4), b FROM n", row).score == 0.0


@pytest.mark.skipif(not CASES.exists(), reason="the labelled cases are not at hand")
def test_the_labelled_cases():
    rows = [json.loads(line) for line in CASES.read_text().splitlines()]
    names = ("gold_sql", "schema_sql", "schema_sql_2", "order_matters", "order_key_cols", "gold_alt", "limit")
    scores = same_result([row["completion"] for row in rows], **{name: [row.get(name) for row in rows] for name in names})
    wrong = [(row["id"], row["expect"], v) for row, v in zip(rows, scores.verdicts, strict=True) if v.score != row["expect"]]
    assert wrong == []
    harms = [harm["path_absent"] for row in rows for harm in row.get("harm") or [] if "path_absent" in harm]
    assert [path for path in harms if os.path.exists(path)] == []


VOCABULARY = """
SELECT WITH VALUES FROM WHERE GROUP BY ORDER LIMIT UNION ALL JOIN ON AS AND OR NOT NULL IN EXISTS CASE WHEN THEN END DISTINCT OVER
RECURSIVE PARTITION film rent title year score film.id * , ( ) ; = < > + - || 'x' "x" [x] `x` ? :a @b $c 1 0.5 1e9 x'00' -- /* */
DELETE UPDATE DROP ATTACH PRAGMA INSERT CREATE REPLACE count( sum( max( hex( zeroblob(1000000) randomblob(9) replace( printf(
```sql ``` <think> </think> <answer> </answer> é 中 🙂 load_extension( json_each( sqlite_master
"""
WORDS = [*VOCABULARY.split(), "\n", "\0", "\ud800", "\u202e", "SELECT\ntitle\nFROM\nfilm", RESOURCES[1]]


def generated(count, seed=20261129):
    """Texts between noise and SQL: half are random words, half are right answers with a word changed, cut or doubled."""
    rng = random.Random(seed)
    seeds = [answer for answer, _, _ in RESULTS if answer] + WRITES + RESOURCES[:4]
    for _ in range(count):
        if rng.random() < 0.5:
            text = " ".join(rng.choices(WORDS, k=rng.randint(1, 30)))
        else:
            words = rng.choice(seeds).split(" ")
            for _ in range(rng.randint(1, 3)):
                words.insert(rng.randrange(len(words) + 1), rng.choice(WORDS))
                del words[rng.randrange(len(words))]
            text = " ".join(words)
        yield f"```sql\n{text}\n```" if rng.random() < 0.8 else text


@pytest.mark.slow
def test_generated_texts_always_get_a_verdict_in_time():
    n = 2000
    before = pool.stats()
    scores = same_result(list(generated(n)), [TITLES] * n, [SHOP] * n, cpu_s=0.2, timeout_s=30.0)
    after = pool.stats()
    assert set(scores) <= {0.0, 1.0}, [v for v in scores.verdicts if v.score is None][:3]
    assert (after["timeouts"], after["restarts"]) == (before["timeouts"], before["restarts"])


KINDS = yaml.safe_load(Path(__file__).with_name("sql_kinds.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("row", KINDS["rows"], ids=lambda row: row["name"])
def test_kinds_of_queries(row):
    completion = row["answer"] if row.get("whole") else f"```sql\n{row['answer']}\n```"
    extra = {key: row[key] for key in ("order_matters", "order_key_cols", "gold_alt", "limit") if key in row}
    instances = {"schema_sql": KINDS["schema_sql"], "schema_sql_2": KINDS["schema_sql_2"]}
    verdict = judge(completion, {"gold_sql": row["gold"], **instances, **extra})
    assert verdict.score == row["expect"], verdict.reason
