"""Number facts with units: conversions, small computations of physics, and constants of nature.

The gold is a number with its unit, computed in exact fractions and written without an exponent where it is short. Where there
is a way to it, the column ``solution`` has the law and the sums. A whole row:

>>> row = next(generate(count=1, seed=3))
>>> row["prompt"], row["answer"]
('What force, in N, gives a mass of 8 kg an acceleration of 5 m/s^2?', '40 N')
>>> row["solution"]
'F = m * a; 8 * 5 = 40'
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from rlvr_cli.errors import DataError

ELEMENTS = [  # name, symbol, atomic number
    ("hydrogen", "H", 1), ("helium", "He", 2), ("lithium", "Li", 3), ("beryllium", "Be", 4), ("boron", "B", 5), ("carbon", "C", 6),
    ("nitrogen", "N", 7), ("oxygen", "O", 8), ("fluorine", "F", 9), ("neon", "Ne", 10), ("sodium", "Na", 11), ("magnesium", "Mg", 12),
    ("aluminium", "Al", 13), ("silicon", "Si", 14), ("phosphorus", "P", 15), ("sulfur", "S", 16), ("chlorine", "Cl", 17),
    ("argon", "Ar", 18),
    ("potassium", "K", 19), ("calcium", "Ca", 20), ("titanium", "Ti", 22), ("chromium", "Cr", 24), ("iron", "Fe", 26), ("nickel", "Ni", 28),
    ("copper", "Cu", 29), ("zinc", "Zn", 30), ("bromine", "Br", 35), ("silver", "Ag", 47), ("tin", "Sn", 50), ("iodine", "I", 53),
    ("tungsten", "W", 74), ("platinum", "Pt", 78), ("gold", "Au", 79), ("mercury", "Hg", 80), ("lead", "Pb", 82), ("uranium", "U", 92),
]  # fmt: skip
UNITS = {  # quantity -> unit -> how many of the smallest
    "length": {"mm": 1, "cm": 10, "m": 1000, "km": 1_000_000},
    "mass": {"mg": 1, "g": 1000, "kg": 1_000_000},
    "time": {"s": 1, "min": 60, "h": 3600},
    "volume": {"mL": 1, "L": 1000},
    "energy": {"J": 1, "kJ": 1000, "MJ": 1_000_000},
    "power": {"W": 1, "kW": 1000},
}
CONSTANTS = [  # exact by definition, or a rounded value that schools use; the question says which
    ("What is the speed of light in vacuum, in m/s?", "299792458 m/s"),
    ("At how many degrees Celsius does water boil at 1 atm?", "100 °C"),
    ("At how many degrees Celsius does water freeze at 1 atm?", "0 °C"),
    ("What is absolute zero in degrees Celsius?", "-273.15 °C"),
    ("How many seconds are in one day?", "86400 s"),
    ("How many days does a leap year have?", "366 days"),
    ("How many planets does the solar system have?", "8"),
    ("How many bones does a grown human usually have?", "206"),
    ("How many chromosomes does a human body cell usually have?", "46"),
    ("What is the pH of pure water at 25 °C?", "7"),
    ("How many bits are in one byte?", "8 bits"),
    ("What is the standard acceleration of gravity, in m/s^2, to two decimals?", "9.81 m/s^2"),
    ("What is one standard atmosphere in pascal?", "101325 Pa"),
    ("How many metres are in one nautical mile?", "1852 m"),
    ("How many millimetres are in one inch?", "25.4 mm"),
    ("What is the sum of the angles of a triangle, in degrees?", "180°"),
]
TOPICS = ("units", "physics", "elements", "constants")

Made = tuple[str, str, int, str]  # question, answer, difficulty, solution
NO_LIMIT = 1000  # above every range below


def generate(*, count: int, seed: int, topics: Sequence[str] = TOPICS, max: int | None = None) -> Iterator[dict[str, Any]]:
    """``count`` questions. topics: any of units, physics, elements, constants (units and physics are drawn without end).

    max: largest drawn number, at least 4, for small models; null leaves each kind its own range.
    """
    unknown = [t for t in topics if t not in TOPICS]
    if unknown or not topics:
        raise DataError(f"{unknown[0] if unknown else 'nothing'!r} is not a topic; they are {', '.join(TOPICS)}",
                        where="dataset.topics", fix="'dataset.topics=[units,physics]'")  # fmt: skip
    if max is not None and max < 4:
        raise DataError(f"max={max} leaves too few numbers", where="dataset.max", fix="dataset.max=12")
    rng = random.Random(f"number_facts-{seed}")
    makers = [maker for topic in topics for maker in MAKERS[topic]]
    for _ in range(count):
        question, answer, difficulty, solution = rng.choice(makers)(rng, max or NO_LIMIT)
        yield {"prompt": question, "answer": answer, "solution": solution, "difficulty": difficulty, "kind": "facts"}


least = min  # `max` is a key of the generator


def written(value: Fraction) -> str:
    """A fraction as a decimal without end zeros; only values that end are made here.

    >>> written(Fraction(7, 2)), written(Fraction(1200)), written(Fraction(-3, 8))
    ('3.5', '1200', '-0.375')
    """
    if value.denominator == 1:
        return str(value.numerator)
    digits = 0
    while (value * 10**digits).denominator != 1:
        digits += 1
        if digits > 12:
            raise ValueError(f"{value} has no short decimal form")
    sign, whole = "-" if value < 0 else "", abs(value.numerator * 10**digits // value.denominator)
    return f"{sign}{whole // 10**digits}.{whole % 10**digits:0{digits}d}"


def _conversion(rng: random.Random, top: int) -> Made:
    quantity = rng.choice(list(UNITS))
    small, large = sorted(rng.sample(list(UNITS[quantity]), 2), key=UNITS[quantity].__getitem__)
    factor = Fraction(UNITS[quantity][large], UNITS[quantity][small])
    tenths = Fraction(rng.randint(2, least(400, top)), 1 if quantity == "time" else rng.choice([1, 10]))
    n, law = written(tenths), f"1 {large} = {factor} {small}"
    if rng.random() < 0.6 or quantity == "time":
        result = written(tenths * factor)
        return f"Convert {n} {large} to {small}.", f"{result} {small}", 1, f"{law}; {n} * {factor} = {result}"
    result = written(tenths / factor)
    return f"Convert {n} {small} to {large}.", f"{result} {large}", 2, f"{law}; {n} / {factor} = {result}"


def _clock(rng: random.Random, top: int) -> Made:
    h, m = rng.randint(1, 9), rng.randint(1, least(59, top))
    total = 60 * h + m
    return f"How many minutes are {h} h {m} min?", f"{total} min", 1, f"1 h = 60 min; {h} * 60 = {60 * h}; {60 * h} + {m} = {total}"


def _speed(rng: random.Random, top: int) -> Made:
    v, t = rng.randint(2, least(120, top)), rng.randint(2, least(60, top))
    if rng.random() < 0.5:
        return f"A body moves at {v} m/s for {t} s. How far does it go, in m?", f"{v * t} m", 2, f"s = v * t; {v} * {t} = {v * t}"
    return f"A body moves {v * t} m in {t} s. What is its speed, in m/s?", f"{v} m/s", 2, f"v = s / t; {v * t} / {t} = {v}"


def _force(rng: random.Random, top: int) -> Made:
    m, a = rng.randint(2, least(80, top)), rng.randint(2, least(25, top))
    question = f"What force, in N, gives a mass of {m} kg an acceleration of {a} m/s^2?"
    return question, f"{m * a} N", 2, f"F = m * a; {m} * {a} = {m * a}"


def _density(rng: random.Random, top: int) -> Made:
    rho, v = Fraction(rng.randint(5, least(200, 2 * top)), 10), rng.randint(2, least(90, top))
    mass = written(rho * v)
    question = f"A body of {v} cm^3 has a mass of {mass} g. What is its density, in g/cm^3?"
    return question, f"{written(rho)} g/cm^3", 3, f"rho = m / V; {mass} / {v} = {written(rho)}"


def _current(rng: random.Random, top: int) -> Made:
    r, i = rng.randint(2, least(90, top)), rng.randint(1, least(15, top))
    if rng.random() < 0.5:
        question = f"A current of {i} A flows through {r} ohm. What is the voltage, in V?"
        return question, f"{r * i} V", 2, f"U = R * I; {r} * {i} = {r * i}"
    return f"What current, in A, does a voltage of {r * i} V drive through {r} ohm?", f"{i} A", 2, f"I = U / R; {r * i} / {r} = {i}"


def _kinetic(rng: random.Random, top: int) -> Made:
    m, v = 2 * rng.randint(1, least(30, top // 2)), rng.randint(2, least(20, top))
    energy = m * v * v // 2
    way = f"E = m / 2 * v^2; {m} / 2 = {m // 2}; {v} * {v} = {v * v}; {m // 2} * {v * v} = {energy}"
    return f"What is the kinetic energy, in J, of {m} kg moving at {v} m/s?", f"{energy} J", 3, way


def _temperature(rng: random.Random, top: int) -> Made:
    c = 5 * rng.randint(-8, least(40, top))
    scaled = c * 9 // 5
    return f"Convert {c} °C to °F.", f"{scaled + 32} °F", 2, f"F = C * 9 / 5 + 32; {c} * 9 / 5 = {scaled}; {scaled} + 32 = {scaled + 32}"


def _element(rng: random.Random, top: int) -> Made:
    name, symbol, number = rng.choice(ELEMENTS)
    if rng.random() < 0.5:
        return f"What is the atomic number of {name}?", str(number), 2, ""
    return f"How many protons does an atom of {name} ({symbol}) have?", str(number), 2, ""


def _constant(rng: random.Random, top: int) -> Made:
    question, answer = rng.choice(CONSTANTS)
    return question, answer, 2, ""


MAKERS: dict[str, list[Callable[[random.Random, int], Made]]] = {
    "units": [_conversion, _conversion, _clock, _temperature],
    "physics": [_speed, _force, _density, _current, _kinetic],
    "elements": [_element],
    "constants": [_constant],
}
