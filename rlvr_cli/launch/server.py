"""The generation server of a run: a vLLM process that this run started, owns, and takes down.

Waiting has a deadline and says why it waits: the last line of the server's own log that a person would want to read.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rlvr_cli.config.schema import Config
from rlvr_cli.errors import LaunchError
from rlvr_cli.launch.plan import Plan
from rlvr_cli.launch.ports import free_ports
from rlvr_cli.launch.processes import Kept, tail

POLL_S = 0.5
SAY_EVERY_S = 5.0
_NOISE = re.compile(r"^\(?\w*\s*pid=\d+\)?\s*|^(INFO|WARNING|ERROR|DEBUG)\s+[\d\-: ]+\[[^\]]*\]\s*")


@dataclass
class Server:
    """A running server: its process, its address, and the private folder through which weights travel without CUDA."""

    kept: Kept
    base_url: str
    weights_dir: Path | None
    seed: int
    group_port: int

    def describe(self) -> dict[str, Any]:
        """What a rank needs to reach it (``plan.json``: ``server``)."""
        return {
            "base_url": self.base_url,
            "weights_dir": str(self.weights_dir) if self.weights_dir else None,
            "backend": "rlvr_shm" if self.weights_dir else "nccl",
            "seed": self.seed,
            "group_port": self.group_port,
        }

    def stop(self) -> None:
        """Take the server and everything it started down, and remove its weights folder."""
        self.kept.stop()
        if self.weights_dir:
            shutil.rmtree(self.weights_dir, ignore_errors=True)


def start(config: Config, plan: Plan, model_path: Path, log: Path, *, attempt: int) -> Server:
    """Start the server and return at once; :func:`wait_ready` waits for it."""
    from rlvr_cli.weights import server_args

    port, group_port = free_ports(2)
    weights_dir = make_weights_dir() if plan.device == "cpu" else None
    # a restarted server with the same seed would repeat its random stream, so each attempt has its own
    seed = config.seed * 1000 + attempt
    argv, env = server_args(config, model_path, port, weights_dir, seed)
    devices = {"CUDA_VISIBLE_DEVICES": ",".join(map(str, plan.server_devices))} if plan.server_devices else {}
    kept = Kept.start(argv, log, env={**os.environ, **env, **devices})
    return Server(kept, f"http://127.0.0.1:{port}", weights_dir, seed, group_port)


def make_weights_dir() -> Path:
    """A private folder (mode 0700) in shared memory, or in the temporary folder where there is none."""
    parent = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    return Path(tempfile.mkdtemp(prefix=f"rlvr-{secrets.token_hex(4)}-", dir=parent))


def wait_ready(server: Server, timeout_s: float, say: Callable[[str], None]) -> float:
    """Seconds until the server answered. Raises LaunchError when it died or the deadline passed."""
    start_time, said = time.monotonic(), 0.0
    while (waited := time.monotonic() - start_time) < timeout_s:
        code = server.kept.poll()
        if code is not None:
            raise LaunchError(
                f"the vLLM server ended with code {code} while starting: {last_error(server.kept.log)}", where=str(server.kept.log)
            )
        if answers(server.base_url + "/health"):
            return waited
        if waited - said >= SAY_EVERY_S:
            said = waited
            say(f"server: {waited:.0f} s of {timeout_s:.0f}: {last_news(server.kept.log)}")
        time.sleep(POLL_S)
    raise LaunchError(
        f"the vLLM server did not answer within {timeout_s:.0f} s: {last_news(server.kept.log)}",
        where=str(server.kept.log),
        fix=f"generation.startup_timeout_s={timeout_s * 2:.0f}",
    )


def answers(url: str, timeout: float = 2.0) -> bool:
    """Whether a GET of ``url`` returns 200 in time."""
    try:
        # no proxy: the server is on this machine, whatever http_proxy says
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(url, timeout=timeout) as reply:
            return reply.status == 200
    except (OSError, urllib.error.URLError):
        return False


def last_news(log: Path) -> str:
    """The last informative line of the server's log, without its prefix."""
    lines = [_NOISE.sub("", _NOISE.sub("", line)).strip() for line in tail(log, 30).splitlines()]
    return next((line[:160] for line in reversed(lines) if len(line) > 8), "no word yet")


def last_error(log: Path) -> str:
    """The line that says what killed it: the last one that names an error, else the last one."""
    lines = tail(log, 200).splitlines()
    named = [line for line in lines if re.search(r"\b\w*(Error|Exception)\b\s*:", line)]
    return _NOISE.sub("", _NOISE.sub("", named[-1])).strip()[:300] if named else last_news(log)
