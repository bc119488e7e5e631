"""Starting real ranks and real servers from tests: a frozen configuration in, its records out."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from rlvr_cli.config.schema import Config
from rlvr_cli.launch.processes import Kept
from rlvr_cli.weights import server_args

REWARD = '''
def right(completions, answer, **kwargs):
    """Half of all texts are right, by checksum; a row whose answer is unknown cannot be judged."""
    texts = [c if isinstance(c, str) else c[0]["content"] for c in completions]
    return [None if a == "unknown" else float(sum(map(ord, t)) % 2) for t, a in zip(texts, answer)]

def right_ahead(completions, answer, **kwargs):
    """The same, for a server's answers as they arrive."""
    return right(completions, answer)

right_ahead.judge_ahead = True

def broken(completions, **kwargs):
    import os
    if os.environ.get("RANK", "0") == "1":
        raise KeyError("no such thing")
    return [0.0 for _ in completions]
'''


def freeze(run_dir: Path, model: Path, /, **groups: dict[str, Any]) -> Path:
    """A ``config.yaml`` for a few steps of a random model; ``groups`` override."""
    run_dir.mkdir(parents=True, exist_ok=True)
    (run_dir / "mine.py").write_text(REWARD)
    settings: dict[str, Any] = {
        "model": {"path": str(model), "dtype": "float32"},
        "dataset": {"generator": "arithmetic", "count": 24, "eval_count": 12},
        "reward": {"terms": {"right": {"fn": f"{run_dir}/mine.py:right"}}},
        "algorithm": {"num_generations": 4},
        "generation": {"backend": "hf", "max_completion_length": 8},
        "optimizer": {"learning_rate": 1e-3},
        "hardware": {"device": "cpu", "ranks": 1, "threads": 1},
        "trainer": {"max_steps": 8, "per_device_train_batch_size": 16, "save_steps": 3, "eval_steps": 4, "bf16": False},
        "guard": {"min_free_disk_gib": 0},
    }
    for name, values in groups.items():
        settings[name] = {**settings.get(name, {}), **values}
    settings["trainer"].setdefault("bf16", False)
    file = run_dir / "config.yaml"
    file.write_text(yaml.safe_dump(settings))
    return file


def torchrun(config_file: Path, ranks: int, timeout: float = 400) -> int:
    """Run the ranks; their exit code. Output lies beside the configuration in ``out.log``."""
    env = {**os.environ, "OMP_NUM_THREADS": "1", "DS_ACCELERATOR": "cpu", "GLOO_SOCKET_IFNAME": "lo", "CUDA_VISIBLE_DEVICES": ""}
    words = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}"]
    with (config_file.parent / "out.log").open("w") as log:
        return subprocess.run(
            [*words, "-m", "rlvr_cli.training.worker", str(config_file)], env=env, stdout=log, stderr=log, timeout=timeout, check=False
        ).returncode


def lines(run_dir: Path, name: str = "metrics.jsonl") -> list[dict[str, Any]]:
    """The records of a run."""
    return [json.loads(line) for line in (run_dir / name).read_text().splitlines()]


def free_port() -> int:
    """A port that nobody has now."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


class RunningServer:
    """A vLLM server on one port that can be stopped and started again."""

    def __init__(self, config: Config, model: Path, weights_dir: Path, log: Path):
        self.config, self.model, self.weights_dir, self.log = config, model, weights_dir, log
        self.port = free_port()
        self.kept: Kept | None = None

    def start(self, deadline_s: float = 300) -> None:
        """Start, and wait until it answers."""
        argv, env = server_args(self.config, self.model, self.port, self.weights_dir, 1)
        self.kept = Kept.start(argv, self.log, env={**os.environ, **env})  # a killed test run leaves no server
        until = time.monotonic() + deadline_s
        while time.monotonic() < until:
            assert self.kept.poll() is None, self.log.read_text()[-3000:]
            with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health", timeout=2):
                return
            time.sleep(0.5)
        raise AssertionError(self.log.read_text()[-3000:])

    def stop(self) -> None:
        """Take its whole group down."""
        self.kept.stop()

    def plan(self) -> dict[str, Any]:
        """The server's entry of ``plan.json``."""
        base_url = f"http://127.0.0.1:{self.port}"
        return {"base_url": base_url, "weights_dir": str(self.weights_dir), "backend": "rlvr_shm", "seed": 1, "group_port": 0}


@contextlib.contextmanager
def server(config: Config, model: Path, folder: Path) -> Iterator[RunningServer]:
    """A running server for the body."""
    (folder / "weights").mkdir(mode=0o700, parents=True)
    running = RunningServer(config, model, folder / "weights", folder / "server.log")
    running.start()
    try:
        yield running
    finally:
        running.stop()
