"""The trainer's side of the server: its own requests, each with a deadline, none of a weight update ever sent twice.

TRL's client waits without limit, sends POSTs again on errors (starting a weight update is not a thing to do twice) and
takes whatever model the port serves. Here a request that fails says what the server answered, and the run stops.
Only drawing completions is tried again, when the connection broke: the same request has the same seed.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import requests
import torch

from rlvr_cli.errors import LaunchError, TrainingError
from rlvr_cli.weights.shared_file import SharedFile

AT_ONCE = 64
TRIES = 3
DTYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16, "float32": torch.float32}


def request_seed(run_seed: int, step: int, prompt: int) -> int:
    """A 48-bit seed of one prompt's completions; the server counts on from it, one a sample.

    >>> request_seed(0, 1, 2) == request_seed(0, 1, 2) != request_seed(0, 2, 2)
    True
    """
    digest = hashlib.sha256(f"{run_seed}\0{step}\0{prompt}".encode()).digest()
    return int.from_bytes(digest[:6], "big")


class DrawingClient:
    """base_url: of ``plan.json``; timeout_s: deadline of one request. ``on_reply(prompt, completion_ids)``, where set, is called from
    any thread as soon as the completions of a prompt are there."""

    def __init__(self, base_url: str, *, seed: int, timeout_s: float, stop_token_ids: Sequence[int] = ()):
        self.base_url, self.seed, self.timeout_s = base_url, seed, timeout_s
        self.stop_token_ids = list(stop_token_ids)
        self.on_reply: Callable[[int, list[list[int]]], None] | None = None
        self.session = requests.Session()
        self.session.trust_env = False  # a proxy of the environment is not on the way to this machine
        self.session.mount("http://", requests.adapters.HTTPAdapter(pool_maxsize=AT_ONCE))
        self.step = self.first = 0  # first: number of the first prompt of the next request, above those that this step has asked
        self.model = self.get("/v1/models")["data"][0]["id"]

    # ------------------------------------------------------------------------------------------------- requests

    def get(self, route: str, **kwargs: Any) -> dict[str, Any]:
        """GET, with a deadline."""
        return self.request("GET", route, **kwargs)

    def post(self, route: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """POST once, with a deadline."""
        return self.request("POST", route, json=body)

    def request(self, method: str, route: str, **kwargs: Any) -> dict[str, Any]:
        """One request; anything but 200 is a LaunchError with the server's own words."""
        try:
            reply = self.session.request(method, self.base_url + route, timeout=self.timeout_s, **kwargs)
        except requests.Timeout as error:
            key = "generation.request_timeout_s"
            what = f"the server did not answer {route} within {self.timeout_s:g} s"
            raise LaunchError(what, where=key, fix=f"{key}={self.timeout_s * 2:g}") from error
        if reply.status_code != 200:
            said = " ".join(reply.text.split())[:300]
            raise LaunchError(f"the server answered {route} with {reply.status_code}: {said}", where="logs/server")
        return reply.json() if reply.content else {}

    def drawn(self, body: dict[str, Any]) -> dict[str, Any]:
        """POST for completions, tried again when the connection broke."""
        for attempt in range(TRIES):
            try:
                return self.post("/v1/completions", body)
            except requests.ConnectionError as error:
                if attempt == TRIES - 1:
                    raise LaunchError(f"the generation server is gone: {error}", where="logs/server") from error
                time.sleep(2.0**attempt)
        raise AssertionError("unreachable")

    # ------------------------------------------------------------------------------------------------- completions

    def generate(
        self, prompts: list[list[int]], *, n: int = 1, generation_kwargs: dict[str, Any] | None = None, **sampling: Any
    ) -> dict[str, Any]:
        """``n`` completions of each prompt (token ids), a seed of its own for each request. TRL's signature and result."""
        sampling.pop("features", None)
        regex = sampling.pop("structured_outputs_regex", None)
        common = {"model": self.model, "n": n, "return_token_ids": True, "stop_token_ids": self.stop_token_ids, **sampling}
        if regex is not None:
            common["structured_outputs"] = {"regex": regex}
        common |= generation_kwargs or {}
        bodies = [{**common, "prompt": ids, "seed": request_seed(self.seed, self.step, i)} for i, ids in enumerate(prompts, self.first)]

        def ask(prompt: int) -> list[dict[str, Any]]:
            found = sorted(self.drawn(bodies[prompt])["choices"], key=lambda c: c["index"])
            if self.on_reply is not None:
                self.on_reply(prompt, [choice["token_ids"] for choice in found])
            return found

        with ThreadPoolExecutor(AT_ONCE) as pool:
            choices = [choice for found in pool.map(ask, range(len(bodies))) for choice in found]
        logprobs = None
        if sampling.get("logprobs") is not None:
            logprobs = [[[value] for value in choice["logprobs"]["token_logprobs"]] for choice in choices]
        return {"prompt_ids": list(prompts), "completion_ids": [c["token_ids"] for c in choices], "logprobs": logprobs}

    def score(self, sequences: list[list[int]]) -> list[list[float]]:
        """Log-probability of every token after the first of each sequence, under the server's weights."""

        def one(ids: list[int]) -> list[float]:
            body = {"model": self.model, "prompt": ids, "max_tokens": 1, "temperature": 1.0, "prompt_logprobs": 0}
            found = self.drawn(body)["choices"][0]["prompt_logprobs"]
            return [found[i][str(ids[i])]["logprob"] for i in range(1, len(ids))]

        with ThreadPoolExecutor(AT_ONCE) as pool:
            return list(pool.map(one, sequences))


class ServerClient(DrawingClient):
    """A client that also sends weights. weights_dir: of ``plan.json``; run: a name for this run's updates."""

    def __init__(self, base_url: str, weights_dir: Path, *, run: str, **drawing: Any):
        super().__init__(base_url, **drawing)
        self.weights_dir, self.run = Path(weights_dir), run
        self.seq = 0
        self.file: SharedFile | None = None
        self.info = self.get("/server_info", params={"config_format": "json"})["vllm_config"]
        self.dtype = self.info["model_config"]["dtype"].removeprefix("torch.")
        self.post("/init_weight_transfer_engine", {"init_info": {"run": run}})

    def update(self, layout: list[tuple[str, Sequence[int]]], parameters: Any, scale_of: Callable[[str], float] | None = None) -> None:
        """Write the parameters, (name, tensor) pairs in any order, and have the server load them."""
        if self.file is None:
            self.file = SharedFile(self.weights_dir / "weights.safetensors", layout, DTYPES[self.dtype])
        written = 0
        for name, tensor in parameters:
            self.file.write(name, tensor, scale_of(name) if scale_of else 1.0)
            written += 1
        if written != len(self.file):
            raise TrainingError(f"{written} parameters were written, but the model has {len(self.file)}", where="weights sync")
        self.load()

    def load(self) -> None:
        """Start, load, finish, forget cached prefixes: each once."""
        self.seq += 1
        self.post("/start_weight_update", {})
        info = {"run": self.run, "seq": self.seq, "path": str(self.file.path), "tensors": len(self.file)}
        self.post("/update_weights", {"update_info": info})
        self.post("/finish_weight_update", {})
        self.post("/reset_prefix_cache")
