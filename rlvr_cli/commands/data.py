"""``rlvr data``: make rows, look at them, filter them, and take out what an evaluation set gives away.

Each verb takes ``key=value`` words and has its own ``--help``; rows go to a file or standard output, what is said about them
to standard error, so that verbs can be piped::

    rlvr data generate arithmetic count=100 | rlvr data filter data=- max_chars=6 > short.jsonl
"""

from __future__ import annotations

import importlib

from rlvr_cli.errors import EXIT_OK, EXIT_USAGE, ConfigError

VERBS = ("generate", "show", "filter", "decontaminate", "difficulty")

USAGE = """\
usage: rlvr data VERB [key=value]

verbs:
  generate NAME   draw rows from a generator, each with its gold proved by its own reward
  show DATA       a page of rows, lengths, golds, difficulty: a file, or an option of `rlvr ls dataset`
  filter          keep rows by pass rate, length, language; drop duplicates, unsafe text, personal data; every drop counted
  decontaminate   drop rows that an evaluation set gives away
  difficulty      pass rate of a model on each prompt

examples:
  rlvr data generate word_problems count=500 language=zh out=words.jsonl
  rlvr data show words.jsonl
  rlvr data show gsm8k dataset.limit=100
  rlvr data decontaminate data=train.jsonl against=test.jsonl out=clean.jsonl
  rlvr data filter data=clean.jsonl max_chars=400 language=zh out=kept.jsonl
  rlvr data VERB --help"""


def run(argv: list[str]) -> int:
    """The verb's exit code: 0 done, 1 a gold was refused, 2 usage or data."""
    if not argv or argv[0] in ("-h", "--help", "help"):
        print(USAGE)
        return EXIT_OK if argv else EXIT_USAGE
    if argv[0] not in VERBS:
        from rlvr_cli.config.nearest import nearest

        near = nearest(argv[0], VERBS)
        raise ConfigError(f"{argv[0]!r} is not a verb of rlvr data", where="command line", fix=f"rlvr data {near or '--help'}")
    return importlib.import_module(f"rlvr_cli.data.verbs.{argv[0]}").run(argv[1:])
