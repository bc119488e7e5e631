"""What each piece of the recipe gains: arms x seeds at equal generated tokens, on a task where its illness is there to be seen.

    python benchmarks/ablations.py group                         G = 2, 4, 8, 16
    python benchmarks/ablations.py kl kl_noise length            several studies, one after the other
    python benchmarks/ablations.py smollm2 --seeds 0             the collapse of a real model and its cure: minutes a run
    python benchmarks/ablations.py kl --arms none,bands --with trainer.eval_steps=5

Every run is what `rlvr train` does with the words of its arm, ended by `trainer.max_generated_tokens`; runs that are there already
are read, not repeated. A study leaves `outputs/ablations/STUDY/result.json` and prints a table. Accuracy is greedy on held-out
prompts: the mean over seeds, Wilson's interval of all seeds' answers together, and the lowest and highest seed. Seeds change data
order and sampling; the tiny model they start from is the same.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

ROOT = Path(__file__).parents[1]
ENV = {**os.environ, "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1"), "PYTHONPATH": str(ROOT)}
Line = Mapping[str, Any]
Measure = Callable[[Sequence[Line]], float]


def mean_of(name: str, last: int | None = None) -> Measure:
    """Mean of a metric over the steps of a run, or over its last few."""

    def measure(lines: Sequence[Line]) -> float:
        values = [line[name] for line in lines if line.get(name) is not None]
        return fmean(values[-last:] if last else values) if values else float("nan")

    return measure


def fall(lines: Sequence[Line]) -> float:
    """How much accuracy the last evaluation has lost against the best."""
    accuracy = [line["eval/accuracy"] for line in lines if "eval/accuracy" in line]
    return max(accuracy) - accuracy[-1]


def silent(lines: Sequence[Line]) -> float:
    """Share of the generated tokens that stood in tied groups or were put aside."""
    last = [line for line in lines if line.get("tokens/generated")][-1]
    return last["tokens/no_signal"] / last["tokens/generated"]


@dataclass(frozen=True)
class Study:
    """question: what the table answers; common, arms: words of `rlvr train`; tokens: the budget of a run; shows: the illness in numbers."""

    question: str
    arms: dict[str, list[str]]
    common: list[str]
    tokens: int | None
    shows: dict[str, Measure]
    task: dict[str, Any] | None = None  # keys of the arithmetic generator; None is the embedded default's
    tiny: bool = True
    chains: dict[str, str] = field(default_factory=dict)  # arms that are a pipeline of two stages: its last one, from what the first left


# A constant rate, so that a run of any length is the same run; no checkpoints; enough held-out prompts for a table.
SMALL = [
    "optimizer.lr_scheduler_type=constant", "optimizer.learning_rate=2e-4", "trainer.save_steps=0", "trainer.eval_steps=10",
    "dataset.eval_count=300", "trainer.samples_per_step=0", "trainer.max_steps=1000", "guard.entropy.action=off",
]  # fmt: skip
# Sums of two to six digits: 13 to 45 tokens, so that a limit of 40 cuts the longest; the start model gets about four of ten right.
LONGER = {"terms": 2, "terms_max": 6, "min": 1, "max": 9}
LONGER_WORDS = [f"dataset.{key}={value}" for key, value in LONGER.items()]
# Threads are given, so that two runs side by side do not wait for each other's.
SMOLLM2 = ["recipe=smollm2_arithmetic", "trainer.save_steps=0", "trainer.eval_steps=8", "trainer.samples_per_step=0", "hardware.threads=1"]
PLAIN = ["trainer.max_steps=60", "optimizer.lr_scheduler_type=constant", "algorithm.epsilon_high=0.2", "guard.entropy.action=off"]
STOP = ["guard.entropy.action=stop_at_best", "guard.early_stop_evals=2"]

STUDIES = {
    "group": Study(
        "Group size at equal tokens: more prompts, or a better baseline?",
        {f"G={g}": [f"algorithm.num_generations={g}"] for g in (2, 4, 8, 16)},
        SMALL,
        80_000,
        {"tied groups": mean_of("frac_reward_zero_std"), "tokens without signal": silent},
    ),
    "reuse": Study(
        "Several optimizer steps from one generation: do old completions teach as much as new ones?",
        {f"mu={mu}": [f"algorithm.num_iterations={mu}"] for mu in (1, 2, 4)},
        SMALL,
        60_000,
        {"steps": lambda lines: lines[-1]["step"], "clipped": mean_of("clip_ratio/region_mean"), "fall from the best": fall},
    ),
    "kl": Study(
        "KL control where the reward is right: what does holding on cost?",
        {"none": [], "bands": ["algorithm=kl_bands"], "target": ["algorithm=kl_target", "algorithm.kl_control.gain=0.5"]},
        SMALL,
        60_000,
        {"KL at the end": mean_of("kl", 5), "beta at the end": mean_of("beta", 1)},
    ),
    "kl_noise": Study(
        "KL control where the reward is a coin: how far is the policy carried away?",
        {"none": [], "bands": ["algorithm=kl_bands"], "target": ["algorithm=kl_target", "algorithm.kl_control.gain=0.5"]},
        [*SMALL, "reward=random"],
        60_000,
        {"fall from the best": fall, "KL at the end": mean_of("kl", 5), "beta at the end": mean_of("beta", 1)},
    ),
    "length": Study(
        "Sums of two to six numbers, the longest over the limit: what to do with cut answers?",
        {
            "plain": [],
            "mask": ["algorithm.mask_truncated_completions=true"],
            "overlong": ["reward=length_overlong"],
            "shorter": ["reward=length_kimi_paper"],
            "staged": ["generation.length_stages.start=20", "generation.length_stages.patience=3"],
        },
        [*SMALL, *LONGER_WORDS, "generation.max_completion_length=40"],
        60_000,
        {
            "mean length": mean_of("completions/mean_length"), "cut": mean_of("completions/clipped_ratio"),
            "steps": lambda lines: lines[-1]["step"],
        },
        LONGER,
    ),
    "smollm2": Study(
        "A real model: plain GRPO collapses; does the default reach its best with 0.6 of the tokens, and stay?",
        {
            "smollm2_plain": PLAIN,
            "smollm2_default": [],
            "smollm2_clip_higher": [*PLAIN, "algorithm.epsilon_high=0.28", "algorithm.num_iterations=2"],
            "smollm2_entropy": [*PLAIN, "algorithm.use_adaptive_entropy=true", "algorithm.entropy_target=0.2"],
            "smollm2_dynamic": [*PLAIN, "algorithm.dynamic_sampling.max_rounds=2"],
            "smollm2_reuse": ["algorithm.num_iterations=2", "trainer.max_steps=48"],
            "smollm2_reuse_longer": ["algorithm.num_iterations=2", "trainer.max_steps=72"],
            "smollm2_curriculum": ["trainer.max_steps=60", "curriculum=pass_rate", *STOP],
            "smollm2_stop": [*PLAIN, *STOP],
            "smollm2_cold": [],
        },
        SMOLLM2,
        None,
        {
            "fall from the best": fall, "entropy at the end": mean_of("entropy", 5), "tied at the end": mean_of("frac_reward_zero_std", 5),
            "tokens without signal": silent,
        },
        tiny=False,
        chains={"smollm2_cold": "smollm2_arithmetic"},
    ),
}  # fmt: skip


def start_of(study: Study) -> list[str]:
    """The words that choose the start model: one tiny model for all runs of a study, built where it is not there yet."""
    if not study.tiny:
        return []
    from rlvr_cli.models import tiny

    return ["model=tiny", "model.builder=null", f"model.path={tiny.build(0, task=study.task)}"]


def after_cold_start(pipeline: str, common: list[str], folder: Path) -> list[str]:
    """The words of a pipeline's last stage, from the model of its first, which is trained into ``folder`` where it is not there yet."""
    import yaml

    chain = yaml.safe_load((ROOT / "conf" / "pipeline" / f"{pipeline}.yaml").read_text())
    first, last = chain["stages"].values()
    run([*common, *first["words"]], folder, here=False)
    return [*last["words"], "model.builder=null", f"model.path={folder / 'final'}"]


def run(words: list[str], folder: Path, *, here: bool) -> float | None:
    """One run; its seconds, or None where it was there already. ``here``: in this process, which spares a tiny run half of its time."""
    if (folder / "training.json").is_file():
        return None
    started = time.monotonic()
    (run_here if here else run_command)(words, folder)
    return time.monotonic() - started


def run_here(words: list[str], folder: Path) -> None:
    """Compose, plan and freeze as `rlvr train` does, then call the worker that torchrun would start."""
    from rlvr_cli.config.compose import compose, frozen_text
    from rlvr_cli.config.preflight import World
    from rlvr_cli.launch.freeze import freeze
    from rlvr_cli.training import worker

    world = World(compose(words).config)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text(frozen_text(freeze(world.config, world.plan)))
    if worker.main([str(folder / "config.yaml")]):
        sys.exit((folder / "failure.json").read_text())


def run_command(words: list[str], folder: Path) -> None:
    """`rlvr train` in a process of its own. Ends the program with the run's last words when it fails."""
    command = [sys.executable, "-m", "rlvr_cli.main", "train", *words, f"run.dir={folder.parent}", f"run.name={folder.name}", "--clean"]
    done = subprocess.run(command, env=ENV, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout[-1500:]}\n{done.stderr[-1500:]}")


def lines_of(folder: Path) -> list[Line]:
    """The run's metrics."""
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def measured(study: Study, lines: Sequence[Line]) -> dict[str, Any]:
    """What one run shows."""
    evals = [line for line in lines if "eval/accuracy" in line]
    spent = [line["tokens/generated"] for line in lines if line.get("tokens/generated")]
    return {
        "first": evals[0]["eval/accuracy"], "best": max(e["eval/accuracy"] for e in evals), "last": evals[-1]["eval/accuracy"],
        "n": evals[-1]["eval/n"], "tokens": spent[-1] if spent else None, "steps": lines[-1]["step"],
        "curve": [[int(e.get("tokens/generated") or 0), e["eval/accuracy"]] for e in evals],
        **{name: measure(lines) for name, measure in study.shows.items()},
    }  # fmt: skip


def together(runs: Sequence[dict[str, Any]], key: str) -> str:
    """``0.912 [0.891, 0.929] (0.900-0.920)``: mean, Wilson's interval of all answers, range over seeds."""
    from rlvr_cli.evaluation.intervals import wilson

    values, n = [r[key] for r in runs], sum(r["n"] for r in runs)
    low, high = wilson(round(sum(r[key] * r["n"] for r in runs)), n)
    return f"{fmean(values):.3f} [{low:.3f}, {high:.3f}] ({min(values):.3f}-{max(values):.3f})"


def share_of_first_arm(results: Mapping[str, Mapping[str, dict[str, Any]]], arm: str) -> str:
    """Tokens until the first arm's best accuracy, as a share of what the first arm itself needed; by seed, then the mean."""
    first = next(iter(results))
    shares = []
    for seed, plain in results[first].items():
        if seed in results[arm]:
            theirs, ours = (first_to(r["curve"], plain["best"]) for r in (plain, results[arm][seed]))
            if theirs:  # else its best is its start, and nothing was reached
                shares.append(None if ours is None else ours / theirs)
    if not shares:
        return "-"
    reached = [s for s in shares if s is not None]
    return f"{fmean(reached):.2f} ({len(reached)} of {len(shares)})" if reached else f"never (0 of {len(shares)})"


def first_to(curve: Sequence[Sequence[float]], accuracy: float) -> float | None:
    """Tokens at the first point of a curve that is as high."""
    return next((tokens for tokens, reached in curve if reached >= accuracy), None)


def table(study: Study, results: Mapping[str, Mapping[str, dict[str, Any]]]) -> str:
    """The study as a Markdown table."""
    heads = ["arm", "best held-out", "at the end", f"tokens to the best of {next(iter(results))}", *study.shows]
    rows = []
    for arm, by_seed in results.items():
        runs = list(by_seed.values())
        means = [fmean(r[name] for r in runs) for name in study.shows]
        shown = ["-" if mean != mean else f"{mean:.3g}" for mean in means]
        rows.append([arm, together(runs, "best"), together(runs, "last"), share_of_first_arm(results, arm), *shown])
    body = [" | ".join(row) for row in [heads, ["---"] * len(heads), *rows]]
    return "\n".join(f"| {line} |" for line in body)


def conduct(name: str, args: argparse.Namespace) -> None:
    """Run what is missing of a study, write its result, print its table."""
    study, out = STUDIES[name], Path(args.out).resolve() / name
    arms = {arm: words for arm, words in study.arms.items() if not args.arms or arm in args.arms.split(",")}
    budget = args.tokens or study.tokens
    common = [*start_of(study), *study.common, *([f"trainer.max_generated_tokens={budget}"] if budget else [])]
    results: dict[str, dict[str, Any]] = {arm: {} for arm in arms}
    for seed in args.seeds.split(","):
        for arm, words in arms.items():
            folder = out / f"{arm}-{seed}".replace("=", "")
            seeded = [*common, f"seed={seed}"]
            if arm in study.chains:
                words = after_cold_start(study.chains[arm], seeded, out / f"{arm}-{seed}-cold_start")
            seconds = run([*seeded, *words, *args.words], folder, here=study.tiny)
            got = results[arm][seed] = measured(study, lines_of(folder)) | {"seconds": seconds}
            accuracy = f"{got['first']:.3f} -> best {got['best']:.3f}, end {got['last']:.3f}"
            print(f"{name} {arm} seed {seed}: {accuracy}, {got['tokens']} tokens, {seconds or 0:.0f} s", flush=True)
    record = {"study": name, "question": study.question, "tokens": budget, "common": study.common, "words": args.words, "arms": arms,
              "seeds": args.seeds, "results": results}  # fmt: skip
    (out / "result.json").write_text(json.dumps(record, indent=1) + "\n")
    n = next(iter(next(iter(results.values())).values()))["n"]
    print(f"\n{study.question}\n{budget or 'no'} tokens a run, seeds {args.seeds}, {n} held-out prompts a seed\n", flush=True)
    print(f"{table(study, results)}\n", flush=True)


def main() -> None:
    """The studies named on the command line."""
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("studies", nargs="+", choices=sorted(STUDIES))
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--arms", help="only these, with commas; the first is what the others are compared with")
    parser.add_argument("--tokens", type=int, help="budget of a run instead of the study's own")
    parser.add_argument("--out", default=str(ROOT / "outputs" / "ablations"))
    parser.add_argument("--with", dest="words", nargs="*", default=[], metavar="key=value", help="further words for every run")
    args = parser.parse_args()
    for name in args.studies:
        conduct(name, args)


if __name__ == "__main__":
    main()
