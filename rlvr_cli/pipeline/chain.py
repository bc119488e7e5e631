"""Run what is left of a chain: each step and each measurement a process tree of its own, in order, safe to kill anywhere.

A step that is done is skipped, one that was interrupted goes on from its last whole checkpoint; the same command twice, or
``rlvr train --resume PIPELINE``, is how a person goes on. Nothing runs at once: the parts of a chain need each other.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rlvr_cli import run_dir
from rlvr_cli.errors import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK, EXIT_USAGE, ConfigError, LaunchError, RlvrError
from rlvr_cli.interpreter import python
from rlvr_cli.launch.processes import Kept
from rlvr_cli.launch.supervise import Interrupted, interruptible, uninterrupted
from rlvr_cli.pipeline import FILE, judge, table, verdict
from rlvr_cli.pipeline.spec import Pipeline, last_of_each, restore, save
from rlvr_cli.pipeline.steps import Step, steps_of
from rlvr_cli.pipeline.watch import Watch

POLL_S = 0.25
RLVR = python("-m", "rlvr_cli.main")
START = "0_start"  # the label of the pipeline's own model


class Stopped(RlvrError):
    """A part of the chain ended badly; ``exit_code`` is that part's."""

    def __init__(self, what: str, code: int, log: Path):
        super().__init__(what, where=str(log))
        self.exit_code = code if code in (EXIT_USAGE, EXIT_INTERRUPTED) else EXIT_FAILED


def open_folder(pipeline: Pipeline, folder: Path, *, clean: bool) -> Pipeline:
    """The folder of a new chain, or of the same one again; another chain under that name is refused."""
    if clean and (folder / FILE).is_file():
        run_dir.locked(folder).close()  # nobody writes it
        shutil.rmtree(folder)
    if (folder / FILE).is_file():
        before = restore(folder)
        if before != pipeline:
            fix = f"rlvr train --resume {folder.name}, run.name={folder.name}-2, or --clean to remove it"
            raise ConfigError(f"{folder} was started with another chain or other words", where="run.name", fix=fix)
        return before
    if folder.exists() and any(folder.iterdir()):
        raise ConfigError(f"{folder} exists and is no pipeline", where="run.name", fix=f"run.name={folder.name}-2")
    folder.mkdir(parents=True, exist_ok=True)
    save(pipeline, folder)
    return pipeline


def run(pipeline: Pipeline, folder: Path) -> int:
    """Every step that is left, every measurement that is missing, then the table; the exit code of the whole."""
    lock = run_dir.locked(folder)
    steps, state, sentence, code = steps_of(pipeline, folder), "finished", "done", EXIT_OK
    status(folder, "running")
    try:
        with interruptible():
            freeze_judge(pipeline, folder)
            Chain(pipeline, folder, steps).run()
    except (Interrupted, KeyboardInterrupt):
        state, sentence, code = "interrupted", "interrupted; what is done stays done", EXIT_INTERRUPTED
    except RlvrError as error:
        state, sentence, code = "failed", str(error), error.exit_code
    finally:
        status(folder, state, sentence=sentence)
        lock.close()
    if code:
        print(f"rlvr train: {sentence}\nnext: rlvr train --resume {folder}", file=sys.stderr, flush=True)
        return code
    lines = summarise(pipeline, folder, steps)
    table.show(lines)
    last = next(step for step in reversed(steps) if step.makes_policy)
    print(f"written: {folder}/summary.json   next: rlvr eval checkpoint={last.path}   rlvr chat {last.path}")
    return EXIT_OK


class Chain:
    """The loop over steps. ``child`` is what runs now, taken down on any end."""

    def __init__(self, pipeline: Pipeline, folder: Path, steps: Sequence[Step]):
        self.pipeline, self.folder, self.steps = pipeline, folder, steps
        self.watch = Watch(folder / "logs" / "launcher.log")

    def run(self) -> None:
        """In order: measure the start, then each step and the policy it made."""
        try:
            self.measure("-", START)
            for step in self.steps:
                self.step(step)
                if step.makes_policy:
                    self.measure(str(step.model), step.label)
            self.read_rewards()
        finally:
            self.watch.close()

    def step(self, step: Step) -> None:
        """Run one step, or say that it is done."""
        if step.done:
            self.watch.say(f"{step.label}: done before")
            return
        if step.path.is_dir() and not run_dir.is_run(step.path):  # killed while the folder was being made
            shutil.rmtree(step.path)
        again = "goes on" if "--resume" in step.command() else "starts"
        self.watch.say(f"{step.label}: {again} ({step.stage.run})")
        started = time.monotonic()
        try:
            self.wait([*RLVR, *step.command()], step.label, metrics=step.path / "metrics.jsonl")
        finally:
            add_seconds(self.folder, step.label, time.monotonic() - started)
        if step.stage.run == "train":
            merge_adapter(step)
        self.watch.say(f"{step.label}: {self.last_words(step)}")

    def last_words(self, step: Step) -> str:
        """The line with which the step's own command ended."""
        lines = (self.folder / "logs" / f"{step.label}.log").read_text(encoding="utf-8", errors="replace").splitlines()
        marks = ("done:", "accepted", "balanced", "written:")
        said = [line for line in lines if line.startswith(marks) or " pairs from " in line]
        return "; ".join(said[-3:]) if step.stage.run == "sample" else next((s for s in said if s.startswith("done:")), "done")

    def measure(self, model: str, label: str) -> None:
        """Judge a policy, unless it was judged."""
        if (self.folder / "judged" / f"{label}.jsonl").is_file():
            return
        self.watch.say(f"{label}: judging")
        self.wait(python("-m", "rlvr_cli.pipeline.judge", str(self.folder), model, label), f"judge-{label}")

    def read_rewards(self) -> None:
        """Let the chain's last reward model read all replies, where it trained one."""
        model = next((step for step in reversed(self.steps) if step.is_reward_model), None)
        if model and not (self.folder / "judged" / "learned.json").is_file():
            argv = python("-m", "rlvr_cli.pipeline.judge", str(self.folder), str(model.model), "--learned")
            self.wait(argv, "judge-learned")

    def wait(self, argv: list[str], label: str, *, metrics: Path | None = None) -> None:
        """Run one process tree to its end, its output in ``logs/<label>.log``; raises :class:`Stopped` when it fails."""
        log = self.folder / "logs" / f"{label}.log"
        child = Kept.start(argv, log, env=dict(os.environ))
        try:
            while child.poll() is None:
                self.watch.look(label, metrics)
                time.sleep(POLL_S)
        finally:
            with uninterrupted():
                child.stop()
        if code := child.poll():
            said = [line for line in child.tail(12).splitlines() if line.startswith(("rlvr train:", "rlvr sample:"))]
            why = said[-1].partition(": ")[2] if said else f"exit code {code}"
            raise Stopped(f"{label}: {why}", code, log)


def freeze_judge(pipeline: Pipeline, folder: Path) -> None:
    """``judge.json``: each task composed once, so that the child needs no Hydra."""
    told = judge_settings(pipeline)
    run_dir.write_atomic(folder / judge.SETTINGS, json.dumps(told) + "\n")


def judge_settings(pipeline: Pipeline) -> dict[str, Any]:
    """The measurement's settings. Raises ConfigError for a task's words that are wrong."""
    from rlvr_cli.config.compose import compose

    own = pipeline.judge
    of_model = [word for word in [*pipeline.common, *pipeline.given] if not word.lstrip("+~").startswith(("stage", "curriculum", "recipe"))]
    tasks = {}
    for name, words in own.tasks.items():
        asked = last_of_each([*of_model, *words])
        config = compose([*asked, "checkpoint=pipeline"], root="eval").config
        limits = {"limit": own.limit, "batch_size": own.batch_size}
        config = config.model_copy(update={"eval": config.eval.model_copy(update=limits)})
        tasks[name] = config.model_dump(mode="json")
    rest = own.model_dump(mode="json", include={"format", "text", "prompts", "batch_size", "max_completion_length"})
    return {"tasks": tasks, **rest}


def merge_adapter(step: Step) -> None:
    """Adapters are merged, so that the next stage starts from plain weights."""
    if not (step.path / "final" / "adapter_config.json").is_file():
        return
    from rlvr_cli.commands.export import export
    from rlvr_cli.evaluation.target import find_target

    export(find_target(str(step.path), step.path.parent), step.path / "merged", None)


# ---------------------------------------------------------------------------------------------- records


def status(folder: Path, state: str, **facts: Any) -> None:
    """``status.json`` of the chain."""
    run_dir.write_atomic(folder / "status.json", json.dumps({"state": state, "time": run_dir.now(), **facts}, indent=1) + "\n")


def add_seconds(folder: Path, label: str, seconds: float) -> None:
    """Count a step's wall time over all its attempts in ``seconds.json``."""
    told = run_dir.read_json(folder / "seconds.json")
    told[label] = round(told.get(label, 0.0) + seconds, 1)
    run_dir.write_atomic(folder / "seconds.json", json.dumps(told, indent=1) + "\n")


def summarise(pipeline: Pipeline, folder: Path, steps: Sequence[Step]) -> list[dict[str, Any]]:
    """A line a policy, written to ``summary.json`` and ``table.txt``."""
    scores = run_dir.read_json(folder / "judged" / "learned.json").get("scores", {})
    seconds = run_dir.read_json(folder / "seconds.json")
    policies = [(START, None)] + [(step.label, step) for step in steps if step.makes_policy]
    lines, before = [], None
    for label, step in policies:
        file = folder / "judged" / f"{label}.jsonl"
        if not file.is_file():
            raise LaunchError(f"{file} is not there", fix=f"rlvr train --resume {folder}")
        values = verdict.read(file, scores.get(label))
        line: dict[str, Any] = {"stage": "(start)" if step is None else label, **verdict.summarised(values)}
        if step is not None:
            spent = sum(value for name, value in seconds.items() if name.startswith(f"{step.number}_"))
            line |= {"minutes": round(spent / 60, 2), "run": str(step.path)}
            if step.stage.improves and before is not None:
                line["verdict"] = verdict.verdict(step.stage.improves, before, values)
        lines.append(line)
        before = values
    told = {"pipeline": pipeline.name, "minutes": round(sum(seconds.values()) / 60, 2), "stages": lines}
    run_dir.write_atomic(folder / "summary.json", json.dumps(told, indent=1) + "\n")
    run_dir.write_atomic(folder / "table.txt", table.plain(lines) + "\n")
    return lines
