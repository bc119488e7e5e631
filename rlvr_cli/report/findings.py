"""What a run comes to, in sentences: the verdict, and what a reader should worry about. Plain text; the page escapes it.

verdict(run)  ->  "Held-out accuracy rose from 41.5% [34.9, 48.4] to 97.0% [93.6, 98.6] (n=200, steps 0 to 200)."
"""

from __future__ import annotations

from statistics import fmean

from rlvr_cli.evaluation.compare import sentence
from rlvr_cli.evaluation.intervals import points
from rlvr_cli.report.load import HeldOutPoint, RunData

WASTED = 0.3  # share of tokens without signal that is worth a sentence
DEAD, CUT, COLLAPSED, FELL = 0.6, 0.3, 0.05, 0.05


def verdict(run: RunData) -> str:
    """Accuracy before and in ``final/`` with n and interval, or why there is none."""
    first, held = (run.held_out[0] if run.held_out else None), run.kept
    if first is None or held is None:
        return f"No held-out accuracy was measured in {run.name}; a training reward alone says little." + ended(run)
    if len(run.held_out) == 1 and held.step == first.step:
        once = "it was measured once, so no gain can be told."
        return f"Held-out accuracy is {said(first)} (n={first.n or '?'}, step {first.step}); {once}" + ended(run)
    if held.step == first.step:
        return f"Held-out accuracy did not rise: it began at {said(first)} and never was higher (n={first.n or '?'})." + ended(run)
    apart = " The two intervals overlap, so this may be chance." if held.low <= first.high and first.low <= held.high else ""
    size = f"n={held.n or '?'}, steps {first.step} to {held.step}"
    if held.accuracy == first.accuracy:
        return f"Held-out accuracy did not rise: it is {said(held)} as before ({size})." + ended(run)
    way = "rose" if held.accuracy > first.accuracy else "fell"
    return f"Held-out accuracy {way} from {said(first)} to {said(held)} ({size}).{apart}" + ended(run)


def said(point: HeldOutPoint) -> str:
    """A share with its interval."""
    return points(point.accuracy, (point.low, point.high))


def ended(run: RunData) -> str:
    """A sentence where the run did not finish.

    >>> from pathlib import Path
    >>> ended(RunData(Path("a"), status={"state": "interrupted", "sentence": "interrupted; the last checkpoint is kept"}))
    ' The run was interrupted; the last checkpoint is kept.'
    """
    state, why = str(run.status.get("state")), str(run.status.get("sentence") or "")
    words = {"running": "is still running", "interrupted": "was interrupted", "failed": "failed", "died": "died without a last word"}
    if state not in words:
        return ""
    why = "" if state in ("running", "died") else why.removeprefix("interrupted").removeprefix("; ").rstrip(".")
    mark = "; " if state == "interrupted" else ": "
    return f" The run {words[state]}{mark if why else ''}{why}."


def tail_mean(run: RunData, key: str) -> float | None:
    """Mean of the last tenth of a metric."""
    values = [v for _, v in run.series(key)]
    return fmean(values[-max(1, len(values) // 10) :]) if values else None


def findings(run: RunData) -> list[tuple[str, str]]:
    """(kind, sentence); kind is ``good``, ``warn`` or ``note``."""
    found = [*from_evaluations(run), *from_curves(run), *from_tokens(run)]
    if run.unjudged:
        count = sum(run.unjudged.values())
        found.append(("warn", f"{count} completions could not be judged and did not train; the reasons are below."))
    return found


def from_evaluations(run: RunData) -> list[tuple[str, str]]:
    """What separate evaluations of this run say, the paired ones first."""
    found = []
    for name, summary in run.evals.items():
        paired = summary.get("paired")
        if isinstance(paired, dict) and {"diff", "ci95", "p", "n", "gained", "lost"} <= set(paired):
            kind = "good" if paired["p"] < 0.05 and paired["diff"] > 0 else "note"
            found.append((kind, f"Evaluation {name}, against {summary['baseline'].get('checkpoint', 'the baseline')}: {sentence(paired)}."))
    return found


def from_curves(run: RunData) -> list[tuple[str, str]]:
    """The field's usual illnesses, where their mark is there."""
    found = []
    best = max(run.held_out, key=lambda p: (p.accuracy, -p.step), default=None)
    last = run.held_out[-1] if run.held_out else None
    if best and last and best.accuracy - last.accuracy > FELL and last.accuracy < best.low:
        holds = "; final/ holds the peak" if run.final and run.kept and run.kept.step == best.step else ""
        text = f"Accuracy fell from its peak, {said(best)} at step {best.step}, to {said(last)} at step {last.step}{holds}."
        found.append(("warn", text))
    checks = (
        ("frac_reward_zero_std", lambda v: v > DEAD, "{:.0%} of the last groups carried no signal (all their completions scored alike)."),
        ("completions/clipped_ratio", lambda v: v > CUT, "{:.0%} of the last completions were cut at the length limit."),
        ("entropy", lambda v: v < COLLAPSED, "Entropy ended at {:.3f} nats a token: the policy hardly explores any more."),
    )
    for key, bad, text in checks:
        value = tail_mean(run, key)
        if value is not None and bad(value):
            found.append(("warn", text.format(value)))
    return found


def from_tokens(run: RunData) -> list[tuple[str, str]]:
    """What was generated and taught nothing, where that is much."""
    counts = [run.series(key)[-1:] for key in ("tokens/generated", "tokens/no_signal")]
    if not all(counts):
        return []
    generated, silent = (points[0][1] for points in counts)
    if silent <= WASTED * generated:
        return []
    text = f"{silent / generated:.0%} of {generated:,.0f} generated tokens taught nothing: their groups scored alike or were put aside;"
    return [("note", f"{text} curriculum=pass_rate keeps to prompts that are sometimes solved.")]
