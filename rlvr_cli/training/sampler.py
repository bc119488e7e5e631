"""TRL's prompt order, with the epoch in the seed.

TRL's ``RepeatSampler`` draws all its permutations from one generator that starts at the seed. A run resumed in its
third epoch therefore draws the *first* epoch's order again: some prompts twice, some never. Here each epoch has a
generator of its own, so a resumed run sees exactly what the uninterrupted one would have.

>>> epoch = 0
>>> sampler = EpochRepeatSampler([0] * 6, mini_repeat_count=1, batch_size=2, seed=7, epoch=lambda: epoch)
>>> first = list(sampler)
>>> epoch = 1
>>> second = list(sampler)
>>> fresh = EpochRepeatSampler([0] * 6, mini_repeat_count=1, batch_size=2, seed=7, epoch=lambda: 1)
>>> first != second and list(fresh) == second
True
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from trl.trainer.utils import RepeatSampler

EPOCH_STRIDE = 1_000_003  # a prime far above any seed a person types, so (seed, epoch) pairs do not collide


class EpochRepeatSampler(RepeatSampler):
    """``epoch()`` is asked when iteration starts. It must come from the trainer's state: accelerate's wrappers lose ``set_epoch``."""

    def __init__(self, *args: Any, epoch: Callable[[], int], **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.epoch = epoch

    def __iter__(self) -> Iterator[int]:
        if self.shuffle:
            self.generator = torch.Generator().manual_seed((self.seed or 0) + EPOCH_STRIDE * self.epoch())
        yield from super().__iter__()
