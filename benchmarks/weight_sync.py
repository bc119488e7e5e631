"""Sending 135M parameters to the CPU server beside copying one bfloat16 safetensors file within shared memory: the ratio.

    python benchmarks/weight_sync.py [rounds]

A sync casts the trainer's weights into the shared file, has the server load them through its prepacking kernels, and
clears cached prefixes. Goal: at most twice the copy.
"""

from __future__ import annotations

import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "integration")]


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    import torch
    from ranks import freeze, server
    from transformers import AutoModelForCausalLM

    from rlvr_cli.config.compose import read_frozen
    from rlvr_cli.models import smollm2
    from rlvr_cli.weights.client import ServerClient

    torch.set_num_threads(1)  # as the plan gives a trainer beside a server on two cores; spinning threads would measure each other
    path = smollm2.build(0)
    model = AutoModelForCausalLM.from_pretrained(path, dtype=torch.bfloat16)
    parameters = [(name, p.data) for name, p in model.named_parameters()]
    layout = [(name, tuple(p.shape)) for name, p in parameters]
    syncs, copies, writes = [], [], []
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        shared = Path(folder)
        config = read_frozen(freeze(shared / "run", path, model={"dtype": "auto"}, hardware={"zero_stage": 2}, trainer={"bf16": True}))
        original = Path(shutil.copy(path / "model.safetensors", shared / "original"))
        with server(config, path, shared / "server") as running:
            client = ServerClient(running.plan()["base_url"], running.weights_dir, run="benchmark", seed=0, timeout_s=60)
            client.update(layout, iter(parameters))  # the first one makes the file
            for _ in range(rounds):
                syncs.append(timed(lambda: client.update(layout, iter(parameters))))
                writes.append(timed(lambda: [client.file.write(name, p) for name, p in parameters]))
                (shared / "copy").unlink(missing_ok=True)
                copies.append(timed(lambda: shutil.copy(original, shared / "copy")))
    sync, write, copy = (statistics.median(times) for times in (syncs, writes, copies))
    print(f"sync {sync * 1000:.0f} ms (of which writing {write * 1000:.0f} ms), copy {copy * 1000:.0f} ms, medians of {rounds}")
    print(f"ratio {sync / copy:.2f} (goal: at most 2)")


def timed(work) -> float:
    """Seconds of ``work()``."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
