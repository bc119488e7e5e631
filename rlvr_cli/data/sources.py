"""Where rows come from: JSONL, JSON, CSV, TSV and Parquet files (also .gz), folders of them, and hub sets.

Every reader yields ``(where, row)``, ``where`` being the file and line for a person to go to. A line that cannot be read is
a :class:`Broken`, which the caller stops at or counts: nothing is skipped in silence. The example, a file with one bad line::

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.jsonl"
    >>> _ = path.write_text('{"prompt": "1+1"}\\n{"prompt": \\n')
    >>> [type(item).__name__ for item in read_file(path)]
    ['tuple', 'Broken']
"""

from __future__ import annotations

import csv
import difflib
import gzip
import io
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rlvr_cli.errors import DataError, MissingDependency

SUFFIXES = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet")
HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[\w.-]+)?")
SPLIT_NAMES = {"train": ("train", "training"), "test": ("test", "eval", "validation", "valid", "dev")}

Located = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class Broken:
    """A line that cannot be read, and why."""

    where: str
    reason: str


def read_source(
    source: str, *, split: str, name: str | None = None, encoding: str = "utf-8", key: str = "dataset.train"
) -> Iterator[Located | Broken]:
    """The rows of a file, a folder or a hub set. ``key`` is the configuration key that named it, for the messages."""
    path = find_path(source)
    if path is not None and path.is_dir():
        return read_folder(path, split=split, encoding=encoding, key=key)
    if path is not None:
        return read_file(path, encoding=encoding, key=key)
    if _looks_like_path(source):
        raise DataError(f"there is no file {source!r}{_neighbour(source)}", where=key, fix=f"{key}=FILE.jsonl")
    return read_hub(source, name=name, split=split, key=key)


def find_path(source: str) -> Path | None:
    """The file or folder that a source names: from here, or, for ``data/...``, among the shipped samples."""
    path = Path(os.path.expanduser(source))
    if path.exists():
        return path
    if path.parts[:1] == ("data",):
        package = Path(__file__).resolve().parents[1]
        for shipped in (package / "_data", package.parent / "data"):
            if (found := shipped.joinpath(*path.parts[1:])).exists():
                return found
    return None


def _looks_like_path(source: str) -> bool:
    stem = source.removesuffix(".gz")
    return stem.endswith(SUFFIXES) or source.startswith((".", "/", "~")) or source.count("/") > 1 or not HUB_ID.fullmatch(source)


def _neighbour(source: str) -> str:
    """The nearest file name in the same folder, as the end of a sentence."""
    folder = Path(os.path.expanduser(source)).parent
    names = [p.name for p in folder.iterdir()] if folder.is_dir() else []
    close = difflib.get_close_matches(Path(source).name, names, n=1, cutoff=0.6)
    if close:
        return f"; the nearest name is {str(folder / close[0])!r}"
    return "" if folder.is_dir() else f" (there is no folder {str(folder)!r} either)"


def read_folder(folder: Path, *, split: str, encoding: str = "utf-8", key: str = "dataset.train") -> Iterator[Located | Broken]:
    """A folder saved by ``datasets``, or the data files in it: those named after the split if there are any, else all."""
    if (folder / "dataset_dict.json").exists() or (folder / "state.json").exists():
        return _read_saved(folder, split=split, key=key)
    files = sorted(p for p in folder.iterdir() if p.is_file() and p.name.removesuffix(".gz").endswith(SUFFIXES))
    if not files:
        raise DataError(f"the folder {str(folder)!r} has no data file ({', '.join(SUFFIXES)}, each also .gz)", where=key)
    wanted = SPLIT_NAMES.get(split, (split,))
    others = {word for name, words in SPLIT_NAMES.items() if name != split for word in words} - set(wanted)
    chosen = [p for p in files if _stem_words(p) & set(wanted)] or [p for p in files if not _stem_words(p) & others]
    if not chosen:
        raise DataError(f"the folder {str(folder)!r} has no file of the split {split!r}: {', '.join(p.name for p in files)}", where=key)
    return (item for path in chosen for item in read_file(path, encoding=encoding, key=key))


def _stem_words(path: Path) -> set[str]:
    return set(re.split(r"[^a-z]+", path.name.lower()))


def read_file(path: Path, *, encoding: str = "utf-8", key: str = "dataset.train") -> Iterator[Located | Broken]:
    """The rows of one file by its suffix. An empty file is an error: a run on nothing helps nobody."""
    suffix = Path(path.name.removesuffix(".gz")).suffix.lower()
    if suffix not in SUFFIXES:
        raise DataError(f"{path}: unknown kind of file {suffix or '(no suffix)'!r}; known: {', '.join(SUFFIXES)}, each also .gz", where=key)
    if path.stat().st_size == 0:
        raise DataError(f"{path} is empty", where=key)
    if suffix == ".parquet":
        return _read_parquet(path, key)
    text = read_text(path, encoding=encoding, key=key)
    if not text.strip():
        raise DataError(f"{path} is empty", where=key)
    if suffix == ".json" and (text.lstrip()[:1] == "[" or _is_one_object(text)):
        return _read_json_list(path, text, key)
    return _read_csv(path, text, key, "\t" if suffix == ".tsv" else ",") if suffix in (".csv", ".tsv") else _read_lines(path, text)


def read_text(path: Path, *, encoding: str = "utf-8", key: str = "dataset.train") -> str:
    """A file's text. A byte-order mark is understood; bytes of another encoding are one line with the way out."""
    try:
        with gzip.open(path) if path.name.endswith(".gz") else open(path, "rb") as file:
            raw = file.read()
    except (OSError, EOFError) as error:
        raise DataError(f"{path} cannot be read: {error}", where=key) from error
    try:
        return raw.decode("utf-8-sig" if encoding.lower().replace("_", "-") in ("utf-8", "utf8") else encoding)
    except LookupError as error:
        raise DataError(f"there is no encoding {encoding!r}", where="dataset.encoding", fix="dataset.encoding=utf-8") from error
    except UnicodeDecodeError as error:
        line, guess = raw.count(b"\n", 0, error.start) + 1, _guess_encoding(raw)
        what = f"{path} line {line} is not {encoding} (byte 0x{raw[error.start]:02x}); it may be {guess}"
        raise DataError(what, where=key, fix=f"dataset.encoding={guess}") from error


def _guess_encoding(raw: bytes) -> str:
    """A likely encoding, for the message only."""
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    for guess in ("gb18030", "shift_jis", "big5"):
        try:
            text = raw.decode(guess)
        except UnicodeDecodeError:
            continue
        if sum("一" <= c <= "鿿" or "぀" <= c <= "ヿ" for c in text) * 10 > len(text):
            return guess
    return "latin-1"


def _read_lines(path: Path, text: str) -> Iterator[Located | Broken]:
    for number, line in enumerate(text.split("\n"), 1):  # not splitlines: U+2028 may stand inside a string
        if line.strip():
            yield parse_line(line, f"{path} line {number}")


def parse_line(line: str, where: str) -> Located | Broken:
    """One JSON object, or why it is none: not JSON, not an object, or a column named twice."""
    try:
        row = json.loads(line, object_pairs_hook=_no_repeats)
    except _Repeated as error:
        return Broken(where, f"the column {error.args[0]!r} stands there twice")
    except (ValueError, RecursionError) as error:
        reason = "it ends in the middle" if _is_cut(error, line) else str(error)
        return Broken(where, f"not JSON: {reason}: {line.strip()[:60]!r}")
    if not isinstance(row, dict):
        return Broken(where, f"not an object of columns but {type(row).__name__}: {line.strip()[:60]!r}")
    if "\\u" in line and not _writable(row):
        return Broken(where, "half of a surrogate pair (\\ud800 to \\udfff alone), which is no text")
    return (where, row)


def _writable(row: dict[str, Any]) -> bool:
    """Whether the row can be written as UTF-8 again; Arrow refuses it else, deep in a run."""
    try:
        json.dumps(row, ensure_ascii=False).encode("utf-8")
        return True
    except UnicodeEncodeError:
        return False


def _is_cut(error: Exception, line: str) -> bool:
    return isinstance(error, json.JSONDecodeError) and (error.pos >= len(line.rstrip()) or error.msg.startswith("Unterminated"))


class _Repeated(Exception):
    """A key that an object holds twice; json would keep the last in silence."""


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) != len(pairs):
        names = [name for name, _ in pairs]
        raise _Repeated(next(name for name in names if names.count(name) > 1))
    return row


def _is_one_object(text: str) -> bool:
    """Whether a ``.json`` file is one object over several lines rather than an object a line."""
    first = text.lstrip().split("\n", 1)[0]
    try:
        return (
            isinstance(json.loads(first), dict)
            and "\n" not in text.strip()
            and any(isinstance(v, list) for v in json.loads(first).values())
        )
    except ValueError:
        return text.lstrip().startswith("{")


def _read_json_list(path: Path, text: str, key: str) -> Iterator[Located | Broken]:
    try:
        items = json.loads(text, object_pairs_hook=_no_repeats)
    except _Repeated as error:
        raise DataError(f"{path}: the column {error.args[0]!r} stands twice in one row", where=key) from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path} is not JSON: {error}", where=key) from error
    if isinstance(items, dict):
        lists = {name: value for name, value in items.items() if isinstance(value, list) and value and isinstance(value[0], dict)}
        if len(lists) != 1:
            found = f"{len(lists)} lists of rows ({', '.join(lists)})" if lists else "no list of rows"
            raise DataError(f"{path} is one object with {found}, not one", where=key, fix="a file with a list of rows, or a row a line")
        items = next(iter(lists.values()))
    for number, item in enumerate(items, 1):
        where = f"{path} item {number}"
        yield (where, item) if isinstance(item, dict) else Broken(where, f"not an object of columns but {type(item).__name__}")


def _read_csv(path: Path, text: str, key: str, delimiter: str) -> Iterator[Located | Broken]:
    csv.field_size_limit(2**31 - 1)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    header = [name.strip() for name in next(reader)]
    repeated = sorted({name for name in header if header.count(name) > 1})
    if repeated:
        raise DataError(f"{path}: the column {repeated[0]!r} stands there twice", where=key)
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield Broken(f"{path} line {reader.line_num}", str(error))
            continue
        if len(cells) == len(header):
            yield f"{path} line {reader.line_num}", dict(zip(header, cells, strict=True))
        elif cells:
            yield Broken(f"{path} line {reader.line_num}", f"{len(cells)} cells under {len(header)} columns")


def _read_parquet(path: Path, key: str) -> Iterator[Located | Broken]:
    try:
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise MissingDependency("reading Parquet needs pyarrow", where=key, fix="pip install pyarrow") from error
    try:
        raw = io.BytesIO(gzip.decompress(path.read_bytes())) if path.name.endswith(".gz") else path
        table = parquet.ParquetFile(raw).read()
    except Exception as error:  # pyarrow has a tower of its own errors
        raise DataError(f"{path} is not Parquet: {str(error).splitlines()[0]}", where=key) from error
    names = table.column_names
    if len(set(names)) != len(names):
        raise DataError(f"{path}: the column {next(n for n in names if names.count(n) > 1)!r} stands there twice", where=key)
    if not table.num_rows:
        raise DataError(f"{path} has no rows", where=key)
    return ((f"{path} row {number}", row) for number, row in enumerate(table.to_pylist(), 1))


def _read_saved(folder: Path, *, split: str, key: str) -> Iterator[Located | Broken]:
    import datasets

    saved = datasets.load_from_disk(str(folder))
    if isinstance(saved, datasets.DatasetDict):
        if split not in saved:
            raise DataError(f"{folder} has no split {split!r}, only {', '.join(saved)}", where=f"{key}_split")
        saved = saved[split]
    return ((f"{folder} row {number}", dict(row)) for number, row in enumerate(saved, 1))


def read_hub(source: str, *, name: str | None, split: str, key: str = "dataset.train") -> Iterator[Located | Broken]:
    """The rows of a hub set, from the cache or the network. No network is one line with the offline way, within seconds."""
    online = hub_answers()
    import datasets

    label = f"{source}{f' ({name})' if name else ''}"
    if not online:  # the cache only: else each request is retried for half a minute
        datasets.config.HF_HUB_OFFLINE = True
    try:
        loaded = datasets.load_dataset(source, name, split=split)
    except Exception as error:  # datasets, huggingface_hub, requests and httpx each have their own
        first = (str(error).splitlines() or [type(error).__name__])[0][:200]
        first = first if online else "the hub does not answer, and it is not in the cache"
        fix = f"{key}=FILE.jsonl, a local copy of the same layout"
        raise DataError(f"the hub set {label}, split {split!r}, cannot be had: {first}", where=key, fix=fix) from error
    return ((f"{label} {split} row {number}", dict(row)) for number, row in enumerate(loaded, 1))


def hub_answers(timeout_s: float = 3.0) -> bool:
    """Whether the hub can be reached; when not, the hub's libraries are told so before they are imported."""
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE"):
        return False
    if any(os.environ.get(name) for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")):
        return True  # the proxy resolves names; only a real request can tell
    import socket
    from urllib.parse import urlsplit

    from huggingface_hub import constants

    address = urlsplit(constants.ENDPOINT)
    try:
        socket.create_connection((address.hostname, address.port or (80 if address.scheme == "http" else 443)), timeout=timeout_s).close()
        return True
    except OSError:
        constants.HF_HUB_OFFLINE = True
        return False
