"""``rlvr data generate NAME``: draw rows, judge each gold by its own reward, write JSON lines."""

from __future__ import annotations

import inspect
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from rlvr_cli.data.verbs import say, words_of
from rlvr_cli.errors import EXIT_FAILED, EXIT_OK, ConfigError

Row = dict[str, Any]
ABOUT = "Draw rows from a generator: exact, seeded, with a gold and a difficulty in each row."
EXAMPLES = """\
  rlvr data generate arithmetic 'operators=[+,-,*,//]' terms=3 brackets=true count=1000 out=sums.jsonl
  rlvr data generate word_problems language=both steps_max=2 side=eval count=200 out=held_out.jsonl
  rlvr data generate sql difficulty_max=2 out=shop.jsonl
  rlvr data generate arithmetic --help                     a generator's own keys
built in: arithmetic, countdown, expression_game, general, json_extraction, knights_knaves, mini_sudoku, mixed, multiple_choice,
  number_facts, programs, reasoning_gym, sql, word_problems; or a dotted path to your own"""
COMMON = {"count": 100, "seed": 0, "side": "all", "out": None, "overwrite": False, "prove": True}
COMMON_HELP = {
    "count": "rows, all with different prompts (default 100)",
    "seed": "the same rows for the same seed (default 0)",
    "side": "train, eval (the tenth that training holds out, whatever the seed) or all",
    "out": "a file (.jsonl, also .gz); else standard output",
    "overwrite": "write over a file that exists (default false)",
    "prove": "judge each gold by its own reward (default true)",
}


def run(argv: Sequence[str]) -> int:
    """0 done, 1 when a gold was refused by its own reward."""
    from rlvr_cli.data.files import claim_all, write_rows
    from rlvr_cli.data.generate import generator_keys, takes_any_key
    from rlvr_cli.data.words import parse_words

    name = _name(argv)
    own = generator_keys(name) if name else {}
    keys = {**COMMON_HELP, **{key: f"default {value}" for key, value in own.items()}}
    words = words_of("generate", argv, _about(name), keys, EXAMPLES, "NAME")
    if not name:
        raise ConfigError("rlvr data generate needs a name", where="command line", fix="rlvr data generate arithmetic")
    rest = [word for word in words if word != name]
    settings = parse_words(rest, {**COMMON, **own}, command=f"generate {name}", loose=takes_any_key(name))
    common = {key: settings.pop(key) for key in COMMON}
    claim_all(common, "out")
    rows = draw(name, common, settings)
    refused = _prove(rows) if common["prove"] else 0
    written = write_rows(({k: v for k, v in row.items() if k != "split_key"} for row in rows), common["out"])
    say(f"{written} rows of {name}" + (f" in {common['out']}" if common["out"] else ""))
    return EXIT_FAILED if refused else EXIT_OK


def _name(argv: Sequence[str]) -> str | None:
    """The generator named on the line, checked; None where there is none."""
    from rlvr_cli.config.nearest import nearest
    from rlvr_cli.data.generate import generator_names

    name = next((word for word in argv if "=" not in word and not word.startswith("-")), None)
    if name and "." not in name and name not in generator_names():
        near = nearest(name, generator_names()) or "--help"
        what = f"there is no generator {name!r}; built in: {', '.join(generator_names())}"
        raise ConfigError(what, where="command line", fix=f"rlvr data generate {near}")
    return name


def _about(name: str | None) -> str:
    """The generator's own words on itself and its keys."""
    if name is None:
        return ABOUT
    from rlvr_cli.data.generate import generator

    make = generator(name)
    first = (inspect.getdoc(sys.modules[make.__module__]) or "").partition("\n\n")[0]
    return f"{first}\n\n{(inspect.getdoc(make) or '').replace('``', '')}"


def draw(name: str, common: dict[str, Any], own: dict[str, Any]) -> list[Row]:
    """``count`` different rows of the asked side, and a word where fewer exist."""
    from rlvr_cli.config.schema import Dataset
    from rlvr_cli.data.loader import draw_side

    if not isinstance(common["count"], int) or common["count"] < 1:
        raise ConfigError(f"count={common['count']!r} is not a whole number from 1", where="command line", fix="count=100")
    if common["side"] not in ("train", "eval", "all"):
        raise ConfigError(f"side={common['side']!r} is not train, eval or all", where="command line", fix="side=train")
    dataset = Dataset(generator=name, eval_share=0.0 if common["side"] == "all" else 0.1, **own)
    held, count = common["side"] == "eval", common["count"]
    rows = draw_side(dataset, seed=common["seed"], count=count, held=held, tell=_teller(count))
    if len(rows) < count:
        say(f"only {len(rows)} different prompts of the {count} asked for exist at these settings")
    return rows


def _teller(count: int) -> Callable[[int], None]:
    """Says how far it is, every two seconds."""
    from rlvr_cli.data.files import PROGRESS_S

    said = time.monotonic()

    def tell(done: int) -> None:
        nonlocal said
        if time.monotonic() - said >= PROGRESS_S:
            said = time.monotonic()
            say(f"generate: {done} of {count} rows")

    return tell


def _prove(rows: list[Row]) -> int:
    """Judge the golds and say what was found; how many were refused."""
    from rlvr_cli.data.prove import prove

    proved = prove(rows)
    say(*proved.lines())
    return len(proved.bad)
