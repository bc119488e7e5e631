"""How many tokens a run has generated, and how many of them taught nothing: what two runs must be equal in to be compared.

A completion whose group's rewards are all equal has advantage 0, and one that dynamic sampling put aside never trains;
both were paid for. Counts are of all ranks, exact, and survive a resume::

    tokens/generated 184210    tokens/no_signal 97340     in metrics.jsonl, from the start of the run
"""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass
class Ledger:
    """generated: completion tokens since the start; no_signal: those in groups whose rewards were all equal, or put aside."""

    generated: int = 0
    no_signal: int = 0

    def add(self, generated: int, in_the_loss: int) -> None:
        """A generation: all its tokens, and those that stand in groups with signal."""
        self.generated += generated
        self.no_signal += generated - in_the_loss

    def state(self) -> dict[str, int]:
        """For a checkpoint."""
        return asdict(self)

    def load(self, state: dict[str, int]) -> None:
        """Go on from :meth:`state`."""
        self.generated, self.no_signal = state["generated"], state["no_signal"]
