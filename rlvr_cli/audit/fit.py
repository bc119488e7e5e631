"""``rlvr reward fit``: from a handful of labelled answers to an extraction rule that a person can read and change.

Labelled rows hold ``completion`` and ``answer`` (and ``expect`` where some completions are wrong). Patterns are proposed
from what stands before the answers in the rows themselves ("Final answer:", a tag, the end of a line) and from the usual
forms; normalisers are added one at a time while they help; a second or third pattern is added as a fall-back while that
helps by more than one row. Every row also stands against other rows' golds, so that a rule that accepts everything loses.
What is printed is the cross-validated error: the whole search again on each fold's training rows, judged on the rest.

>>> rows = [Example(f"I add. ANSWER => {n} apples", str(n)) for n in range(30, 40)]
>>> rule = search(rows)
>>> rule.patterns[0].startswith("ANSWER"), [rule.says(row.text) for row in rows[:2]]
(True, ['30', '31'])
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from rlvr_cli import scoring
from rlvr_cli.audit.confusion import label_of, share_of
from rlvr_cli.errors import ConfigError, DataError
from rlvr_cli.verifiers.extract import NORMALISERS, extracted, normal
from rlvr_cli.verifiers.verdict import text_of

NUMBER = r"(\-?\d+(?:,\d{3})*(?:\.\d+)?)"
LETTER = r"\(?([A-Za-z])\)?(?![A-Za-z])"
LINE = r"(\S[^\n]*)"
LAST_LINE = r"^(\S[^\n]*)\s*\Z"
USUAL = [r"<answer>\s*([^<]+?)\s*</answer>", r"\\boxed\{([^{}]+)\}", r"####\s*([^\n]+)", r"\*\*([^*\n]+)\*\*", LAST_LINE, NUMBER]
NEGATIVES = 3  # other rows' golds that each row must not be taken for
MARKUP = ' \t*_$"'
ANCHORS = 30
STARTS = 24
FALLBACKS = 2
LEAST = 6  # rows


@dataclass(frozen=True)
class Example:
    """A labelled completion: does its final answer equal ``gold``?"""

    text: str
    gold: str
    right: bool = True
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class Rule:
    """Patterns in order, which match counts, and the normalisers."""

    patterns: tuple[str, ...]
    take: str = "last"
    normalise: tuple[str, ...] = ()

    def says(self, text: str) -> str | None:
        """What the rule extracts."""
        return extracted(text, self.patterns, self.take)

    def wrong(self, row: Example) -> float:
        """Errors on a row: its own label, and a share for every other gold that it is taken for."""
        found = self.says(row.text)
        mine = None if found is None else normal(found, self.normalise)
        own = (mine is not None and mine == normal(row.gold, self.normalise) != "") != row.right
        taken = sum(mine == normal(other, self.normalise) for other in row.others) if mine is not None else 0
        return own + taken / NEGATIVES

    def cost(self, rows: Sequence[Example]) -> tuple[float, int, int, int]:
        """Fewer errors, then patterns that say where the answer stands, then fewer normalisers, then shorter patterns."""
        return sum(map(self.wrong, rows)), sum(map(vague, self.patterns)), len(self.normalise), sum(map(len, self.patterns))


def vague(pattern: str) -> int:
    """2 for a pattern without a place ("the last number"), 1 for one after mere punctuation, 0 for words or a usual form."""
    if pattern in (NUMBER, LETTER, LINE, LAST_LINE):
        return 2
    before = pattern.partition("(")[0]
    return 0 if pattern in USUAL or any(c.isalpha() for c in before.replace("\\s", "")) else 1


@dataclass
class FitReport:
    """The rule, its cross-validated errors, and the rows that it gets wrong."""

    rule: Rule
    rows: int
    held_out: dict[str, Any]
    on_all: dict[str, Any]
    missed: list[tuple[str, str | None]]
    yaml_text: str
    out: str | None = None
    folds: int = 5
    notes: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """For ``--json``."""
        rule = {"patterns": list(self.rule.patterns), "take": self.rule.take, "normalise": list(self.rule.normalise)}
        missed = [{"gold": gold, "extracted": found} for gold, found in self.missed]
        return {"rule": rule, "rows": self.rows, "held_out_error": self.held_out, "error": self.on_all, "missed": missed, "out": self.out}


def examples_of(source: str) -> list[Example]:
    """The labelled rows of a file. Rows of broken tasks and rows without a gold teach nothing here."""
    rows = []
    for place, row in scoring.read_rows(source, {}):
        if isinstance(row, str):
            raise DataError(f"{place}: {row}", where="data")
        gold, expect = row.get("answer", row.get("gold")), label_of(row["expect"]) if "expect" in row else 1.0
        if gold is not None and str(gold).strip() and expect is not None:
            rows.append(Example(text_of(row["completion"]), str(gold).strip(), expect >= 1.0))
    if len(rows) < LEAST or not any(row.right for row in rows):
        raise DataError(f"{source}: {len(rows)} labelled answers, at least {LEAST} (some right) are needed", where="data")
    return rows


def with_negatives(rows: Sequence[Example], seed: int = 0) -> list[Example]:
    """Each row beside a few golds of other rows, which its answer is not."""
    rng, golds = random.Random(seed), sorted({row.gold for row in rows})
    made = []
    for row in rows:
        others = [gold for gold in golds if gold.lower() != row.gold.lower()]
        made.append(Example(row.text, row.gold, row.right, tuple(rng.sample(others, min(NEGATIVES, len(others))))))
    return made


def proposals(rows: Sequence[Example]) -> list[str]:
    """Patterns worth trying: the usual forms, and the words before the answers with what the answers look like behind them."""
    shape = capture_of([row.gold for row in rows if row.right])
    anchors: Counter[str] = Counter()
    for row in rows:
        if row.right:
            anchors.update(set(left_contexts(row)))
    frequent = [anchor for anchor, count in anchors.most_common(200) if count >= 2 or len(rows) < 10]
    learnt = [f'{anchor}[\\s*_$"]*{capture}' for anchor in frequent[:ANCHORS] for capture in dict.fromkeys((shape, LINE))]
    return list(dict.fromkeys([*USUAL, shape, *learnt]))


def capture_of(golds: Sequence[str]) -> str:
    """A group for what golds look like: numbers, letters, or the rest of the line."""
    if all(re.fullmatch(r"[-$]?\d[\d,]*(?:\.\d+)?%?", gold) for gold in golds):
        return NUMBER
    return LETTER if all(re.fullmatch(r"[A-Za-z]", gold) for gold in golds) else LINE


def left_contexts(row: Example) -> Iterator[str]:
    """What stands before the last place of the gold in the text: its last one to four pieces on that line, as patterns."""
    forms = [row.gold] + ([f"{int(row.gold):,}"] if re.fullmatch(r"\d{4,15}", row.gold) else [])
    found = [m for form in forms for m in re.finditer(rf"(?<![\w.]){re.escape(form)}(?!\w)", row.text, re.IGNORECASE)]
    if not found:
        return
    line = row.text[: max(m.start() for m in found)].rpartition("\n")[2][-80:].rstrip(MARKUP)
    pieces = re.findall(r"\w+|[^\w\s]+", line)
    for size in range(1, min(4, len(pieces)) + 1):
        tail = pieces[-size:]
        if not any(any(c.isdigit() for c in piece) for piece in tail):
            yield r"\s*".join(map(re.escape, tail))


def search(rows: Sequence[Example]) -> Rule:
    """The best rule on ``rows``: a pattern and its normalisers, then fall-backs, tried from several promising starts."""
    rows = with_negatives(rows)
    patterns = proposals(rows)
    starts = sorted((Rule((p,), take) for p in patterns for take in ("last", "first")), key=lambda rule: rule.cost(rows))
    ready = sorted((polished(rule, rows) for rule in starts[:STARTS]), key=lambda rule: rule.cost(rows))
    placed = [rule for rule in ready if not any(map(vague, rule.patterns))]
    return min((with_fallbacks(rule, patterns, rows) for rule in [*ready[:2], *placed[:3]]), key=lambda rule: rule.cost(rows))


def with_fallbacks(rule: Rule, patterns: Sequence[str], rows: Sequence[Example]) -> Rule:
    """Further patterns behind the first, while each saves more than one row."""
    for _ in range(FALLBACKS):
        longer = [Rule((*rule.patterns, p), rule.take, rule.normalise) for p in patterns if p not in rule.patterns]
        candidate = polished(min(longer, key=lambda r: r.cost(rows)), rows)
        if candidate.cost(rows)[0] > rule.cost(rows)[0] - 1.5:
            break
        rule = candidate
    return rule


def polished(rule: Rule, rows: Sequence[Example]) -> Rule:
    """Normalisers added one at a time, the most helpful first, in the order of ``NORMALISERS``, while errors fall."""
    while True:
        chosen = set(rule.normalise)
        more = [
            Rule(rule.patterns, rule.take, tuple(n for n in NORMALISERS if n in chosen | {name}))
            for name in NORMALISERS
            if name not in chosen
        ]
        best = min(more, key=lambda r: r.cost(rows), default=rule)
        if best.cost(rows)[0] >= rule.cost(rows)[0]:
            return rule
        rule = best


def held_out_errors(rows: Sequence[Example], folds: int, seed: int = 0) -> int:
    """Rows that a rule learnt without them gets wrong."""
    order = random.Random(seed).sample(range(len(rows)), len(rows))
    wrong = 0
    for fold in range(folds):
        test = set(order[fold::folds])
        train = [row for i, row in enumerate(rows) if i not in test]
        if any(row.right for row in train):
            rule = search(train)
            wrong += sum(rule.wrong(rows[i]) > 0 for i in test)
        else:
            wrong += len(test)
    return wrong


def run_fit(source: str, *, out: str | None, folds: int) -> FitReport:
    """Learn, cross-validate, write the YAML."""
    if not 2 <= folds <= 20:
        raise ConfigError(f"folds must be from 2 to 20, not {folds}", where="command line", fix="folds=5")
    rows = examples_of(source)
    folds = min(folds, len(rows))
    rule = search(rows)
    wrong = [row for row in rows if rule.wrong(row) > 0]
    held_out = share_of(held_out_errors(rows, folds), len(rows))
    text = yaml_of(rule, source, len(rows), held_out, folds)
    if out is not None:
        path = Path(out)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    notes = (
        []
        if any(not row.right for row in rows)
        else ["no wrong answers among the labels: add some (expect: 0), they show what must not be taken"]
    )
    return FitReport(
        rule, len(rows), held_out, share_of(len(wrong), len(rows)), [(r.gold, rule.says(r.text)) for r in wrong], text, out, folds, notes
    )


def yaml_of(rule: Rule, source: str, n: int, held_out: dict[str, Any], folds: int) -> str:
    """The rule as an option of ``conf/reward``."""
    low, high = held_out["ci95"]
    share = f"{held_out['count']} of {held_out['of']} wrong, {held_out['share']:.3f}, 95% [{low:.3f}, {high:.3f}]"
    options = {"patterns": list(rule.patterns), "take": rule.take, "normalise": list(rule.normalise)}
    body = {"terms": {"correct": {"fn": "rewards.extract.matches", "weight": 1.0, "options": options}}}
    head = [
        f"# An extraction rule learnt from {n} labelled answers ({Path(source).name}); held out in {folds} folds: {share}.",
        "# Needs: column answer. The first pattern that matches counts, its first group is the answer; then the normalisers in order.",
        "# Command: rlvr reward test NAME data=labelled.jsonl, and rlvr train reward=NAME, NAME being this file's",
    ]
    return "\n".join(head) + "\n" + yaml.safe_dump(body, sort_keys=False, allow_unicode=True, width=1000)


def lines_of(report: FitReport) -> list[str]:
    """The report as plain lines."""
    low, high = report.held_out["ci95"]
    lines = [f"rule from {report.rows} labelled answers: take the {report.rule.take} match of"]
    lines += [f"  {i}. {pattern}" for i, pattern in enumerate(report.rule.patterns, 1)]
    lines.append(f"  then: {', '.join(report.rule.normalise) or 'nothing'}")
    share = f"{report.held_out['share']:.3f}, 95% [{low:.3f}, {high:.3f}]"
    lines.append(f"held-out error in {report.folds} folds: {report.held_out['count']} of {report.held_out['of']}, {share}")
    lines += [f"  missed: gold {gold!r}, extracted {found!r}" for gold, found in report.missed[:10]]
    lines += [f"note: {note}" for note in report.notes]
    return lines + ([f"written: {report.out}"] if report.out else ["", report.yaml_text])
