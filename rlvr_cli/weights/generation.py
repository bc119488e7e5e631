"""What the trainer calls instead of TRL's vLLM object: the same gather, slice and PEFT merging, with our client behind it.

TRL refuses to sync weights without CUDA; a :class:`ServerGeneration` put in its place after construction is all that the
trainer ever touches, so nothing of TRL is patched. With CUDA this file is not used: TRL's own NCCL path is.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from accelerate.utils import broadcast_object_list
from trl.generation.vllm_generation import VLLMGeneration

from rlvr_cli.config.schema import Config
from rlvr_cli.weights.client import DrawingClient, ServerClient

CALL_STRIDE = 1_000_000  # above the prompts of any generation


def factory(config: Config, server: dict[str, Any]) -> Callable[[Any], ServerGeneration]:
    """A function trainer -> generation, for :class:`rlvr_cli.training.trainer.RLVRTrainer`."""

    def make(trainer: Any) -> ServerGeneration:
        return ServerGeneration(trainer, config, server)

    return make


class Draws:
    """Numbers the requests of a run, so that each has a seed of its own and a resumed run the same ones."""

    def __init__(self, trainer: Any):
        self.trainer = trainer
        self.calls, self.at = 0, -1

    def number(self, client: DrawingClient) -> None:
        """Before a generation: a step that refills its batch draws more than once."""
        step = self.trainer.state.global_step
        self.calls = self.calls + 1 if step == self.at else 0
        client.step, client.first, self.at = step, self.calls * CALL_STRIDE, step


def drawing_client(trainer: Any, config: Config, server: dict[str, Any]) -> DrawingClient | None:
    """The client that draws a run's completions with one request a prompt; None on other ranks than 0.

    TRL's own generation object (CUDA) asks for a whole batch in one request, whose answer comes when all of it has been drawn: it
    gets our requests in the place of that one, and keeps sending the weights by NCCL.
    """
    generation = trainer.vllm_generation
    if not trainer.accelerator.is_main_process:
        return None
    if isinstance(generation, ServerGeneration):
        return generation.vllm_client
    timeout_s, stop = config.generation.request_timeout_s, trainer.eos_token_ids
    client = DrawingClient(server["base_url"], seed=config.seed, timeout_s=timeout_s, stop_token_ids=stop)
    draws, generate = Draws(trainer), generation.generate

    def numbered(*args: Any, **kwargs: Any) -> Any:
        draws.number(client)
        return generate(*args, **kwargs)

    generation.generate, generation.vllm_client.generate = numbered, client.generate
    return client


class ServerGeneration(VLLMGeneration):
    """Completions and weights through a server that this run owns."""

    def __init__(self, trainer: Any, config: Config, server: dict[str, Any]):
        self.trainer, self.config, self.server = trainer, config, server
        self.draws = Draws(trainer)
        super().__init__(
            trainer.model,
            trainer.accelerator,
            trainer.processing_class,
            mode="server",
            repetition_penalty=trainer.repetition_penalty,
            temperature=trainer.temperature,
            top_p=trainer.top_p,
            top_k=trainer.top_k,
            min_p=trainer.min_p,
            max_completion_length=trainer.max_completion_length,
            logprobs=0,
            generation_kwargs=trainer.args.generation_kwargs,
        )

    def _init_vllm(self) -> None:
        """Rank 0 connects; the others wait for it."""
        if self.accelerator.is_main_process:
            self.vllm_client = ServerClient(
                self.server["base_url"],
                Path(self.server["weights_dir"]),
                run=uuid.uuid4().hex,
                seed=self.config.seed,
                timeout_s=self.config.generation.request_timeout_s,
                stop_token_ids=self.trainer.eos_token_ids,
            )
        self.accelerator.wait_for_everyone()

    def generate(self, *args: Any, **kwargs: Any) -> Any:
        """TRL's, with the step in the requests' seeds."""
        if self.accelerator.is_main_process:
            self.draws.number(self.vllm_client)
        return super().generate(*args, **kwargs)

    def sync_weights(self, scale_of: Callable[[str], float] | None = None) -> None:
        """Send the policy's weights; every rank walks the parameters, because gathering one is a collective (ZeRO-3).

        scale_of: a factor for each parameter, for a probe of the transfer itself.
        """
        if self._weight_metadata is None:
            self._weight_metadata = [(name, tuple(parameter.shape)) for name, parameter in self._iter_named_params()]
        if self.accelerator.is_main_process:
            self.vllm_client.update(self._weight_metadata, self._iter_named_params(), scale_of)
        else:
            for _ in self._iter_named_params():
                continue

    def greedy(self, prompts: list[list[int]]) -> list[list[int]]:
        """The likeliest completion of each prompt, on every rank."""
        longest = self.config.generation.max_completion_length  # not the current stage of a growing limit
        settings = {"temperature": 0.0, "max_tokens": longest, "repetition_penalty": self.repetition_penalty}
        return self.from_main(lambda client: client.generate(prompts, **settings)["completion_ids"])

    def score(self, sequences: list[list[int]]) -> list[list[float]]:
        """The server's log-probs of given tokens, on every rank."""
        return self.from_main(lambda client: client.score(sequences))

    def server_dtype(self) -> str:
        """The type the server computes in: ``bfloat16`` ..."""
        return self.from_main(lambda client: client.dtype)

    def from_main(self, ask: Callable[[ServerClient], Any]) -> Any:
        """Ask the server on rank 0 and give every rank the answer."""
        answer = [ask(self.vllm_client) if self.accelerator.is_main_process else None]
        broadcast_object_list(answer, from_process=0)
        return answer[0]
