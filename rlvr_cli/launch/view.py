"""What a person sees of a run while it runs: a live table in a terminal, plain lines everywhere else.

Both show the same numbers of ``metrics.jsonl``. Plain lines are one a logged step, so that a log file reads well too::

    step  12/200  reward 0.641  correct 0.641  dead 0.31  length 21.4  kl -  1,840 tok/s  0.31 s/step  left 0:58
"""

from __future__ import annotations

import sys
import time
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

Metrics = dict[str, Any]
SPARKS = "▁▂▃▄▅▆▇█"
KEPT_POINTS = 2000
SHOWN = (  # label, key of metrics.jsonl, format
    ("loss", "loss", ".4f"),
    ("held-out loss", "eval/loss", ".4f"),
    ("pairs told apart", "eval/pair_accuracy", ".3f"),
    ("dead groups", "frac_reward_zero_std", ".2f"),
    ("dead before the refill", "dynamic_sampling/dead_before", ".2f"),
    ("refill rounds", "dynamic_sampling/rounds", ".0f"),
    ("tokens without signal", "tokens/no_signal_share", ".0%"),
    ("length", "completions/mean_length", ".1f"),
    ("cut at the limit", "completions/clipped_ratio", ".2f"),
    ("entropy", "entropy", ".3f"),
    ("KL", "kl", ".4f"),
    ("tokens a second", "tokens_per_s", ",.0f"),
    ("seconds a step", "step_time", ".2f"),
)


def number(value: Any, form: str = ".3f") -> str:
    """A metric for a person; a dash where there is none."""
    return "-" if value is None else format(value, form)


def clock(seconds: float | None) -> str:
    """``h:mm:ss`` or ``m:ss``."""
    if seconds is None:
        return "-"
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def term_means(metrics: Metrics) -> dict[str, float | None]:
    """``rewards/<term>/mean`` by term."""
    return {key.split("/")[1]: value for key, value in metrics.items() if key.startswith("rewards/") and key.endswith("/mean")}


def dead_groups(metrics: Metrics) -> str:
    """The share of groups without signal; where a refill ran, before and after it.

    >>> dead_groups({"frac_reward_zero_std": 0.1, "dynamic_sampling/rounds": 2.0, "dynamic_sampling/dead_before": 0.75})
    'dead 0.75 -> 0.10'
    """
    after = number(metrics.get("frac_reward_zero_std"), ".2f")
    before = metrics.get("dynamic_sampling/dead_before") if metrics.get("dynamic_sampling/rounds") else None
    return f"dead {after}" if before is None else f"dead {number(before, '.2f')} -> {after}"


def step_line(metrics: Metrics, max_steps: int | None, left: float | None) -> str:
    """One step as one plain line."""
    terms = "  ".join(f"{name} {number(mean)}" for name, mean in term_means(metrics).items())
    step = f"step {metrics['step']:>4}" + (f"/{max_steps}" if max_steps else "")
    parts = [
        step,
        f"reward {number(metrics.get('reward'))}",
        terms,
        dead_groups(metrics),
        f"length {number(metrics.get('completions/mean_length'), '.1f')}",
        f"kl {number(metrics.get('kl'), '.4f')}",
        f"{number(metrics.get('tokens_per_s'), ',.0f')} tok/s",
        f"{number(metrics.get('step_time'), '.2f')} s/step",
        f"left {clock(left)}",
    ]
    return "  ".join(part for part in parts if part)


def stage_line(metrics: Metrics, max_steps: int | None, left: float | None) -> str:
    """One step of a stage without reinforcement learning as one plain line.

    >>> stage_line({"step": 3, "loss": 0.5, "step_time": 0.2, "eval/loss": 0.4}, 10, 1.4)
    'step    3/10  loss 0.500  held-out loss 0.400  0.20 s/step  left 0:01'
    """
    named = (
        ("loss", "loss"), ("held-out loss", "eval/loss"), ("pairs told apart", "eval/pair_accuracy"), ("margin", "rewards/margins"),
    )  # fmt: skip
    step = f"step {metrics['step']:>4}" + (f"/{max_steps}" if max_steps else "")
    parts = [f"{label} {number(metrics[key])}" for label, key in named if metrics.get(key) is not None]
    return "  ".join([step, *parts, f"{number(metrics.get('step_time'), '.2f')} s/step", f"left {clock(left)}"])


def eval_line(metrics: Metrics) -> str:
    """A held-out evaluation as one plain line."""
    count = metrics.get("eval/n")
    return f"held-out accuracy {number(metrics.get('eval/accuracy'))} at step {metrics['step']}" + (
        f"  (n={count:.0f}, greedy)" if count else ""
    )


def sparkline(values: list[float], width: int = 40) -> str:
    """The shape of a series in ``width`` characters at most.

    >>> sparkline([0.0, 0.5, 1.0])
    '▁▅█'
    """
    if not values:
        return ""
    stride = max(1, -(-len(values) // width))
    points = [sum(chunk) / len(chunk) for chunk in (values[i : i + stride] for i in range(0, len(values), stride))]
    low, high = min(points), max(points)
    scale = (len(SPARKS) - 1) / (high - low) if high > low else 0.0
    return "".join(SPARKS[round((p - low) * scale)] for p in points)


class View:
    """Collects phases and metrics and shows them. ``close`` leaves the last picture on the screen."""

    def __init__(self, stream: TextIO | None = None, *, live: bool | None = None, log: Path | None = None):
        self.stream = stream or sys.stdout
        self.log = log
        self.live = self.stream.isatty() if live is None else live
        self.phase, self.max_steps = "starting", None
        self.warning = ""
        self.started = time.monotonic()
        self.steps: deque[Metrics] = deque(maxlen=KEPT_POINTS)
        self.evals: list[Metrics] = []
        self.messages: deque[str] = deque(maxlen=6)
        self._screen = _open_live(self) if self.live else None

    def say(self, text: str) -> None:
        """One line about what happens now."""
        self.messages.append(text)
        self._line(text)

    def status(self, status: dict[str, Any]) -> None:
        """A change of phase, from ``progress.json``."""
        self.max_steps = status.get("max_steps") or self.max_steps
        phase = status.get("phase", self.phase)
        if phase != self.phase:
            self.phase = phase
            detail = f": {status['detail']}" if status.get("detail") else ""
            self._line(f"{phase}{detail}")
        if status.get("warning") and status["warning"] != self.warning:
            self.warning = status["warning"]
            self.say(f"warning: {self.warning}")
        self._refresh()

    def metrics(self, metrics: Metrics) -> None:
        """A line of ``metrics.jsonl``: a step, an evaluation, or both."""
        if metrics.get("eval/accuracy") is not None:
            self.evals.append(metrics)
            self._line(eval_line(metrics))
        if "reward" in metrics or "loss" in metrics:
            self.steps.append(metrics)
            line = step_line if "reward" in metrics else stage_line
            self._line(line(metrics, self.max_steps, self.left()))
        self._refresh()

    def left(self) -> float | None:
        """Seconds to the last step, by the median of the last twenty."""
        times = sorted(m["step_time"] for m in list(self.steps)[-20:] if m.get("step_time"))
        if not times or not self.max_steps:
            return None
        return times[len(times) // 2] * max(0, self.max_steps - self.steps[-1]["step"])

    def close(self) -> None:
        """Stop refreshing; the terminal is the caller's again."""
        if self._screen:
            self._refresh()
            self._screen.stop()
            self._screen = None

    def _line(self, text: str) -> None:
        """The same plain line goes to the launcher's log, whatever the screen shows."""
        if self.log:
            with suppress(OSError), self.log.open("a", encoding="utf-8") as file:  # a full disk ends the run where its records are written
                file.write(f"{time.strftime('%H:%M:%S')} {text}\n")
        if not self.live and self.stream is not None:
            try:
                print(text, file=self.stream, flush=True)
            except OSError:  # `rlvr train | head`: nobody reads any more, which is no reason to lose a run
                self.stream = None

    def _refresh(self) -> None:
        if self._screen:
            self._screen.update(render(self))


def _open_live(view: View) -> Any:
    from rich.console import Console
    from rich.live import Live

    screen = Live(render(view), console=Console(file=view.stream), refresh_per_second=4, transient=False)
    screen.start()
    return screen


def render(view: View) -> Any:
    """The live picture: numbers of the last step with their history, and the last messages."""
    from rich.console import Group
    from rich.panel import Panel
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    last = view.steps[-1] if view.steps else {}
    for name, value, history in _rows(view, last):
        table.add_row(Text(name, style="dim"), Text(value, style="bold"), Text(history, style="cyan"))
    times = f"{clock(time.monotonic() - view.started)} elapsed, {clock(view.left())} left"
    head = f"{view.phase}  step {last.get('step', 0)}/{view.max_steps or '?'}  {times}"
    notes = Text("\n".join(list(view.messages)[-4:]), style="dim")
    return Panel(Group(table, notes) if view.messages else table, title=head, title_align="left", border_style="blue")


def _rows(view: View, last: Metrics) -> list[tuple[str, str, str]]:
    """(name, value, sparkline) for each number that is there."""

    def history(key: str) -> str:
        return sparkline([m[key] for m in view.steps if m.get(key) is not None])

    rows = [("reward", number(last.get("reward")), history("reward"))]
    rows += [(f"  {name}", number(mean), history(f"rewards/{name}/mean")) for name, mean in term_means(last).items()]
    accuracy = [m["eval/accuracy"] for m in view.evals]
    rows.append(("held-out accuracy", number(accuracy[-1]) if accuracy else "-", sparkline(accuracy)))
    shown = [entry for entry in SHOWN if entry[1] != "loss" or "reward" not in last]  # a policy gradient's loss says nothing
    rows += [(label, number(last[key], form), history(key)) for label, key, form in shown if last.get(key) is not None]
    return rows
