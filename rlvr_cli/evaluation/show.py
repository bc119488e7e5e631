"""An evaluation in the terminal: the verdict first, then one row a measure, every share with its interval.

As it looks when the output is no terminal::

    accuracy 97.0% [93.6, 98.6], n=200; before (untrained): 41.5% [34.9, 48.4]
    +55.5 points [+47.8, +62.3] on the same 200 prompts (112 gained, 1 lost; McNemar exact p < 0.0001: ...)
    strict    97.0% [93.6, 98.6]
    pass@8    99.5% [97.2, 99.9]
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlvr_cli.evaluation.compare import sentence
from rlvr_cli.evaluation.intervals import points

Summary = Mapping[str, Any]


def headline(summary: Summary) -> str:
    """Accuracy, or mean@k where nothing was answered greedily, beside the baseline's."""
    text = f"{main_measure(summary)}, n={summary['n']}"
    baseline = summary.get("baseline")
    return f"{text}; before ({baseline['checkpoint']}): {main_measure(baseline, bare=True)}" if baseline else text


def main_measure(summary: Summary, *, bare: bool = False) -> str:
    """The first number of a summary with its interval."""
    greedy = summary.get("greedy")
    name = "accuracy" if greedy else f"mean@{summary['k']}"
    value, ci = (greedy["accuracy"], greedy["ci95"]) if greedy else (summary["mean_at_k"], summary["mean_at_k_ci95"])
    return points(value, ci) if bare else f"{name} {points(value, ci)}"


def measures(summary: Summary) -> list[tuple[str, str, str]]:
    """(name, value with interval, what it means) for every measure there is."""
    rows = []
    if greedy := summary.get("greedy"):
        rows += [
            ("accuracy", points(greedy["accuracy"], greedy["ci95"]), "greedy, by the reward as configured"),
            ("strict", points(greedy["strict"], greedy["strict_ci95"]), "greedy, and in the asked form"),
            ("lenient", points(greedy["lenient"], greedy["lenient_ci95"]), "greedy, the answer anywhere"),
        ]
    if summary.get("k"):
        rows.append((f"mean@{summary['k']}", points(summary["mean_at_k"], summary["mean_at_k_ci95"]), "share of the sampled answers"))
        for k, value in summary["pass_at_k"].items():
            if k != "1":
                rows.append((f"pass@{k}", points(value, summary["pass_at_k_ci95"][k]), f"at least one of {k} is right"))
    return rows


def notes(summary: Summary) -> list[str]:
    """What a reader must know beside the measures."""
    said = [
        f"cut at the limit: {100 * summary['truncated']:.1f}% of the completions, which have {summary['mean_tokens']:.1f} tokens on average"
    ]
    if count := summary["unjudged"]["count"]:
        reason, times = next(iter(summary["unjudged"]["reasons"].items()))
        said.append(f"could not be judged, counted as wrong: {count} (most often, {times} times: {reason})")
    return said


def lines(summary: Summary) -> list[str]:
    """The whole evaluation as plain lines."""
    out = [headline(summary)]
    if "paired" in summary:
        out.append(sentence(summary["paired"]))
    before = {name: value for name, value, _ in measures(summary["baseline"])} if "baseline" in summary else {}
    for name, value, meaning in measures(summary):
        was = f"  (before: {before[name]})" if name in before else ""
        out.append(f"{name:<10}{value:<24}{meaning}{was}")
    return out + notes(summary)


def show(summary: Summary) -> None:
    """A rich table in a terminal, plain lines elsewhere."""
    import sys

    if not sys.stdout.isatty():
        print("\n".join(lines(summary)))
        return
    from rich.console import Console
    from rich.table import Table

    console = Console()
    console.print(f"[bold]{headline(summary)}[/bold]", highlight=False)
    if "paired" in summary:
        console.print(sentence(summary["paired"]), highlight=False, markup=False)
    before = {name: value for name, value, _ in measures(summary["baseline"])} if "baseline" in summary else {}
    table = Table("measure", "value [95% interval]", *(["before"] if before else []), "what it is", box=None, header_style="dim")
    for name, value, meaning in measures(summary):
        table.add_row(name, value.replace("[", "\\["), *([before.get(name, "").replace("[", "\\[")] if before else []), meaning)
    console.print(table)
    for line in notes(summary):
        console.print(line, highlight=False, markup=False, style="dim")
