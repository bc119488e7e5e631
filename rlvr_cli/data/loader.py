"""A dataset's configuration to rows that train and rows that are held out, with every row that fell out named.

    >>> from rlvr_cli.config.schema import Dataset
    >>> loaded = load(Dataset(generator="arithmetic", count=100, eval_count=20), seed=1)
    >>> len(loaded.train), len(loaded.eval), loaded.dropped
    (100, 20, [])
    >>> loaded.train[0]["prompt"]
    [{'role': 'user', 'content': '81+66=?'}]
    >>> {split_id(r) for r in loaded.train} & {split_id(r) for r in loaded.eval}
    set()

Rows are plain dictionaries: ``prompt`` (chat messages), ``answer``, the rewards' other columns, and ``row_id``, a hash of
question and gold that is the same in every run, so that two evaluations can be paired by it. Nothing here imports torch.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from rlvr_cli.config.schema import Dataset
from rlvr_cli.data.columns import Unusable, check_columns, functions_of, mapped, plain_columns
from rlvr_cli.data.generate import generator, generator_keys, takes_any_key
from rlvr_cli.data.prompts import asked_of, question_of, to_messages
from rlvr_cli.data.sources import Broken, Located, read_source
from rlvr_cli.data.split import held_out, split_stratified, split_text
from rlvr_cli.errors import DataError

Row = dict[str, Any]
PEEK = 1000  # rows looked at before a column counts as missing
TRAINERS_OWN = {"prompts", "completions", "completion", "completion_ids", "trainer_state", "log_extra", "log_metric", "environments"}
THIN = 0.8  # of its weight: a kind that has less is said
MAX_DRAWS = 200  # draws a wanted row, before a generator counts as exhausted


@dataclass(frozen=True)
class Dropped:
    """A row that fell out: where it stood and why."""

    where: str
    reason: str

    def __str__(self) -> str:
        return f"{self.where}: {self.reason}"


@dataclass
class Loaded:
    """What ``load`` gives: the rows of both sides, the rows that fell out, and what a person should know of the source."""

    train: list[Row]
    eval: list[Row]
    dropped: list[Dropped] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def columns(self) -> list[str]:
        """The columns that every row has, by name."""
        return list((self.train or self.eval or [{}])[0])

    @property
    def reasons(self) -> Counter[str]:
        """How many rows fell out for each reason."""
        return Counter(d.reason for d in self.dropped)

    def said(self) -> list[str]:
        """The notes and the counted drops as lines for a person: a kind of reason, how often, and the first place."""
        lines = list(self.notes)
        kinds: dict[str, list[Dropped]] = defaultdict(list)
        for drop in self.dropped:
            kinds[drop.reason.partition(": ")[0]].append(drop)
        for kind, drops in sorted(kinds.items(), key=lambda item: -len(item[1])):
            reason = drops[0].reason if len({d.reason for d in drops}) == 1 else kind
            lines.append(f"dropped {len(drops)} row{'s' * (len(drops) != 1)}: {reason} (first: {drops[0].where})")
        return lines


def load(dataset: Dataset, *, seed: int, system_prompt: str | None = None) -> Loaded:
    """The rows of ``dataset``, training rows shuffled by ``seed`` and cut to ``limit``, held-out rows the same for every seed.

    Raises DataError, one line, for a source that is missing, unreadable, empty, or lacks a column.
    """
    if dataset.generator:
        loaded = _generated(dataset, seed)
    elif dataset.train or dataset.eval:
        loaded = _read(dataset)
    else:
        raise DataError("the dataset names neither a file nor a generator", where="dataset", fix="dataset.train=FILE.jsonl")
    loaded.train = _shuffled(loaded.train, seed)[: dataset.limit]
    loaded.eval = loaded.eval[: dataset.eval_limit]
    return _finished(loaded, dataset, system_prompt)


def fresh_eval(dataset: Dataset, *, draw: int, system_prompt: str | None = None) -> list[Row]:
    """Held-out rows number ``draw`` (``eval_fresh: true``): new ones at each evaluation, always from the held-out share.

    With a file the held-out rows are fixed; ``eval_limit`` of them are drawn afresh.
    """
    if dataset.generator:
        rows = drawn(dataset, seed=draw, count=dataset.eval_limit or dataset.eval_count, held=True, dropped=[])
        return _finished(Loaded([], rows), dataset, system_prompt).eval
    everything = load(dataset.model_copy(update={"eval_limit": None, "limit": 1}), seed=0, system_prompt=system_prompt).eval
    return random.Random(f"eval-{draw}").sample(everything, min(len(everything), dataset.eval_limit or len(everything)))


# ---------------------------------------------------------------------------------------------- generated rows


def own_keys(dataset: Dataset) -> dict[str, Any]:
    """The generator's own keys among the dataset's; a key that it does not have is one line with the nearest name."""
    extra = dict(dataset.model_extra or {})
    if takes_any_key(dataset.generator):
        return extra
    known = generator_keys(dataset.generator)
    for name in extra:
        if name not in known:
            from rlvr_cli.data.columns import nearest

            near = nearest(name, list(known))
            raise DataError(f"the generator {dataset.generator!r} has no key {name!r}; it has {', '.join(known)}",
                            where=f"dataset.{name}", fix=f"dataset.{near}=...")  # fmt: skip
    return extra


def draw_side(dataset: Dataset, *, seed: int, count: int, held: bool, tell: Callable[[int], None] | None = None) -> list[Row]:
    """``count`` rows with different prompts of one side of the split; fewer where no more exist. ``tell`` hears how many there are."""
    make, keys = generator(dataset.generator), own_keys(dataset)
    rows: dict[str, Row] = {}
    draws = 0
    for start in itertools.count():
        before = len(rows)
        for row in _safely(make(count=max(200, 2 * count), seed=seed * 1_000_003 + start, **keys), dataset.generator):
            draws += 1
            if held_out(row, share=dataset.eval_share) == held:
                rows.setdefault(json.dumps(row["prompt"], ensure_ascii=False, default=str), row)
            if tell:
                tell(len(rows))
            if len(rows) >= count:
                return list(rows.values())
        if draws > MAX_DRAWS * count or (len(rows) == before and start >= 3):
            return list(rows.values())


def _safely(rows: Iterator[Row], name: str | None) -> Iterator[Row]:
    """A generator's rows; what a generator of the user's own can do wrong is one line."""
    try:
        for row in rows:
            if not isinstance(row, dict) or "prompt" not in row:
                raise DataError(f"the generator {name!r} gave a row without a prompt: {str(row)[:80]}", where="dataset.generator")
            yield row
    except DataError:
        raise
    except Exception as error:
        raise DataError(f"the generator {name!r} failed: {type(error).__name__}: {error}", where="dataset.generator") from error


def _generated(dataset: Dataset, seed: int) -> Loaded:
    """Training rows by the run's seed; held-out rows by seed 0, so that runs of different seeds are judged alike."""
    share = dataset.eval_share if dataset.eval_count else 0.0
    dataset = dataset.model_copy(update={"eval_share": share})
    dropped: list[Dropped] = []
    train = drawn(dataset, seed=seed, count=dataset.count, held=False, dropped=dropped)
    held = drawn(dataset, seed=0, count=dataset.eval_count, held=True, dropped=dropped) if dataset.eval_count else []
    notes = [f"{dataset.generator}: {len(train)} training and {len(held)} held-out prompts, drawn apart"]
    for name, have, want in (("training", train, dataset.count), ("held-out", held, dataset.eval_count)):
        if len(have) < want:
            notes.append(f"only {len(have)} distinct {name} prompts of the {want} asked for exist at these settings")
    notes += thin_kinds(dataset, train)
    if not train:
        raise DataError(f"the generator {dataset.generator!r} gave no training row", where="dataset.generator")
    return Loaded(train, held, dropped, notes)


def thin_kinds(dataset: Dataset, rows: list[Row]) -> list[str]:
    """Kinds that a mix has less of than its weights say: a generator whose different prompts are used up can give no more of them."""
    if dataset.generator != "mixed":
        return []
    from rlvr_cli.data.generate.mixed import MIX

    keys, weights = own_keys(dataset), Counter()
    for name, weight in (keys.get("mix") or MIX).items():
        if weight:
            row = next(iter(generator(name)(count=1, seed=0, **((keys.get("options") or {}).get(name) or {}))))
            weights[str(row.get("kind"))] += weight
    have = Counter(str(row.get("kind")) for row in rows)
    return [
        f"kind {kind} is {have[kind] / len(rows):.0%} of the training prompts where dataset.mix says {weight / weights.total():.0%}: only "
        f"{have[kind]} different ones were drawn; a smaller dataset.count keeps its share"
        for kind, weight in weights.items()
        if rows and have[kind] / len(rows) < THIN * weight / weights.total()
    ]


def drawn(dataset: Dataset, *, seed: int, count: int, held: bool, dropped: list[Dropped]) -> list[Row]:
    """One side's rows out of the generator, mapped as a file's rows are."""
    name = str(dataset.generator)
    rows = draw_side(dataset, seed=seed, count=count, held=held)
    return _mapped_all(dataset, [(f"{name} row {i}", row) for i, row in enumerate(rows, 1)], name, "dataset.generator", dropped)


# ---------------------------------------------------------------------------------------------- rows out of files


def _read(dataset: Dataset) -> Loaded:
    extra = list(dataset.model_extra or {})
    if extra:
        from rlvr_cli.data.columns import nearest

        near = nearest(extra[0], list(Dataset.model_fields))
        raise DataError(f"a dataset that is read has no key {extra[0]!r}", where=f"dataset.{extra[0]}", fix=f"dataset.{near}=...")
    loaded = Loaded([], [])
    if dataset.train:
        loaded.train = _side(dataset, dataset.train, dataset.train_split, "dataset.train", loaded)
    if dataset.eval:
        loaded.eval = _side(dataset, dataset.eval, dataset.eval_split, "dataset.eval", loaded)
        _without_shared(loaded)
    elif dataset.eval_share:
        loaded.train, loaded.eval = split_stratified(loaded.train, share=dataset.eval_share)
        loaded.notes.append(f"dataset.eval is null: {len(loaded.eval)} of {dataset.train}'s rows are held out (dataset.eval_share)")
    return loaded


def _side(dataset: Dataset, source: str, split: str, key: str, loaded: Loaded) -> list[Row]:
    """One side's rows, mapped; what falls out goes to ``loaded.dropped``."""
    items = read_source(source, split=split, name=dataset.name, encoding=dataset.encoding, key=key)
    good = list(_readable(items, dataset.on_broken, loaded.dropped))
    if not good:
        raise DataError(f"{source} has no usable row", where=key)
    rows = _mapped_all(dataset, good, source, key, loaded.dropped)
    loaded.notes.append(f"{source}: {len(rows)} rows")
    return rows


def _mapped_all(dataset: Dataset, located: list[Located], source: str, key: str, dropped: list[Dropped]) -> list[Row]:
    """Rows with the rewards' columns; those that cannot be mapped are counted, and it is an error when none can."""
    check_columns(dataset, (row for _, row in located[:PEEK]), source=source)
    functions = functions_of(dataset)
    rows, fault = [], None
    for where, raw in located:
        try:
            row = mapped(dataset, raw, functions)
        except Unusable as error:
            dropped.append(Dropped(where, str(error)))
            continue
        try:
            if dataset.prompt_template:  # questions with other options, or other tables, are other prompts
                row.setdefault("split_key", asked_of(dataset.prompt_template, row))
            rows.append(row)
        except DataError as error:
            fault = error
            dropped.append(Dropped(where, error.what))
    if located and not rows:
        raise fault or DataError(f"none of the {len(located)} rows of {source} can be used: {dropped[-1].reason}", where=key)
    return rows


def _readable(items: Iterable[Located | Broken], on_broken: str, dropped: list[Dropped]) -> Iterator[Located]:
    """The items that could be read; at a broken one stop, or count it."""
    for item in items:
        if not isinstance(item, Broken):
            yield item
        elif on_broken == "drop":
            dropped.append(Dropped(item.where, item.reason))
        else:
            raise DataError(f"{item.where}: {item.reason}", fix="dataset.on_broken=drop to leave such lines out, counted")


def _without_shared(loaded: Loaded) -> None:
    """Training rows whose prompt is also held out would make the accuracy a lie: they fall out, counted."""
    held = {split_text(row) for row in loaded.eval}
    kept = []
    for row in loaded.train:
        if split_text(row) in held:
            loaded.dropped.append(Dropped(str(row["prompt"])[:60], "its prompt is also held out"))
        else:
            kept.append(row)
    if loaded.train and not kept:
        raise DataError("every training prompt is also held out: dataset.train and dataset.eval hold the same rows", where="dataset.eval")
    loaded.train = kept


# ---------------------------------------------------------------------------------------------- the last touches


def _shuffled(rows: list[Row], seed: int) -> list[Row]:
    rows = list(rows)
    random.Random(f"order-{seed}").shuffle(rows)
    return rows


def split_id(row: Row) -> str:
    """A loaded row's question, to tell whether two rows ask the same."""
    return question_of(row)


def row_id(row: Row) -> str:
    """Twelve hex digits of question and gold: the row's name in every run."""
    text = json.dumps([row["prompt"], row.get("answer")], ensure_ascii=False, default=str, sort_keys=True)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def _finished(loaded: Loaded, dataset: Dataset, system_prompt: str | None) -> Loaded:
    """Messages, names and plain columns; the same for rows read and rows drawn. Both sides get the same columns."""
    seen: Counter[str] = Counter()
    taken = sorted({name for row in loaded.train[:PEEK] + loaded.eval[:PEEK] for name in row} & TRAINERS_OWN)
    if taken:
        loaded.notes.append(f"left out the columns {', '.join(taken)}: the trainer hands rewards its own values under these names")
    rows = []
    for row in [*loaded.train, *loaded.eval]:
        name = row["row_id"] if isinstance(row.get("row_id"), str) else row_id(row)
        seen[name] += 1
        row = {k: v for k, v in row.items() if k != "split_key" and k not in TRAINERS_OWN}
        row["prompt"] = to_messages(row, template=dataset.prompt_template, system=system_prompt)
        rows.append({**row, "row_id": name if seen[name] == 1 else f"{name}-{seen[name]}"})
    rows = plain_columns(rows)
    cut = len(loaded.train)
    loaded.train, loaded.eval = rows[:cut], rows[cut:]
    return loaded
