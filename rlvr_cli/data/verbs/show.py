"""``rlvr data show DATA``: a page of rows and what the whole set looks like."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from rlvr_cli.data.verbs import words_of
from rlvr_cli.errors import EXIT_OK, ConfigError

Row = dict[str, Any]

SHOW_KEYS = {
    "n": "rows shown",
    "from": "first row shown, from 1",
    "column": "column with the question",
    "answer": "column with the gold",
    "tokenizer": "count tokens by the tokenizer in this folder or of this hub id; else characters",
    "on_broken": "stop at a line that cannot be read, or drop it and say so",
    "encoding": "of the file",
}
SHOW_EXAMPLES = """\
  rlvr data show train.jsonl n=5
  rlvr data show arithmetic 'dataset.operators=[*]'        a dataset option, as training would see it
  rlvr data show train.parquet column=question answer=solution tokenizer=outputs/RUN/final"""


def run(argv: Sequence[str]) -> int:
    """A page of rows."""
    from rlvr_cli.data.files import question_column
    from rlvr_cli.data.show import page, summary, token_counter
    from rlvr_cli.data.words import parse_words

    words = words_of("show", argv, "A readable page of rows, lengths, golds and difficulty.", SHOW_KEYS, SHOW_EXAMPLES, "DATA")
    plain = [w for w in words if "=" not in w] + [w.partition("=")[2] for w in words if w.startswith("data=")]
    if len(plain) != 1:
        raise ConfigError("rlvr data show needs one file or dataset option", where="command line", fix="rlvr data show FILE.jsonl")
    overrides = [w for w in words if w.startswith("dataset.")]
    defaults = {"n": 3, "from": 1, "column": None, "answer": None, "tokenizer": None, "on_broken": "stop", "encoding": "utf-8"}
    mine = [w for w in words if "=" in w and not w.startswith(("dataset.", "data="))]
    settings = parse_words(mine, defaults, command="show")
    rows, notes = _rows_to_show(plain[0], overrides, settings)
    column = question_column(rows, settings["column"])
    count, unit = (token_counter(settings["tokenizer"]), "tokens") if settings["tokenizer"] else (len, "characters")
    answer = settings["answer"] or next((a for a in ("answer", "solution", "gold_sql") if a in rows[0]), None)
    start = max(settings["from"], 1)
    pages = [
        page(row, start + i, column=column, count=count, unit=unit) for i, row in enumerate(rows[start - 1 : start - 1 + settings["n"]])
    ]
    _print_pages(pages, notes + summary(rows, column=column, answer=answer, count=count, unit=unit))
    return EXIT_OK


def _rows_to_show(source: str, overrides: list[str], settings: dict[str, Any]) -> tuple[list[Row], list[str]]:
    """The raw rows of a file, or the training rows of a dataset option as training would see them."""
    from rlvr_cli.data.files import rows_of_file
    from rlvr_cli.data.sources import find_path

    if source == "-" or find_path(source) is not None or not source.replace("_", "").isalnum():
        return rows_of_file(source, on_broken=settings["on_broken"], encoding=settings["encoding"]), []
    from rlvr_cli.config.compose import compose
    from rlvr_cli.data.loader import load

    config = compose([f"dataset={source}", *overrides], rules=False).config
    loaded = load(config.dataset, seed=config.seed)
    return loaded.train or loaded.eval, loaded.said()


def _print_pages(pages: list[tuple[str, list[tuple[str, str]]]], lines: list[str]) -> None:
    """Panels on a terminal, plain lines elsewhere."""
    if sys.stdout.isatty():
        from rich.console import Console, Group
        from rich.panel import Panel
        from rich.text import Text

        console = Console()
        for title, fields in pages:
            body = Group(*(Text.assemble((f"{name}: ", "bold"), text) for name, text in fields))
            console.print(Panel(body, title=title, title_align="left"))
        for line in lines:
            console.print(line, markup=False, highlight=False)
        return
    for title, fields in pages:
        print(f"--- {title}")
        for name, text in fields:
            print(f"{name}: {text}")
    print("---", *lines, sep="\n")
