"""Tools and several turns."""

from __future__ import annotations

from rlvr_cli.config.schema import Config
from rlvr_cli.errors import ConfigError


def has_turns(config: Config) -> bool:
    """Whether a completion may have several turns."""
    return bool(config.environment.tools or config.environment.fn)


def environment(config: Config) -> str | None:
    """An environment is named, its options are for it, and the model can write a call."""
    made = config.environment
    if made.fn == "":
        raise ConfigError("environment=custom needs the class", where="environment.fn", fix="environment.fn=my_module.MyEnvironment")
    if made.options and not made.fn:
        fix = f"environment.tools.{next(iter(made.tools), 'NAME')}.options"
        what = "environment.options are for environment.fn, which is null; a tool has its own"
        raise ConfigError(what, where="environment.options", fix=fix)
    if has_turns(config) and config.model.builder == "rlvr_cli.models.tiny.build":
        raise ConfigError("model=tiny has no tokens for a tool call", where="environment", fix="model=tiny_tools")
    judged = [name for name, term in config.reward.terms.items() if term.fn == "rewards.environment.end_state"]
    if judged and not made.fn:
        what = f"reward.terms.{judged[0]} asks the environment for its verdict, and there is none"
        raise ConfigError(what, where="environment.fn", fix="environment=custom environment.fn=my_module.MyEnvironment")
    return None


def turns_on_ranks(config: Config) -> str | None:
    """TRL's tool loop has a length of its own on each rank: what all ranks must do together would wait for ever in it."""
    if not has_turns(config):
        return None
    h, backend, world = config.hardware, config.generation.backend, (config.hardware.ranks or 1) * config.hardware.nodes
    together = (
        (backend == "vllm_server" and world > 1, f"a vLLM server serves {world} ranks at once", "generation=hf, or hardware.ranks=1"),
        (backend == "vllm_colocate" and config.generation.tensor_parallel_size > 1, "vLLM over several GPUs generates for all of them",
         "generation.tensor_parallel_size=1"),
        (h.zero_stage == 3 and world > 1 and backend == "hf", "ZeRO-3 gathers the weights on all ranks to generate",
         "hardware.zero_stage=2"),
    )  # fmt: skip
    for broken, why, fix in together:
        if broken:
            what = f"{why}, and with tools the ranks do not generate equally often: TRL would hang"
            raise ConfigError(what, where="environment, hardware, generation", fix=fix)
    return None
