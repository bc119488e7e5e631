"""Which folder a model's weights lie in: built into the user's cache, or named by path or hub id.

>>> from rlvr_cli.config.schema import Model
>>> str(prepare(Model(path="Qwen/Qwen2.5-1.5B-Instruct"), seed=0))
'Qwen/Qwen2.5-1.5B-Instruct'
"""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path

from rlvr_cli.config.schema import Model
from rlvr_cli.errors import ConfigError
from rlvr_cli.interpreter import see_working_folder


def prepare(model: Model, seed: int) -> str | Path:
    """The folder or hub id to load. A ``builder`` runs once; afterwards its folder is found in the cache at once."""
    if not model.builder:
        if not model.path:
            fix = "model=hf model.path=Qwen/Qwen2.5-0.5B-Instruct"
            raise ConfigError("the model has neither a path nor a builder", where="model.path", fix=fix)
        return model.path
    module, _, name = model.builder.rpartition(".")
    see_working_folder()
    try:
        build = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigError(f"no builder {model.builder!r}: {error}", where="model.builder", fix="rlvr_cli.models.tiny.build") from error
    known = [name for name in inspect.signature(build).parameters if name != "seed"]
    for key in model.builder_options:
        if key not in known:
            raise ConfigError(f"{key!r} is not an option of {model.builder}; it has {', '.join(known)}", where="model.builder_options")
    return Path(build(seed, **model.builder_options))
