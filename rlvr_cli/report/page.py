"""Runs to one HTML text. The page's own policy forbids scripts and every request, so a hostile completion can do nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rlvr_cli.outputs import writing
from rlvr_cli.report import sections
from rlvr_cli.report.load import RunData, load_run
from rlvr_cli.report.style import CSS

POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def page(runs: Sequence[RunData]) -> str:
    """The whole page."""
    title = sections.esc(runs[0].name if len(runs) == 1 else f"{len(runs)} runs", 100)
    body = [sections.head(runs), sections.curves(runs)]
    if len(runs) > 1:
        body.append(sections.differences(runs))
    body += [sections.evaluations(runs), sections.time_split(runs), sections.unjudged(runs)]
    if len(runs) == 1:
        body.append(sections.samples(runs[0]))
    body.append(sections.environment(runs))
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1"><meta name="color-scheme" content="light dark">'
        f"<title>{title} · rlvr report</title><style>{CSS}</style></head><body><main>{''.join(body)}"
        "<footer>Made by rlvr report from the run folders alone. Shares carry 95% Wilson intervals.</footer></main></body></html>\n"
    )


def write_report(paths: Sequence[Path], out: Path) -> list[RunData]:
    """Read the runs, write the page whole, and return the runs for the command's own words."""
    runs = [load_run(path) for path in paths]
    with writing(out, where="--out", errors="replace") as file:
        file.write(page(runs))
    return runs
