"""The page: what it says, what it survives, and that nothing a model wrote can act in it."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pytest
import yaml

from rlvr_cli.errors import RunDirError
from rlvr_cli.main import main
from rlvr_cli.report.chart import Line, chart, thinned, ticks
from rlvr_cli.report.findings import findings, verdict
from rlvr_cli.report.load import load_run
from rlvr_cli.report.page import page

HOSTILE = '</pre><script>alert(1)</script><img src=x onerror="alert(2)"> \u202e \x1b[31m <svg onload=alert(3)> {{7*7}} &lt;'


def make_run(root, name, *, accuracy=((0, 0.4), (50, 0.9)), n=200, samples=(), steps=60, config=None, keep=None, **metrics):
    """keep: which of the evaluations is that of final/; the best one where it is None."""
    run = root / name
    run.mkdir(parents=True)
    lines = [{"step": s, "reward": 0.3 + s / 200, "rewards/correct/mean": 0.3 + s / 200, **metrics} for s in range(1, steps + 1)]
    lines += [{"step": s, "eval/accuracy": a, "eval/n": n, "eval/strict": a, "eval/lenient": a} for s, a in accuracy]
    lines.sort(key=lambda line: line["step"])
    (run / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (run / "samples.jsonl").write_text("".join(json.dumps(line) + "\n" for line in samples))
    if accuracy:
        step, share = accuracy[keep] if keep is not None else max(accuracy, key=lambda pair: (pair[1], -pair[0]))
        (run / "final").mkdir()
        (run / "final" / "metrics.json").write_text(json.dumps({"step": step, "eval/accuracy": share, "eval/n": n}))
    (run / "config.yaml").write_text(yaml.safe_dump(config or {"seed": 0, "model": {"path": "m"}}))
    return run


def sample(text, score=1.0, *, step=60, prompt="2+2?", reason="because"):
    scores, reasons = {"correct": score}, {"correct": reason}
    return {"step": step, "prompt": prompt, "completion": text, "answer": "4", "scores": scores, "reasons": reasons, "advantage": 0.5}


class Tags(HTMLParser):
    """Collects elements, attributes and what was left open."""

    VOID = frozenset(("meta", "br"))

    def __init__(self):
        super().__init__()
        self.tags, self.attributes, self.open = set(), [], []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def tags_of(text):
    found = Tags()
    found.feed(text)
    assert found.open == []
    return found


def test_verdict_names_both_ends_n_and_interval(tmp_path):
    text = verdict(load_run(make_run(tmp_path, "a")))
    assert text == "Held-out accuracy rose from 40.0% [33.5, 46.9] to 90.0% [85.1, 93.4] (n=200, steps 0 to 50)."


@pytest.mark.parametrize(
    ("accuracy", "said"),
    [
        ((), "No held-out accuracy was measured"),
        (((0, 0.4),), "measured once"),
        (((0, 0.4), (50, 0.3)), "did not rise"),
        (((0, 0.40), (50, 0.42)), "this may be chance"),
    ],
)
def test_verdict_does_not_flatter(tmp_path, accuracy, said):
    assert said in verdict(load_run(make_run(tmp_path, "a", accuracy=accuracy)))


def test_the_verdict_is_of_the_model_in_final(tmp_path):
    """A stage that keeps its last model does not get the accuracy of a better one on the way."""
    last = load_run(make_run(tmp_path, "last", accuracy=((0, 0.3), (40, 0.8), (60, 0.5)), keep=-1))
    assert verdict(last).startswith("Held-out accuracy rose from 30.0%") and "to 50.0% [43.1, 56.9] (n=200, steps 0 to 60)" in verdict(last)
    assert "final/ holds" not in " ".join(text for _, text in findings(last))
    fallen = load_run(make_run(tmp_path, "fallen", accuracy=((0, 0.8), (60, 0.5)), keep=-1))
    assert verdict(fallen).startswith("Held-out accuracy fell from 80.0%")
    same = load_run(make_run(tmp_path, "same", accuracy=((0, 0.5), (60, 0.5)), keep=-1))
    assert "did not rise: it is 50.0%" in verdict(same)
    best = load_run(make_run(tmp_path, "best", accuracy=((0, 0.3), (40, 0.8), (60, 0.5))))
    assert "final/ holds the peak" in " ".join(text for _, text in findings(best))
    assert "<td>50.0%" in page([last, best]) and "<td>80.0%" in page([last, best])


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (
            {"state": "interrupted", "sentence": "interrupted; no checkpoint was written yet"},
            "was interrupted; no checkpoint was written yet.",
        ),
        ({"state": "interrupted", "sentence": "interrupted"}, " The run was interrupted."),
        ({"state": "failed", "sentence": "rank 0: no memory."}, " The run failed: rank 0: no memory."),
        ({"state": "running", "sentence": "x"}, " The run is still running."),
        ({"state": "died"}, " The run died without a last word."),
    ],
)
def test_how_a_run_ended_is_a_sentence(status, said, tmp_path):
    run = load_run(make_run(tmp_path, "a"))
    run.status = status
    assert verdict(run).endswith(said)


def test_a_collapse_is_named(tmp_path):
    bad = {"entropy": 0.03, "frac_reward_zero_std": 0.75, "completions/clipped_ratio": 0.5}
    run = make_run(tmp_path, "a", accuracy=((0, 0.3), (40, 0.76), (60, 0.6)), **bad)
    said = " ".join(text for kind, text in findings(load_run(run)) if kind == "warn")
    for part in ("fell from its peak", "75% of the last groups", "50% of the last completions", "0.030 nats"):
        assert part in said


def test_tokens_that_taught_nothing_are_said_where_they_are_many(tmp_path):
    def said(silent: float) -> list[str]:
        run = make_run(tmp_path, f"a{silent}", accuracy=((0, 0.3),), **{"tokens/generated": 50_000.0, "tokens/no_signal": silent})
        return [text for kind, text in findings(load_run(run)) if kind == "note" and "taught nothing" in text]

    assert said(10_000.0) == []
    assert said(30_000.0)[0].startswith("60% of 50,000 generated tokens taught nothing")


def test_nothing_a_model_wrote_can_act(tmp_path):
    samples = [sample(HOSTILE, prompt=HOSTILE, reason=HOSTILE), sample("x" * 10_000, 0.0), sample("?", None, reason=HOSTILE)]
    run = make_run(tmp_path, "a", samples=samples, config={"model": {"path": HOSTILE}, "run": {"name": HOSTILE}})
    (run / "command.txt").write_text(HOSTILE)
    (run / "env.json").write_text(json.dumps({HOSTILE: HOSTILE}))
    text = page([load_run(run)])
    found = tags_of(text)
    assert not found.tags & {"script", "img", "iframe", "link", "object", "form", "a", "base"}
    assert not [name for name, _ in found.attributes if name.startswith("on") or name in ("href", "src", "srcset", "xlink:href")]
    assert "\u202e" not in text
    assert "\x1b" not in text
    assert "default-src 'none'" in text
    assert "6,000 more characters" in text


def test_the_page_asks_for_nothing_from_elsewhere(tmp_path):
    text = page([load_run(make_run(tmp_path, "a", samples=[sample("4")]))])
    assert not re.search(r"https?://|url\(|@import|src=", text)


def test_curves_and_samples_are_there(tmp_path):
    more = {"kl": 0.01, "entropy": 0.5, "completions/mean_length": 20.0, "generation_s": 1.0, "training_s": 2.0}
    run = make_run(tmp_path, "a", samples=[sample("right one"), sample("wrong one", 0.0, reason="gold 4, answer 5")], **more)
    text = page([load_run(run)])
    for title in ("Held-out accuracy", "Training reward", "KL to the reference", "Entropy", "Completion length", "Where the time went"):
        assert title in text
    assert "gold 4, answer 5" in text
    assert 'class="reason wrong"' in text
    assert 'class="band c0"' in text
    assert "generation 33%" in text


def test_unjudged_reasons_are_counted(tmp_path):
    run = make_run(tmp_path, "a", samples=[sample("a", None, reason="judge timed out after 5 s")] * 3 + [sample("b")])
    text = page([load_run(run)])
    assert "judge timed out after 5 s" in text
    assert "3 completions could not be judged" in text


def test_several_runs_are_ranked_and_their_differences_shown(tmp_path):
    a = make_run(tmp_path, "slow", accuracy=((0, 0.4), (50, 0.6)), config={"seed": 1, "optimizer": {"learning_rate": 1e-5}})
    b = make_run(tmp_path, "fast", config={"seed": 1, "optimizer": {"learning_rate": 1e-4}})
    text = page([load_run(a), load_run(b)])
    assert text.index(">fast<") < text.index(">slow<", text.index("<tbody>"))
    table = text[text.index("Differences") :]
    assert "optimizer.learning_rate" in table[: table.index("</table>")]
    assert ">seed<" not in table[: table.index("</table>")]
    tags_of(text)


def test_torn_and_odd_files_do_not_break_the_page(tmp_path):
    run = make_run(tmp_path, "a", samples=[{"step": 60}, {"step": "x"}, {"scores": [1]}, sample([{"role": "assistant", "content": "hi"}])])
    for name in ("metrics.jsonl", "samples.jsonl"):
        with (run / name).open("ab") as file:
            file.write(b'[1, 2]\nnull\n{"step": 70, "reward": NaN, "entropy": Infinity}\n\xff\xfe{"torn')
    (run / "eval" / "x").mkdir(parents=True)
    (run / "eval" / "x" / "summary.json").write_text('{"n": 3}')
    (run / "env.json").write_text("[]")
    (run / "config.yaml").write_text("- a\n- [")
    tags_of(page([load_run(run)]))


def test_an_empty_run_has_a_page_and_a_stranger_has_none(tmp_path):
    run = make_run(tmp_path, "a", accuracy=(), steps=0)
    assert "No held-out accuracy" in page([load_run(run)])
    (tmp_path / "other").mkdir()
    with pytest.raises(RunDirError, match="is no run"):
        load_run(tmp_path / "other")


def test_chart_takes_few_many_and_flat_values():
    assert chart([Line("none", [])]) == ""
    for points in ([(5, 0.5)], [(0, 0.0), (1, 0.0)], [(i, (i * 37 % 11) * 1e-7) for i in range(5000)], [(0, -3.0), (1, 1e9)]):
        text = chart([Line("<x>", points)])
        assert "nan" not in text.lower()
        assert "<x>" not in text
    assert len(thinned([(i, i) for i in range(5000)])) <= 240
    assert ticks(0.0, 1.0) == [0.0, 0.25, 0.5, 0.75, 1.0]


def test_the_command_writes_beside_the_run_and_says_the_verdict(tmp_path, monkeypatch, capsys):
    make_run(tmp_path / "outputs", "a")
    make_run(tmp_path / "outputs", "b")
    monkeypatch.chdir(tmp_path)
    assert main(["report", "outputs/a"]) == 0
    out = capsys.readouterr().out
    assert "a: Held-out accuracy rose from" in out
    assert (tmp_path / "outputs" / "a" / "report.html").is_file()
    assert main(["report", "outputs/a", "outputs/b"]) == 0
    assert (tmp_path / "outputs" / "report.html").is_file()
    assert main(["report", "outputs/c"]) == 2
