"""What every trainer here does alike around its checkpoints, whichever class of TRL it is: one mixin, before TRL's class."""

from __future__ import annotations

import os
from pathlib import Path

from transformers.trainer_utils import PREFIX_CHECKPOINT_DIR


class Checkpoints:
    """Checkpoints under this project's names, and a resume that trains no step too many."""

    def save_beside(self, folder: Path) -> None:
        """What a trainer of this kind keeps in a checkpoint beside TRL's own; on the rank that saves."""

    def _save_checkpoint(self, model, trial):
        """``checkpoints/step_N``: written under TRL's name, given ours when it is whole, so a killed save is never resumed from."""
        super()._save_checkpoint(model, trial)
        self.accelerator.wait_for_everyone()
        if self.args.should_save:
            written = Path(self.args.output_dir) / f"{PREFIX_CHECKPOINT_DIR}-{self.state.global_step}"
            self.save_beside(written)
            os.replace(written, written.with_name(f"step_{self.state.global_step}"))
        self.accelerator.wait_for_everyone()

    def _run_epoch(self, *args, **kwargs):
        """Nothing where nothing is left to train: killed between its last checkpoint and its end, a run would take one step more
        (transformers looks at ``max_steps`` after a step only)."""
        if self.state.global_step >= self.state.max_steps:
            self.control.should_training_stop = True
        else:
            super()._run_epoch(*args, **kwargs)

    def create_model_card(self, *args, **kwargs):
        """None: TRL would write a README beside the checkpoints."""
