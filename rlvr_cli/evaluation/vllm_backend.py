"""Completions from a vLLM server that this evaluation starts, owns and takes down.

Prompts go as token ids, made by the same code as for transformers, and each request carries its draw's own seed, so a
draw does not depend on its neighbours here either. Equal to the transformers backend in distribution, not text by text:
the two turn a seed into tokens differently. What vLLM itself leaves open is rounding by batch shape::

    with VllmBackend(path, config, device="cpu", max_new_tokens=64, log=Path("eval.log")) as backend:
        completions = backend.generate(tokenizer, draws, sampling)
"""

from __future__ import annotations

import json
import os
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from rlvr_cli.config.schema import Config
from rlvr_cli.errors import LaunchError, MissingDependency
from rlvr_cli.evaluation.generate import Completion, Draw, Sampling, draw_seed, prompt_ids, stop_tokens
from rlvr_cli.interpreter import python
from rlvr_cli.models.precision import recorded

MODEL_NAME = "policy"
CONCURRENT = 64
GIB = 1024**3


class VllmBackend:
    """A context manager around one server process."""

    def __init__(self, path: str, config: Config, *, device: str, max_new_tokens: int, log: Path):
        self.path, self.config, self.device, self.log = path, config, device, log
        self.max_new_tokens = max_new_tokens
        self.server: Any = None

    def __enter__(self) -> VllmBackend:
        from importlib.util import find_spec

        from rlvr_cli.launch.ports import free_ports
        from rlvr_cli.launch.processes import Kept
        from rlvr_cli.launch.server import Server, wait_ready

        if find_spec("vllm") is None:
            raise MissingDependency("eval.backend=vllm needs vLLM", where="eval.backend", fix="eval.backend=hf")
        (port,) = free_ports(1)
        kept = Kept.start(self.argv(port), self.log, env={**os.environ, **self.environment()})
        self.server = Server(kept, f"http://127.0.0.1:{port}", None, 0, 0)
        try:
            wait_ready(self.server, self.config.generation.startup_timeout_s, lambda text: print(text, file=sys.stderr))
        except BaseException:
            self.server.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.server.stop()

    def argv(self, port: int) -> list[str]:
        """The server's command line. As in :mod:`.policy`, ``auto`` is float32 on a CPU, and a checkpoint computes as its policy did."""
        from rlvr_cli.weights import PROMPT_ROOM, as_flags

        model, generation, on_cpu = self.config.model, self.config.generation, self.device == "cpu"
        room = self.config.dataset.max_prompt_tokens or PROMPT_ROOM
        flags = {
            "model": self.path,
            "served_model_name": MODEL_NAME,
            "host": "127.0.0.1",
            "port": port,
            "dtype": recorded(Path(self.path)) or ("float32" if model.dtype == "auto" and on_cpu else model.dtype),
            "max_model_len": generation.max_model_len or min(context_of(self.path), room + self.max_new_tokens),
            "generation_config": "vllm",
            "disable_uvicorn_access_log": True,
            "trust_remote_code": model.trust_remote_code,
        }
        if on_cpu:
            flags |= {"enforce_eager": True, "kv_cache_memory_bytes": int(generation.kv_cache_gib * GIB)}
        else:
            flags |= {"tensor_parallel_size": generation.tensor_parallel_size}
        flags |= generation.server_args
        return python("-m", "vllm.entrypoints.openai.api_server", *as_flags(flags))

    def environment(self) -> dict[str, str]:
        """Quiet, and with a bounded cache on a CPU."""
        quiet = {"VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1", "TOKENIZERS_PARALLELISM": "false", "HF_HUB_DISABLE_TELEMETRY": "1"}
        space = {"VLLM_CPU_KVCACHE_SPACE": str(max(1, round(self.config.generation.kv_cache_gib)))} if self.device == "cpu" else {}
        return {**quiet, **space}

    def generate(
        self, tokenizer: Any, draws: Sequence[Draw], sampling: Sampling, *, on_batch: Callable[[int, int], None] | None = None
    ) -> list[Completion]:
        """Completions in the order of ``draws``; many requests at once, the server batches them."""
        ids = [prompt_ids(tokenizer, d.prompt, sampling.template_options) for d in draws]
        choices = self.choices(tokenizer, ids, draws, sampling, on_batch=on_batch)
        return [Completion(c["text"], len(c["token_ids"]), c["finish_reason"] == "length") for c in choices]

    def draw_ids(self, tokenizer: Any, ids: Sequence[Sequence[int]], draws: Sequence[Draw], sampling: Sampling) -> list[list[int]]:
        """Token ids of a completion of each prompt, with its stop token, as :func:`.generate.draw_ids`."""
        return [list(c["token_ids"]) for c in self.choices(tokenizer, ids, draws, sampling)]

    def choices(
        self,
        tokenizer: Any,
        ids: Sequence[Sequence[int]],
        draws: Sequence[Draw],
        sampling: Sampling,
        *,
        on_batch: Callable[[int, int], None] | None = None,
    ) -> list[dict[str, Any]]:
        """The server's choice for each prompt, in order."""
        sampling = replace(sampling, stop_ids=tuple(stops_of(self.path, tokenizer, sampling.stop_ids)))
        out = []
        with ThreadPoolExecutor(CONCURRENT) as threads:
            for choice in threads.map(lambda pair: self.ask(request(*pair, sampling)), zip(ids, draws, strict=True)):
                out.append(choice)
                if on_batch:
                    on_batch(len(out), len(draws))
        return out

    def ask(self, body: dict[str, Any]) -> dict[str, Any]:
        """The choice of one request, with the server's own words where it refuses."""
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        post = urllib.request.Request(
            self.server.base_url + "/v1/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        try:
            with opener.open(post, timeout=self.config.generation.request_timeout_s) as reply:
                answer = json.load(reply)
        except urllib.error.HTTPError as error:
            raise LaunchError(f"the vLLM server refused a request: {error.read().decode('utf-8', 'replace')[:300]}") from error
        except (OSError, ValueError) as error:
            raise LaunchError(f"the vLLM server did not answer: {error}", where=str(self.log)) from error
        return answer["choices"][0]


def context_of(path: str) -> int:
    """Longest sequence that the model knows, in tokens."""
    from transformers import AutoConfig

    return getattr(AutoConfig.from_pretrained(path), "max_position_embeddings", None) or 1 << 20


def stops_of(path: str, tokenizer: Any, extra: Iterable[int]) -> list[int]:
    """Every id that ends a completion, the same ones as with transformers: a server told ``vllm`` does not read the model's own."""
    from types import SimpleNamespace

    from transformers import GenerationConfig

    try:
        own = GenerationConfig.from_pretrained(path)
    except OSError:  # not every folder has a generation_config.json
        own = GenerationConfig()
    return stop_tokens(SimpleNamespace(generation_config=own), tokenizer, extra)


def request(ids: Sequence[int], draw: Draw, sampling: Sampling) -> dict[str, Any]:
    """The body of one completion request."""
    body: dict[str, Any] = {
        "model": MODEL_NAME,
        "prompt": list(ids),
        "max_tokens": sampling.max_new_tokens,
        "temperature": 0.0 if sampling.greedy else sampling.temperature,
        "repetition_penalty": sampling.repetition_penalty,
        "skip_special_tokens": True,
        "return_token_ids": True,
        "stop_token_ids": list(sampling.stop_ids),
    }
    if not sampling.greedy:
        body |= {"top_p": sampling.top_p, "top_k": sampling.top_k, "min_p": sampling.min_p or 0.0}
        body["seed"] = draw_seed(sampling.seed, draw.prompt_id, draw.sample)
    return body
