"""What a run writes, under which name, and what must not stand in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from rlvr_cli.config.nearest import nearest
from rlvr_cli.config.schema import Config
from rlvr_cli.errors import ConfigError

TRACKERS = (
    "azure_ml", "clearml", "codecarbon", "comet_ml", "dagshub", "dvclive", "flyte", "kubeflow", "mlflow", "neptune", "swanlab",
    "tensorboard", "trackio", "wandb",
)  # fmt: skip


def trackers(config: Config) -> str | None:
    """transformers takes these names only."""
    for name in config.tracker.report_to:
        if name not in TRACKERS:
            near = nearest(name, TRACKERS)
            raise ConfigError(
                f"tracker.report_to: {name!r} is not a tracker",
                where="tracker.report_to",
                fix=f"tracker={near}" if near else "rlvr ls tracker",
            )
    return None


def no_secrets(config: Config) -> str | None:
    """A run's folder is shared; secrets belong in the environment. ``tracker.options`` become environment variables and may hold them."""
    from rlvr_cli.masking import MASK, masked

    data = config.model_dump(mode="json", exclude={"tracker"})
    for key, value in masked_keys(data, masked(data)):
        if value != MASK:
            raise ConfigError(
                f"{key} looks like a secret, and config.yaml is for everyone", where=key, fix=f"~{key}, and export it in the environment"
            )
    return None


def masked_keys(data: Any, hidden: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted keys whose value masking changed."""
    if isinstance(data, dict):
        for name in data:
            yield from masked_keys(data[name], hidden[name], f"{prefix}{name}.")
    elif data != hidden:
        yield prefix.rstrip("."), data


def run_name(config: Config) -> str | None:
    """A run's name is one folder name."""
    from rlvr_cli.run_dir import check_name

    if config.run.name is not None:
        check_name(config.run.name)
    return None


def remote_code(config: Config) -> str | None:
    """Worth a word each time."""
    if config.model.trust_remote_code:
        return "model.trust_remote_code runs Python from the model's repository on this machine"
    return None


def template_text(config: Config) -> str | None:
    """A template that looks like a file must be one; Jinja text has braces."""
    from pathlib import Path

    template = config.model.chat_template
    if template and not re.search(r"\{[{%]", template) and not Path(template).is_file():
        raise ConfigError(
            f"model.chat_template: there is no file {template!r}", where="model.chat_template", fix="model.chat_template=null"
        )
    return None
