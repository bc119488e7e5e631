"""What a stage trains on: rows of a file, or worked answers of the data set's own rows, with everyday text mixed in at a share.

Everything becomes chat messages, so that TRL puts every row through the model's own template. What falls out is counted and
named; a file of the wrong kind is one line that says which command writes the right one::

    >>> as_pair({"prompt": "1+1?", "chosen": "2", "rejected": "3"}, None)["rejected"]
    [{'role': 'assistant', 'content': '3'}]
    >>> as_answer({"prompt": "1+1?", "completion": "2"}, "Be brief.")["prompt"]
    [{'role': 'system', 'content': 'Be brief.'}, {'role': 'user', 'content': '1+1?'}]

Nothing here imports torch: ``rlvr check`` reads the same rows that the ranks train on.
"""

from __future__ import annotations

import inspect
import json
import random
import string
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from rlvr_cli.config.schema import Config
from rlvr_cli.data.split import rank
from rlvr_cli.errors import DataError

Row = dict[str, Any]
COLUMNS = {"sft": ("prompt", "completion"), "dpo": ("prompt", "chosen", "rejected"), "reward_model": ("prompt", "chosen", "rejected")}
WRITES = {"sft": "rlvr sample checkpoint=RUN sample.keep=accepted", "dpo": "rlvr sample checkpoint=RUN sample.keep=pairs"}
WRITES["reward_model"] = WRITES["dpo"]


@dataclass
class StageRows:
    """train: what trains, general rows among it; held: kept out, for the held-out loss; general: how many of ``train`` are general."""

    train: list[Row]
    held: list[Row]
    general: int = 0
    notes: list[str] = field(default_factory=list)


def read(config: Config, dataset: Any) -> StageRows:
    """The stage's rows. ``dataset``: the loaded data set (:func:`rlvr_cli.data.load`), or None where the stage needs none of it.

    Raises DataError, one line, for a file that is missing, empty, of another kind or without its columns.
    """
    stage = config.stage
    rows = from_file(config, dataset) if stage.data else from_dataset(config, dataset)
    random.Random(f"stage-{config.seed}").shuffle(rows.train)
    rows.train = rows.train[: stage.limit]
    if not rows.train:
        raise DataError(f"no row is left to train on: {'; '.join(rows.notes)}", where="stage.data", fix=WRITES[stage.kind])
    if stage.general.data and stage.general.share:
        mix_in(rows, config)
    return rows


# ---------------------------------------------------------------------------------------------- rows of a file


def from_file(config: Config, dataset: Any) -> StageRows:
    """Rows of ``stage.data`` by kind; prompts that the data set holds out never train."""
    stage, source = config.stage, str(config.stage.data)
    raw = located(source, "stage.data", config.dataset.encoding)
    refuse_other_kind(stage.kind, [row for _, row in raw], source)
    shape = as_answer if stage.kind == "sft" else as_pair
    rows = [shape(row, config.model.system_prompt) for _, row in raw]
    secret = {question(row["prompt"]) for row in dataset.eval} if dataset else set()
    fell: Counter[str] = Counter()
    train, held = [], []
    for row in rows:
        if why := unusable(row, secret):
            fell[why] += 1
        else:
            (held if kept_out(question(row.get("prompt") or row["messages"]), stage.eval_share) else train).append(row)
    notes = [f"{source}: {len(train)} rows train, {len(held)} are held out (stage.eval_share)"]
    return StageRows(train, held, notes=notes + [f"dropped {n} row{'s' * (n != 1)}: {why}" for why, n in fell.items()])


def kept_out(asked: str, share: float) -> bool:
    """Whether a prompt is kept for the held-out loss: by a hash of its own, since a data set's training side has none of the lowest tenth
    of :func:`rlvr_cli.data.split.rank`, and its samples would leave nothing to hold out."""
    return rank(f"stage {asked}") < share


def located(source: str, key: str, encoding: str = "utf-8") -> list[tuple[str, Row]]:
    """Every row of a source with its place; a line that cannot be read stops."""
    from rlvr_cli.data.sources import Broken, read_source

    rows = []
    for item in read_source(source, split="train", encoding=encoding, key=key):
        if isinstance(item, Broken):
            raise DataError(f"{item.where}: {item.reason}", where=key)
        rows.append(item)
    if not rows:
        raise DataError(f"{source} has no rows", where=key)
    return rows


def refuse_other_kind(kind: str, rows: Sequence[Row], source: str) -> None:
    """A file of another kind, a missing column, or wrong answers in a file of demonstrations: one line each."""
    first = rows[0]
    if kind == "sft" and "chosen" in first:
        raise DataError(f"{source} holds pairs, and stage=sft wants answers", where="stage.data", fix="stage=dpo, or " + WRITES["sft"])
    if kind != "sft" and "completion" in first and "chosen" not in first:
        raise DataError(f"{source} holds answers, and stage={kind} wants pairs", where="stage.data", fix=WRITES[kind])
    for number, row in enumerate(rows, 1):
        missing = [name for name in COLUMNS[kind] if (reply_of(row) if name == "completion" else row.get(name)) in (None, "", [])]
        if missing and not (kind == "sft" and row.get("messages")):
            have = ", ".join(list(row)[:8])
            what = f"{source} row {number} has no {missing[0]!r}; it has {have}"
            raise DataError(what, where="stage.data", fix=WRITES[kind])
    wrong = sum(row.get("correct") is False for row in rows)
    if kind == "sft" and wrong:
        raise DataError(f"{wrong} of {len(rows)} rows of {source} are wrong answers", where="stage.data", fix="sample.keep=accepted")


def unusable(row: Row, secret: set[str]) -> str | None:
    """Why a row must not train, or None."""
    if question(row.get("prompt") or row["messages"]) in secret:
        return "its prompt is held out by the data set"
    if "chosen" in row and row["chosen"] == row["rejected"]:
        return "chosen and rejected are the same"
    return None


def question(prompt: Any) -> str:
    """The last thing that a person said: what decides whether two rows ask the same."""
    if isinstance(prompt, str):
        return prompt.strip()
    asked = [m["content"] for m in prompt if m.get("role") == "user"]
    return str(asked[-1] if asked else json.dumps(prompt, sort_keys=True, default=str)).strip()


def as_answer(row: Row, system: str | None) -> Row:
    """A demonstration as chat messages: ``prompt`` and ``completion``, or whole ``messages``."""
    if row.get("messages") and not reply_of(row):
        return {"messages": with_system(row["messages"], system)}
    return {"prompt": asked(row["prompt"], system), "completion": said(reply_of(row))}


def reply_of(row: Row) -> Any:
    """A row's answer: ``completion``, or ``reply`` as the generator ``general`` names it; None where it has neither."""
    return row.get("completion") or row.get("reply")


def as_pair(row: Row, system: str | None) -> Row:
    """A preference as chat messages."""
    return {"prompt": asked(row["prompt"], system), "chosen": said(row["chosen"]), "rejected": said(row["rejected"])}


def asked(prompt: Any, system: str | None) -> list[Row]:
    """A prompt as messages."""
    return with_system([{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt, system)


def with_system(messages: Sequence[Row], system: str | None) -> list[Row]:
    """The system prompt in front, unless the messages bring one."""
    plain = [{"role": m["role"], "content": m["content"]} for m in messages]
    return [{"role": "system", "content": system}, *plain] if system and plain[0]["role"] != "system" else plain


def said(completion: Any) -> list[Row]:
    """An answer as messages."""
    if isinstance(completion, str):
        return [{"role": "assistant", "content": completion}]
    return [{"role": m["role"], "content": m["content"]} for m in completion]


# ---------------------------------------------------------------------------------------------- worked answers


def from_dataset(config: Config, dataset: Any) -> StageRows:
    """Worked answers of the data set's own rows: its training side trains, its held-out side gives the held-out loss."""
    if config.stage.kind != "sft" or dataset is None:
        kind = config.stage.kind
        raise DataError(f"stage={kind} needs a file of pairs", where="stage.data", fix=f"{WRITES[kind]} sample.out=pairs.jsonl")
    train, held = (demonstrated(rows, config, side) for side, rows in enumerate((dataset.train, dataset.eval)))
    notes = [f"worked answers: {len(train)} rows train, {len(held)} are held out"]
    lost = len(dataset.train) + len(dataset.eval) - len(train) - len(held)
    if lost:
        notes.append(f"dropped {lost} rows: neither a worked solution nor a gold answer that can be written out")
    return StageRows(train, held, notes=notes)


def demonstrated(rows: Sequence[Row], config: Config, side: int) -> list[Row]:
    """Rows with an answer in the asked form; those that have none fall out."""
    write = writer(config, rows, side)
    pairs = [(row, write(i, row)) for i, row in enumerate(rows)]
    return [{"prompt": row["prompt"], "completion": said(text)} for row, text in pairs if text]


def writer(config: Config, rows: Sequence[Row], side: int) -> Callable[[int, Row], str | None]:
    """How a row's worked answer is written: the user's function, the template over its columns, or the reward's own gold."""
    if config.stage.worked:
        return function_writer(config, side)
    names = [name for _, name, _, _ in string.Formatter().parse(config.stage.template) if name]
    gold = gold_writer(config, rows)

    def write(i: int, row: Row) -> str | None:
        if all(row.get(name) not in (None, "") for name in names):
            return config.stage.template.format(**{name: row[name] for name in names})
        return gold(i, row)

    return write


def function_writer(config: Config, side: int) -> Callable[[int, Row], str | None]:
    """``stage.worked``; called with ``stage.worked_options`` and, where it has the parameter, a seeded ``rng``."""
    from rlvr_cli.data.columns import dotted_function

    try:
        function = dotted_function(str(config.stage.worked), "worked")
    except DataError as error:
        raise DataError(error.what, where="stage.worked", fix="rlvr_cli.data.generate.arithmetic.worked") from error
    options = dict(config.stage.worked_options)
    known = inspect.signature(function).parameters
    for name in options:
        if name not in known:
            raise DataError(f"{name!r} is not an option of {config.stage.worked}; it has {', '.join(known)}", where="stage.worked_options")
    if "rng" in known:
        options["rng"] = random.Random(f"worked-{config.seed}-{side}")
    return lambda i, row: function(row, **options)


def gold_writer(config: Config, rows: Sequence[Row]) -> Callable[[int, Row], str | None]:
    """What the first term that applies to a row calls a perfect answer."""
    from rlvr_cli.rewards_api import bind

    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: [row.get(name) for row in rows] for name in names}
    terms = [(term, term.applies(columns, len(rows))) for term in bind(config.reward, list(names)) if term.gold_completion]
    return lambda i, row: next((text for term, applies in terms if applies[i] and (text := term.gold_completion(row))), None)


# ---------------------------------------------------------------------------------------------- everyday text


def mix_in(rows: StageRows, config: Config) -> None:
    """Add general rows until they are ``stage.general.share`` of all; a file that is too short is repeated, aloud."""
    general = config.stage.general
    source = str(general.data)
    raw = [row for _, row in located(source, "stage.general.data", config.dataset.encoding)]
    for number, row in enumerate(raw, 1):
        if not (row.get("prompt") and reply_of(row)) and not row.get("messages"):
            what = f"{source} row {number} has neither prompt and completion nor messages; it has {', '.join(list(row)[:8])}"
            raise DataError(what, where="stage.general.data")
    whole = "messages" in rows.train[0]
    texts = [as_messages(as_answer(row, config.model.system_prompt), whole=whole) for row in raw]
    wanted = round(len(rows.train) * general.share / (1 - general.share))
    rng = random.Random(f"general-{config.seed}")
    chosen: list[Row] = []
    while len(chosen) < wanted:
        chosen += rng.sample(texts, min(len(texts), wanted - len(chosen)))
    rows.train += chosen
    rng.shuffle(rows.train)
    rows.general = len(chosen)
    times = f", each about {wanted / len(texts):.1f} times" if wanted > len(texts) else ""
    rows.notes.append(f"{source}: {wanted} general rows, {general.share:.0%} of all{times}")


def as_messages(row: Row, *, whole: bool) -> Row:
    """A demonstration in the form of the others: whole ``messages``, or ``prompt`` and ``completion`` (its last turn)."""
    if whole:
        return row if "messages" in row else {"messages": [*row["prompt"], *row["completion"]]}
    return {"prompt": row["messages"][:-1], "completion": row["messages"][-1:]} if "messages" in row else row
