"""``make demo``: the main job on the embedded default, then its judgement, then one plain sentence.

Three timed parts, because they cost different things: the cold start (a tiny model is built and taught the form; cached),
reinforcement learning (the verifier teaches what the demonstrations got wrong), and the evaluation of both models on
the same held-out prompts. It only types commands a person could type, and reads what they wrote.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from rlvr_cli.main import main as rlvr

RUN = "demo"
FOLDER = Path("outputs") / RUN


def main() -> int:
    """Train, evaluate against the untrained model, say the sentence; the first command that fails ends the demo."""
    started = time.monotonic()
    for argv in (["train", f"run.name={RUN}", "--clean"], ["eval", f"checkpoint={FOLDER}", "baseline=base", "eval.name=demo", "eval.k=1"]):
        print(f"\n$ rlvr {' '.join(argv)}", flush=True)
        if code := rlvr(argv):
            return code
    summary = summarise(FOLDER, json.loads((FOLDER / "eval" / "demo" / "summary.json").read_text()))
    (FOLDER / "summary.json").write_text(json.dumps(summary, indent=1) + "\n")
    print("\n" + sentence(summary, time.monotonic() - started))
    return 0


def summarise(folder: Path, judged: dict[str, Any]) -> dict[str, Any]:
    """``summary.json``: accuracy before and after with n and the interval, and the seconds of each part."""
    steps = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    train_seconds = sum(step.get("step_time") or 0.0 for step in steps)
    return {
        "before": judged["baseline"]["greedy"]["strict"],
        "after": judged["greedy"]["strict"],
        "n": judged["n"],
        "ci95": judged["greedy"]["ci95"],
        "before_ci95": judged["baseline"]["greedy"]["ci95"],
        "train_seconds": round(train_seconds, 1),
        "paired": judged.get("paired"),
    }


def sentence(summary: dict[str, Any], seconds: float) -> str:
    """What happened, as one would say it."""
    low, high = summary["ci95"]
    before_low, before_high = summary["before_ci95"]
    return (
        f"Held-out accuracy on n={summary['n']} sums the model never saw: "
        f"{summary['before']:.1%} [{before_low:.1%}, {before_high:.1%}] before, {summary['after']:.1%} [{low:.1%}, {high:.1%}] after "
        f"{summary['train_seconds']:.0f} s of reinforcement learning (greedy, strict, Wilson 95% intervals; {seconds:.0f} s in all).\n"
        f"Look closer: .venv/bin/rlvr report {FOLDER}"
    )


if __name__ == "__main__":
    sys.exit(main())
