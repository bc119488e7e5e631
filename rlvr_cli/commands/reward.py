"""``rlvr reward``: the judges judged. ``test`` on labelled rows, ``label`` to make them, ``audit`` to attack, ``fit`` to learn a rule.

Each works on a built-in option (``math``), a dotted path (``rewards.mine.f``) or a function of a file (``mine.py:f``).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from rlvr_cli.arguments import Arguments
from rlvr_cli.errors import EXIT_FAILED, EXIT_OK, ConfigError
from rlvr_cli.outputs import claim

EPILOGUE = """\
verbs:
  test FN data=FILE [max_error=0.02] [label=COLUMN] [kind=COLUMN] [term=NAME] [worst=10]
        confusion matrix on labelled rows (column expect or label: right, wrong, broken); exit 1 above max_error
  label data=FILE out=FILE [n=100] [seed=0]
        label completions in the terminal, one key each; resumes where it was left
  audit FN [data=FILE] [n=8] [max_blind=0.5]
        attack it; with data, what would guessing earn? exit 1 when something serious works
  fit data=FILE [out=FILE.yaml] [overwrite=true] [folds=5]
        learn an extraction rule from labelled answers (columns completion, answer), as YAML that a person can change
examples:
  rlvr reward test math data=labelled.jsonl max_error=0.02
  rlvr reward label data=outputs/RUN/samples.jsonl out=labelled.jsonl
  rlvr reward audit rewards.mine.f data=train.jsonl --json
  rlvr reward audit format reward.terms.format.weight=0.5
  rlvr reward audit rewards.image.clip options.model=FOLDER data=pictures.jsonl
exit codes: 0 fine, 1 over the stated rate or something serious works, 2 usage"""
OWN = ("data", "out", "overwrite", "n", "seed", "max_error", "max_false_accept", "label", "kind", "term", "worst", "max_blind", "folds")


def parser() -> Arguments:
    """The verb, the reward, and ``key=value`` words."""
    p = Arguments(
        prog="rlvr reward",
        usage="rlvr reward test|label|audit|fit [FN] [key=value ...] [--json]",
        description="Judge a reward function: how often is it wrong, and what fools it?",
        epilog=EPILOGUE,
    )
    p.add_argument("verb", metavar="VERB", choices=("test", "label", "audit", "fit"))
    p.add_argument("words", nargs="*", metavar="FN | key=value")
    p.add_argument("--json", action="store_true", help="one JSON object instead of lines")
    return p


class Words:
    """The words of the command line, read by name and type."""

    def __init__(self, words: list[str]):
        from rlvr_cli.scoring import split_words

        named = [w for w in words if "=" not in w]
        self.values, self.overrides = split_words([w for w in words if "=" in w], OWN)
        self.names = named

    @property
    def fn(self) -> str:
        """The one reward that is named."""
        if len(self.names) != 1:
            raise ConfigError(
                "name one reward: an option, a dotted path, or file.py:function", where="command line", fix="rlvr reward audit math"
            )
        return self.names[0]

    def text(self, key: str, fix: str) -> str:
        """A word that must be there."""
        if not self.values.get(key):
            raise ConfigError(f"{key}= is missing", where="command line", fix=fix)
        return self.values[key]

    def number(self, key: str, default: float | None, kind: Callable = float) -> float | int | None:
        """A number, or ``default``."""
        if key not in self.values:
            return default
        try:
            return kind(self.values[key])
        except ValueError as error:
            raise ConfigError(f"{key} must be a number, not {self.values[key]!r}", where="command line", fix=f"{key}={default}") from error


def run(argv: list[str]) -> int:
    """The verb: exit code 0, 1 or 2."""
    args = parser().parse_intermixed_args(argv)
    verbs = {"test": test, "label": label, "audit": audit, "fit": fit}
    return verbs[args.verb](Words(args.words), args.json)


def show(lines: list[str], data: dict, as_json: bool) -> None:
    """Lines for a person, or one JSON object."""
    print(json.dumps(data, ensure_ascii=False, default=str) if as_json else "\n".join(lines))


def test(words: Words, as_json: bool) -> int:
    """Confusion matrix on labelled rows."""
    from rlvr_cli.audit.labelled import lines_of, run_test
    from rlvr_cli.scoring import choose

    fn, data = words.fn, words.text("data", "data=labelled.jsonl")
    columns = {key: words.values.get(key) for key in ("label", "kind", "term")}
    report = run_test(choose(fn, words.overrides), fn, data, worst=words.number("worst", 10, int), **columns)
    limits = {"error": words.number("max_error", None), "false_accept": words.number("max_false_accept", None)}
    over = [
        f"{name} {report.matrix.shares()[name]['share'] or 0:.4f} is above {limit:g}"
        for name, limit in limits.items()
        if _above(report, name, limit)
    ]
    show([*lines_of(report), *over], {**report.as_dict(), "over": over}, as_json)
    return EXIT_FAILED if over else EXIT_OK


def _above(report: object, name: str, limit: float | None) -> bool:
    return limit is not None and (report.matrix.shares()[name]["share"] or 0.0) > limit


def label(words: Words, as_json: bool) -> int:
    """Label rows by hand."""
    from rlvr_cli.audit.label import draw, keys, label_rows
    from rlvr_cli.scoring import read_rows, require_file

    data = require_file(words.text("data", "data=outputs/RUN/samples.jsonl"))
    out = Path(words.text("out", "out=labelled.jsonl"))
    claim(out, overwrite=True)  # labels are appended, so a file that exists is taken up again
    rows = [row for _, row in read_rows(str(data), {}) if isinstance(row, dict)]
    chosen = draw(rows, words.number("n", 100, int), seed=words.number("seed", 0, int))
    counts = label_rows(chosen, out, pressed=keys())
    said = ", ".join(f"{counts[word]} {word}" for word in ("right", "wrong", "broken", "skip")) + f"; {counts['before']} were there before"
    show([said, f"next: rlvr reward test FN data={out}"], counts, as_json)
    return EXIT_OK


def audit(words: Words, as_json: bool) -> int:
    """Attack a reward."""
    from rlvr_cli.audit.audit import lines_of, run_audit
    from rlvr_cli.scoring import choose

    numbers = {"n": words.number("n", 8, int), "max_blind": words.number("max_blind", 0.5), "seed": words.number("seed", 0, int)}
    report = run_audit(choose(words.fn, words.overrides), words.fn, source=words.values.get("data"), **numbers)
    show(lines_of(report), report.as_dict(), as_json)
    return EXIT_FAILED if report.serious else EXIT_OK


def fit(words: Words, as_json: bool) -> int:
    """Learn an extraction rule."""
    from rlvr_cli.audit.fit import lines_of, run_fit

    data, out = words.text("data", "data=answers.jsonl"), words.values.get("out")
    if out:
        claim(out, overwrite=words.values.get("overwrite") == "true")
    report = run_fit(data, out=out, folds=words.number("folds", 5, int))
    show(lines_of(report), report.as_dict(), as_json)
    return EXIT_OK
