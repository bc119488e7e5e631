"""The jobs of a sweep, ranked by held-out accuracy: for the terminal, and as ``sweep.csv``.

overrides,status,accuracy,ci95,seconds,n,run,error
"reward=math seed=1",finished,0.9800,"[0.9635, 0.9891]",131.2,500,outputs/sweep-reward+seed/...,
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from rlvr_cli.evaluation.intervals import points
from rlvr_cli.run_dir import write_atomic
from rlvr_cli.sweep.jobs import Job

COLUMNS = ("overrides", "status", "accuracy", "ci95", "seconds", "n", "run", "error")


def ranked(jobs: Iterable[Job]) -> list[Job]:
    """Best first; jobs without an accuracy last, in their own order."""
    return sorted(jobs, key=lambda job: (job.accuracy is None, -(job.accuracy or 0.0)))


def csv_text(jobs: Iterable[Job]) -> str:
    """The table as CSV, one row a job."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for job in ranked(jobs):
        ci = "" if job.ci95 is None else f"[{job.ci95[0]:.4f}, {job.ci95[1]:.4f}]"
        accuracy = "" if job.accuracy is None else f"{job.accuracy:.4f}"
        seconds = "" if job.seconds is None else f"{job.seconds:.1f}"
        overrides = " ".join(job.words.varied) or " ".join(job.words.words)
        writer.writerow([overrides, job.status, accuracy, ci, seconds, job.n or "", job.shown, job.error])
    return out.getvalue()


def write_csv(jobs: Iterable[Job], path: Path) -> None:
    """Write ``sweep.csv`` whole."""
    write_atomic(path, csv_text(jobs))


def cells(job: Job, place: str, note: str = "") -> list[str]:
    """One row for a person; ``note`` stands where a failed job has its error."""
    share = "-" if job.accuracy is None else points(job.accuracy, job.ci95, job.n) if job.ci95 else f"{100 * job.accuracy:.1f}%"
    seconds = "-" if job.seconds is None else f"{job.seconds:.0f} s"
    status = job.status + (" (before)" if job.skipped else "")
    return [place, " ".join(job.words.varied) or job.name, status, share, seconds, short(job.error or note)]


def short(text: str, width: int = 90) -> str:
    """At most ``width`` characters, on one line."""
    text = " ".join(text.split())
    return text if len(text) <= width else text[: width - 3] + "..."


HEADINGS = ("", "job", "status", "held-out accuracy [95%]", "time", "")


def plain_table(jobs: Sequence[Job]) -> str:
    """The ranked table as aligned text."""
    rows = [list(HEADINGS), *[cells(job, str(i) if job.accuracy is not None else "-") for i, job in enumerate(ranked(jobs), 1)]]
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEADINGS))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)


def rich_table(jobs: Sequence[Job], notes: Mapping[str, str]) -> object:
    """The same as a rich table, in the jobs' own order while they run; ``notes`` by job name."""
    from rich.table import Table
    from rich.text import Text

    table = Table(*HEADINGS, box=None, header_style="dim")
    colours = {"finished": "green", "running": "cyan", "failed": "red", "refused": "red", "interrupted": "yellow"}
    for i, job in enumerate(jobs, 1):
        row = [Text(cell) for cell in cells(job, str(i), notes.get(job.name, ""))]
        row[2].stylize(colours.get(job.status, "dim"))
        table.add_row(*row)
    return table
