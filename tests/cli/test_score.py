"""``rlvr score``: JSONL in, JSONL out; nothing dropped in silence; exit codes."""

import io
import json
import sys

import pytest

from rlvr_cli.main import main

ROWS = [
    {"completion": "<answer>4</answer>", "answer": "4", "id": 7},
    {"completion": [{"role": "assistant", "content": "<answer>5</answer>"}], "gold": "4"},
    {"completion": "no tag", "answer": "4"},
]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, ROWS)) + "\n")
    return tmp_path


def score(capsys, *words):
    code = main(["score", *words])
    out, err = capsys.readouterr()
    return code, [json.loads(line) for line in out.splitlines()], err


def test_scores_total_reasons_extracted_and_the_inputs_columns(here, capsys):
    code, rows, err = score(capsys, "reward=format_only", "data=rows.jsonl")
    assert code == 0 and [row["total"] for row in rows] == [1.0, 1.0, 0.0]
    assert rows[0]["id"] == 7 and rows[0]["answer"] == "4" and rows[1]["gold"] == "4"
    assert rows[0]["scores"]["format_only"] == 1.0 and rows[0]["extracted"]["format_only"] == "4"
    assert set(rows[2]["reasons"]) == set(rows[2]["scores"]) == set(rows[2]["extracted"]) and "3 rows, mean total 0.6667" in err


def test_gold_is_the_answer_row_by_row(here, capsys):
    (here / "mine.py").write_text("def same(completions, answer, **kw):\n    return [float(a == '4') for a in answer]\n")
    code, rows, _ = score(capsys, "reward=mine.py:same", "data=rows.jsonl")
    assert code == 0 and [row["scores"]["same"] for row in rows] == [1.0, 1.0, 1.0]


def test_standard_input_and_out_file(here, capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO((here / "rows.jsonl").read_text()))
    code, rows, _ = score(capsys, "reward=rewards.format.answer_tag", "data=-", "out=scored.jsonl", "batch=2")
    assert code == 0 and rows == []
    assert [json.loads(line)["total"] for line in (here / "scored.jsonl").read_text().splitlines()] == [1.0, 1.0, 0.0]
    assert not (here / "scored.jsonl.part").exists()


def test_broken_lines_are_named_and_the_others_scored(here, capsys):
    (here / "bad.jsonl").write_text(
        '{"completion": "<answer>4</answer>"}\n{"completion": "x"\n[1]\n{"text": "x"}\n\n{"completion": 4}\n{"completion": "y"}\n'
    )
    code, rows, err = score(capsys, "reward=rewards.format.answer_tag", "data=bad.jsonl")
    assert code == 1 and [row["total"] for row in rows] == [1.0, 0.0]
    for number in (2, 3, 4, 6):
        assert f"bad.jsonl line {number}: " in err
    assert "4 broken lines" in err


def test_renamed_columns(here, capsys):
    (here / "named.jsonl").write_text(json.dumps({"response": "<answer>4</answer>", "target": "4"}) + "\n")
    renames = ["dataset.columns.completion=response", "dataset.columns.answer=target"]
    code, rows, _ = score(capsys, "reward=format_only", "data=named.jsonl", *renames)
    assert code == 0 and rows[0]["total"] == 1.0


def test_options_of_a_term(here, capsys):
    code, rows, _ = score(capsys, "reward=rewards.control.random", "data=rows.jsonl", "reward.terms.random.options.p=1.0")
    assert code == 0 and [row["total"] for row in rows] == [1.0] * 3
    code, rows, _ = score(capsys, "reward=random", "data=rows.jsonl", "reward.terms.random.options.p=0.0", "reward.terms.random.weight=2")
    assert code == 0 and [row["total"] for row in rows] == [0.0] * 3


def test_group_relative_terms_see_their_whole_group(here, capsys):
    rows = [{"completion": "a " * n, "group_id": n % 2, "correct": 1.0} for n in (1, 2, 3, 4)]
    (here / "groups.jsonl").write_text("\n".join(map(json.dumps, rows)))
    code, rows, _ = score(capsys, "reward=rewards.length.kimi_paper", "data=groups.jsonl", "batch=1")
    assert code == 0 and [row["total"] for row in rows] == [0.5, 0.5, -0.5, -0.5]


def test_prompts_make_the_groups_where_no_id_does(here, capsys):
    rows = [{"completion": "\\boxed{" + "1" * n + "}", "prompt": p} for n, p in ((1, "a"), (5, "b"), (3, "a"), (9, "b"))]
    (here / "groups.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (here / "conf" / "reward").mkdir(parents=True)
    (here / "conf" / "reward" / "short.yaml").write_text(
        "terms:\n  correct: {fn: rewards.format.boxed}\n  length: {fn: rewards.length.kimi_paper}\n"
    )
    code, rows, _ = score(capsys, "reward=short", "data=groups.jsonl")
    assert code == 0 and [row["total"] for row in rows] == [1.5, 1.5, 0.5, 0.5]


def test_not_applicable_and_not_judged_are_told_apart(here, capsys):
    (here / "conf" / "reward").mkdir(parents=True)
    (here / "conf" / "reward" / "two.yaml").write_text(
        "terms:\n  box: {fn: rewards.format.boxed, when: {kind: box}}\n  steps: {fn: rewards.process.steps, gate: box}\n"
        "  tag: {fn: rewards.format.answer_tag}\n"
    )
    rows = [{"completion": "\\boxed{4}", "kind": "box", "steps": None}, {"completion": "<answer>4</answer>", "kind": "x", "steps": ["4"]}]
    (here / "kinds.jsonl").write_text("\n".join(map(json.dumps, rows)))
    code, rows, err = score(capsys, "reward=two", "data=kinds.jsonl")
    assert code == 0 and [row["total"] for row in rows] == [None, 1.0]
    assert rows[1]["scores"]["box"] is None and rows[1]["reasons"]["box"] == "not applicable"
    assert "could not judge 1: steps: the row has no readable steps" in err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["data=rows.jsonl"], "needs reward="),
        (["reward=format_only"], "needs data="),
        (["reward=formatonly", "data=rows.jsonl"], "reward=format_only"),
        (["reward=rewards.format.answer_tga", "data=rows.jsonl"], "rewards.format.answer_tag"),
        (["reward=format_only", "data=absent.jsonl"], "no file 'absent.jsonl'"),
        (["reward=format_only", "data=rows.jsonl", "batch=none"], "batch must be a whole number"),
        (["reward=rewards.process.steps", "data=rows.jsonl"], "needs the column 'steps'"),
        (["reward=rewards.format.answer_tag", "data=rows.jsonl", "reward.terms.answer_tag.options.lats=true"], "options.last=True"),
        (["reward=rewards.format.answer_tag", "data=rows.jsonl", "trainer.max_steps=3"], "not an override of this reward"),
        (["reward=format_only", "data=rows.jsonl", "out=rows.jsonl/x"], "can not be written"),
    ],
)
def test_usage_errors_are_one_line_and_exit_2(here, capsys, words, says):
    code, rows, err = score(capsys, *words)
    assert code == 2 and not rows and says in err and len(err.strip().splitlines()) == 1


def test_a_reward_that_raises_names_its_sample(here, capsys):
    (here / "mine.py").write_text("def f(completions, **kw):\n    return [1 / len(c.strip('no tag')) for c in completions]\n")
    (here / "one.jsonl").write_text(json.dumps({"completion": "fine"}) + "\n" + json.dumps({"completion": "no tag"}) + "\n")
    code, _, err = score(capsys, "reward=mine.py:f", "data=one.jsonl")
    assert code == 2 and "'f' raised ZeroDivisionError" in err and "'no tag'" in err


def test_help_shows_real_commands(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["score", "--help"])
    assert ended.value.code == 0 and "rlvr score reward=math data=answers.jsonl" in capsys.readouterr().out


@pytest.mark.real
def test_a_mixed_file_is_routed_by_kind(here, capsys):
    """conf/reward/mixed.yaml: maths, choice, code, SQL and JSON, each by its own verifier; a kind nobody judges is left out."""
    rows = [
        {"kind": "math", "completion": "\\boxed{4}", "answer": "4"},
        {"kind": "choice", "completion": "The answer is (B).", "answer": "B", "choices": ["x", "y"]},
        {"kind": "code", "completion": "```python\nprint(int(input())*2)\n```", "tests": {"type": "stdio", "cases": [["2\n", "4\n"]]}},
        {"kind": "sql", "completion": "```sql\nSELECT 2\n```", "gold_sql": "SELECT 1+1", "schema_sql": "CREATE TABLE t(x)"},
        {"kind": "json_schema", "completion": '{"a": 1}', "schema": {"type": "object"}},
        {"kind": "math", "completion": "\\boxed{5}", "answer": "4"},
        {"kind": "poem", "completion": "roses"},
    ]
    (here / "mixed.jsonl").write_text("\n".join(map(json.dumps, rows)))
    code, scored, err = score(capsys, "reward=mixed", "data=mixed.jsonl")
    assert code == 0 and [row["total"] for row in scored] == [1.0, 1.0, 1.0, 1.0, 1.0, 0.0, None]
    for row in scored[:6]:
        assert [name for name, value in row["scores"].items() if value is not None] == [row["kind"]]
    assert "could not judge 1: no term applies to this row" in err


def test_what_a_reward_prints_stays_out_of_the_json_and_ascii_terminals_get_utf8(tmp_path):
    """A chatty reward and an ASCII locale: every line of standard output is still one JSON object, the text unharmed."""
    import json
    import os
    import subprocess
    import sys

    (tmp_path / "rewards").mkdir()
    (tmp_path / "rewards" / "chatty.py").write_text(
        "def f(completions, **kwargs):\n    print('looking')\n    return [1.0] * len(completions)\n"
    )
    (tmp_path / "rows.jsonl").write_text(
        json.dumps({"completion": "四十二 é", "answer": "42"}, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    argv = [sys.executable, "-m", "rlvr_cli.main", "score", "reward=rewards.chatty.f", "data=rows.jsonl"]
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(argv, capture_output=True, cwd=tmp_path, env=env, timeout=60)
    lines = [json.loads(line) for line in done.stdout.decode("utf-8").splitlines()]
    assert done.returncode == 0 and [line["completion"] for line in lines] == ["四十二 é"] and b"looking" in done.stderr
