"""``pipeline=NAME`` for ``rlvr train`` and ``rlvr check``: every stage is composed and checked before the first one starts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from rlvr_cli.errors import EXIT_OK, RlvrError
from rlvr_cli.pipeline import chain, folder_of
from rlvr_cli.pipeline.spec import Pipeline, load, restore
from rlvr_cli.pipeline.steps import Step, pending, steps_of


def train(words: list[str], *, resume: str | None, clean: bool, dry_run: bool, as_json: bool) -> int:
    """Start a chain, or go on with it; ``dry_run`` says what every stage would run."""
    if resume:
        folder = folder_of(resume)
        pipeline = restore(folder)
    else:
        pipeline, folder = load(words, Path.cwd())
    steps = steps_of(pipeline, folder)
    if dry_run:
        return show(pipeline, steps, as_json)
    print(f"checking {sum(not step.done for step in steps)} steps before the first one starts", flush=True)
    refuse_faults(pipeline, steps)
    chain.open_folder(pipeline, folder, clean=clean)
    if clean:
        steps = steps_of(pipeline, folder)
    print(f"pipeline {pipeline.name} in {folder}: {', '.join(step.label for step in steps)}", flush=True)
    return chain.run(pipeline, folder)


def refuse_faults(pipeline: Pipeline, steps: list[Step]) -> None:
    """The first fault of any stage that is still to run, before anything starts; the stage is named."""
    for finding in findings(pipeline, [step for step in steps if not step.done], steps, strict=True):
        if finding.error is not None:
            error = finding.error
            raise type(error)(f"{finding.name.split(':')[0]}: {error.what}", where=error.where, fix=error.fix)


def check(words: list[str], *, strict: bool) -> Iterator[Any]:
    """Every finding of every stage, named ``STAGE: CHECK``."""
    from rlvr_cli.config.preflight import Finding

    try:
        pipeline, folder = load(words, Path.cwd())
    except RlvrError as error:
        yield Finding("pipeline", "fail", error.what, error.fix, error.where, error=error)
        return
    steps = steps_of(pipeline, folder)
    yield from findings(pipeline, steps, steps, strict=strict)


def findings(pipeline: Pipeline, wanted: list[Step], steps: list[Step], *, strict: bool) -> Iterator[Any]:
    """The checks of ``rlvr check`` for each training stage, of the judge, and of the sampling steps' words."""
    later = pending(steps)
    for step in wanted:
        yield from of_step(step, later, strict=strict)
    yield of_judge(pipeline)


def of_judge(pipeline: Pipeline) -> Any:
    """What judges every stage is there."""
    from rlvr_cli.config.preflight import Finding

    try:
        told = chain.judge_settings(pipeline)
        held(pipeline)
        return Finding("judge: tasks", "ok", ", ".join(told["tasks"]))
    except RlvrError as error:
        return Finding("judge: tasks", "fail", error.what, error.fix, error.where, error=error)


def of_step(step: Step, later: frozenset[str], *, strict: bool) -> Iterator[Any]:
    """One step's findings under the step's name."""
    for finding in checked(step, later, strict=strict):
        yield replace(finding, name=f"{step.label}: {finding.name}")


def checked(step: Step, later: frozenset[str], *, strict: bool) -> Iterator[Any]:
    """What the checks say of one step; a stage that starts from an earlier one is checked with the pipeline's own model in its place."""
    from rlvr_cli.config import checks, preflight
    from rlvr_cli.config.compose import compose
    from rlvr_cli.launch.freeze import freeze

    try:
        if step.stage.run == "sample":
            compose([word for word in step.words if "@{" not in word] + ["checkpoint=earlier"], root="sample")
            yield preflight.Finding("words", "ok", f"writes {step.path}")
            return
        config = compose(step.compose_words(chained=step.base is not None and step.base.done)).config
        frozen = freeze(config, preflight.World(config, strict=strict).plan)
        checks.check(frozen)
    except RlvrError as error:
        yield preflight.Finding("words", "fail", error.what, error.fix, error.where, error=error)
        return
    for finding in preflight.findings(frozen, strict=strict, pending=later):
        if finding.name != "run folder":
            yield finding


def held(pipeline: Pipeline) -> None:
    """The judge's own files can be read."""
    from rlvr_cli.stages.rows import located

    for key in ("text", "prompts"):
        if source := getattr(pipeline.judge, key):
            located(source, f"judge.{key}")


def show(pipeline: Pipeline, steps: list[Step], as_json: bool) -> int:
    """``--dry-run``: each step's command, and what its checks say."""
    later, commands, bad = pending(steps), {}, []
    for step in steps:
        found = list(of_step(step, later, strict=False))
        bad += [f for f in found if f.state == "fail"]
        commands[step.label] = ["rlvr", *step.command()]
        if not as_json:  # step by step: composing and reading the data takes about a second each
            plan = next((f.text for f in found if f.name == f"{step.label}: plan"), "no plan: see below")
            does = "draws and keeps completions" if step.stage.run == "sample" else plan
            print(f"{step.label}{'  (done)' if step.done else ''}\n  {' '.join(commands[step.label])}\n  {does}", flush=True)
    judge = of_judge(pipeline)
    bad += [judge] if judge.state == "fail" else []
    if as_json:
        print(json.dumps({"pipeline": pipeline.name, "commands": commands, "faults": [f"{f.name}: {f.text}" for f in bad]}))
    else:
        print("\nnothing was started (--dry-run)")
    if bad:
        error = bad[0].error
        raise type(error)(f"{bad[0].name}: {error.what}", where=error.where, fix=error.fix)
    return EXIT_OK
