"""The chain's table: a policy a line, with what its stage was for and whether it did that without losing anything else.

    stage            accuracy [95%], n            format  length  minutes  perplexity  replies  learned  stage's aim          the rest
    (start)          12.0% [8.2, 17.2], n=200       0.0%     4.1        -       2.31    61.4%     0.52  -                    -
    1_cold_start     41.5% [34.9, 48.4], n=200     99.0%    21.9      1.2       2.20    64.9%     0.55  format: improved     held

``summary.json`` holds the same numbers with every interval.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from rlvr_cli.evaluation.intervals import points

HEADINGS = (
    "stage", "accuracy [95%], n", "format", "length", "minutes", "perplexity", "replies", "refusals", "learned",
    "the stage's aim", "the rest",
)  # fmt: skip
NAMES = {"accuracy": "accuracy", "format": "format", "general": "general loss", "replies": "replies", "learned": "learned reward"}


def cells(line: Mapping[str, Any]) -> list[str]:
    """One policy as text."""
    accuracy, verdict = line["accuracy"], line.get("verdict")
    return [
        line["stage"],
        points(accuracy["share"], accuracy["ci95"], accuracy["n"]) if accuracy else "-",
        percent(line["format"]),
        number(line["mean_tokens"], ".1f"),
        number(line.get("minutes"), ".1f"),
        number(line["perplexity"], ".2f"),
        percent(line["replies"]),
        percent(line["refused"]),
        number(line["learned"], ".3f"),
        aim(verdict),
        rest(verdict),
    ]


def percent(block: Mapping[str, Any] | None) -> str:
    """A share in percent."""
    return f"{100 * block['share']:.1f}%" if block else "-"


def number(value: float | None, form: str) -> str:
    """A number, or a dash."""
    return "-" if value is None else format(value, form)


def aim(verdict: Mapping[str, Any] | None) -> str:
    """The named metric and whether it improved; "within the interval" where chance alone could have done it."""
    if not verdict:
        return "-"
    change = verdict["changes"].get(verdict["improves"])
    if not change:
        return f"{NAMES[verdict['improves']]}: not measured"
    how = "improved" if verdict["sure"] else "improved within the interval" if verdict["improved"] else "did not improve"
    return f"{NAMES[verdict['improves']]} {change['diff']:+.3f}: {how}"


def rest(verdict: Mapping[str, Any] | None) -> str:
    """Whether the other metrics held."""
    if not verdict:
        return "-"
    return "held" if verdict["held"] else "lost: " + ", ".join(f"{NAMES[n]} {verdict['changes'][n]['diff']:+.3f}" for n in verdict["lost"])


def tasks_line(line: Mapping[str, Any]) -> str:
    """A policy's accuracy task by task."""
    return f"  {line['stage']}: " + ", ".join(f"{name} {points(s['share'], s['ci95'], s['n'])}" for name, s in line["tasks"].items())


def plain(lines: Sequence[Mapping[str, Any]]) -> str:
    """The table as aligned text, the tasks apart beneath it."""
    rows = [list(HEADINGS), *map(cells, lines)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEADINGS))]
    text = "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)
    return "\n".join([text, "by task:", *map(tasks_line, lines)]) if len(lines[0]["tasks"]) > 1 else text


def show(lines: Sequence[Mapping[str, Any]]) -> None:
    """To the screen: rich in a terminal, plain elsewhere."""
    if not sys.stdout.isatty():
        print(plain(lines), flush=True)
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(*HEADINGS, box=None, header_style="dim")
    for line in lines:
        row = cells(line)
        row[-1] = f"[green]{row[-1]}[/]" if row[-1] == "held" else f"[red]{row[-1]}[/]" if row[-1].startswith("lost") else row[-1]
        table.add_row(*row)
    console = Console()
    console.print(table)
    if len(lines[0]["tasks"]) > 1:
        console.print("by task:\n" + "\n".join(map(tasks_line, lines)), highlight=False)
