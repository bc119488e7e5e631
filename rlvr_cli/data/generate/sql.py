"""Questions on a generated shop, each with a gold query and two instances of the database.

A query that is right on one instance by luck (a hard-coded id, a missing join condition) is wrong on the other. Rows are
only given out when the gold returns something on both instances and the results differ. A whole question:

>>> row = next(generate(count=1, seed=4))
>>> print(row["prompt"].splitlines()[-1])
How many unpaid orders do customers in Oslo have?
>>> row["gold_sql"], row["order_matters"]
("SELECT COUNT(*) FROM orders o JOIN customers c ON c.id = o.customer_id WHERE c.city = 'Oslo' AND o.paid = 0", False)
"""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rlvr_cli.errors import DataError

TABLES = """\
CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT NOT NULL, joined TEXT NOT NULL);
CREATE TABLE products(id INTEGER PRIMARY KEY, name TEXT NOT NULL, category TEXT NOT NULL, price REAL NOT NULL, stock INTEGER);
CREATE TABLE orders(id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers(id), day TEXT NOT NULL, paid INTEGER NOT NULL);
CREATE TABLE items(order_id INTEGER REFERENCES orders(id), product_id INTEGER REFERENCES products(id), quantity INTEGER NOT NULL);
"""
SHOWN = {
    "create": TABLES,
    "names": "customers(id,name,city,joined) products(id,name,category,price,stock) "
    "orders(id,customer_id,day,paid) items(order_id,product_id,quantity)\n",
}
SHOPS = 24  # instances that one call draws from
NAMES = [
    "Ada",
    "Bao",
    "Cem",
    "Dina",
    "Eli",
    "Fatou",
    "Gil",
    "Hana",
    "Ines",
    "Jun",
    "Kofi",
    "Lea",
    "Milo",
    "Nia",
    "Otto",
    "Pia",
    "Quin",
    "Rosa",
    "Sven",
    "Tao",
]
CITIES = ["Lima", "Oslo", "Kyoto", "Accra"]
CATEGORIES = ["tools", "toys", "books", "garden"]
PRODUCTS = [
    "lamp",
    "ball",
    "atlas",
    "rake",
    "drill",
    "kite",
    "novel",
    "hose",
    "saw",
    "robot",
    "diary",
    "spade",
    "file",
    "puzzle",
    "comic",
    "pot",
]


@dataclass(frozen=True)
class Question:
    """words and sql may hold {city}, {category}, {price}, {n}, {day}, {state} and {paid}; ``ordered``: positions of rows count."""

    words: str
    sql: str
    difficulty: int
    ordered: bool = False


QUESTIONS = [
    Question(
        "Which customers (name) live in {city}? Order them by name.",
        "SELECT name FROM customers WHERE city = '{city}' ORDER BY name",
        1,
        True,
    ),
    Question("How many products cost more than {price}?", "SELECT COUNT(*) FROM products WHERE price > {price}", 1),
    Question(
        "How many products of the category {category} cost less than {price}?",
        "SELECT COUNT(*) FROM products WHERE category = '{category}' AND price < {price}",
        1,
    ),
    Question(
        "Which products (name) cost at most {price} and have at least {n} pieces in stock?",
        "SELECT name FROM products WHERE price <= {price} AND stock >= {n}",
        1,
    ),
    Question(
        "Which customers (name, day they joined) from {city} joined before {day}?",
        "SELECT name, joined FROM customers WHERE city = '{city}' AND joined < '{day}'",
        1,
    ),
    Question("How many {state} orders were placed before {day}?", "SELECT COUNT(*) FROM orders WHERE paid = {paid} AND day < '{day}'", 1),
    Question(
        "Give name and price of every product in the category {category}.",
        "SELECT name, price FROM products WHERE category = '{category}'",
        1,
    ),
    Question(
        "What is the average price of the products in the category {category}?",
        "SELECT AVG(price) FROM products WHERE category = '{category}'",
        1,
    ),
    Question("How many customers joined on or after {day}?", "SELECT COUNT(*) FROM customers WHERE joined >= '{day}'", 1),
    Question(
        "Give the name of each product with fewer than {n} pieces in stock, by rising stock and then by name.",
        "SELECT name FROM products WHERE stock < {n} ORDER BY stock, name",
        1,
        True,
    ),
    Question(
        "For each city, how many customers live there? Give city and number.", "SELECT city, COUNT(*) FROM customers GROUP BY city", 2
    ),
    Question(
        "For each category, give the category and its highest price.", "SELECT category, MAX(price) FROM products GROUP BY category", 2
    ),
    Question(
        "Which categories have an average price above {price}?",
        "SELECT category FROM products GROUP BY category HAVING AVG(price) > {price}",
        2,
    ),
    Question(
        "Give the id of every order of a customer in {city}.",
        "SELECT o.id FROM orders o JOIN customers c ON c.id = o.customer_id WHERE c.city = '{city}'",
        2,
    ),
    Question(
        "How many unpaid orders do customers in {city} have?",
        "SELECT COUNT(*) FROM orders o JOIN customers c ON c.id = o.customer_id WHERE c.city = '{city}' AND o.paid = 0",
        2,
    ),
    Question(
        "Which customers (name) have no order?",
        "SELECT name FROM customers c WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id)",
        2,
    ),
    Question(
        "Give the name of every product that was never ordered.",
        "SELECT name FROM products WHERE id NOT IN (SELECT product_id FROM items)",
        2,
    ),
    Question(
        "For every customer, also those without orders, give the name and the number of orders.",
        "SELECT c.name, COUNT(o.id) FROM customers c LEFT JOIN orders o ON o.customer_id = c.id GROUP BY c.id",
        3,
    ),
    Question(
        "What is the total value (price times quantity) of all orders on or after {day}?",
        "SELECT SUM(p.price * i.quantity) FROM items i JOIN products p ON p.id = i.product_id JOIN orders o ON o.id = i.order_id "
        "WHERE o.day >= '{day}'",
        3,
    ),
    Question(
        "For each category, how many pieces were ordered in all? Give category and number, only categories with at least {n} pieces.",
        "SELECT p.category, SUM(i.quantity) FROM items i JOIN products p ON p.id = i.product_id GROUP BY p.category "
        "HAVING SUM(i.quantity) >= {n}",
        3,
    ),
    Question(
        "Which customers (name) bought at least one product of the category {category}?",
        "SELECT DISTINCT c.name FROM customers c JOIN orders o ON o.customer_id = c.id JOIN items i ON i.order_id = o.id "
        "JOIN products p ON p.id = i.product_id WHERE p.category = '{category}'",
        3,
    ),
    Question(
        "Which customers (name) have a {state} order from {day} or later?",
        "SELECT DISTINCT c.name FROM customers c JOIN orders o ON o.customer_id = c.id WHERE o.paid = {paid} AND o.day >= '{day}'",
        2,
    ),
    Question(
        "How many pieces of the category {category} were ordered before {day}?",
        "SELECT SUM(i.quantity) FROM items i JOIN products p ON p.id = i.product_id JOIN orders o ON o.id = i.order_id "
        "WHERE p.category = '{category}' AND o.day < '{day}'",
        3,
    ),
    Question(
        "Give name and total quantity of each product of which at least {n} pieces were ordered in all.",
        "SELECT p.name, SUM(i.quantity) FROM items i JOIN products p ON p.id = i.product_id GROUP BY p.id HAVING SUM(i.quantity) >= {n}",
        3,
    ),
    Question(
        "Which products (name) cost more than the average of their own category?",
        "SELECT name FROM products p WHERE price > (SELECT AVG(price) FROM products q WHERE q.category = p.category)",
        3,
    ),
]


def generate(*, count: int, seed: int, difficulty_max: int = 3, show: str = "create") -> Iterator[dict[str, Any]]:
    """``count`` questions. difficulty_max: 1 one table, 2 groups or a join, 3 several joins or a correlated query.

    show: how the prompt tells the tables, ``create`` statements or, shorter, ``names`` of tables and columns.
    """
    if show not in SHOWN:
        raise DataError(f"show={show!r} is not create or names", where="dataset.show", fix="dataset.show=create")
    questions = [q for q in QUESTIONS if q.difficulty <= difficulty_max]
    if not questions:
        raise DataError(
            f"difficulty_max={difficulty_max} leaves no question", where="dataset.difficulty_max", fix="dataset.difficulty_max=1"
        )
    rng = random.Random(f"sql-{seed}")
    shops = [Shop(shop(rng)) for _ in range(SHOPS)]
    for _ in range(count):
        row = None
        while row is None:
            row = _row(rng, rng.choice(questions), SHOWN[show], rng.sample(shops, 2))
        yield row


class Shop:
    """An instance of the database: its SQL text, and the same in memory to ask the gold of."""

    def __init__(self, text: str):
        self.text = text
        self.database = sqlite3.connect(":memory:", check_same_thread=False)
        self.database.executescript(text)

    def ask(self, sql: str) -> list[tuple]:
        """The rows of a query that was made here."""
        return self.database.execute(sql).fetchall()


def _row(rng: random.Random, question: Question, tables: str, shops: list[Shop]) -> dict[str, Any] | None:
    """A row, or None where the gold says nothing on one instance, or the same on both."""
    values = {"city": rng.choice(CITIES), "category": rng.choice(CATEGORIES), "price": rng.randint(5, 60), "n": rng.randint(2, 30)}
    values |= {"day": _day(rng), **rng.choice([{"state": "paid", "paid": 1}, {"state": "unpaid", "paid": 0}])}
    words, sql = question.words.format(**values), question.sql.format(**values)
    one, two = shops[0].ask(sql), shops[1].ask(sql)
    if one == two or any(not rows or rows == [(None,)] or rows == [(0,)] for rows in (one, two)):
        return None
    return {
        "prompt": f"Write one SQLite query that answers the question.\n\n{tables}\n{words}",
        "answer": sql,
        "gold_sql": sql,
        "schema_sql": shops[0].text,
        "schema_sql_2": shops[1].text,
        "order_matters": question.ordered,
        "difficulty": question.difficulty,
        "kind": "sql",
        "split_key": words,
    }


def shop(rng: random.Random) -> str:
    """A shop of a dozen customers and products as SQL text, every id, price and day drawn anew."""
    names, wares = rng.sample(NAMES, 8), rng.sample(PRODUCTS, 9)
    customers = [(10 * i + rng.randint(1, 9), name, rng.choice(CITIES), _day(rng)) for i, name in enumerate(names)]
    products = [(i + 1, name, rng.choice(CATEGORIES), rng.randint(8, 320) / 4, rng.randint(0, 40)) for i, name in enumerate(wares)]
    buyers = rng.sample(customers, 6)
    orders = [(100 + i, rng.choice(buyers)[0], _day(rng), rng.randint(0, 1)) for i in range(10)]
    bought = rng.sample(products, 7)
    items = [(order[0], ware[0], rng.randint(1, 5)) for order in orders for ware in rng.sample(bought, rng.randint(1, 3))]
    tables = {"customers": customers, "products": products, "orders": orders, "items": items}
    return TABLES + "\n".join(f"INSERT INTO {name} VALUES {', '.join(map(_tuple, rows))};" for name, rows in tables.items())


def _day(rng: random.Random) -> str:
    return f"2024-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}"


def _tuple(values: tuple) -> str:
    return "(" + ",".join(f"'{v}'" if isinstance(v, str) else str(v) for v in values) + ")"
