"""Answers are judged while others are still being drawn: a server sends the completions of a prompt when they end.

TRL draws a batch, waits for its last completion, then has all of it judged. Where a verdict takes long (tests in a sandbox, a query,
a judge behind HTTP) the server stands idle that while. Here rank 0, whom the server answers, hands the completions of a prompt to the
terms that allow it (``judge_ahead``, see docs/rewards.md) the moment they arrive::

    prompt 3 arrives    -> decoded -> its terms, one prompt at a time, in the order of arrival
    the last arrives    -> the judging under way is waited for, what has not begun is given back
    rewards             -> every rank takes the verdicts of its rows and judges the rest itself, as without this

So a verdict is given once, no rank waits longer than one prompt's judging, and what breaks is raised where it always was: a term that
fails here has judged nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

from rlvr_cli.config.schema import Config
from rlvr_cli.rewards_api import BoundTerm, terms_ahead
from rlvr_cli.rewards_api.score import Said
from rlvr_cli.training.rewards_bridge import NOT_COLUMNS

Found = dict[int, tuple[Any, dict[str, Said]]]  # row -> its completion, and what each term said of it


def attach(trainer: Any, config: Config, server: dict[str, Any] | None) -> None:
    """Let the trainer's server judge ahead, where there is one, a term that may, and no template by which TRL would take a completion
    apart."""
    terms = terms_ahead(config, config.generation.backend, trainer.bridge.terms)
    tokenizer = trainer.processing_class
    parsed = any(getattr(tokenizer, name, None) is not None for name in ("response_template", "response_schema"))
    if not terms or parsed:
        return
    trainer.ahead = Ahead(terms, trainer.num_generations, lambda ids: tokenizer.batch_decode(ids, skip_special_tokens=True))
    from rlvr_cli.weights import generation

    client = generation.drawing_client(trainer, config, server)
    if client is not None:
        client.on_reply = trainer.ahead.arrived


class Ahead:
    """terms: :func:`rlvr_cli.rewards_api.terms_ahead`'s; decode: token ids of several completions -> their texts.

    ``open`` from ``begin`` to ``end``."""

    def __init__(self, terms: Sequence[BoundTerm], num_generations: int, decode: Callable[[list[list[int]]], list[str]]):
        self.terms, self.size, self.decode = list(terms), num_generations, decode
        self.worker = ThreadPoolExecutor(1, "rlvr-ahead")  # one prompt at a time: a term uses all cores it may by itself
        self.rows: list[dict[str, Any]] = []
        self.futures: list[Future[Found]] = []
        self.open = False

    def begin(self, inputs: Sequence[dict[str, Any]]) -> None:
        """The rows of this rank's next completions. Every rank must call it."""
        from accelerate.utils import gather_object

        self.rows = gather_object(list(inputs))[:: self.size]
        self.futures, self.open = [], True

    def arrived(self, prompt: int, completion_ids: list[list[int]]) -> None:
        """The completions of one prompt, numbered as it was sent. From any thread of rank 0."""
        if self.open and prompt < len(self.rows) and len(completion_ids) == self.size:
            self.futures.append(self.worker.submit(self.judge, prompt, completion_ids))

    def judge(self, prompt: int, completion_ids: list[list[int]]) -> Found:
        """What the terms say of one prompt's completions. Raises nothing: what breaks here will break again where rewards are
        computed, and be raised on every rank."""
        row, texts = self.rows[prompt], self.decode(completion_ids)
        completions = texts if isinstance(row["prompt"], str) else [[{"role": "assistant", "content": text}] for text in texts]
        columns = {name: [value] * self.size for name, value in row.items() if name not in NOT_COLUMNS}
        said: list[dict[str, Said]] = [{} for _ in texts]
        for term in self.terms:
            try:
                result = term.call([row["prompt"]] * self.size, completions, columns)
            except Exception:
                continue
            for j, verdict in enumerate(zip(result.scores, result.reasons, result.extracted, strict=True)):
                if result.applicable[j]:
                    said[j][term.name] = verdict
        return {prompt * self.size + j: pair for j, pair in enumerate(zip(completions, said, strict=True))}

    def end(self, completions: Sequence[Any]) -> list[dict[str, Said]]:
        """For each of this rank's completions what the terms said of exactly it; empty where nothing did. Every rank must call it."""
        from accelerate import PartialState
        from accelerate.utils import broadcast_object_list

        self.open = False
        for future in self.futures:
            future.cancel()
        wait([future for future in self.futures if not future.cancelled()])
        found = [{row: pair for future in self.futures if not future.cancelled() for row, pair in future.result().items()}]
        broadcast_object_list(found, from_process=0)
        first = PartialState().process_index * len(completions)
        mine = (found[0].get(first + i, (None, {})) for i in range(len(completions)))
        return [said if judged == completion else {} for completion, (judged, said) in zip(completions, mine, strict=True)]
