"""``rlvr train``: compose, check, plan, launch; or hand over to the sweep.

The verb only orders the steps. What each does is in :mod:`rlvr_cli.config` (compose, checks), :mod:`rlvr_cli.launch`
(plan, supervise) and :mod:`rlvr_cli.run_dir`.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import time
from pathlib import Path
from typing import Any

from rlvr_cli.arguments import Arguments
from rlvr_cli.errors import EXIT_INTERRUPTED, EXIT_OK, RlvrError

EPILOGUE = """\
examples:
  rlvr train                                           the embedded default, on any CPU
  rlvr train model=qwen1.5b dataset=gsm8k reward=math
  rlvr train reward=math reward.terms.correct.weight=0.5 algorithm=dapo trainer.max_steps=50
  rlvr train model=smollm2-135m --dry-run              the plan and the frozen configuration, nothing started
  rlvr train --resume outputs/RUN                      go on from the last whole checkpoint
  rlvr train run.name=mine --clean                     remove outputs/mine (a run) and start again
  rlvr train stage=sft                                 supervised: worked answers, or stage.data=accepted.jsonl (also dpo, reward_model)
  rlvr train pipeline=r1_tiny                          a chain: cold start, RL, rejection sampling, all-scenario RL; a table at the end
  rlvr train -m seed=1,2 reward=math,format_only       a sweep: every job its own process tree, ranked at the end
groups and their options: rlvr ls; a group's keys: rlvr config GROUP"""


def parser() -> Arguments:
    """The flags; everything else on the line is a Hydra override."""
    p = Arguments(
        prog="rlvr train",
        description="Train a model with verifiable rewards.",
        epilog=EPILOGUE,
    )
    p.add_argument("overrides", nargs="*", metavar="group=option | key=value", help="choices and values, in Hydra's grammar")
    p.add_argument("-m", "--multirun", action="store_true", help="run every combination of comma-separated values")
    p.add_argument("--dry-run", action="store_true", help="compose, check and plan; start nothing")
    p.add_argument("--json", action="store_true", help="with --dry-run: one JSON object")
    p.add_argument("--resume", metavar="RUN", help="continue this run from its last whole checkpoint")
    p.add_argument("--clean", action="store_true", help="remove the run folder of that name first")
    p.add_argument("--cfg", action="store_true", help="print the composed configuration and end")
    p.add_argument("--info", action="store_true", help="print which options were chosen, and from which files, and end")
    return p


def run(argv: list[str]) -> int:
    """The verb: exit code 0 done, 1 failed, 2 configuration, 130 interrupted."""
    args = parser().parse_intermixed_args(argv)
    if args.multirun:
        from rlvr_cli.sweep import run as sweep

        return sweep(args.overrides, Path.cwd())
    from rlvr_cli import pipeline

    if pipeline.asked_for(args.overrides) or pipeline.folder_of(args.resume):
        from rlvr_cli.pipeline.command import train as chain

        return chain(args.overrides, resume=args.resume, clean=args.clean, dry_run=args.dry_run, as_json=args.json)
    composed = composed_of(args)
    if args.cfg or args.info:
        return show(composed, info=args.info)
    return train(composed, args)


def composed_of(args: argparse.Namespace) -> Any:
    """The configuration of a new run, or of the run to resume with the changes that resuming allows."""
    from rlvr_cli.config.compose import compose

    if args.resume is None:
        return compose(args.overrides)
    from rlvr_cli.run_dir import find, read_config

    return compose(args.overrides, inherit=read_config(find(args.resume)))


def show(composed: Any, *, info: bool) -> int:
    """``--cfg`` and ``--info``."""
    from rlvr_cli.config.compose import frozen_text

    if not info:
        print(frozen_text(composed.config), end="")
        return EXIT_OK
    for group, option in composed.choices.items():
        print(f"{group:<12} {option:<20} {composed.sources.get(group, '')}")
    return EXIT_OK


def train(composed: Any, args: argparse.Namespace) -> int:
    """Plan, check, and either say so or do it."""
    from rlvr_cli.config.preflight import World, require
    from rlvr_cli.launch.freeze import freeze
    from rlvr_cli.launch.plan import lines
    from rlvr_cli.run_dir import refuse

    world = World(composed.config, strict=not args.dry_run)  # a dry run may be of a machine that is not this one
    plan = world.plan
    frozen = freeze(composed.config, plan)
    if args.dry_run:
        assumed = ["GPUs are assumed: this machine has none or fewer"] if world.assumes_gpus else []
        return dry_run(frozen, plan, assumed + require(frozen, strict=False), as_json=args.json)
    refuse(frozen, resume=args.resume, clean=args.clean)
    if args.resume and (path := at_its_end(args.resume, frozen)):
        print(f"{path} is finished ({gain(path)}): there is nothing to go on with\n"
              f"next: rlvr eval checkpoint={path}   rlvr train --resume {path} trainer.max_steps=MORE")  # fmt: skip
        return EXIT_OK
    notes = require(frozen, fetch=True)
    for line in [*lines(plan), *notes]:
        print(line, flush=True)
    return launch(frozen, plan, composed, args)


def at_its_end(resume: str, frozen: Any) -> Path | None:
    """The folder of a run that finished and is not asked for more: another attempt could only lose what it says of itself."""
    from rlvr_cli.run_dir import find, read_config, status_of

    path = find(resume, frozen.run.dir)
    ends = ("max_steps", "num_train_epochs", "max_generated_tokens")
    before = read_config(path).get("trainer") or {}
    same = all(before.get(key) == getattr(frozen.trainer, key) for key in ends)
    return path if same and status_of(path).get("state") == "finished" else None


def dry_run(frozen: Any, plan: Any, notes: list[str], *, as_json: bool) -> int:
    """Print what would run, start nothing."""
    from rlvr_cli.config.compose import frozen_text
    from rlvr_cli.launch.plan import lines

    if as_json:
        print(json.dumps({"plan": plan.as_dict(), "notes": notes, "config": frozen.model_dump(mode="json")}))
        return EXIT_OK
    print("\n".join([*lines(plan), *notes, "", frozen_text(frozen).rstrip(), "", "nothing was started (--dry-run)"]))
    return EXIT_OK


def launch(frozen: Any, plan: Any, composed: Any, args: argparse.Namespace) -> int:
    """One attempt in a run folder; the last line says how it ended and what to type next."""
    from rlvr_cli import run_dir
    from rlvr_cli.launch.supervise import Attempt
    from rlvr_cli.launch.view import View

    folder = run_dir.start(frozen, composed.overrides, choices=composed.choices, resume=args.resume, clean=args.clean)
    started = time.monotonic()
    view = View(log=folder.log("launcher"))
    view.say(f"run {folder.path}" + (f", attempt {folder.attempt}" if folder.attempt > 1 else ""))
    try:
        outcome = Attempt(frozen, plan, folder.path, attempt=folder.attempt, view=view).run()
        kept = run_dir.kept(folder.path)
        facts = {"accuracy": kept[1]} if kept else {}
        with contextlib.suppress(OSError):  # a full disk keeps the record from being written, not the sentence from being said
            folder.set_status(outcome.state, sentence=outcome.sentence, seconds=round(time.monotonic() - started, 1), **facts)
    finally:
        folder.release()
    return say_end(outcome, folder.path)


def held_out(path: Path) -> list[tuple[int, float]]:
    """(step, accuracy) of every held-out evaluation of the run, earlier attempts included."""
    from rlvr_cli.commands.runs import read_lines

    lines = read_lines(path / "metrics.jsonl")
    return [(line["step"], line["eval/accuracy"]) for line in lines if line.get("eval/accuracy") is not None and "step" in line]


def gain(path: Path) -> str:
    """What the run was for, before and after: accuracy, or the held-out loss and the pairs told apart of a stage without it."""
    from rlvr_cli import run_dir

    judged = held_out(path)
    if judged:
        step, accuracy = run_dir.kept(path) or judged[-1]
        return f"held-out accuracy {judged[0][1]:.3f} -> {accuracy:.3f} (step {step})"
    lines = [json.loads(line) for line in (path / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    named = (("held-out loss", "eval/loss"), ("pairs told apart", "eval/pair_accuracy"))
    found = [(label, [line[key] for line in lines if line.get(key) is not None]) for label, key in named]
    said = [f"{label} {values[0]:.3f} -> {values[-1]:.3f}" for label, values in found if values]
    return ", ".join(said) or "no held-out rows were judged"


def warnings(path: Path) -> list[str]:
    """What the report would warn of: groups without signal, cut answers, a fall from the peak. A doubt costs no finished run its ending."""
    from rlvr_cli.report.findings import findings
    from rlvr_cli.report.load import load_run

    with contextlib.suppress(RlvrError, OSError):
        return [sentence for kind, sentence in findings(load_run(path)) if kind == "warn"]
    return []


def say_end(outcome: Any, path: Path) -> int:
    """The closing lines: what came out, or what went wrong and where to look; before them the profile, where one was asked for."""
    from rlvr_cli.launch import profile
    from rlvr_cli.launch.supervise import kept_words

    if outcome.ok:
        for line in profile.lines(path):
            print(line)
        for line in warnings(path):
            print(f"! {line}")
        print(f"done: {gain(path)}; model in {path}/final\nnext: rlvr eval checkpoint={path}   rlvr report {path}")
        return EXIT_OK
    print(f"rlvr train: {outcome.sentence}", file=sys.stderr)
    if outcome.code == EXIT_INTERRUPTED:
        print(f"next: rlvr train --resume {path}", file=sys.stderr)
    if outcome.log:
        print(f"log: {outcome.log}\n{kept_words(path)}\nnext: rlvr doctor {path}   rlvr train --resume {path}", file=sys.stderr)
    return outcome.code
