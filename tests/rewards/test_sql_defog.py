"""Accepted queries of a public text-to-SQL set: right against their own gold, wrong against another question's.

The expectation is computed here, by plain sqlite3 and a comparison of its own, so that the verifier is not its own witness.
"""

import csv
import sqlite3
from collections import defaultdict
from pathlib import Path

import pytest

from rewards.sql import same_result
from rlvr_cli.verifiers import cache, pool

DEFOG = Path(__file__).parents[2] / "../shared/data/sql_defog"
pytestmark = pytest.mark.skipif(not DEFOG.exists(), reason="the defog questions are not at hand")


@pytest.fixture(scope="module", autouse=True)
def no_cache():
    cache.switch(False)
    yield
    pool.shutdown()


def questions():
    """Cells of accepted queries by database."""
    by_database = defaultdict(list)
    with open(DEFOG / "questions_gen_sqlite.csv", newline="") as file:
        for row in csv.DictReader(file):
            by_database[row["db_name"]].append(row["query"])
    return by_database


def split(cell):
    """The set's own rule: queries end with a semicolon, none of them holds one inside."""
    return [query.strip() for query in cell.split(";") if query.strip()]


def schema_of(database):
    with sqlite3.connect(f"file:{DEFOG}/sqlite/{database}.sqlite?mode=ro&immutable=1", uri=True) as connection:
        return "\n".join(connection.iterdump())


def result_of(connection, query):
    rows = connection.execute(query).fetchall()
    return sorted((tuple(round(v, 4) if isinstance(v, float) else v for v in row) for row in rows), key=repr)


@pytest.mark.parametrize("database", sorted(questions()) if DEFOG.exists() else [])
def test_accepted_queries(database):
    schema, cells = schema_of(database), questions()[database]
    connection = sqlite3.connect(":memory:")
    connection.executescript(schema)
    results = {query: result_of(connection, query) for cell in cells for query in split(cell)}
    pairs = [(query, cell) for cell in cells for query in split(cell)]  # its own gold, the whole cell
    wanted = [1.0] * len(pairs)
    for query in results:
        for cell in cells:
            for gold in split(cell)[:1]:  # another question's gold
                pairs.append((query, gold))
                wanted.append(float(results[query] == results[gold]))
    scores = same_result([f"```sql\n{query}\n```" for query, _ in pairs], [gold for _, gold in pairs], [schema] * len(pairs))
    wrong = [(pair, want, v.reason) for pair, want, v in zip(pairs, wanted, scores.verdicts, strict=True) if v.score != want]
    assert wrong == []
    assert len(set(wanted)) == 2
