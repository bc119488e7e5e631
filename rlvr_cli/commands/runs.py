"""``rlvr runs``: the runs in ``outputs/``, newest last, each with what became of it::

$ rlvr runs
run                                        state     steps  accuracy        reward  minutes  started
tiny-arithmetic-math-20261129-214500       finished  200    0.415 -> 0.980  0.89    1.8      2026-11-29 21:45
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from rlvr_cli.arguments import Arguments
from rlvr_cli.errors import EXIT_OK

EPILOGUE = """\
examples:
  rlvr runs                       the runs in outputs/
  rlvr runs --dir sweeps          in another folder
  rlvr runs --json                one JSON line a run
next: rlvr show RUN, rlvr eval checkpoint=outputs/RUN, rlvr report RUN..."""

COLUMNS = ("run", "state", "steps", "accuracy", "reward", "minutes", "started")


def run(argv: list[str]) -> int:
    """Print one line a run."""
    p = Arguments(
        prog="rlvr runs",
        description="The runs in outputs/.",
        epilog=EPILOGUE,
    )
    p.add_argument("--dir", default="outputs", help="folder of runs (run.dir)")
    p.add_argument("--json", action="store_true", help="one JSON line a run")
    args = p.parse_args(argv)
    from rlvr_cli.run_dir import runs

    found = [summary(path) for path in runs(Path(args.dir))]
    if args.json:
        for one in found:
            print(json.dumps(one, ensure_ascii=False))
    elif not found:
        print(f"no runs in {args.dir}/. Type: rlvr train")
    else:
        print_table([line(one) for one in found])
    return EXIT_OK


def summary(path: Path) -> dict[str, Any]:
    """What became of one run, from its status and its metrics; ``accuracy`` is that of the model in ``final/``, else the last measured."""
    from rlvr_cli.run_dir import kept, status_of

    status, metrics, in_final = status_of(path), read_lines(path / "metrics.jsonl"), kept(path)
    accuracy = [m["eval/accuracy"] for m in metrics if isinstance(m.get("eval/accuracy"), (int, float))]
    rewards = [m["reward"] for m in metrics if isinstance(m.get("reward"), (int, float))]
    return {
        "run": path.name,
        "path": str(path),
        "state": status["state"],
        "steps": max((int(m.get("step") or 0) for m in metrics), default=0),
        "accuracy_before": accuracy[0] if accuracy else None,
        "accuracy": in_final[1] if in_final else accuracy[-1] if accuracy else None,
        "last_accuracy": accuracy[-1] if accuracy else None,
        "best_accuracy": max(accuracy, default=None),
        "reward": rewards[-1] if rewards else None,
        "seconds": status.get("seconds"),
        "started": status.get("started"),
        "sentence": status.get("sentence"),
    }


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The JSON objects of a file, a half-written last line left out."""
    found = []
    if path.is_file():
        for text in path.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                value = json.loads(text)
            except ValueError:
                continue
            if isinstance(value, dict):
                found.append(value)
    return found


def line(one: dict[str, Any]) -> tuple[str, ...]:
    """One run as the columns of the table."""
    shown = [f"{one[key]:.3f}" for key in ("accuracy_before", "accuracy") if one[key] is not None]
    accuracy = " -> ".join(shown)
    reward = "" if one["reward"] is None else f"{one['reward']:.2f}"
    minutes = "" if not one["seconds"] else f"{one['seconds'] / 60:.1f}"
    return one["run"], one["state"], str(one["steps"]), accuracy, reward, minutes, (one["started"] or "")[:16].replace("T", " ")


def print_table(rows: list[tuple[str, ...]]) -> None:
    """Rich on a terminal, aligned plain text elsewhere."""
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.table import Table

        table = Table(*COLUMNS, box=None, pad_edge=False)
        colours = {"finished": "green", "running": "cyan", "failed": "red", "died": "red"}
        for row in rows:
            colour = colours.get(row[1], "yellow")
            table.add_row(row[0], f"[{colour}]{row[1]}[/]", *row[2:])
        Console().print(table)
        return
    widths = [max(len(r[i]) for r in [COLUMNS, *rows]) for i in range(len(COLUMNS))]
    for row in [COLUMNS, *rows]:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
