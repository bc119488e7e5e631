"""Short texts to be read into JSON: a shape that the prompt shows, and a schema that pins every value.

The row's ``schema`` is what the reward validates: beside the shape it holds each right value as ``const``, so a legal object
with a wrong price fails. The prompt shows the shape only. A whole row:

>>> row = next(generate(count=1, seed=1))
>>> print(row["prompt"].splitlines()[0])
Read the text and answer with one JSON object.
>>> row["answer"]
'{"city": "Oslo", "temperature": {"low": 17, "high": 25}, "rain_percent": 48, "wind": "west"}'
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from typing import Any

from rlvr_cli.errors import DataError

PEOPLE = ["Ada", "Bao", "Cem", "Dina", "Eli", "Fatou", "Gil", "Hana", "Ines", "Jun"]
FAMILY = ["Adler", "Brook", "Chen", "Diaz", "Evans", "Farouk", "Green", "Haas", "Ito", "Jones"]
CITIES = ["Lima", "Oslo", "Kyoto", "Accra", "Graz", "Perth", "Quito", "Turin"]
GOODS = ["lamp", "kettle", "rake", "drill", "kite", "novel", "hose", "saw", "robot", "diary"]
MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"]

MAY_LACK = ("email", "wind")  # facts that a text may leave out

Record = tuple[str, dict[str, Any]]  # the text, and what it says


def generate(*, count: int, seed: int, optional: bool = True, show: str = "schema") -> Iterator[dict[str, Any]]:
    """``count`` texts. optional: some texts leave out a fact, whose value must then be null.

    show: how the prompt tells the shape, as a ``schema`` or, shorter, by the ``keys`` alone.
    """
    if show not in ("schema", "keys"):
        raise DataError(f"show={show!r} is not schema or keys", where="dataset.show", fix="dataset.show=schema")
    rng = random.Random(f"json_extraction-{seed}")
    for _ in range(count):
        text, record = rng.choice(KINDS)(rng, optional)
        shape = f"Schema: {json.dumps(schema_of(record, values=False))}" if show == "schema" else f"Keys: {keys_of(record)}"
        yield {
            "prompt": f"Read the text and answer with one JSON object.\n\nText: {text}\n\n{shape}",
            "answer": json.dumps(record),
            "schema": schema_of(record, values=True),
            "difficulty": _leaves(record),
            "kind": "json_schema",
            "split_key": text,
        }


def schema_of(value: Any, *, values: bool, key: str = "") -> dict[str, Any]:
    """The schema of a value: types and required keys, and with ``values`` each leaf as a constant.

    >>> schema_of({"n": 3}, values=True)["properties"]
    {'n': {'type': 'integer', 'const': 3}}
    """
    if isinstance(value, dict):
        properties = {name: schema_of(v, values=values, key=name) for name, v in value.items()}
        return {"type": "object", "properties": properties, "required": list(value), "additionalProperties": False}
    if isinstance(value, list):
        if not values:
            return {"type": "array", "items": schema_of(value[0], values=False)}
        items = [schema_of(v, values=True) for v in value]
        return {"type": "array", "minItems": len(value), "maxItems": len(value), "items": items}
    kind = {str: "string", bool: "boolean", int: "integer", float: "number"}.get(type(value))
    leaf: dict[str, Any] = {"type": ["string", "null"] if key in MAY_LACK else kind}
    return {**leaf, "const": value} if values else leaf


def keys_of(value: Any) -> str:
    """The shape in few words.

    >>> keys_of({"city": "Oslo", "temperature": {"low": 1, "high": 2}, "lines": [{"product": "x"}]})
    '{city, temperature: {low, high}, lines: [{product}]}'
    """
    if isinstance(value, list):
        return f"[{keys_of(value[0])}]" if isinstance(value[0], dict) else "[]"
    parts = [f"{key}: {keys_of(v)}" if isinstance(v, dict | list) else key for key, v in value.items()]
    return "{" + ", ".join(parts) + "}"


def _leaves(value: Any) -> int:
    if isinstance(value, dict):
        return sum(map(_leaves, value.values()))
    return sum(map(_leaves, value)) if isinstance(value, list) else 1


def _name(rng: random.Random) -> str:
    return f"{rng.choice(PEOPLE)} {rng.choice(FAMILY)}"


def _date(rng: random.Random) -> tuple[str, str]:
    """A date in words and as ISO text."""
    month, day = rng.randint(1, 12), rng.randint(1, 28)
    return f"{day} {MONTHS[month - 1]} 2025", f"2025-{month:02d}-{day:02d}"


def _invoice(rng: random.Random, optional: bool) -> Record:
    buyer, (said, iso) = _name(rng), _date(rng)
    goods = rng.sample(GOODS, rng.randint(1, 3))
    lines = [{"product": g, "quantity": rng.randint(1, 9), "price": rng.randint(3, 200) + 0.5} for g in goods]
    listed = "; ".join(f"{line['quantity']} x {line['product']} at ${line['price']:.2f} each" for line in lines)
    number = f"R-{rng.randint(100, 999)}"
    return f"Invoice {number} of {said} for {buyer}: {listed}.", {"number": number, "date": iso, "buyer": buyer, "lines": lines}


def _event(rng: random.Random, optional: bool) -> Record:
    host, city, (said, iso), seats = _name(rng), rng.choice(CITIES), _date(rng), rng.randint(5, 300)
    hour, minute = rng.randint(8, 21), rng.choice(["00", "15", "30"])
    free = rng.random() < 0.5
    entry = "free" if free else "not free"
    text = f"{host} invites you to {city} on {said} at {hour}:{minute}. There are {seats} seats, and entry is {entry}."
    return text, {"host": host, "city": city, "date": iso, "time": f"{hour:02d}:{minute}", "seats": seats, "free": free}


def _person(rng: random.Random, optional: bool) -> Record:
    name, age, city = _name(rng), rng.randint(18, 90), rng.choice(CITIES)
    mail: str | None = f"{name.split()[0].lower()}{rng.randint(1, 99)}@example.org"
    if optional and rng.random() < 0.4:
        mail = None
    hobbies = rng.sample(["chess", "sailing", "cooking", "running", "painting"], rng.randint(1, 3))
    reach = f" and can be reached at {mail}" if mail else ""
    text = f"{name}, {age}, lives in {city}{reach}. Hobbies, in this order: {', '.join(hobbies)}."
    return text, {"name": name, "age": age, "city": city, "email": mail, "hobbies": hobbies}


def _weather(rng: random.Random, optional: bool) -> Record:
    city, low, rain = rng.choice(CITIES), rng.randint(-15, 20), rng.randint(0, 100)
    high = low + rng.randint(1, 15)
    wind: str | None = rng.choice(["north", "south", "east", "west"])
    if optional and rng.random() < 0.3:
        wind = None
    text = f"{city}: between {low} and {high} degrees, {rain}% chance of rain{f', wind from the {wind}' if wind else ''}."
    return text, {"city": city, "temperature": {"low": low, "high": high}, "rain_percent": rain, "wind": wind}


KINDS: list[Callable[[random.Random, bool], Record]] = [_invoice, _event, _person, _weather]
