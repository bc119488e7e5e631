"""The command line of a Python child that the working folder can not break.

``python -m`` and ``python -c`` put the working folder before the libraries, so a user's ``types.py``, ``datasets.py`` or ``trl.py``
beside their data would be imported in place of the real one, in every rank and server. ``-P`` leaves it out, which is why
Python is 3.11 or later; a user's own rewards are found all the same, for :mod:`rlvr_cli.rewards_api.resolve` puts their folder at the end.

>>> python("-m", "rlvr_cli.models")[1:]
['-P', '-m', 'rlvr_cli.models']
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from rlvr_cli.errors import ConfigError

LIBRARIES = ("torch", "trl", "transformers", "datasets", "accelerate", "deepspeed", "vllm", "peft", "numpy", "yaml", "pydantic", "rich")


def python(*words: str) -> list[str]:
    """This interpreter with ``words``, the working folder not on its path."""
    return [sys.executable, "-P", *words]


def shadowing() -> Iterator[Path]:
    """Files of ``PYTHONPATH``, which comes before Python's own modules, that are named like one of them or like a library of a run."""
    known = {*LIBRARIES, *sys.stdlib_module_names}
    for entry in filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)):
        folder = Path(entry)
        if folder.is_dir():
            yield from (file for file in sorted(folder.glob("*.py")) if file.stem in known)


def refuse_shadows() -> None:
    """Raise ConfigError for the first file of :func:`shadowing`."""
    for file in shadowing():
        mine = file.with_name(f"my_{file.name}")
        raise ConfigError(f"{file} hides the module {file.stem!r}", where="PYTHONPATH", fix=f"mv {file} {mine}")


def see_working_folder() -> None:
    """Find the user's own modules (a dotted path in the configuration) after all libraries, never before them."""
    folder = os.getcwd()
    if folder not in sys.path:
        sys.path.append(folder)
