"""``rlvr data`` as a person types it: rows on standard output, words on standard error, exit codes, and one line a mistake."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from rlvr_cli.main import main

ROOT = Path(__file__).parents[2]


def rlvr(capsys, *words):
    code = main(["data", *words])
    out = capsys.readouterr()
    return code, out.out, out.err


def rows_in(path):
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def test_help_of_each_verb(capsys):
    code, out, _ = rlvr(capsys, "--help")
    assert code == 0 and "examples:" in out
    for verb in ("generate", "show", "filter", "decontaminate", "difficulty"):
        with pytest.raises(SystemExit) as done:
            main(["data", verb, "--help"])
        text = capsys.readouterr().out
        assert done.value.code == 0 and f"rlvr data {verb}" in text and "examples:" in text and "keys:" in text


def test_generate_is_seeded_proved_and_writes_json_lines(capsys, tmp_path):
    code, out, err = rlvr(capsys, "generate", "arithmetic", "count=20", "operators=[+,*]", "seed=3")
    rows = [json.loads(line) for line in out.splitlines()]
    assert code == 0 and len(rows) == 20 and "20 of 20 rows tried, 0 without full marks" in err
    assert all(int(r["answer"]) >= 0 and "split_key" not in r for r in rows)
    rlvr(capsys, "generate", "arithmetic", "count=20", "operators=[+,*]", "seed=3", f"out={tmp_path / 'a.jsonl.gz'}")
    from rlvr_cli.data.files import rows_of_file

    assert rows_of_file(str(tmp_path / "a.jsonl.gz")) == rows


def test_generated_sides_share_no_prompt(capsys, tmp_path):
    for side, count in (("train", 2000), ("eval", 200)):
        rlvr(capsys, "generate", "arithmetic", f"count={count}", f"side={side}", f"out={tmp_path / side}.jsonl", "prove=false", "seed=5")
    train, held = ({r["prompt"] for r in rows_in(tmp_path / f"{side}.jsonl")} for side in ("train", "eval"))
    assert len(train) == 2000 and len(held) == 200 and not train & held


def test_a_refused_gold_is_exit_code_1(capsys, monkeypatch, tmp_path):
    (tmp_path / "liar.py").write_text(
        "def rows(*, count, seed):\n    for i in range(count):\n        yield {'prompt': f'{i}+1=?', 'answer': 'many', 'kind': 'odd'}\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    code, _, err = rlvr(capsys, "generate", "liar.rows", "count=2")
    assert code == 0 and "2 not checkable" in err
    from rlvr_cli.data import prove

    monkeypatch.setitem(prove.KIND_REWARDS, "odd", {"fn": "rewards.format.regex", "options": {"pattern": "never"}})
    assert rlvr(capsys, "generate", "liar.rows", "count=2")[0] == 1


def test_show_a_file_a_dataset_option_and_a_pipe(capsys, tmp_path):
    rlvr(capsys, "generate", "word_problems", "count=30", f"out={tmp_path / 'w.jsonl'}", "prove=false")
    code, out, _ = rlvr(capsys, "show", str(tmp_path / "w.jsonl"), "n=2")
    assert code == 0 and out.count("--- row") == 2 and "30 rows; columns: prompt, answer" in out and "difficulty:" in out
    code, out, _ = rlvr(capsys, "show", "arithmetic", "dataset.count=50", "dataset.eval_count=5", "n=1")
    assert code == 0 and "50 training and 5 held-out prompts" in out
    piped = subprocess.run(
        [sys.executable, "-m", "rlvr_cli.main", "data", "show", "-"],
        input='{"question": "1+1?", "answer": "2"}\n',
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=60,
    )
    assert piped.returncode == 0 and "question: 1+1?" in piped.stdout


def test_filter_counts_every_drop(capsys, tmp_path):
    rows = [{"prompt": "1+1=?"}, {"prompt": "1 + 1 = ?"}, {"prompt": "mail ann@firm.de"}, {"prompt": "x" * 90}]
    source = tmp_path / "in.jsonl"
    source.write_text("\n".join(map(json.dumps, rows)) + '\n{"prompt": \n')
    words = (
        "filter",
        f"data={source}",
        f"out={tmp_path / 'out.jsonl'}",
        f"dropped={tmp_path / 'why.jsonl'}",
        "max_chars=50",
        "personal=drop",
    )
    code, _, err = rlvr(capsys, *words)
    assert code == 2 and "line 5" in err and "on_broken=drop" in err
    code, _, err = rlvr(capsys, *words, "on_broken=drop")
    assert code == 0 and "left out" in err and "kept 1 of 4 rows, dropped 3" in err
    assert rows_in(tmp_path / "out.jsonl") == rows[:1]
    assert {r["dropped"] for r in rows_in(tmp_path / "why.jsonl")} == {
        "the same prompt as row 1",
        "personal data: e-mail",
        "longer than 50 characters",
    }


def test_decontaminate_reports_each_match(capsys, tmp_path):
    train, held = tmp_path / "train.jsonl", tmp_path / "test.jsonl"
    train.write_text("\n".join(json.dumps({"question": f"What is {i} + 1?", "answer": "x"}) for i in range(10)))
    held.write_text(json.dumps({"problem": "what is 3+1"}))
    report = tmp_path / "r.jsonl"
    code, out, err = rlvr(capsys, "decontaminate", f"data={train}", f"against={held}", f"report={report}")
    assert code == 0 and len(out.splitlines()) == 9 and "kept 9 of 10 rows, dropped 1" in err
    assert rows_in(report)[0]["row"] == 4 and rows_in(report)[0]["kind"] == "the same text"
    code, out, err = rlvr(capsys, "decontaminate", f"data={train}", "against=arithmetic", "column=question")
    assert code == 0 and "kept 10 of 10" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["generat"], "Type: rlvr data generate"),
        (["generate"], "needs a name"),
        (["generate", "sqll"], "Type: rlvr data generate sql"),
        (["generate", "arithmetic", "cout=3"], "Type: count=3"),
        (["generate", "arithmetic", "count=0"], "count=0 is not a whole number from 1"),
        (["generate", "arithmetic", "count=many"], "count='many' is not a whole number"),
        (["generate", "arithmetic", "side=test"], "side='test'"),
        (["generate", "arithmetic", "min"], "'min' is not key=value"),
        (["generate", "arithmetic", "min=9", "max=3"], "range 9 to 3"),
        (["generate", "arithmetic", "brackets=7"], "brackets=7 is not true or false"),
        (["generate", "arithmetic", "count=1", "prove=false", "out=/proc/nothing/x.jsonl"], "can not be written"),
        (["show"], "needs one file or dataset option"),
        (["show", "nowhere.jsonl"], "there is no file 'nowhere.jsonl'"),
        (["show", "gsm9k"], "gsm8k"),
        (["show", str(ROOT / "data" / "arithmetic.jsonl"), "column=promt"], "column=prompt"),
        (["filter"], "needs data="),
        (["filter", "data=nowhere.jsonl"], "no file"),
        (["filter", f"data={ROOT / 'data' / 'arithmetic.jsonl'}", "pas_min=0.1"], "pass_min=0.1"),
        (["decontaminate", f"data={ROOT / 'data' / 'arithmetic.jsonl'}"], "needs against="),
        (["decontaminate", f"data={ROOT / 'data' / 'arithmetic.jsonl'}", "against=x.jsonl", "ngram=1"], "ngram=1"),
        (
            ["decontaminate", f"data={ROOT}/data/sql.jsonl", f"against={ROOT}/data/arithmetic.jsonl", "against_column=promt"],
            "Type: against_column=prompt",
        ),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(capsys, words, said):
    code, _, err = rlvr(capsys, *words)
    assert code == 2 and said in err and len(err.strip().splitlines()) == 1, err


def test_the_samples_are_what_their_generators_draw(capsys, tmp_path):
    counts = {p.stem: sum(1 for _ in p.open(encoding="utf-8")) for p in sorted((ROOT / "data").glob("*.jsonl"))}
    assert sum((ROOT / "data" / f"{n}.jsonl").stat().st_size for n in counts) < 520_000
    by_hand = {"probe", "probe_text"}
    own = {"knights_knaves": ["people_max=3"], "general_heldout": ["side=eval", "count=1000"]}
    own |= {"general": ["side=train"], "talk": ["side=train", "rambles=0.6"], "talk_more": ["side=train", "rambles=0.5"]}
    assert by_hand < set(counts) and len(counts) == 18
    for name, count in counts.items():
        if name in by_hand:
            continue
        words = [f"count={count}", *own.get(name, [])]
        generator = "general" if name.startswith(("general", "talk")) else name
        rlvr(capsys, "generate", generator, "seed=0", "prove=false", f"out={tmp_path / name}.jsonl", *words)
        assert (tmp_path / f"{name}.jsonl").read_bytes() == (ROOT / "data" / f"{name}.jsonl").read_bytes(), f"make data/{name}.jsonl again"


def test_light_verbs_import_neither_torch_nor_hydra():
    code = (
        "import sys; from rlvr_cli.main import main; main(['data', 'generate', 'arithmetic', 'count=3']);"
        "main(['data', 'filter', 'data=data/arithmetic.jsonl', 'out=/dev/null']);"
        "bad = [m for m in ('torch', 'hydra', 'transformers', 'datasets') if m in sys.modules]; sys.exit(f'imported {bad}' if bad else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=120)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "needs checkpoint="),
        (["checkpoint=x", "k=0"], "k=0 is not a whole number from 1"),
        (["checkpoint=x", "split=test"], "split='test'"),
    ],
)
def test_difficulty_mistakes_are_one_line(capsys, words, said):
    code, _, err = rlvr(capsys, "difficulty", *words)
    assert code == 2 and said in err and len(err.strip().splitlines()) == 1, err
