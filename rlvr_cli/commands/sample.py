"""``rlvr sample``: k scored completions a prompt, for rejection sampling, for preference pairs, or to look at."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from rlvr_cli.arguments import Arguments
from rlvr_cli.outputs import claim, writing

EPILOGUE = """\
examples:
  rlvr sample checkpoint=outputs/RUN                                       8 scored completions of each training prompt
  rlvr sample checkpoint=outputs/RUN sample.keep=accepted sample.pick=shortest     the data of rejection sampling
  rlvr sample checkpoint=outputs/RUN sample.keep=accepted sample.balance=difficulty
  rlvr sample checkpoint=outputs/RUN sample.keep=pairs sample.per_prompt=2 sample.out=pairs.jsonl     right against wrong, for DPO
  rlvr sample checkpoint=Qwen/Qwen2.5-0.5B-Instruct dataset=gsm8k reward=math sample.k=4 sample.limit=100

Each draw has its own seed, made of sample.seed, the prompt and the draw's number: the same command writes the same file."""


def parser() -> Arguments:
    """The command line of ``rlvr sample``."""
    made = Arguments(
        prog="rlvr sample",
        usage="rlvr sample checkpoint=RUN|DIR|HUB_ID [dataset=...] [reward=...] [sample.k=8] [sample.keep=all|accepted|pairs] [key=value]",
        description="Draw k completions of each prompt from a checkpoint, score them, and write JSON lines.",
        epilog=EPILOGUE,
    )
    made.add_argument("words", nargs="*", metavar="key=value", help="checkpoint=, sample.*, or anything that rlvr train takes")
    return made


def run(argv: list[str]) -> int:
    """Draw, score, select, write; returns the exit code."""
    options = parser().parse_intermixed_args(argv)
    from rlvr_cli.commands.eval import prepare, say

    config, target, outputs = prepare(options.words, root="sample")
    place = destination(config, target, outputs)
    if place:
        claim(place, overwrite=config.sample.overwrite, where="sample.out", fix="sample.overwrite=true, or sample.out=OTHER.jsonl")
    rows, records = draw(config, target, say)
    lines = select(config, rows, records, say)
    write(lines, place)
    if place:
        say(f"written: {place} ({len(lines)} lines)")
    return 0


def draw(config: Any, target: Any, say: Any) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The prompts and their scored completions."""
    from rlvr_cli.errors import DataError
    from rlvr_cli.evaluation import policy
    from rlvr_cli.evaluation.evaluate import ask_and_judge

    policy.need_torch()
    wanted = config.sample
    rows = rows_of(config, say)[: wanted.limit]
    if not rows:
        raise DataError(
            f"the data set has no {wanted.split} rows", where=f"dataset.{wanted.split}", fix=f"dataset.{wanted.split}=FILE.jsonl"
        )
    if wanted.balance and wanted.balance not in rows[0]:
        raise DataError(f"the rows have no column {wanted.balance!r}", where="sample.balance", fix=f"one of {', '.join(rows[0])}")
    records = ask_and_judge(as_eval(config), target.path, rows, "checkpoint", say)
    right = sum(r["correct"] for r in records)
    say(f"{len(rows)} prompts x {wanted.k}: {right} of {len(records)} completions right ({100 * right / len(records):.1f}%)")
    return rows, records


def rows_of(config: Any, say: Any) -> list[dict[str, Any]]:
    """One side of the data set."""
    from rlvr_cli.data.loader import load
    from rlvr_cli.evaluation.evaluate import held_out_rows

    if config.sample.split == "eval":
        return held_out_rows(config, say)
    loaded = load(config.dataset, seed=config.seed, system_prompt=config.model.system_prompt)
    for line in loaded.said():
        say(line)
    return loaded.train


def as_eval(config: Any) -> Any:
    """The same run seen as an evaluation of k samples and no greedy answer."""
    from rlvr_cli.config.schema import EvalConfig

    shared = ("temperature", "top_p", "max_completion_length", "batch_size", "backend", "seed", "k")
    asked = {**{key: getattr(config.sample, key) for key in shared}, "greedy": False}
    data = {key: value for key, value in config.model_dump().items() if key != "sample"}
    return EvalConfig.model_validate({**data, "eval": asked})


def select(config: Any, rows: list[dict[str, Any]], records: list[dict[str, Any]], say: Any) -> list[dict[str, Any]]:
    """What is written: every completion, the accepted ones, or pairs."""
    from rlvr_cli.evaluation import rejection

    wanted = config.sample
    if wanted.balance:
        levels = {row["row_id"]: row[wanted.balance] for row in rows}
    if wanted.keep == "pairs":
        made = rejection.pairs(records, pick=wanted.pick, per_prompt=wanted.per_prompt, seed=wanted.seed, say=say)
        return rejection.balanced(made, levels, seed=wanted.seed, say=say, ratio=wanted.balance_ratio) if wanted.balance else made
    if wanted.keep == "accepted":
        records = rejection.accepted(records, say)
        records = rejection.picked(records, pick=wanted.pick, per_prompt=wanted.per_prompt, seed=wanted.seed)
    if wanted.balance:
        records = rejection.balanced(records, levels, seed=wanted.seed, say=say, ratio=wanted.balance_ratio)
    columns = {row["row_id"]: {k: v for k, v in row.items() if k != "prompt"} for row in rows}
    return [rejection.line_of(record, columns[record["row_id"]]) for record in records]


def destination(config: Any, target: Any, outputs: Path) -> Path | None:
    """The file to write; None is stdout."""
    if config.sample.out == "-":
        return None
    if config.sample.out:
        return Path(config.sample.out)
    from rlvr_cli.evaluation.evaluate import default_name

    kind = "" if config.sample.keep == "all" else f"-{config.sample.keep}"
    return target.home(outputs) / "sample" / f"{default_name(config, target)}{kind}.jsonl"


def write(lines: list[dict[str, Any]], place: Path | None) -> None:
    """JSON lines, the file whole or not at all."""
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    if place is None:
        sys.stdout.write(text)
        return
    with writing(place, where="sample.out") as file:
        file.write(text)
