"""``rlvr eval`` from a typed configuration to files: load rows, ask, judge, compare, write.

The order of things for one model is: greedy completions of all prompts, then k seeded draws of each, then the reward's
verdicts. With a baseline the same prompts, settings and seeds are put to the second model, and the greedy verdicts are
compared pair by pair. What it leaves::

    outputs/RUN/eval/arithmetic-final/summary.json    the numbers (see summary.py), equal for equal seeds
    outputs/RUN/eval/arithmetic-final/samples.jsonl   every completion with its verdicts and reasons
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from rlvr_cli.config.schema import Config, EvalConfig
from rlvr_cli.errors import ConfigError, DataError
from rlvr_cli.evaluation import policy
from rlvr_cli.evaluation.compare import compare
from rlvr_cli.evaluation.generate import Completion, Draw, Sampling, draw_ids, generate, prompt_ids, stop_tokens
from rlvr_cli.evaluation.heldout import draws_of, judged_samples
from rlvr_cli.evaluation.summary import summarise
from rlvr_cli.evaluation.target import UNTRAINED, Target, find_target, slug

Say = Callable[[str], None]
Row = dict[str, Any]


@dataclass(frozen=True)
class Evaluation:
    """What was found and where it was written."""

    folder: Path
    summary: dict[str, Any]
    samples: list[dict[str, Any]]


def evaluate(config: EvalConfig, target: Target, *, outputs: Path, say: Say = print) -> Evaluation:
    """Judge ``target`` (and ``config.baseline``), write the files, and return the numbers."""
    policy.need_torch()
    rows = load_rows(config, say)
    against = baseline_target(config, target, outputs)
    samples = ask_and_judge(config, target.path, rows, "checkpoint", say)
    summary = summarise(samples, seed=config.eval.seed)
    if against:
        earlier = ask_and_judge(config, against.path, rows, "baseline", say)
        summary["baseline"] = {"checkpoint": against.said, **summarise(earlier, seed=config.eval.seed)}
        if config.eval.greedy:
            both = ([s for s in each if s["kind"] == "greedy"] for each in (earlier, samples))
            summary["paired"] = compare(*both)
        samples = [*samples, *earlier]
    summary["settings"] = settings(config, target)
    folder = free_folder(target.home(outputs) / "eval" / (config.eval.name or default_name(config, target)), summary)
    write(folder, summary, samples)
    return Evaluation(folder, summary, samples)


def free_folder(folder: Path, summary: dict[str, Any]) -> Path:
    """``folder``, or ``folder-2`` ... where an evaluation with other settings lies: one repeated is replaced, another is never lost."""
    from rlvr_cli.run_dir import read_json

    names = [folder, *(folder.with_name(f"{folder.name}-{n}") for n in range(2, 1000))]
    mine = asked_for(json.loads(json.dumps(summary)))
    return next((p for p in names if not (p / "summary.json").is_file() or asked_for(read_json(p / "summary.json")) == mine), folder)


def asked_for(summary: dict[str, Any]) -> tuple[Any, Any]:
    """What an evaluation was asked for: its settings, and the model that it was compared with."""
    return summary.get("settings"), (summary.get("baseline") or {}).get("checkpoint")


def load_rows(config: EvalConfig, say: Say) -> list[Row]:
    """The held-out rows, the first ``eval.limit`` of them."""
    return held_out_rows(config, say)[: config.eval.limit]


def held_out_rows(config: Config, say: Say) -> list[Row]:
    """All held-out rows of the data set, read without its training side; what fell out is said."""
    from rlvr_cli.data.loader import load

    dataset = config.dataset
    if dataset.generator:
        dataset = dataset.model_copy(update={"count": 1})
    elif dataset.eval:
        dataset = dataset.model_copy(update={"train": None})
    loaded = load(dataset, seed=config.seed, system_prompt=config.model.system_prompt)
    for line in loaded.said():
        if line.startswith("dropped"):
            say(line)
    if not loaded.eval:
        raise DataError("the data set has no held-out rows", where="dataset.eval", fix="dataset.eval=FILE.jsonl")
    return loaded.eval


def baseline_target(config: EvalConfig, target: Target, outputs: Path) -> Target | None:
    """The second model: ``untrained`` is what the run started from."""
    if not config.baseline:
        return None
    if config.baseline not in UNTRAINED:
        return find_target(config.baseline, outputs)
    if target.run is None:
        raise ConfigError(
            f"{target.path} is no run, so what it started from is not known", where=f"baseline={config.baseline}", fix="baseline=MODEL"
        )
    from rlvr_cli.models import prepare

    return Target(str(prepare(config.model, config.seed)), "untrained")


def sampling_of(config: EvalConfig, *, greedy: bool) -> Sampling:
    """The run's own sampling, where ``eval.*`` does not say otherwise."""
    generation, own = config.generation, config.eval
    return Sampling(
        max_new_tokens=own.max_completion_length or generation.max_completion_length,
        greedy=greedy,
        temperature=own.temperature or generation.temperature,
        top_p=own.top_p or generation.top_p,
        top_k=generation.top_k,
        min_p=generation.min_p,
        repetition_penalty=generation.repetition_penalty,
        seed=own.seed,
        stop_ids=tuple(config.model.stop_token_ids),
    )


def ask_and_judge(config: EvalConfig, path: str, rows: list[Row], role: str, say: Say) -> list[dict[str, Any]]:
    """Every record of one model: greedy first, then the k draws of each prompt."""
    terms, pool = config.reward.terms, config.reward.pool.model_dump()
    samples: list[dict[str, Any]] = []
    with asked(config, path, say) as (tokenizer, ask):
        refuse_long(rows, tokenizer, config, say)
        if config.eval.greedy:
            draws = draws_of(rows)
            answers = ask(draws, sampling_of(config, greedy=True), rows)
            samples += judged_samples(rows, draws, answers, terms, kind="greedy", pool=pool)
        if config.eval.k > 1 or not config.eval.greedy:
            draws = draws_of(rows, config.eval.k)
            of_each = [row for row in rows for _ in range(config.eval.k)]
            answers = ask(draws, sampling_of(config, greedy=False), of_each)
            samples += judged_samples(of_each, draws, answers, terms, kind="sample", pool=pool)
    return [{"model": role, **sample} for sample in samples]


Ask = Callable[[list[Draw], Sampling, list[Row]], list[Completion]]


@contextmanager
def asked(config: EvalConfig, path: str, say: Say) -> Iterator[tuple[Any, Ask]]:
    """A tokenizer and a function that answers draws, by transformers or by a vLLM server that ends with this block.

    The function takes draws, sampling and the row of each draw; in a run with an environment it plays the turns.
    """
    import torch

    device = policy.device_of(config.hardware)
    if config.hardware.threads and device == "cpu":
        torch.set_num_threads(config.hardware.threads)
    if backend_of(config, device) == "vllm":
        from rlvr_cli.evaluation.vllm_backend import VllmBackend, context_of, stops_of

        tokenizer = policy.load_tokenizer(path, config.model)
        log = Path(config.run.dir) / "logs" / "eval-server.log"
        longest = sampling_of(config, greedy=True).max_new_tokens
        with VllmBackend(path, config, device=device, max_new_tokens=longest, log=log) as backend:
            stops, context = stops_of(path, tokenizer, config.model.stop_token_ids), context_of(path)
            played = in_environment(config, tokenizer, partial(backend.draw_ids, tokenizer), stops, context)
            yield tokenizer, played or (lambda draws, sampling, rows: backend.generate(tokenizer, draws, sampling, on_batch=progress(say)))
        return
    model, tokenizer = policy.load_policy(path, config.model, device=device)
    size, told = config.eval.batch_size, progress(say)
    stops, context = stop_tokens(model, tokenizer, config.model.stop_token_ids), model.config.max_position_embeddings
    played = in_environment(config, tokenizer, partial(draw_ids, model, tokenizer, batch_size=size), stops, context)
    yield tokenizer, played or (lambda draws, sampling, rows: generate(model, tokenizer, draws, sampling, batch_size=size, on_batch=told))


def in_environment(config: Config, tokenizer: Any, ask: Any, stops: list[int], context: int | None) -> Ask | None:
    """A function that answers draws over several turns; None where the run has one. ``ask`` continues token ids."""
    from rlvr_cli.environments import bind
    from rlvr_cli.verifiers import sandbox

    bound = bind(config.environment)
    if bound is None:
        return None
    from rlvr_cli.environments.turns import Turns

    sandbox.configure(unsafe=config.reward.pool.unsafe)
    turns = Turns(bound, tokenizer, context=context)
    return lambda draws, sampling, rows: turns.completions(ask, draws, rows, sampling, stops)


def progress(say: Say, every_s: float = 10.0) -> Callable[[int, int], None]:
    """A callback that says how far it is, at most once in ``every_s`` seconds."""
    last = time.monotonic()

    def told(done: int, of: int) -> None:
        nonlocal last
        if time.monotonic() - last >= every_s:
            last = time.monotonic()
            say(f"{done} of {of} answered")

    return told


def backend_of(config: EvalConfig, device: str) -> str:
    """``auto``: vLLM on a GPU where it is installed and the model is no built one, transformers otherwise."""
    if config.eval.backend != "auto":
        return config.eval.backend
    from importlib.util import find_spec

    return "vllm" if device == "cuda" and not config.model.builder and find_spec("vllm") else "hf"


def refuse_long(rows: list[Row], tokenizer: Any, config: EvalConfig, say: Say) -> None:
    """Prompts over the training limit are said, not dropped: leaving hard questions out would flatter the model."""
    limit = config.dataset.max_prompt_tokens
    if limit:
        longer = sum(len(prompt_ids(tokenizer, row["prompt"])) > limit for row in rows)
        if longer:
            say(f"{longer} of {len(rows)} prompts are longer than dataset.max_prompt_tokens={limit}; they are judged all the same")


def default_name(config: EvalConfig, target: Target) -> str:
    """``<data set>-<checkpoint>``."""
    data = config.dataset.generator or Path(config.dataset.eval or config.dataset.train or "data").stem
    return slug(f"{data}-{target.label}")


def settings(config: EvalConfig, target: Target) -> dict[str, Any]:
    """Everything the numbers depend on, so that a reader can repeat them."""
    drawn = sampling_of(config, greedy=False)
    return {
        "checkpoint": target.said,
        "dataset": config.dataset.generator or config.dataset.eval or config.dataset.train,
        "limit": config.eval.limit,
        "seed": config.eval.seed,
        "k": config.eval.k,
        "temperature": drawn.temperature,
        "top_p": drawn.top_p,
        "top_k": drawn.top_k,
        "max_completion_length": drawn.max_new_tokens,
        "batch_size": config.eval.batch_size,
        "backend": config.eval.backend,
        "system_prompt": config.model.system_prompt,
        **({"environment": config.environment.model_dump()} if config.environment.tools or config.environment.fn else {}),
        "reward": {name: {"fn": term.fn, "options": term.options} for name, term in config.reward.terms.items()},
    }


def write(folder: Path, summary: dict[str, Any], samples: list[dict[str, Any]]) -> None:
    """Both files, each whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = "".join(json.dumps(s, ensure_ascii=False) + "\n" for s in samples)
    for name, text in (("samples.jsonl", lines), ("summary.json", json.dumps(summary, indent=2, ensure_ascii=False) + "\n")):
        part = folder / f".{name}.part"
        part.write_text(text, encoding="utf-8", errors="backslashreplace")  # a lone surrogate becomes its JSON escape
        part.replace(folder / name)
