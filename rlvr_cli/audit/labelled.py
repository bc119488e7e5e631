"""``rlvr reward test``: score labelled rows, count, show.

>>> words_of_share({"share": 0.5, "count": 1, "of": 2, "ci95": [0.0945, 0.9055]})
'0.5000  95% [0.0945, 0.9055]  1 of 2'
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Any

from rlvr_cli import scoring
from rlvr_cli.audit import confusion as cm
from rlvr_cli.errors import DataError
from rlvr_cli.verifiers.verdict import text_of

BATCH = 256


def labelled_rows(
    choice: scoring.Choice, source: str, *, label: str | None, kind: str | None, term: str | None
) -> tuple[list[cm.Labelled], list[str]]:
    """Every row of ``source`` scored beside its label, and the lines that could not be read."""
    rows, places, broken = [], [], []
    for place, row in scoring.read_rows(source, choice.renames):
        if isinstance(row, str):
            broken.append(f"{place}: {row}")
            continue
        rows.append(row)
        places.append(place)
    if not rows:
        raise DataError(f"{source} has no rows to test on", where="data")
    columns = list(dict.fromkeys(name for row in rows for name in row))
    label_column = cm.column_for(cm.LABELS, columns, label, "label")
    if label_column is None:
        raise DataError(
            f"no column of labels ({', '.join(cm.LABELS)}); the data has: {', '.join(columns)}", where="data", fix="label=COLUMN"
        )
    kind_column = cm.column_for(cm.KINDS, columns, kind, "kind")
    expects = [_label(row, label_column, place) for row, place in zip(rows, places, strict=True)]
    hidden = [{k: v for k, v in row.items() if k != label_column} for row in rows]  # the reward never sees the label
    scored = _scored(choice, hidden)
    return [_joined(*args, kind_column, term) for args in zip(rows, scored, expects, places, strict=True)], broken


def _label(row: scoring.Row, column: str, place: str) -> float | None:
    try:
        return cm.label_of(row.get(column))
    except DataError as error:
        raise DataError(f"{place}: {error.what}", where=f"label={column}") from error


def _scored(choice: scoring.Choice, rows: list[scoring.Row]) -> list[scoring.Row]:
    terms = choice.bound(scoring.columns_of(rows))
    size, out, said = scoring.batch_size_for(terms, BATCH), [], time.monotonic()
    for start in range(0, len(rows), size or len(rows)):
        out += scoring.score_rows(terms, rows[start : start + (size or len(rows))])
        if time.monotonic() - said > 5:
            said = time.monotonic()
            print(f"rlvr reward test: {len(out)} of {len(rows)} rows", file=sys.stderr)
    return out


def _joined(row: scoring.Row, scored: scoring.Row, expect: float | None, place: str, kind: str | None, term: str | None) -> cm.Labelled:
    name = term or next(iter(scored["scores"]))
    tail = " ".join(text_of(row["completion"]).split())
    return cm.Labelled(
        expect,
        scored["scores"][name],
        str(row[kind]) if kind and row.get(kind) is not None else "",
        place,
        scored["reasons"][name],
        scored["extracted"][name],
        tail if len(tail) <= 160 else f"... {tail[-160:]}",
    )


def main_term(choice: scoring.Choice, chosen: str | None) -> str:
    """The term that is tested: the chosen one, the one called ``correct``, or the first."""
    names = list(choice.reward.terms)
    if chosen is not None and chosen not in names:
        raise DataError(f"the reward has no term {chosen!r}; it has: {', '.join(names)}", where=f"term={chosen}")
    return chosen or ("correct" if "correct" in names else names[0])


def run_test(
    choice: scoring.Choice, name: str, source: str, *, label: str | None, kind: str | None, term: str | None, worst: int
) -> cm.TestReport:
    """The whole test."""
    start = time.monotonic()
    rows, broken = labelled_rows(choice, source, label=label, kind=kind, term=main_term(choice, term))
    return cm.report_of(name, source, rows, worst=worst, seconds=time.monotonic() - start, broken_lines=broken)


def words_of_share(share: dict[str, Any]) -> str:
    """A share for a person."""
    if share["share"] is None:
        return "-       (no such rows)"
    return f"{share['share']:.4f}  95% [{share['ci95'][0]:.4f}, {share['ci95'][1]:.4f}]  {share['count']} of {share['of']}"


def lines_of(report: cm.TestReport) -> list[str]:
    """The report as plain lines."""
    m = report.matrix
    lines = [
        f"{report.name} on {report.data}: {m.n} rows, {report.seconds:.1f} s",
        "",
        f"{'':>16}{'accepted':>10}{'refused':>10}{'not judged':>12}",
    ]
    lines.append(f"{'label right':>16}{m.accepted_right:>10}{m.false_refusals:>10}{m.not_judged_right:>12}")
    lines.append(f"{'label wrong':>16}{m.false_accepts:>10}{m.refused_wrong:>10}{m.not_judged_wrong:>12}")
    if m.broken:
        lines.append(f"{'task broken':>16}{m.broken - m.broken_caught:>10} scored{m.broken_caught:>15}")
    if m.graded:
        lines.append(f"{'partial credit':>16}{m.graded_met:>10} met, {m.graded - m.graded_met} not")
    lines.append("")
    names = {"accuracy": "accuracy", "false_accept": "false accepts", "false_refusal": "false refusals", "not_judged": "not judged"}
    lines += [f"{title:<15} {words_of_share(m.shares()[key])}" for key, title in names.items()]
    return lines + _kind_lines(report.kinds) + _worst_lines(report.worst) + [f"not read: {line}" for line in report.broken_lines[:5]]


def _kind_lines(kinds: dict[str, cm.Matrix]) -> list[str]:
    """A line a kind that has errors, worst first; the others in one line."""
    if len(kinds) < 2:
        return []
    bad = sorted((item for item in kinds.items() if item[1].errors), key=lambda item: item[1].agreed / item[1].n)
    fine = [kind for kind, m in kinds.items() if not m.errors]
    width = max([12, *(len(kind) for kind, _ in bad)])
    lines = ["", f"{'kind':<{width}} {'n':>5} {'right':>7}  {'95% interval':<17} {'false acc.':>10} {'false ref.':>10} {'not judged':>10}"]
    for kind, m in bad:
        low, high = m.shares()["accuracy"]["ci95"]
        interval = f"[{low:.3f}, {high:.3f}]"
        row = f"{kind:<{width}} {m.n:>5} {m.agreed / m.n:>7.3f}  {interval:<17}"
        lines.append(f"{row} {m.false_accepts:>10} {m.false_refusals:>10} {m.not_judged:>10}")
    lines = lines if bad else [""]
    return lines + ([f"no error in {len(fine)} of {len(kinds)} kinds: {', '.join(fine)}"] if fine else [])


def _worst_lines(worst: Sequence[cm.Labelled]) -> list[str]:
    lines = [""] if worst else []
    for row in worst:
        score = "none" if row.score is None else f"{row.score:g}"
        label = "broken" if row.expect is None else f"{row.expect:g}"
        lines.append(f"{row.error}: {row.place}{f' ({row.kind})' if row.kind else ''}: label {label}, score {score}: {row.reason}")
        lines.append(f"    {row.completion}")
    return lines
