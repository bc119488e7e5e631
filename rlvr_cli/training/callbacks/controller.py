"""What the controllers of a run share: the numbers of the step that just ended, and a memory that a checkpoint keeps.

A controller (KL, length, entropy) reads what TRL measured and moves one setting for the next step. TRL gathers every
number over ranks before it keeps it, so all ranks read the same and move alike, without a word between them. What a
controller must remember lies in the checkpoint's ``trainer_state.json`` as plain numbers, and a resumed run goes on
from it, not from the start::

    "stateful_callbacks": {"KLControl": {"args": {}, "attributes": {"beta": 0.1}}}

transformers would restore callbacks by making new ones, which know no trainer; these restore themselves instead.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

from transformers import TrainerCallback
from transformers.trainer_callback import ExportableState


class Controller(TrainerCallback, ExportableState):
    """Base of the controllers. ``trainer`` is set before training; ``remembered`` names the attributes that a resume needs."""

    remembered: ClassVar[tuple[str, ...]] = ()

    def __init__(self) -> None:
        self.trainer: Any = None
        self.before: dict[str, int] = {}

    def state(self) -> dict[str, Any]:
        """What the checkpoint keeps."""
        return {"args": {}, "attributes": {name: getattr(self, name) for name in self.remembered}}

    def on_train_begin(self, args, state, control, **kwargs):
        """Take up what the checkpoint remembered."""
        saved = state.stateful_callbacks.setdefault(type(self).__name__, self.state())  # absent: an older checkpoint
        for name in self.remembered if state.global_step else ():
            setattr(self, name, saved["attributes"].get(name, getattr(self, name)))
        self.apply()

    def on_step_begin(self, args, state, control, **kwargs):
        """Mark where this step's numbers begin; TRL's lists run until the next log line."""
        self.before = {name: len(values) for name, values in self.trainer._metrics["train"].items()}

    def measured(self, name: str) -> float | None:
        """Mean of what TRL measured as ``name`` in this step; None when it did not (a step that reused completions, a NaN)."""
        values = self.trainer._metrics["train"].get(name, [])[self.before.get(name, 0) :]
        finite = [value for value in values if value is not None and math.isfinite(value)]
        return sum(finite) / len(finite) if finite else None

    def apply(self) -> None:
        """Put the remembered setting into the trainer."""
