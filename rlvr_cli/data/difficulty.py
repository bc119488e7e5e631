"""How often a model is right on each prompt: k seeded draws, judged by the reward, kept in a cache.

The rates are what a curriculum and ``rlvr data filter pass_min=0.1 pass_max=0.9`` need: a prompt that is always or never solved
teaches nothing, for all advantages of its group are zero. Each batch of prompts is written to the cache when it is judged, so
a command that was stopped goes on where it was; any change of model, reward or sampling has its own cache file.

>>> print("\\n".join(histogram([0.0, 0.0, 0.25, 0.5, 1.0])))
0           2  ####################
0 to 0.25   1  ##########
0.25 to 0.5 1  ##########
0.5 to 0.75 0
0.75 to 1   0
1           1  ##########
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

Row = dict[str, Any]
Say = Callable[[str], None]
CHUNK_DRAWS = 512  # draws between two writes to the cache
BAR = 20


def pass_rates(config: Any, path: str, rows: Sequence[Row], say: Say) -> list[float]:
    """The share of ``config.eval.k`` draws that got full marks, a row; what the cache has is not drawn again.

    config: an EvalConfig (model, reward, sampling); path: the model's folder or hub id.
    """
    cache = Cache(cache_file(config, path))
    keys = [row_key(row) for row in rows]
    todo = [(key, row) for key, row in dict(zip(keys, rows, strict=True)).items() if key not in cache.rates]
    if len(todo) < len(set(keys)):
        say(f"{len(set(keys)) - len(todo)} of {len(set(keys))} prompts are in the cache {cache.path}")
    if todo:
        for key, rate in _measured(config, path, todo, say):
            cache.add(key, rate)
    return [cache.rates[key] for key in keys]


def _measured(config: Any, path: str, todo: Sequence[tuple[str, Row]], say: Say) -> Iterator[tuple[str, float]]:
    """(key, rate) of each prompt, a batch of prompts after the other."""
    from rlvr_cli.evaluation import policy
    from rlvr_cli.evaluation.evaluate import asked, sampling_of
    from rlvr_cli.evaluation.heldout import draws_of, judged_samples

    policy.need_torch()
    k = config.eval.k
    at_once = max(1, CHUNK_DRAWS // k)
    with asked(config, path, lambda text: None) as (_, ask):
        for start in range(0, len(todo), at_once):
            batch = todo[start : start + at_once]
            rows = [row for _, row in batch]
            draws = draws_of(rows, k)
            of_each = [row for row in rows for _ in range(k)]
            completions = ask(draws, sampling_of(config, greedy=False), of_each)
            judged = judged_samples(of_each, draws, completions, config.reward.terms, kind="sample", pool=config.reward.pool.model_dump())
            for place, (key, _) in enumerate(batch):
                yield key, sum(s["correct"] for s in judged[place * k : place * k + k]) / k
            say(f"difficulty: {min(start + at_once, len(todo))} of {len(todo)} prompts x {k} draws")


class Cache:
    """Rates by row, a JSON line each; a half-written last line is left out."""

    def __init__(self, path: Path):
        self.path = path
        self.rates: dict[str, float] = {}
        for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else ():
            try:
                entry = json.loads(line)
                self.rates[entry["key"]] = float(entry["pass_rate"])
            except (ValueError, KeyError, TypeError):
                continue

    def add(self, key: str, rate: float) -> None:
        """Keep one rate, on disk at once."""
        self.rates[key] = rate
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"key": key, "pass_rate": rate}) + "\n")


def cache_file(config: Any, path: str) -> Path:
    """The cache of one model, reward and way of sampling."""
    from rlvr_cli.evaluation.evaluate import sampling_of
    from rlvr_cli.models.cache import cache_root, digest

    made_of = {
        "model": model_fingerprint(path),
        "chat_template": config.model.chat_template,
        "sampling": str(sampling_of(config, greedy=False)),
        **({"environment": config.environment.model_dump()} if config.environment.tools or config.environment.fn else {}),
        "k": config.eval.k,
        "reward": {name: term.model_dump(mode="json") for name, term in config.reward.terms.items()},
    }
    return cache_root() / "difficulty" / f"{digest(made_of)}.jsonl"


def model_fingerprint(path: str) -> list[Any]:
    """What tells one model from another: a folder's files with size and time, or a hub id."""
    folder = Path(path)
    if not folder.is_dir():
        return [path]
    files = sorted(p for p in folder.iterdir() if p.suffix in (".safetensors", ".bin", ".json"))
    return [str(folder.resolve()), *([p.name, p.stat().st_size, p.stat().st_mtime_ns] for p in files)]


def row_key(row: Row) -> str:
    """A row's name in the cache: everything that the model is asked and the reward reads."""
    content = {key: value for key, value in row.items() if key not in ("row_id", "pass_rate", "pass_draws")}
    text = json.dumps(content, ensure_ascii=False, sort_keys=True, default=str)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def histogram(rates: Sequence[float]) -> list[str]:
    """How many prompts have which pass rate: never, four ranges between, always."""
    edges = [0.25, 0.5, 0.75]
    names = ["0", "0 to 0.25", "0.25 to 0.5", "0.5 to 0.75", "0.75 to 1", "1"]
    counts = [0] * len(names)
    for rate in rates:
        counts[0 if rate == 0 else 5 if rate == 1 else 1 + sum(rate > edge for edge in edges)] += 1
    width, most = max(map(len, names)), max(max(counts), 1)
    digits = len(str(most))
    return [f"{n:<{width}} {c:>{digits}}  {'#' * round(BAR * c / most)}".rstrip() for n, c in zip(names, counts, strict=True)]
