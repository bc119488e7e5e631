"""``rlvr score``: JSONL in, JSONL out, no model. The same functions that training calls, on completions that exist already.

Rows stream in batches; a line that cannot be scored is named on standard error and makes the exit code 1.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from rlvr_cli.arguments import Arguments
from rlvr_cli.errors import EXIT_FAILED, EXIT_OK, ConfigError, DataError
from rlvr_cli.outputs import claim, writing

EPILOGUE = """\
a row:  {"completion": "... <answer>4</answer>", "answer": "4"}     and any columns its reward needs
out:    the same columns, and scores, total, reasons, extracted     (null: could not judge, or the term does not apply)
examples:
  rlvr score reward=math data=answers.jsonl > scored.jsonl
  zcat answers.jsonl.gz | rlvr score reward=math data=- out=scored.jsonl
  rlvr score reward=rewards.mine.f data=answers.jsonl reward.terms.f.options.tolerance=0.01
  rlvr score reward=math data=answers.jsonl dataset.columns.completion=response dataset.columns.answer=target
exit codes: 0 every line was scored, 1 some lines could not be read, 2 the reward or the file can not be used"""
NOT_APPLICABLE, NO_TERM = "not applicable", "no term applies to this row"
OWN = ("reward", "data", "out", "overwrite", "batch")
PROGRESS_S = 5.0
SHOWN_KINDS = 20  # of broken lines


@dataclass
class Tally:
    """What was seen so far, for the last line."""

    started: float = field(default_factory=time.monotonic)
    said: float = field(default_factory=time.monotonic)
    rows: int = 0
    broken: int = 0
    total: float = 0.0
    judged: int = 0
    unjudged: Counter = field(default_factory=Counter)
    refused: Counter = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)

    def refuse(self, place: str, why: str) -> None:
        """Count a line that can not be scored; the first of each kind is remembered, for a wrong column is wrong in every row."""
        self.broken += 1
        self.refused[why] += 1
        self.first.setdefault(why, place)

    def refusals(self) -> list[str]:
        """One sentence a kind of broken line, with the first place and the count."""
        return [f"{self.first[why]}{f' and {n - 1} more' if n > 1 else ''}: {why}" for why, n in self.refused.most_common(SHOWN_KINDS)]

    def add(self, row: dict[str, Any]) -> None:
        """Count one scored row."""
        self.rows += 1
        if row["total"] is not None:
            self.judged, self.total = self.judged + 1, self.total + row["total"]
            return
        left = [name for name, score in row["scores"].items() if score is None and row["reasons"][name] != NOT_APPLICABLE]
        self.unjudged.update([f"{name}: {row['reasons'][name]}" for name in left] or [NO_TERM])

    def line(self) -> str:
        """The summary."""
        seconds = max(time.monotonic() - self.started, 1e-9)
        mean = f"mean total {self.total / self.judged:.4f}" if self.judged else "no total"
        parts = [f"{self.rows} rows", mean, f"{self.rows - self.judged} could not be judged", f"{self.broken} broken lines"]
        return f"rlvr score: {', '.join(parts)}, {self.rows / seconds:.0f} rows/s"


def parser() -> Arguments:
    """For ``--help``; the words are ``key=value``."""
    p = Arguments(
        prog="rlvr score",
        usage="rlvr score reward=NAME data=FILE|- [out=FILE] [overwrite=true] [batch=64] [reward.KEY=VALUE]",
        description="Score completions in a file: one JSON object a line in, the same with scores out.",
        epilog=EPILOGUE,
    )
    p.add_argument(
        "words",
        nargs="*",
        metavar="key=value",
        help="reward (an option of `rlvr ls reward`, a dotted path), data, out, overwrite, batch",
    )
    return p


def run(argv: list[str]) -> int:
    """The verb: exit code 0, 1 when lines were broken, 2 when reward or file can not be used."""
    from rlvr_cli import scoring

    mine, overrides = scoring.split_words(parser().parse_intermixed_args(argv).words, OWN)
    for key, fix in (("reward", "reward=math"), ("data", "data=FILE.jsonl")):
        if not mine.get(key):
            raise ConfigError(f"rlvr score needs {key}=", where="command line", fix=f"rlvr score reward=math data=FILE ({fix})")
    choice = scoring.choose(mine["reward"], overrides)
    choice.bound()  # a reward that can not be resolved ends here, before any row is read
    over = yes_or_no("overwrite", mine.get("overwrite", "false"))
    place = claim(mine["out"], overwrite=over) if mine.get("out") else None
    tally = Tally()
    with output(place) as out:
        for row in scored(choice, mine["data"], batch_size(mine.get("batch", "64")), tally):
            out.write(scoring.json_line(row) + "\n")
            tally.add(row)
        if tally.broken and not tally.rows:
            raise DataError(f"no line of {mine['data']} can be scored: {'; '.join(tally.refusals())}", where="data")
    finish(tally)
    return EXIT_FAILED if tally.broken else EXIT_OK


def yes_or_no(key: str, text: str) -> bool:
    """A word that is true or false."""
    if text.lower() not in ("true", "false"):
        raise ConfigError(f"{key} must be true or false, not {text!r}", where="command line", fix=f"{key}=true")
    return text.lower() == "true"


def batch_size(text: str) -> int:
    """The word ``batch=``."""
    if not text.isdigit() or int(text) < 1:
        raise ConfigError(f"batch must be a whole number from 1, not {text!r}", where="command line", fix="batch=64")
    return int(text)


@contextlib.contextmanager
def output(place: Path | None) -> Iterator[IO[str]]:
    """The file ``out=``, written whole or not at all, or standard output."""
    if place is None:
        yield sys.stdout
        return
    with writing(place) as file:
        yield file


def scored(choice: Any, source: str, size: int, tally: Tally) -> Iterable[dict[str, Any]]:
    """The rows of ``source`` with their scores, in order; broken lines are named and counted on the way."""
    from rlvr_cli import scoring

    terms = None
    wanted = scoring.batch_size_for(choice.bound(), size)
    for batch in scoring.batches(scoring.read_rows(source, choice.renames), wanted):
        for place, row in batch:
            if isinstance(row, str):
                tally.refuse(place, row)
        rows = [row for _, row in batch if not isinstance(row, str)]
        if rows:
            terms = terms or choice.bound(scoring.columns_of(rows))
            with contextlib.redirect_stdout(sys.stderr):  # what a reward prints must not fall between the JSON lines
                done = list(scoring.score_rows(terms, rows))
            yield from done
            if source == "-":
                sys.stdout.flush()
        progress(tally)


def progress(tally: Tally) -> None:
    """A line on standard error every few seconds of a long input."""
    now = time.monotonic()
    if now - tally.said >= PROGRESS_S:
        tally.said = now
        print(f"rlvr score: {tally.rows} rows, {tally.rows / (now - tally.started):.0f} rows/s", file=sys.stderr, flush=True)


def finish(tally: Tally) -> None:
    """The summary, and the commonest reasons why rows were left out."""
    for refusal in tally.refusals():
        print(f"rlvr score: {refusal}", file=sys.stderr)
    print(tally.line(), file=sys.stderr)
    for reason, count in tally.unjudged.most_common(5):
        print(f"  could not judge {count}: {reason}", file=sys.stderr)
