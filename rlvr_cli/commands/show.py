"""``rlvr show RUN``: a run in the terminal: what it is, how it went, what it left, what to type next::

$ rlvr show latest
outputs/tiny-arithmetic-math-20261129-214500  finished, 1.8 minutes
rlvr train seed=1
reward         ▁▂▃▄▅▆▇██  0.49 -> 0.89
eval/accuracy  ▁▅▇█       0.415 -> 0.980
...
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rlvr_cli.arguments import Arguments
from rlvr_cli.errors import EXIT_OK

EPILOGUE = """\
examples:
  rlvr show latest                     the newest run
  rlvr show tiny-arithmetic            the only run whose name starts so
  rlvr show outputs/RUN --metric kl    one metric, step by step
  rlvr show RUN --samples 3            completions of the last step with scores and reasons"""

BARS = "▁▂▃▄▅▆▇█"
CURVES = (
    "reward",
    "eval/accuracy",
    "eval/loss",
    "eval/pair_accuracy",
    "frac_reward_zero_std",
    "completions/mean_length",
    "completions/clipped_ratio",
    "entropy",
    "kl",
    "grad_norm",
)
WIDTH = 40


def run(argv: list[str]) -> int:
    """Print the run's page, one metric, or some samples."""
    p = Arguments(
        prog="rlvr show",
        description="A run in the terminal.",
        epilog=EPILOGUE,
    )
    p.add_argument("run", metavar="RUN", nargs="?", default="latest", help="a folder, a name, the start of one, or latest")
    p.add_argument("--dir", default="outputs", help="folder of runs (run.dir)")
    p.add_argument("--metric", metavar="NAME", help="one metric, step by step")
    p.add_argument("--samples", type=int, metavar="N", help="the last N completions with their scores and reasons")
    p.add_argument("--json", action="store_true", help="one JSON object")
    args = p.parse_args(argv)
    from rlvr_cli.run_dir import find

    path = find(args.run, args.dir)
    if args.metric:
        return show_metric(path, args.metric)
    if args.samples:
        return show_samples(path, args.samples)
    if args.json:
        print(json.dumps(page(path), ensure_ascii=False))
        return EXIT_OK
    print("\n".join(lines(page(path))))
    return EXIT_OK


def page(path: Path) -> dict[str, Any]:
    """All that is shown of a run, as plain data."""
    from rlvr_cli.commands.runs import read_lines, summary
    from rlvr_cli.run_dir import last_attempt, read_json

    metrics = read_lines(path / "metrics.jsonl")
    names = [n for n in CURVES if any(n in m for m in metrics)] + sorted({n for m in metrics for n in m if is_term(n)})
    command = path / "command.txt"
    return {
        **summary(path),
        "attempt": last_attempt(path),
        "command": command.read_text(encoding="utf-8").strip() if command.is_file() else None,
        "choices": read_json(path / "fingerprint.json").get("choices", {}),
        "curves": {n: [(m.get("step"), m[n]) for m in metrics if isinstance(m.get(n), (int, float))] for n in names},
        "checkpoints": sorted(
            (p.name for p in (path / "checkpoints").glob("*_*")), key=lambda n: int("".join(filter(str.isdigit, n)) or 0)
        ),
        "models": [n for n in ("final", "last") if (path / n).is_dir()],
        "evals": {p.parent.name: read_json(p) for p in sorted(path.glob("eval/*/summary.json"))},
        "failure": read_json(path / "failure.json") or None,
        "logs": sorted(p.name for p in (path / "logs").glob("*.log")),
    }


def is_term(name: str) -> bool:
    """A reward term's mean."""
    return name.startswith("rewards/") and name.endswith("/mean")


def lines(told: dict[str, Any]) -> list[str]:
    """The page for a person."""
    minutes = f", {told['seconds'] / 60:.1f} minutes" if told["seconds"] else ""
    attempt = f", attempt {told['attempt']}" if told["attempt"] > 1 else ""
    out = [f"{told['path']}  {told['state']}{attempt}{minutes}", told["command"] or ""]
    out.append(" ".join(f"{g}={o}" for g, o in sorted(told["choices"].items()) if o != "none"))
    if told["failure"]:
        failure = told["failure"]
        out += [
            "",
            f"failed at step {failure.get('step')}: {failure.get('what')}" + (f". Type: {failure['fix']}" if failure.get("fix") else ""),
        ]
    curves = {n: points for n, points in told["curves"].items() if points}
    width = max(map(len, curves), default=0)
    out += ["", f"{told['steps']} steps"] if curves else ["", "no step was recorded"]
    for name, points in curves.items():
        values = [v for _, v in points]
        out.append(f"{name:<{width}}  {spark(values):<{WIDTH}}  {values[0]:.4g} -> {values[-1]:.4g}")
    out += ["", f"checkpoints  {' '.join(told['checkpoints']) or 'none'}", f"models       {' '.join(told['models']) or 'none'}"]
    out += [f"eval {name}: {said_eval(summary)}" for name, summary in told["evals"].items()]
    out += [f"logs         {' '.join(told['logs']) or 'none'}", "", f"next: {following(told)}"]
    return out


def spark(values: list[float]) -> str:
    """A line of bars, at most ``WIDTH`` of them, each the mean of its part.

    >>> spark([0, 1, 2, 3])
    '▁▃▆█'
    """
    count = min(WIDTH, len(values))
    parts = [values[i * len(values) // count : (i + 1) * len(values) // count] for i in range(count)]
    means = [sum(p) / len(p) for p in parts]
    low, high = min(means), max(means)
    scale = (len(BARS) - 1) / (high - low) if high > low else 0
    return "".join(BARS[round((m - low) * scale)] for m in means)


def said_eval(summary: dict[str, Any]) -> str:
    """One evaluation in a line."""
    greedy = summary.get("greedy") or {}
    interval = greedy.get("ci95") or [None, None]
    text = f"n {summary.get('n')}"
    if greedy.get("accuracy") is not None:
        text += f", greedy {greedy['accuracy']:.3f} [{interval[0]:.3f}, {interval[1]:.3f}]"
    passes = summary.get("pass_at_k") or {}
    text += "".join(f", pass@{k} {v:.3f}" for k, v in passes.items() if isinstance(v, (int, float)))
    paired = summary.get("paired") or {}
    return text + (f", against the baseline {paired['diff']:+.3f} (p {paired['p']:.2g})" if "diff" in paired and "p" in paired else "")


def following(told: dict[str, Any]) -> str:
    """What a person would type next."""
    path = told["path"]
    if told["state"] == "finished":
        return f"rlvr eval checkpoint={path}   rlvr report {path}"
    if told["state"] == "running":
        return f"tail -f {path}/logs/launcher.{told['attempt']}.log"
    return f"rlvr doctor {path}   rlvr train --resume {path}"


def show_metric(path: Path, name: str) -> int:
    """One metric, a step a line."""
    from rlvr_cli.commands.runs import read_lines
    from rlvr_cli.config.nearest import nearest
    from rlvr_cli.errors import RunDirError

    metrics = read_lines(path / "metrics.jsonl")
    points = [(m.get("step"), m[name]) for m in metrics if name in m]
    if not points:
        near = nearest(name, sorted({n for m in metrics for n in m}))
        raise RunDirError(
            f"{path} has no metric {name!r}", where="--metric", fix=f"rlvr show {path.name} --metric {near}" if near else None
        )
    for step, value in points:
        print(f"{step}\t{value}")
    return EXIT_OK


def show_samples(path: Path, count: int) -> int:
    """The last completions, each with what it earned and why."""
    from rlvr_cli.commands.runs import read_lines

    for sample in read_lines(path / "samples.jsonl")[-count:]:
        scores, reasons = sample.get("scores") or {}, sample.get("reasons") or {}
        print(f"--- step {sample.get('step')}, answer {sample.get('answer')!r}, advantage {sample.get('advantage')}")
        print(text_of(sample.get("prompt")))
        print(f">>> {text_of(sample.get('completion'))}")
        for term, score in scores.items():
            print(f"  {term}: {score} ({reasons.get(term, '')})")
    return EXIT_OK


def text_of(value: Any) -> str:
    """A prompt or completion as text."""
    if isinstance(value, list):
        return "\n".join(message_text(m) for m in value if isinstance(m, dict))
    return str(value)


def message_text(message: dict[str, Any]) -> str:
    """A message with its tool calls.

    >>> message_text({"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "calculate", "arguments": {"x": 6}}}]})
    '[assistant] calculate(x=6)'
    """
    calls = [call.get("function", call) for call in message.get("tool_calls") or []]
    called = [f"{call.get('name')}({argument_text(call.get('arguments'))})" for call in calls]
    return " ".join(filter(None, (f"[{message.get('role')}]", str(message.get("content") or ""), *called)))


def argument_text(arguments: Any) -> str:
    """The arguments of a call; a model may write anything there."""
    return ", ".join(f"{k}={v}" for k, v in arguments.items()) if isinstance(arguments, dict) else str(arguments or "")
