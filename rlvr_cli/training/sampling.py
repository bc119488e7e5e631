"""The seam between TRL's generation and what chooses prompts: rows in, a batch that is worth learning from out, all counted.

TRL's ``_generate_and_score_completions`` asks for completions, then works on them. :class:`Sampling` comes in twice: before,
to put other rows in the place of the sampler's (:mod:`.prompt_choice`), and between generation and the rest, to refill dead
groups (:mod:`.dynamic_sampling`). It also keeps the two things that both need and that outlive a step: the pass rates
(:mod:`.prompt_table`) and the tokens (:mod:`.ledger`); a checkpoint carries them in ``sampling.json``::

    {"tokens": {"generated": 184210, "no_signal": 97340}, "prompts": {"rows": [0, 3], "right": [4.5, 0.0], ...}}
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from rlvr_cli.config.schema import Config
from rlvr_cli.config.schema import DynamicSampling as Refill
from rlvr_cli.rewards_api import correct_of
from rlvr_cli.rewards_api.compose import is_right
from rlvr_cli.training.curriculum import read_columns
from rlvr_cli.training.dynamic_sampling import Batch, DynamicSampling, Rollout, alive_groups
from rlvr_cli.training.ledger import Ledger
from rlvr_cli.training.prompt_choice import PromptChoice

FILE = "sampling.json"
ROW = "rlvr_row"  # column, hidden from rewards, of the training set: a row's own place, which a shuffling loader does not tell


def prepare(config: Config, rows: Sequence[Mapping[str, Any]]) -> PromptChoice:
    """The choice of a run over its training rows. Raises ConfigError where the curriculum's columns are not as it says."""
    settings = config.curriculum
    levels, prior = read_columns(rows, settings)
    return PromptChoice(len(rows), settings, seed=config.seed, levels=levels, prior=prior)


class Sampling:
    """Belongs to one trainer. Every rank must call each method that takes a batch: rewards and counts are gathered."""

    def __init__(self, trainer: Any, choice: PromptChoice | None, refill: Refill):
        self.trainer, self.choice, self.ledger = trainer, choice, Ledger()
        self.dynamic = DynamicSampling(trainer, refill) if refill.max_rounds and choice else None
        self.inputs: list[dict[str, Any]] = []
        self.batch: Batch | None = None
        self.cost: dict[str, float] = {}
        self.tokens = 0  # of this generation and its refills, all ranks

    # ------------------------------------------------------------------------------------------------- around a generation

    def begin(self, inputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The rows of this generation on this rank: the sampler's, or as many others."""
        self.batch, self.cost, self.tokens = None, {}, 0
        self.inputs = self.chosen(inputs) if self.choice and self.choice.replaces else list(inputs)
        return self.inputs

    def chosen(self, inputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Other rows in the place of the sampler's."""
        proposed = self.gathered([[row[ROW]] for row in inputs])[:: self.trainer.num_generations, 0].tolist()
        return self.of_this_rank(self.choice.choose(proposed, **self.clock()))

    def generated(self, prompts: list[Any], fields: tuple[Any, ...]) -> tuple[Any, ...]:
        """What TRL's ``_generate`` returned, with dead groups refilled; ``prompts`` and the rows change in place with it."""
        self.batch = Batch(self.inputs, prompts, Rollout(*fields))
        if self.dynamic is None:
            return fields
        self.choice.began(self.judge(self.batch))
        self.cost = self.dynamic.fill(self.batch)
        return self.batch.rollout.fields()

    def scored(self) -> Any:
        """The scores of the refilled batch; None where nothing has been scored yet."""
        return self.batch.scored if self.batch else None

    def end(self, scored: Any) -> None:
        """The batch is what trains now: its metrics, and the tokens up to here."""
        if self.batch.scored is None:
            self.batch.scored = scored
            self.note(self.batch)
        alive = np.repeat(alive_groups(self.trainer, scored), self.trainer.num_generations)
        self.ledger.add(self.tokens, int(self.batch.tokens[alive].sum()))
        self.log(int(self.batch.tokens.sum()))

    # ------------------------------------------------------------------------------------------------- further prompts

    def further_rows(self, count: int) -> list[int]:
        """At most ``count`` rows that this generation has not asked; the same on every rank."""
        return self.choice.further(count, **self.clock())

    def ask(self, rows: list[int]) -> Batch:
        """Completions and scores of further prompts."""
        inputs = self.of_this_rank(rows)
        prompts = [row["prompt"] for row in inputs]
        batch = Batch(inputs, prompts, Rollout(*self.trainer.generate_again(inputs, prompts)))
        self.judge(batch, first=False)
        return batch

    def judge(self, batch: Batch, first: bool = True) -> list[int]:
        """Score, and note what it says of the prompts; returns their rows, of all ranks."""
        rollout = batch.rollout
        batch.scored = self.trainer.score(batch.inputs, batch.prompts, rollout.completions, rollout.completion_ids, first=first)
        return self.note(batch)

    def note(self, batch: Batch) -> list[int]:
        """Count the tokens and the pass rates of a scored batch, all ranks'; returns the rows of its prompts."""
        written = zip(batch.inputs, batch.rollout.written(), strict=True)
        counts = self.gathered([[row.get(ROW, -1), tokens] for row, tokens in written])  # (rows of all ranks, 2)
        batch.tokens = counts[:, 1].copy()
        self.tokens += int(batch.tokens.sum())
        size = self.trainer.num_generations
        rows = counts[::size, 0].tolist()
        if self.choice:
            right, drawn = passes(batch.scored.results, self.trainer.bridge.terms, size)
            self.choice.table.observe(rows, right, drawn, self.trainer.state.global_step)
        return rows

    def log(self, trained: int) -> None:
        """This generation's metrics, in TRL's lists."""
        metrics = self.trainer._metrics["train"]
        for name, value in self.cost.items():
            metrics[f"dynamic_sampling/{name}"].append(value)
        if self.dynamic:
            metrics["dynamic_sampling/put_aside"].append(self.tokens - trained)
        if self.choice and self.choice.replaces:
            for name, value in self.choice.measured().items():
                metrics[f"curriculum/{name}"].append(value)

    def totals(self) -> dict[str, float]:
        """The run's tokens up to here, for every line: a step that trains on an earlier generation has them too."""
        generated, no_signal = self.ledger.generated, self.ledger.no_signal
        return {"tokens/generated": generated, "tokens/no_signal": no_signal, "tokens/no_signal_share": no_signal / max(1, generated)}

    # ------------------------------------------------------------------------------------------------- rows and ranks

    def row(self, index: int) -> dict[str, Any]:
        """A training row of its own, which rewards may not share with its group."""
        return dict(self.trainer.train_dataset[index])

    def of_this_rank(self, rows: Sequence[int]) -> list[dict[str, Any]]:
        """This rank's slice of ``rows``, each repeated G times."""
        size, accelerator = self.trainer.num_generations, self.trainer.accelerator
        share = len(rows) * size // accelerator.num_processes
        first = accelerator.process_index * share
        return [self.row(rows[place // size]) for place in range(first, first + share)]

    def gathered(self, values: list[list[int]]) -> np.ndarray:
        """(rows of all ranks, columns)."""
        accelerator = self.trainer.accelerator
        return accelerator.gather(torch.tensor(values, dtype=torch.int64, device=accelerator.device)).cpu().numpy()

    def clock(self) -> dict[str, int]:
        """Where the run is."""
        return {"step": self.trainer.state.global_step, "max_steps": self.trainer.state.max_steps}

    # ------------------------------------------------------------------------------------------------- checkpoints

    def save(self, folder: Path) -> None:
        """Into a checkpoint, by one rank: all hold the same."""
        prompts = self.choice.table.state() if self.choice else None
        (folder / FILE).write_text(json.dumps({"tokens": self.ledger.state(), "prompts": prompts}))  # the folder is renamed when whole

    def load(self, folder: Path) -> None:
        """Out of a checkpoint; one that was written before there was such a file starts from nothing, and says so."""
        if not (folder / FILE).is_file():
            print(f"warning: {folder.name} has no {FILE}: tokens and pass rates are counted from here", flush=True)
            return
        kept = json.loads((folder / FILE).read_text())
        self.ledger.load(kept["tokens"])
        if self.choice and kept["prompts"]:
            self.choice.table.load(kept["prompts"])


def passes(results: Mapping[str, Any], terms: Sequence[Any], num_generations: int) -> tuple[list[int], list[int]]:
    """(right, judged) completions of each group: full marks of what says whether an answer is right."""
    correct, _ = correct_of(SimpleNamespace(correct=None, gate=None), terms, results)
    groups = [correct[i : i + num_generations] for i in range(0, len(correct), num_generations)]
    return [sum(map(is_right, group)) for group in groups], [sum(score is not None for score in group) for group in groups]
