"""``rlvr check``: everything that can fail without training, in seconds, on a machine that need not have a GPU or torch.

It takes exactly what ``rlvr train`` takes, and ends with 0 (it would run) or 2 (it would not, and why)::

    $ rlvr check model=tiny trainer.per_device_train_batch_size=13
    x plan: 13 completions x 1 ranks x 1 micro-steps = 13, not a multiple of G = 8 ... Type: trainer.per_device_train_batch_size=16
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from typing import Any

from rlvr_cli.arguments import Arguments
from rlvr_cli.errors import EXIT_OK, EXIT_USAGE, RlvrError

EPILOGUE = """\
examples:
  rlvr check                                              the embedded default
  rlvr check model=qwen1.5b reward=math                   offline: what is not in the cache is noted, not a fault
  rlvr check model=qwen7b hardware=8gpu                   on a laptop: the GPUs are assumed, the arithmetic is real
  rlvr check dataset=jsonl dataset.train=mine.jsonl       columns, broken lines, golds
  rlvr check recipe=smollm2_arithmetic --json             one JSON object for a program
marks: + holds, ! worth reading, x would stop the run, - does not apply"""

MARKS = {"ok": ("+", "[green]✓[/]"), "note": ("!", "[yellow]![/]"), "fail": ("x", "[red]✗[/]"), "skip": ("-", "[dim]-[/]")}


def parser() -> Arguments:
    """The flags; everything else on the line is what ``rlvr train`` would take."""
    p = Arguments(
        prog="rlvr check",
        description="Everything that can fail without training, in seconds, no GPU.",
        epilog=EPILOGUE,
    )
    p.add_argument("overrides", nargs="*", metavar="group=option | key=value", help="what rlvr train would take")
    p.add_argument("--json", action="store_true", help="one JSON object")
    p.add_argument("--strict", action="store_true", help="as rlvr train: what is missing on this machine is a fault")
    p.add_argument("--all", action="store_true", help="also the checks that do not apply")
    return p


def run(argv: list[str]) -> int:
    """Print each check as it ends; 0 when nothing failed, else 2."""
    args = parser().parse_intermixed_args(argv)
    started, found = time.perf_counter(), []
    show = (lambda finding: None) if args.json else shower(args.all)
    for finding in all_findings(args.overrides, strict=args.strict):
        found.append(finding)
        show(finding)
    failed = sum(f.state == "fail" for f in found)
    seconds = time.perf_counter() - started
    if args.json:
        print(json.dumps({"ok": not failed, "seconds": round(seconds, 3), "checks": [plain(f) for f in found]}, ensure_ascii=False))
    else:
        held, notes = (sum(f.state == s for f in found) for s in ("ok", "note"))
        verdict = f"{failed} would stop the run" if failed else "it would run"
        print(f"{verdict}: {held} hold, {notes} to read, {failed} failed, {seconds:.1f} s")
    return EXIT_USAGE if failed else EXIT_OK


def all_findings(overrides: list[str], *, strict: bool) -> Iterator[Any]:
    """Composition, then the rules, then the world; a configuration that can not be composed ends the list."""
    from rlvr_cli import pipeline
    from rlvr_cli.config.checks import faults
    from rlvr_cli.config.compose import compose
    from rlvr_cli.config.preflight import Finding, findings

    if pipeline.asked_for(overrides):
        from rlvr_cli.pipeline.command import check

        yield from check(overrides, strict=strict)
        return
    started = time.perf_counter()
    try:
        composed = compose(overrides, rules=False)
    except RlvrError as error:
        yield Finding("configuration", "fail", error.what, error.fix, error.where, time.perf_counter() - started, error)
        return
    chosen = ", ".join(f"{g}={o}" for g, o in sorted(composed.choices.items()) if o not in ("none", "default"))
    yield Finding("configuration", "ok", chosen, seconds=time.perf_counter() - started)
    rules = 0
    for name, said, error in both(faults(composed.config), faults(as_planned(composed.config))):
        rules += 1
        if error is not None:
            yield Finding(name.replace("_", " "), "fail", error.what, error.fix, error.where, error=error)
        elif said:
            yield Finding(name.replace("_", " "), "note", said)
    yield Finding("rules", "ok", f"{rules} looked at")
    yield from findings(composed.config, strict=strict)


def both(typed: Iterator[Any], settled: Iterator[Any]) -> Iterator[Any]:
    """Each rule once: on the configuration as typed, and where that holds, as the plan settles it."""
    for before, after in zip(typed, settled, strict=True):
        yield before if before[2] is not None else after


def as_planned(config: Any) -> Any:
    """The configuration with the plan's decisions written in, so that ``auto`` hides nothing; itself where there is no plan."""
    from rlvr_cli.config.preflight import World
    from rlvr_cli.launch.freeze import freeze

    try:
        return freeze(config, World(config).plan)
    except RlvrError:
        return config


def plain(finding: Any) -> dict[str, Any]:
    """A finding for JSON."""
    told = {"name": finding.name, "state": finding.state, "text": finding.text, "seconds": round(finding.seconds, 3)}
    return told | {k: v for k, v in (("fix", finding.fix), ("where", finding.where)) if v}


def shower(everything: bool) -> Any:
    """A function that prints one finding: rich on a terminal, plain lines elsewhere."""
    terminal = sys.stdout.isatty()
    if terminal:
        from rich.console import Console
        from rich.markup import escape

        console = Console()

    def show(finding: Any) -> None:
        if finding.state == "skip" and not everything:
            return
        line = f"{finding.name}: {finding.text}"
        if finding.where:
            line += f" (set in: {finding.where})"
        if finding.fix:
            line += f". Type: {finding.fix}"
        if terminal:
            console.print(f"{MARKS[finding.state][1]} {escape(line)} [dim]{finding.seconds:.2f} s[/]", soft_wrap=True, highlight=False)
        else:
            print(f"{MARKS[finding.state][0]} {line} ({finding.seconds:.2f} s)", flush=True)

    return show
