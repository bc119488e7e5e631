"""``rlvr data difficulty``: the pass rate of a model on each prompt, a histogram, and the rows with their rates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rlvr_cli.data.verbs import say, words_of
from rlvr_cli.errors import EXIT_OK, ConfigError, DataError

Row = dict[str, Any]
ABOUT = """\
Pass rate of a model on each prompt: k draws, judged by the reward. Rates are cached by model, reward, sampling and row, and
a command that was stopped goes on where it was. A checkpoint of a run brings its data, reward and sampling with it."""
KEYS = {
    "checkpoint": "a run folder, a model folder or a hub id",
    "data": "a file; else the dataset of the run, or dataset=...",
    "k": "draws a prompt (default 8)",
    "split": "train or eval (default train)",
    "limit": "the first N prompts",
    "out": "a file for the rows with the columns pass_rate and pass_draws",
    "group=option": "reward=, dataset= and any key that rlvr eval takes",
}
EXAMPLES = """\
  rlvr data difficulty checkpoint=outputs/RUN limit=500 out=rated.jsonl
  rlvr data difficulty checkpoint=Qwen/Qwen2.5-0.5B-Instruct dataset=gsm8k reward=math k=4 limit=200 out=rated.jsonl
  rlvr data difficulty checkpoint=outputs/RUN data=mine.jsonl reward=math out=rated.jsonl
  rlvr data filter data=rated.jsonl pass_min=0.1 pass_max=0.9 out=kept.jsonl"""


def run(argv: Sequence[str]) -> int:
    """Rate the prompts, say how they spread, write them."""
    from rlvr_cli.data.difficulty import pass_rates
    from rlvr_cli.data.files import claim_all, write_rows

    words = words_of("difficulty", argv, ABOUT, KEYS, EXAMPLES)
    mine, rest = _own_words(words)
    claim_all(mine, "out")
    config, target = _prepared(mine, rest)
    rows = _rows(config, mine)
    rates = pass_rates(config, target.path, rows, say)
    if mine["out"]:
        write_rows(({**row, "pass_rate": rate, "pass_draws": config.eval.k} for row, rate in zip(rows, rates, strict=True)), mine["out"])
    _tell(rates, config.eval.k, mine["out"])
    return EXIT_OK


def _own_words(words: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
    """This verb's own settings, and the words that configure the evaluation."""
    from rlvr_cli.data.words import parse_words

    defaults = {"data": None, "k": 8, "split": "train", "limit": None, "out": None, "overwrite": False}
    own = [word for word in words if word.partition("=")[0] in defaults]
    mine = parse_words(own, defaults, command="difficulty")
    for key in ("k", "limit"):
        if mine[key] is not None and (not isinstance(mine[key], int) or mine[key] < 1):
            raise ConfigError(f"{key}={mine[key]!r} is not a whole number from 1", where="command line", fix=f"{key}=8")
    if mine["split"] not in ("train", "eval"):
        raise ConfigError(f"split={mine['split']!r} is not train or eval", where="command line", fix="split=train")
    return mine, [word for word in words if word not in own]


def _prepared(mine: dict[str, Any], rest: list[str]) -> tuple[Any, Any]:
    """The evaluation's configuration and the model, faults said before a model loads."""
    from rlvr_cli.commands.eval import prepare

    if not any(word.startswith("checkpoint=") for word in rest):
        raise ConfigError("rlvr data difficulty needs checkpoint=", where="command line", fix="checkpoint=outputs/RUN")
    if mine["data"]:
        rest = [*rest, "dataset=jsonl", f"dataset.train={mine['data']}", "dataset.eval=null", "dataset.eval_share=0"]
    config, target, _ = prepare([*rest, f"eval.k={mine['k']}", "eval.greedy=false"], root="eval")
    return config, target


def _rows(config: Any, mine: dict[str, Any]) -> list[Row]:
    """The prompts to rate, in the data's own order of this seed."""
    from rlvr_cli.data.loader import load

    loaded = load(config.dataset, seed=config.seed, system_prompt=config.model.system_prompt)
    say(*loaded.said())
    rows = (loaded.train if mine["split"] == "train" else loaded.eval)[: mine["limit"]]
    if not rows:
        raise DataError(f"the data has no {mine['split']} rows", where=f"dataset.{mine['split']}", fix="split=eval")
    return rows


def _tell(rates: list[float], k: int, out: str | None) -> None:
    """The histogram and what it means for training."""
    from rlvr_cli.data.difficulty import histogram
    from rlvr_cli.evaluation.intervals import share_or_bootstrap

    low, high = share_or_bootstrap(rates)
    never, always = sum(rate == 0 for rate in rates), sum(rate == 1 for rate in rates)
    print("pass rate   prompts", *histogram(rates), sep="\n")
    print(f"mean {sum(rates) / len(rates):.3f} [{low:.3f}, {high:.3f}], n={len(rates)} prompts x {k} draws")
    print(f"{never} never solved and {always} always solved in {k} draws: {never + always} of {len(rates)} would give no signal")
    if out:
        say(f"{len(rates)} rows with pass_rate in {out}")
