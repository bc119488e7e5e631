"""Files as people have them: broken, empty, in the wrong encoding, with a column twice. Each is one line; nothing is skipped in silence."""

import gzip
import json

import pytest

from rlvr_cli.config.schema import Dataset
from rlvr_cli.data import load
from rlvr_cli.data.sources import Broken, parse_line, read_file
from rlvr_cli.errors import DataError

GOOD = [{"prompt": f"{i}+1=?", "answer": str(i + 1)} for i in range(40)]
TEXT = "\n".join(json.dumps(row) for row in GOOD)


def written(tmp_path, name, data):
    path = tmp_path / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def failing(tmp_path, name, data, **keys):
    path = written(tmp_path, name, data)
    with pytest.raises(DataError) as caught:
        load(Dataset(train=str(path), **keys), seed=0)
    line = str(caught.value)
    assert "\n" not in line and name in line, line
    return line


def test_every_format_gives_the_same_rows(tmp_path):
    import pyarrow
    import pyarrow.parquet

    table = pyarrow.Table.from_pylist(GOOD)
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    files = [
        written(tmp_path, "a.jsonl", TEXT),
        written(tmp_path, "b.jsonl", "\ufeff" + TEXT),
        written(tmp_path, "c.jsonl", TEXT.replace("\n", "\r\n")),
        written(tmp_path, "d.jsonl.gz", gzip.compress(TEXT.encode())),
        written(tmp_path, "e.json", json.dumps(GOOD)),
        written(tmp_path, "f.csv", "prompt,answer\n" + "\n".join(f"{r['prompt']},{r['answer']}" for r in GOOD)),
        written(tmp_path, "g.tsv", "prompt\tanswer\n" + "\n".join(f"{r['prompt']}\t{r['answer']}" for r in GOOD)),
        written(tmp_path, "h.csv", "\ufeffprompt,answer\r\n" + "\r\n".join(f"{r['prompt']},{r['answer']}" for r in GOOD)),
        written(tmp_path, "i.json", TEXT),
        written(tmp_path, "j.json", json.dumps({"version": 1, "data": GOOD}, indent=1)),
        written(tmp_path, "k.json", json.dumps({"data": GOOD})),
        tmp_path / "a.parquet",
    ]
    rows = [[row for _, row in read_file(path)] for path in files]
    assert all(r == GOOD for r in rows), [str(f) for f, r in zip(files, rows, strict=True) if r != GOOD]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"prompt": "1+1"', "it ends in the middle"),
        ('{"prompt": "1+1', "it ends in the middle"),
        ("{'prompt': 1}", "not JSON"),
        ('["a"]', "not an object of columns but list"),
        ("17", "not an object of columns but int"),
        ('{"prompt": 1, "prompt": 2}', "'prompt' stands there twice"),
        ('{"a": {"b": 1, "b": 2}}', "'b' stands there twice"),
        ('{"prompt": "a"} {"prompt": "b"}', "not JSON"),
        ("[" * 100_000, "not JSON"),
        (r'{"prompt": "a \ud800 b"}', "half of a surrogate pair"),
    ],
)
def test_a_broken_line_says_why(line, reason):
    item = parse_line(line, "f line 1")
    assert isinstance(item, Broken) and reason in item.reason and len(item.reason) < 250


def test_a_broken_line_stops_with_its_number(tmp_path):
    line = failing(tmp_path, "x.jsonl", TEXT + '\n{"prompt": \n' + TEXT)
    assert "line 41" in line and "dataset.on_broken=drop" in line


def test_a_broken_line_can_be_dropped_and_is_counted(tmp_path):
    path = written(tmp_path, "x.jsonl", TEXT + '\n{"prompt": \nnull\n')
    loaded = load(Dataset(train=str(path), on_broken="drop"), seed=0)
    assert len(loaded.train) + len(loaded.eval) == 40
    assert [d.where.rpartition(" ")[2] for d in loaded.dropped] == ["41", "42"]
    assert sum("dropped 1 row:" in line for line in loaded.said()) == 2


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("e.jsonl", b"", ["is empty"]),
        ("e.jsonl", b" \n\n ", ["is empty"]),
        ("e.csv", b"", ["is empty"]),
        ("e.csv", b"prompt,answer\n", ["no usable row"]),
        ("e.json", b"[]", ["no usable row"]),
        ("e.json", b'[{"a": 1', ["is not JSON"]),
        ("e.json", b'{\n "version": 1,\n "notes": []\n}', ["one object with no list of rows"]),
        ("e.json", b'{"train": [{"a": 1}], "test": [{"a": 2}]}', ["2 lists of rows (train, test)"]),
        ("e.parquet", b"PAR1 not", ["is not Parquet"]),
        ("e.jsonl.gz", b"not gzip", ["cannot be read"]),
        ("e.jsonl.gz", gzip.compress(TEXT.encode())[:60], ["cannot be read"]),
        (
            "latin.jsonl",
            TEXT.encode() + '\n{"prompt": "café"}'.encode("latin-1"),
            ["line 41 is not utf-8", "0xe9", "dataset.encoding=latin-1"],
        ),
        ("wide.jsonl", TEXT.encode("utf-16"), ["is not utf-8", "dataset.encoding=utf-16"]),
        ("cjk.jsonl", ('{"prompt": "' + "小明有三个苹果" * 9 + '"}').encode("gb18030"), ["is not utf-8", "dataset.encoding=gb18030"]),
        ("two.csv", b"prompt,answer,prompt\n1,2,3\n", ["'prompt' stands there twice"]),
        ("wide.csv", b"prompt,answer\n1,2\n1,2,3\n", ["line 3", "3 cells under 2 columns"]),
        ("quote.csv", b'prompt,answer\n"1,2\n', ["line 2"]),
        ("two.jsonl", b'{"prompt": "1", "answer": "1", "answer": "2"}', ["line 1", "'answer' stands there twice"]),
        ("x.txt", TEXT.encode(), ["unknown kind of file '.txt'"]),
        ("none.jsonl", b'{"question": "1+1", "answer": "2"}', ["has no column 'prompt'", "dataset.prompt_column=question"]),
        ("other.jsonl", b'{"prompt": "1+1", "gold": "2"}', ["has no column 'answer'", "dataset.answer_column=gold"]),
        ("gold.jsonl", b'{"prompt": "1+1", "answr": "2"}', ["has no column 'answer'", "dataset.answer_column=answr"]),
        ("blank.jsonl", b'{"prompt": "", "answer": "2"}', ["none of the 1 rows", "no prompt"]),
    ],
)
def test_a_file_that_cannot_be_used_is_one_line(tmp_path, name, data, words):
    line = failing(tmp_path, name, data)
    assert all(word in line for word in words), line


def test_a_named_encoding_is_read(tmp_path):
    path = written(
        tmp_path,
        "a.jsonl",
        "\n".join(json.dumps({"prompt": f"café {i}", "answer": "x"}, ensure_ascii=False) for i in range(30)).encode("latin-1"),
    )
    loaded = load(Dataset(train=str(path), encoding="latin-1"), seed=0)
    assert "café" in loaded.train[0]["prompt"][0]["content"]
    with pytest.raises(DataError, match="there is no encoding 'utf-9'"):
        load(Dataset(train=str(path), encoding="utf-9"), seed=0)


def test_u2028_inside_a_string_is_no_line_end(tmp_path):
    path = written(tmp_path, "a.jsonl", '{"prompt": "a\u2028b", "answer": "1"}\n{"prompt": "c", "answer": "2"}')
    assert len([row for _, row in read_file(path)]) == 2


def test_a_missing_file_names_the_nearest(tmp_path):
    written(tmp_path, "train.jsonl", TEXT)
    with pytest.raises(DataError, match=r"nearest name is '.*train\.jsonl'"):
        load(Dataset(train=str(tmp_path / "trian.jsonl")), seed=0)
    with pytest.raises(DataError, match="no folder"):
        load(Dataset(train=str(tmp_path / "nowhere" / "train.jsonl")), seed=0)


def test_a_folder_gives_each_split_its_files(tmp_path):
    written(tmp_path, "train-00.jsonl", TEXT)
    written(tmp_path, "train-01.jsonl.gz", gzip.compress(TEXT.replace("+1", "+1+0").encode()))
    written(tmp_path, "test.jsonl", TEXT.replace("+1", "+2"))
    loaded = load(Dataset(train=str(tmp_path), eval=str(tmp_path)), seed=0)
    assert (len(loaded.train), len(loaded.eval)) == (80, 40)
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(DataError, match="has no data file"):
        load(Dataset(train=str(empty)), seed=0)


def test_a_saved_dataset_is_read(tmp_path):
    import datasets

    datasets.DatasetDict({"train": datasets.Dataset.from_list(GOOD), "test": datasets.Dataset.from_list(GOOD[:3])}).save_to_disk(
        str(tmp_path / "d")
    )
    rows = load(Dataset(train=str(tmp_path / "d"), eval_share=0), seed=0).train
    assert len(rows) == 40
    with pytest.raises(DataError, match="no split 'dev', only train, test"):
        load(Dataset(train=str(tmp_path / "d"), train_split="dev"), seed=0)


def test_a_hub_set_without_a_network_is_one_line_at_once(monkeypatch, tmp_path):
    import time

    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path))
    started = time.monotonic()
    with pytest.raises(DataError) as caught:
        load(Dataset(train="someone/that-is-not-here"), seed=0)
    assert time.monotonic() - started < 20
    assert "the hub does not answer" in str(caught.value) and "dataset.train=FILE.jsonl" in str(caught.value)
