"""``rlvr report``: one self-contained HTML page of one or more runs."""

from __future__ import annotations

import os
from pathlib import Path

from rlvr_cli.arguments import Arguments

EPILOGUE = """\
examples:
  rlvr report outputs/RUN                       writes outputs/RUN/report.html
  rlvr report outputs/A outputs/B               both on one page: ranking, curves, what differs
  rlvr report outputs/sweep-*/*seed* --out sweep.html
  rlvr report latest                            the newest run"""


MARK = b"Made by rlvr report from the run folders alone"


def parser() -> Arguments:
    """The command line of ``rlvr report``."""
    made = Arguments(
        prog="rlvr report",
        description="Write one HTML page that needs nothing else: verdict, curves, samples, differences, environment.",
        epilog=EPILOGUE,
    )
    made.add_argument("runs", nargs="+", metavar="RUN", help="a run folder, its name, or latest")
    made.add_argument("--out", metavar="FILE", help="file to write (default: report.html in the run, or beside the runs)")
    made.add_argument("--force", action="store_true", help="write over a file that is no report")
    return made


def run(argv: list[str]) -> int:
    """Write the page; returns the exit code."""
    args = parser().parse_args(argv)
    from rlvr_cli.outputs import claim
    from rlvr_cli.report.findings import verdict
    from rlvr_cli.report.page import write_report

    paths = [place(name) for name in args.runs]
    out = Path(args.out) if args.out else default_out(paths)
    claim(out, overwrite=args.force or is_report(out), where="--out", fix="--force, or another --out")
    for data in write_report(paths, out):
        print(f"{data.name}: {verdict(data)}")
    print(f"written: {out}")
    return 0


def is_report(path: Path) -> bool:
    """Whether a file is a page that this command wrote: made from the run alone, so a newer one may take its place."""
    try:
        return MARK in path.read_bytes()[-2000:]
    except OSError:
        return False


def place(name: str) -> Path:
    """The folder of a run; a folder that only has metrics is taken too."""
    path = Path(name)
    if (path / "config.yaml").is_file() or (path / "metrics.jsonl").is_file():
        return path
    from rlvr_cli.run_dir import find

    return find(name)


def default_out(paths: list[Path]) -> Path:
    """``report.html`` in the run; for several, in the folder that holds them all."""
    if len(paths) == 1:
        return paths[0] / "report.html"
    return Path(os.path.relpath(os.path.commonpath([p.resolve().parent for p in paths]))) / "report.html"
