"""Weights from the trainer to the server, and the proof that they arrived. On CPU through a file in shared memory.

``server_args`` stands here because what the server is told and what the client relies on must not drift apart: log-probs
after temperature, the development routes, a private address, a seed of its own.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rlvr_cli.config.schema import Config
from rlvr_cli.errors import ConfigError
from rlvr_cli.interpreter import python

PROMPT_ROOM = 1024  # tokens of prompt that a server makes room for where the configuration sets no limit
GIB = 1024**3
SMALLEST_HEAD = 32
# glibc gives large blocks back and takes them again with every update, a page fault for each 4 KiB; kept, a reload costs a fifth less
KEEP_MEMORY = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(4 * GIB)}


def server_args(config: Config, model_path: str | Path, port: int, weights_dir: Path | None, seed: int) -> tuple[list[str], dict[str, str]]:
    """(command line, environment additions) of the run's vLLM server. ``weights_dir`` None means a GPU: NCCL carries the weights."""
    on_cpu = weights_dir is not None
    if on_cpu:
        refuse_small_heads(model_path)
    flags: dict[str, Any] = {
        "model": str(model_path),
        "host": "127.0.0.1",
        "port": port,
        "seed": seed,
        "dtype": server_dtype(config),
        "max_model_len": max_model_len(config, model_path),
        "weight_transfer_config": {"backend": "rlvr_shm" if on_cpu else "nccl"},
        "logprobs_mode": "processed_logprobs",
        "max_logprobs": -1,
        "generation_config": "vllm",
        "disable_uvicorn_access_log": True,
        "trust_remote_code": config.model.trust_remote_code,
        "revision": None if config.model.builder else config.model.revision,
    }
    if on_cpu:
        flags |= {"enforce_eager": True, "kv_cache_memory_bytes": int(config.generation.kv_cache_gib * GIB)}
    else:
        flags["tensor_parallel_size"] = config.generation.tensor_parallel_size
    flags |= config.generation.server_args
    env = {"VLLM_SERVER_DEV_MODE": "1", "VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}
    if on_cpu:
        env |= KEEP_MEMORY | {"VLLM_CPU_KVCACHE_SPACE": str(max(1, round(config.generation.kv_cache_gib)))}
    return python("-m", "vllm.entrypoints.openai.api_server", *as_flags(flags)), env


def refuse_small_heads(model_path: str | Path) -> None:
    """vLLM's CPU attention has no kernel for heads under 32; the server would start and die at its first request."""
    file = Path(model_path) / "config.json"
    made = json.loads(file.read_text()) if file.is_file() else {}
    heads, width = made.get("num_attention_heads"), made.get("hidden_size")
    size = made.get("head_dim") or (width // heads if heads and width else None)
    if size and size < SMALLEST_HEAD:
        what = f"vLLM on CPU has no attention kernel for heads of {size}, only of {SMALLEST_HEAD} and more"
        raise ConfigError(what, where="generation.backend=vllm_server", fix="generation=hf")


def server_dtype(config: Config) -> str:
    """The type the trainer computes in: another one would draw from another policy, finer (autocast over float32 weights) or coarser."""
    from rlvr_cli.training.grpo_config import DTYPES, mixed_precision, weights_dtype

    precision = mixed_precision(config)
    return weights_dtype(config) if precision == "fp32" else DTYPES[precision]


def as_flags(flags: dict[str, Any]) -> list[str]:
    """A mapping as command line flags: true stands alone, false and null are left out, mappings are JSON.

    >>> as_flags({"enforce_eager": True, "seed": 3, "revision": None, "config": {"a": 1}})
    ['--enforce-eager', '--seed', '3', '--config', '{"a": 1}']
    """
    words: list[str] = []
    for name, value in flags.items():
        if value is None or value is False:
            continue
        words.append("--" + name.replace("_", "-"))
        if value is not True:
            words.append(json.dumps(value) if isinstance(value, (dict, list)) else str(value))
    return words


def max_model_len(config: Config, model_path: str | Path) -> int:
    """The configured context, or room for the longest prompt and completion, at most what the model was made for."""
    if config.generation.max_model_len:
        return config.generation.max_model_len
    turned = config.environment.tools or config.environment.fn  # TRL asks for a whole completion again after each answer of a tool
    wanted = (config.dataset.max_prompt_tokens or PROMPT_ROOM) + config.generation.max_completion_length * (2 if turned else 1)
    file = Path(model_path) / "config.json"
    made_for = json.loads(file.read_text()).get("max_position_embeddings") if file.is_file() else None
    return min(wanted, made_for) if made_for else wanted
