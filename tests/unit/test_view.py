"""The view shows metrics.jsonl; these look at what a person sees, in a terminal and in a log file."""

import io

from rich.console import Console

from rlvr_cli.launch.follow import Follow
from rlvr_cli.launch.view import View, clock, render, sparkline, step_line

STEP = {"step": 12, "reward": 0.641, "rewards/correct/mean": 0.6, "rewards/format/mean": 0.9, "frac_reward_zero_std": 0.31}
STEP |= {"completions/mean_length": 21.4, "tokens_per_s": 1840.2, "step_time": 0.31, "kl": None}


def test_plain_line_has_every_number_and_no_escape_codes():
    out = io.StringIO()
    view = View(out, live=False)
    view.status({"phase": "training", "max_steps": 200})
    view.metrics(STEP)
    view.metrics({"step": 12, "eval/accuracy": 0.5, "eval/n": 500})
    text = out.getvalue()
    assert (
        "step   12/200  reward 0.641  correct 0.600  format 0.900  dead 0.31  length 21.4  kl -  1,840 tok/s  0.31 s/step  left 0:58"
        in text
    )
    assert "held-out accuracy 0.500 at step 12  (n=500, greedy)" in text and "\x1b" not in text


def test_live_picture_fits_a_narrow_terminal():
    view = View(io.StringIO(), live=False)
    for step in range(100):
        view.metrics({**STEP, "step": step, "reward": step / 100})
    out = io.StringIO()
    Console(file=out, width=72, force_terminal=False).print(render(view))
    assert "reward" in out.getvalue() and max(map(len, out.getvalue().splitlines())) <= 72


def test_missing_metrics_are_dashes():
    assert "reward -" in step_line({"step": 1, "reward": None}, None, None)


def test_clock():
    assert [clock(s) for s in (None, 5, 65, 3725)] == ["-", "0:05", "1:05", "1:02:05"]


def test_sparkline_of_constants_and_nothing():
    assert sparkline([]) == "" and sparkline([1.0, 1.0]) == "▁▁"


def test_follow_waits_for_whole_lines_and_survives_a_cut(tmp_path):
    path = tmp_path / "m.jsonl"
    follow = Follow(path)
    path.write_text('{"step": 1}\n{"st')
    assert follow.new() == [{"step": 1}]
    path.write_text('{"step": 1}\n{"step": 2}\n')
    assert follow.new() == [{"step": 2}]
    path.write_text('{"step": 1}\n')
    assert follow.new() == []
    with path.open("a") as file:
        file.write('{"step": 2}\n')
    assert follow.new() == [{"step": 2}]
