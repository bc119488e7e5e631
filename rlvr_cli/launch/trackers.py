"""What trackers read from the environment: the project, the run's folder, and whatever ``tracker.options`` says.

Trackers take their settings and their keys from environment variables, so ``tracker.options`` is a mapping of those. They
come from the composed configuration in memory: in the frozen file secrets are masked, and a mask is never passed on.

>>> from rlvr_cli.config.schema import Config
>>> config = Config.model_validate({"tracker": {"project": "sums", "options": {"WANDB_MODE": "offline", "WANDB_API_KEY": "***"}}})
>>> found = environment(config, Path("outputs/a"))
>>> found["WANDB_PROJECT"], found["WANDB_MODE"], "WANDB_API_KEY" in found
('sums', 'offline', False)
"""

from __future__ import annotations

from pathlib import Path

from rlvr_cli.config.schema import Config
from rlvr_cli.masking import MASK

PROJECT = ("WANDB_PROJECT", "MLFLOW_EXPERIMENT_NAME", "SWANLAB_PROJECT")


def environment(config: Config, run_dir: Path) -> dict[str, str]:
    """Environment variables of the ranks for the trackers."""
    tracker = config.tracker
    project = dict.fromkeys(PROJECT, tracker.project) if tracker.project else {}
    options = {name: str(value) for name, value in tracker.options.items() if value not in (None, MASK)}
    return {**project, "TENSORBOARD_LOGGING_DIR": str(run_dir / "tensorboard"), **options}
