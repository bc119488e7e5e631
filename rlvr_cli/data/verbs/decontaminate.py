"""``rlvr data decontaminate``: rows that an evaluation set gives away, dropped and reported."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rlvr_cli.data.verbs import file_words, finish, say
from rlvr_cli.errors import EXIT_OK, ConfigError

Row = dict[str, Any]

DECONTAMINATE_KEYS = {
    "against": "evaluation files, or options of `rlvr ls dataset`: a.jsonl or [a.jsonl,gsm8k]",
    "against_column": "their column with the question",
    "ngram": "length of a shared run of tokens that counts, 13 by default",
    "share": "least part of a held-out question's runs that a row must have, 0 to 1; 0 takes one run as enough",
    "common": "runs that more than this share of the rows have are a template and do not count",
    "report": "a file with one JSON line a match",
}
DECONTAMINATE_DEFAULTS: dict[str, Any] = {
    "against": None,
    "against_column": None,
    "ngram": 13,
    "share": 0.0,
    "common": 0.01,
    "report": None,
}
DECONTAMINATE_EXAMPLES = """\
  rlvr data decontaminate data=train.jsonl against=test.jsonl out=clean.jsonl report=matches.jsonl
  rlvr data decontaminate data=train.jsonl against=[math500,aime] ngram=10 out=clean.jsonl"""


def run(argv: Sequence[str]) -> int:
    """Drop rows that an evaluation set gives away, and report each match."""
    import dataclasses

    from rlvr_cli.data.decontaminate import find_matches
    from rlvr_cli.data.files import question_column, rows_of_file, write_rows

    about = "Drop training rows that stand in an evaluation set, whole after normalisation or by a long run of words."
    settings = file_words("decontaminate", argv, about, DECONTAMINATE_KEYS, DECONTAMINATE_DEFAULTS, DECONTAMINATE_EXAMPLES)
    if not settings["against"]:
        raise ConfigError("rlvr data decontaminate needs against=", where="command line", fix="against=test.jsonl")
    if not isinstance(settings["ngram"], int) or settings["ngram"] < 2:
        raise ConfigError(f"ngram={settings['ngram']!r} is not a whole number from 2", where="command line", fix="ngram=13")
    rows = rows_of_file(settings["data"], on_broken=settings["on_broken"], encoding=settings["encoding"])
    names = settings["against"] if isinstance(settings["against"], list) else [settings["against"]]
    sets = {name: _held_rows(name, settings) for name in map(str, names)}
    matches, templates = find_matches(
        rows, sets, n=settings["ngram"], column=question_column(rows, settings["column"]),
        against_column="prompt", share=settings["share"], common=settings["common"],
    )  # fmt: skip
    reasons = {m.row: f"{m.kind} as {m.source} row {m.held_row + 1}" for m in matches}
    kept = [row for i, row in enumerate(rows) if i not in reasons]
    if settings["report"]:
        write_rows(({**dataclasses.asdict(m), "row": m.row + 1, "held_row": m.held_row + 1} for m in matches), settings["report"])
    finish(settings, kept, [(rows[i], reason) for i, reason in reasons.items()], len(rows), lambda reason: reason.rpartition(" row ")[0])
    if templates:
        n, most = settings["ngram"], settings["common"]
        say(f"  {templates} runs of {n} tokens stand in more than {most:.0%} of the rows: a template, not counted")
    return EXIT_OK


def _held_rows(name: str, settings: dict[str, Any]) -> list[Row]:
    """The held-out questions of a file or a dataset option, under ``prompt``."""
    from rlvr_cli.data.files import question_column, rows_of_file
    from rlvr_cli.data.sources import find_path

    if find_path(name) is None and name.replace("_", "").isalnum():
        from rlvr_cli.config.compose import compose
        from rlvr_cli.data.loader import load

        config = compose([f"dataset={name}", "dataset.prompt_template=null"], rules=False).config
        return load(config.dataset, seed=0).eval
    rows = rows_of_file(name, key="against", on_broken=settings["on_broken"], encoding=settings["encoding"])
    column = question_column(rows, settings["against_column"], key="against_column")
    return [{"prompt": row.get(column)} for row in rows]
