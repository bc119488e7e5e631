"""The parts of the page. Each takes runs and returns HTML, or an empty text where there is nothing to show.

Every text that came from a model, a file or a person goes through :func:`esc`; nothing else writes text into the page.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from html import escape
from statistics import fmean
from typing import Any

from rlvr_cli.report.chart import Line, chart
from rlvr_cli.report.findings import findings, said, verdict
from rlvr_cli.report.load import RunData, is_number

LONGEST = 4000
SHOWN_SAMPLES = 6


def esc(value: Any, limit: int = LONGEST) -> str:
    """Text safe in HTML and in quoted attributes, control characters made visible, cut with a word about it."""
    text = value if isinstance(value, str) else str(value)
    shown = "".join(c if c.isprintable() or c in "\n\t" else f"\\x{ord(c):02x}" for c in text[:limit])
    return escape(shown, quote=True) + (f" … ({len(text) - limit:,} more characters)" if len(text) > limit else "")


def unbroken(text: str) -> str:
    """Escaped text whose intervals stay on one line."""
    return re.sub(r"% \[([\d.]+), ([\d.]+)\]", "%\u00a0[\\1,\u00a0\\2]", text)


def head(runs: Sequence[RunData]) -> str:
    """The verdict, the facts and the findings."""
    if len(runs) == 1:
        run = runs[0]
        items = "".join(f'<li class="{kind}">{esc(text)}</li>' for kind, text in findings(run))
        title, facts = f"<h1>{esc(run.name)}</h1>", f'<ul class="facts">{facts_of(run)}</ul>'
        return f'{title}<p class="verdict">{unbroken(esc(verdict(run)))}</p>{facts}' + (
            f'<ul class="findings">{items}</ul>' if items else ""
        )
    best = [r for r in runs if r.held_out]
    lead = max(best, key=lambda r: r.kept.accuracy) if best else None
    first = (
        f"{esc(lead.name)} is the best of {len(runs)} runs: {unbroken(esc(verdict(lead)))}"
        if lead
        else f"{len(runs)} runs, none of them measured."
    )
    return f'<h1>{len(runs)} runs</h1><p class="verdict many">{first}</p>' + ranking(runs)


def facts_of(run: RunData) -> str:
    """Model, data, reward, steps and time in one line."""
    model, data = run.config.get("model") or {}, run.config.get("dataset") or {}
    seconds = run.status.get("seconds")
    steps = max((m["step"] for m in run.metrics if is_number(m.get("step"))), default=0)
    pairs = [
        ("model", run.choices.get("model") if model.get("builder") else model.get("path")),
        ("data", data.get("generator") or run.choices.get("dataset") or data.get("train")),
        ("reward", ", ".join((run.config.get("reward") or {}).get("terms") or {})),
        ("steps", f"{steps:,}"),
        ("time", f"{seconds / 60:.1f} min" if is_number(seconds) else None),
        ("state", run.status.get("state")),
    ]
    return "".join(f"<li>{name} <b>{esc(value)}</b></li>" for name, value in pairs if value)


def ranking(runs: Sequence[RunData]) -> str:
    """A row a run, best first."""
    order = sorted(runs, key=lambda r: -(r.kept.accuracy if r.held_out else -1))
    rows = []
    for run in order:
        held, first = run.kept, run.held_out[0] if run.held_out else None
        cells = [
            said(first) if first else "not measured",
            said(held) if held else "not measured",
            held.n if held else "",
            held.step if held else "",
        ]
        warnings = sum(kind == "warn" for kind, _ in findings(run))
        cells += [run.status.get("state", ""), f"{warnings} warning{'s' * (warnings > 1)}" if warnings else ""]
        mark = f'<span class="mark c{list(runs).index(run) % 8}"></span>'
        rows.append(f'<tr><td class="key">{mark}{esc(run.name)}</td>' + "".join(f"<td>{esc(c)}</td>" for c in cells) + "</tr>")
    return table(["run", "before", "in final/", "n", "at step", "state", ""], rows, kind="rank")


def table(headings: Sequence[str], rows: Sequence[str], *, kind: str = "") -> str:
    """A table that scrolls by itself on a narrow page."""
    top = "".join(f"<th>{esc(h)}</th>" for h in headings)
    return f'<div class="scroll {kind}"><table><thead><tr>{top}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'


# ---------------------------------------------------------------------------------------------- curves

CURVES = (
    ("Completion length", "completions/mean_length", "tokens, mean", {"low": 0.0}),
    ("Dead groups", "frac_reward_zero_std", "share of groups without signal", {"low": 0.0, "high": 1.0}),
    ("Dead groups before the refill", "dynamic_sampling/dead_before", "share of groups as first asked", {"low": 0.0, "high": 1.0}),
    ("Tokens without signal", "tokens/no_signal_share", "share of all generated so far", {"low": 0.0, "high": 1.0}),
    ("KL to the reference", "kl", "nats a token", {"low": 0.0}),
    ("Entropy", "entropy", "nats a token", {"low": 0.0}),
    ("Cut at the limit", "completions/clipped_ratio", "share of completions", {"low": 0.0, "high": 1.0}),
    ("Learning rate", "learning_rate", "", {"low": 0.0}),
)


def curves(runs: Sequence[RunData]) -> str:
    """Every curve that some run has: held-out accuracy across the page, the others in a grid."""
    figures = [accuracy_figure(runs), reward_figure(runs)]
    for title, key, unit, limits in CURVES:
        lines = [Line(run.name, run.series(key), i) for i, run in enumerate(runs)]
        if title == "Learning rate" and len(runs) == 1:
            continue
        figures.append(figure(title, unit, lines, **limits))
    body = "".join(figures)
    return f'<h2>Curves</h2><div class="grid">{body}</div>' if body else ""


def figure(title: str, unit: str, lines: Sequence[Line], *, wide: bool = False, **limits: float) -> str:
    """A titled chart with its legend, or nothing."""
    said = f"{title}, {unit}" if unit else title
    drawn = chart(lines, unit=said, **limits)
    if not drawn:
        return ""
    if wide:  # text must stay readable on both, so a phone gets the narrow picture
        broad = chart(lines, unit=said, wide=True, **limits)
        drawn = f'<div class="broad">{broad}</div><div class="narrow">{drawn}</div>'
    shown = [line for line in lines if line.points]
    names = "".join(f'<li><i class="c{line.colour % 8}"></i>{esc(line.label)}</li>' for line in shown)
    legend = f'<ul class="legend">{names}</ul>' if len(shown) > 1 else ""
    kind = ' class="wide"' if wide else ""
    return f"<figure{kind}><figcaption>{esc(title)} <small>{esc(unit)}</small></figcaption>{legend}{drawn}</figure>"


def accuracy_figure(runs: Sequence[RunData]) -> str:
    """Held-out accuracy with its interval band; strict and lenient beside it for a single run where they differ."""
    lines = []
    for i, run in enumerate(runs):
        band = [(p.step, p.low, p.high) for p in run.held_out]
        lines.append(Line(run.name if len(runs) > 1 else "accuracy", [(p.step, p.accuracy) for p in run.held_out], i, band, dots=True))
    if len(runs) == 1:
        main = lines[0].points
        for colour, name in ((1, "strict"), (2, "lenient")):
            other = runs[0].series(f"eval/{name}")
            if other and [v for _, v in other] != [v for _, v in main]:
                lines.append(Line(name, other, colour, dashed=True))
    return figure("Held-out accuracy", "greedy, 95% interval", lines, wide=True, low=0.0, high=1.0)


def reward_figure(runs: Sequence[RunData]) -> str:
    """Training reward: by term for one run, in total for several."""
    if len(runs) > 1:
        return figure("Training reward", "mean", [Line(r.name, r.series("reward"), i) for i, r in enumerate(runs)])
    run = runs[0]
    lines = [Line(term, run.series(f"rewards/{term}/mean"), i) for i, term in enumerate(run.terms)]
    total = run.series("reward")
    if len(run.terms) != 1:
        lines.append(Line("total", total, len(run.terms)))
    return figure("Training reward by term", "mean", lines)


# ---------------------------------------------------------------------------------------------- time

PARTS = (
    ("generation", "generation_s"),
    ("rewards", "reward_s"),
    ("forward, backward, optimizer", "training_s"),
    ("held-out evaluation", "eval/seconds"),
)


def time_split(runs: Sequence[RunData]) -> str:
    """Where a run's seconds went, as a bar."""
    figures = []
    for run in runs:
        seconds = [(name, sum(v for _, v in run.series(key))) for name, key in PARTS]
        known = [(name, value) for name, value in seconds if value > 0]
        total = sum(value for _, value in known)
        if not known:
            continue
        spans = "".join(f'<span class="c{i}" style="flex:{value / total:.4f}"></span>' for i, (_, value) in enumerate(known))
        names = "".join(f'<li><i class="c{i}"></i>{name} {100 * v / total:.0f}% ({v:.0f} s)</li>' for i, (name, v) in enumerate(known))
        caption = f"<figcaption>{esc(run.name)} <small>{step_time(run)}</small></figcaption>"
        figures.append(f'<figure>{caption}<div class="bar">{spans}</div><ul class="legend">{names}</ul></figure>')
    return f'<h2>Where the time went</h2><div class="grid">{"".join(figures)}</div>' if figures else ""


def step_time(run: RunData) -> str:
    """Mean seconds a step and tokens a second."""
    steps = [v for _, v in run.series("step_time")]
    speed = [v for _, v in run.series("tokens_per_s")]
    told = [f"{fmean(steps):.2f} s a step"] if steps else []
    return esc(", ".join(told + ([f"{fmean(speed):,.0f} tokens a second"] if speed else [])))


# ---------------------------------------------------------------------------------------------- samples


def samples(run: RunData) -> str:
    """The best and the worst completions of the last steps, each with what the reward said of it."""
    newest = last_steps(run.samples)
    if not newest:
        return ""
    ordered = sorted(newest, key=worth)
    count = min(SHOWN_SAMPLES, len(ordered) // 2 or 1)
    best, worst = spread(list(reversed(ordered)), count), spread(ordered, count)
    parts = [("Best", best), ("Worst", [s for s in worst if s not in best])]
    body = "".join(
        f'<h2>{title} of the last completions</h2><div class="samples">{"".join(map(sample, rows))}</div>' for title, rows in parts if rows
    )
    return body


def last_steps(records: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Records of the last tenth of the steps that are there."""
    steps = sorted({r["step"] for r in records if is_number(r.get("step"))})
    if not steps:
        return []
    first = steps[-max(1, len(steps) // 10)]
    return [r for r in records if is_number(r.get("step")) and r["step"] >= first]


def worth(record: dict[str, Any]) -> tuple[float, float]:
    """Sum of the scores, then the advantage."""
    scores = record.get("scores")
    total = sum(s for s in scores.values() if is_number(s)) if isinstance(scores, dict) else 0.0
    return total, record["advantage"] if is_number(record.get("advantage")) else 0.0


def spread(ordered: Sequence[dict[str, Any]], count: int) -> list[dict[str, Any]]:
    """The first ``count`` records of different prompts."""
    chosen: dict[str, dict[str, Any]] = {}
    for record in ordered:
        chosen.setdefault(json.dumps(record.get("prompt"), default=str), record)
        if len(chosen) == count:
            break
    return list(chosen.values())


def question(prompt: Any) -> str:
    """The last turn of a prompt, as text."""
    if isinstance(prompt, list) and prompt and isinstance(prompt[-1], dict):
        return str(prompt[-1].get("content", ""))
    return prompt if isinstance(prompt, str) else json.dumps(prompt, ensure_ascii=False, default=str)


def sample(record: dict[str, Any]) -> str:
    """One completion with its question, its gold and a coloured reason a term."""
    raw = record.get("scores")
    scores = raw if isinstance(raw, dict) else {}
    raw = record.get("reasons")
    reasons = raw if isinstance(raw, dict) else {}
    kinds = {name: kind_of(score) for name, score in scores.items()}
    overall = "unknown" if "unknown" in kinds.values() else "wrong" if "wrong" in kinds.values() else "right" if kinds else "unknown"
    told = "".join(f'<span class="reason {kinds[n]}">{esc(n)} {shown(scores[n])}: {esc(reasons.get(n, ""), 300)}</span>' for n in scores)
    advantage = f", advantage {record['advantage']:+.2f}" if is_number(record.get("advantage")) else ""
    completion = record.get("completion")
    text = completion if isinstance(completion, str) else question(completion)
    asked = esc(question(record.get("prompt")), 1200)
    about = f"step {esc(record.get('step', '?'))}{advantage}, gold {esc(record.get('answer'), 200)}"
    return f'<div class="sample {overall}"><p>{about}</p><pre class="ask">{asked}</pre><pre>{esc(text)}</pre>{told}</div>'


def kind_of(score: Any) -> str:
    """right, wrong or unknown."""
    return "unknown" if not is_number(score) else "right" if score >= 1 - 1e-6 else "wrong"


def shown(score: Any) -> str:
    """A score for a person."""
    return f"{score:g}" if is_number(score) else "not judged"


# ---------------------------------------------------------------------------------------------- tables


def unjudged(runs: Sequence[RunData]) -> str:
    """Why rows were left out, counted."""
    rows = [
        f'<tr><td class="key">{esc(r.name)}</td><td>{n}</td><td>{esc(why, 400)}</td></tr>'
        for r in runs
        for why, n in r.unjudged.most_common(12)
    ]
    return "<h2>Could not be judged</h2>" + table(["run", "completions", "reason"], rows) if rows else ""


def flat(data: Any, prefix: str = "") -> dict[str, Any]:
    """Nested mappings to dotted keys."""
    if not isinstance(data, dict) or not data:
        return {prefix.rstrip("."): data}
    return {key: value for name, inner in data.items() for key, value in flat(inner, f"{prefix}{name}.").items()}


def differences(runs: Sequence[RunData]) -> str:
    """The settings on which several runs differ."""
    configs = [flat(run.config) for run in runs]
    keys = [k for k in dict.fromkeys(k for c in configs for k in c) if k not in ("run.name", "run.dir")]
    differing = [k for k in keys if len({json.dumps(c.get(k), sort_keys=True, default=str) for c in configs}) > 1]
    rows = [
        f'<tr><td class="key">{esc(k)}</td>'
        + "".join(f"<td>{esc(value_text(c[k]) if k in c else '—', 300)}</td>" for c in configs)
        + "</tr>"
        for k in differing
    ]
    if not rows:
        return "<h2>Differences</h2><p>The configurations are the same.</p>"
    return "<h2>Differences</h2>" + table(["setting", *[r.name for r in runs]], rows)


def value_text(value: Any) -> str:
    """A setting as YAML would show it."""
    return "null" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def evaluations(runs: Sequence[RunData]) -> str:
    """The separate evaluations that were made of the runs."""
    from rlvr_cli.evaluation.show import headline, measures

    rows = []
    for run in runs:
        for name, summary in run.evals.items():
            try:
                told = "; ".join(f"{measure} {value}" for measure, value, _ in measures(summary))
                cells = "".join(f"<td>{esc(c)}</td>" for c in (name, headline(summary), told))
                rows.append(f'<tr><td class="key">{esc(run.name)}</td>{cells}</tr>')
            except (KeyError, TypeError, ValueError):  # written by another version
                continue
    return "<h2>Evaluations</h2>" + table(["run", "name", "", "measures"], rows) if rows else ""


def environment(runs: Sequence[RunData]) -> str:
    """Command, machine, versions and the whole configuration, folded away."""
    parts = []
    for run in runs:
        facts = {**flat(run.env), "command": run.command}
        rows = [
            f'<tr><td class="key">{esc(k)}</td><td>{esc(value_text(v), 600)}</td></tr>'
            for k, v in facts.items()
            if v not in (None, "", {}, [])
        ]
        parts.append(f"<details><summary>{esc(run.name)}: command, machine, versions</summary>{table(['', ''], rows)}</details>")
        settings = [f'<tr><td class="key">{esc(k)}</td><td>{esc(value_text(v), 600)}</td></tr>' for k, v in flat(run.config).items()]
        parts.append(f"<details><summary>{esc(run.name)}: configuration</summary>{table(['', ''], settings)}</details>")
    return "<h2>Environment</h2>" + "".join(parts)
