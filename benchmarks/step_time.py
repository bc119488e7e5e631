"""A training step of this project, all records on, beside the same step of a hand-written TRL script: the ratio of medians.

    python benchmarks/step_time.py [pairs] [steps]

Pairs are interleaved, because the machine's own speed drifts more than the ratio does. Goal: at most 1.03.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
ENV = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "TOKENIZERS_PARALLELISM": "false", "PYTHONPATH": str(ROOT)}
WARM = 5


def minimal(model: Path, steps: int, folder: Path) -> float:
    """Median seconds a step of the hand-written script."""
    out = folder / "times.json"
    run([sys.executable, str(ROOT / "benchmarks" / "minimal_trl.py"), str(model), str(steps), str(out)])
    return median_gap(json.loads(out.read_text()))


def ours(model: Path, steps: int, folder: Path) -> float:
    """Median seconds a step of the worker that ``rlvr train`` starts."""
    settings = {
        "model": {"path": str(model), "dtype": "float32"},
        "dataset": {"generator": "arithmetic", "count": 4000, "eval_count": 500},
        "reward": {"terms": {"correct": {"fn": "rewards.math.correct"}}},
        "generation": {"backend": "hf", "max_completion_length": 32},
        "optimizer": {"learning_rate": 4e-4},
        "hardware": {"device": "cpu", "ranks": 1, "threads": 1},
        "trainer": {
            "max_steps": steps, "per_device_train_batch_size": 128, "eval_steps": 0, "eval_at_start": False, "save_steps": 0, "bf16": False,
            "per_device_eval_batch_size": 250,
        },
    }  # fmt: skip
    file = folder / "config.yaml"
    file.write_text(yaml.safe_dump(settings))
    run([sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=1", "-m", "rlvr_cli.training.worker", str(file)])
    return median_gap([json.loads(line)["elapsed_s"] for line in (folder / "metrics.jsonl").read_text().splitlines()])


def run(words: list[str]) -> None:
    """Run quietly; show what it said when it fails."""
    done = subprocess.run(words, env=ENV, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr[-3000:])


def median_gap(times: list[float]) -> float:
    """Median time from one step's end to the next, the first few and the last left out."""
    return statistics.median(b - a for a, b in zip(times[WARM:-2], times[WARM + 1 : -1], strict=True))


def main() -> None:
    pairs, steps = (int(word) for word in (sys.argv[1:] + ["5", "40"][len(sys.argv) - 1 :])[:2])
    from rlvr_cli.models import tiny

    model, ratios = tiny.build(0), []
    for pair in range(pairs):
        with tempfile.TemporaryDirectory() as a, tempfile.TemporaryDirectory() as b:
            first, second = minimal(model, steps, Path(a)), ours(model, steps, Path(b))
        ratios.append(second / first)
        print(f"pair {pair + 1}: TRL by hand {first * 1000:.0f} ms a step, rlvr {second * 1000:.0f} ms, ratio {ratios[-1]:.3f}", flush=True)
    print(f"median ratio of {pairs} interleaved pairs: {statistics.median(ratios):.3f} (goal: at most 1.03)")


if __name__ == "__main__":
    main()
