"""How completions are drawn: sampling, lengths, the server."""

from __future__ import annotations

from rlvr_cli.config.schema import Config
from rlvr_cli.errors import ConfigError

SERVER_OURS = {
    "model", "host", "port", "served_model_name", "weight_transfer_config", "logprobs_mode", "max_logprobs", "max_model_len",
    "tensor_parallel_size", "dtype", "seed",
}  # fmt: skip


def uses_vllm(config: Config) -> bool:
    """Whether completions certainly come from vLLM (``auto`` is judged once the plan has settled it)."""
    return config.generation.backend in ("vllm_server", "vllm_colocate")


def untruncated_sampling(config: Config) -> str | None:
    """The importance correction assumes that the server sampled from the whole distribution."""
    g = config.generation
    cut = [f"{k}={v:g}" for k, v, plain in (("top_p", g.top_p, 1), ("top_k", g.top_k, 0), ("min_p", g.min_p or 0, 0)) if v != plain]
    if uses_vllm(config) and g.importance_sampling_correction and cut:
        raise ConfigError(
            f"generation.{cut[0]} cuts the distribution, and generation.importance_sampling_correction is biased by that",
            where="generation",
            fix="generation.top_p=1.0 generation.top_k=0 generation.min_p=null",
        )
    return None


def vespo_mode(config: Config) -> str | None:
    """VESPO has a sequence weight already."""
    g = config.generation
    if (
        config.algorithm.loss_type == "vespo"
        and uses_vllm(config)
        and g.importance_sampling_correction
        and "sequence" in g.importance_sampling_mode
    ):
        raise ConfigError(
            f"algorithm.loss_type=vespo needs a token mode, generation.importance_sampling_mode is {g.importance_sampling_mode}",
            where="generation.importance_sampling_mode",
            fix="generation.importance_sampling_mode=token_truncate",
        )
    return None


def long_sequences(config: Config) -> str | None:
    """A product over many tokens leaves the bound, and a masked sequence teaches nothing."""
    g = config.generation
    if (
        uses_vllm(config)
        and g.importance_sampling_correction
        and "sequence" in g.importance_sampling_mode
        and g.max_completion_length > 500
    ):
        return f"generation.importance_sampling_mode={g.importance_sampling_mode} zeroes long completions; token_truncate does not"
    return None


def context_length(config: Config) -> str | None:
    """Prompt and completion must fit the server's context."""
    g, prompt = config.generation, config.dataset.max_prompt_tokens
    if g.max_model_len is None:
        return None
    if prompt is not None and prompt + g.max_completion_length > g.max_model_len:
        raise ConfigError(
            f"dataset.max_prompt_tokens={prompt} + generation.max_completion_length={g.max_completion_length} exceed "
            f"generation.max_model_len={g.max_model_len}",
            where="generation.max_model_len",
            fix=f"generation.max_model_len={prompt + g.max_completion_length}",
        )
    if g.max_completion_length >= g.max_model_len:
        raise ConfigError(
            f"generation.max_completion_length={g.max_completion_length} leaves no prompt in generation.max_model_len={g.max_model_len}",
            where="generation.max_model_len",
            fix=f"generation.max_model_len={g.max_completion_length + 512}",
        )
    return None


def length_stages(config: Config) -> str | None:
    """A first stage longer than the last, or one that any share of cut completions ends, is no stage."""
    start, longest = config.generation.length_stages.start, config.generation.max_completion_length
    if start is None:
        return None
    if start > longest:
        raise ConfigError(
            f"generation.length_stages.start={start} is above generation.max_completion_length={longest}, the last stage",
            where="generation.length_stages.start, generation.max_completion_length",
            fix=f"generation.length_stages.start={max(1, longest // 4)}",
        )
    if start == longest:
        return f"generation.length_stages.start={start} is the last stage already: nothing will grow"
    return None


def server_flags(config: Config) -> str | None:
    """The launcher sets some of vLLM's flags; the others may be given without dashes in front."""
    for name, value in config.generation.server_args.items():
        plain = name.lstrip("-").replace("-", "_")
        if plain in SERVER_OURS:
            raise ConfigError(
                f"generation.server_args.{name} is set by the launcher",
                where="generation.server_args",
                fix=f"~generation.server_args.{name}",
            )
        if name.startswith("-"):
            raise ConfigError(
                f"generation.server_args.{name} has dashes", where="generation.server_args", fix=f"+generation.server_args.{plain}={value}"
            )
    return None
