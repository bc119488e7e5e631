"""The verbs of ``rlvr data``, one file each, and what they share: words, help, and the way drops are told.

Rows go to a file or standard output, what is said about them to standard error, so that verbs can be piped.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from rlvr_cli.arguments import Arguments
from rlvr_cli.errors import ConfigError

Row = dict[str, Any]

FILE_KEYS = {
    "data": "a file, a folder, or - for standard input",
    "out": "where the kept rows go; else standard output",
    "overwrite": "write over files that exist (default false)",
    "dropped": "a file for the dropped rows, each with its reason in the column `dropped`",
    "column": "column with the question",
    "on_broken": "stop at a line that cannot be read, or drop it and say so",
    "encoding": "of the file",
}
FILE_DEFAULTS: dict[str, Any] = {
    "data": None,
    "out": None,
    "overwrite": False,
    "dropped": None,
    "column": None,
    "on_broken": "stop",
    "encoding": "utf-8",
}


def words_of(verb: str, argv: Sequence[str], about: str, keys: dict[str, str], examples: str, first: str | None = None) -> list[str]:
    """The words after the verb; ``--help`` prints the keys, the examples, and leaves."""
    width = max(map(len, keys), default=0)
    listed = "\n".join(f"  {key:<{width}}  {text}" for key, text in keys.items())
    parser = Arguments(
        prog=f"rlvr data {verb}",
        usage=f"rlvr data {verb} {f'{first} ' if first else ''}[key=value]",
        description=about,
        epilog=f"keys:\n{listed}\n\nexamples:\n{examples}",
    )
    parser.add_argument("words", nargs="*", metavar="key=value" if first is None else f"{first} key=value")
    return parser.parse_intermixed_args(list(argv)).words


def say(*lines: str) -> None:
    """Lines for a person, on standard error: standard output may be rows."""
    for line in lines:
        print(line, file=sys.stderr)


def file_words(verb: str, argv: Sequence[str], about: str, keys: dict[str, str], defaults: dict[str, Any], examples: str) -> dict[str, Any]:
    """The settings of a verb that reads ``data=`` and writes ``out=``."""
    from rlvr_cli.data.files import claim_all
    from rlvr_cli.data.words import parse_words

    words = words_of(verb, argv, about, {**FILE_KEYS, **keys}, examples)
    settings = parse_words(words, {**FILE_DEFAULTS, **defaults}, command=verb)
    if settings["data"] is None:
        raise ConfigError(f"rlvr data {verb} needs data=", where="command line", fix=f"rlvr data {verb} data=FILE.jsonl out=OUT.jsonl")
    claim_all(settings, "out", "dropped", "report")
    return settings


def finish(settings: dict[str, Any], kept: list[Row], dropped: list[tuple[Row, str]], total: int, kind: Callable[[str], str]) -> None:
    """Write what was kept and dropped, and say how many of each reason."""
    from collections import Counter

    from rlvr_cli.data.files import write_rows

    write_rows(kept, settings["out"])
    if settings["dropped"]:
        write_rows(({**row, "dropped": reason} for row, reason in dropped), settings["dropped"])
    say(f"kept {len(kept)} of {total} rows, dropped {len(dropped)}")
    for reason, count in Counter(kind(reason) for _, reason in dropped).most_common():
        say(f"  {count}: {reason}")
