"""The built-in generators: one module each, found by its name, called by a plain function.

A generator is ``generate(*, count, seed, **own keys) -> Iterator[row]``: seeded, exact, never through ``eval``. Each row
carries ``prompt``, its gold, and a ``difficulty`` (a number, larger is harder). A user's own is a dotted path to such a function.

>>> row = next(generator("arithmetic")(count=1, seed=0))
>>> sorted(row)
['answer', 'difficulty', 'expression', 'kind', 'prompt', 'solution', 'split_key']
>>> generator_keys("arithmetic")["operators"]
('+', '-')
"""

from __future__ import annotations

import difflib
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from typing import Any

from rlvr_cli.errors import DataError
from rlvr_cli.interpreter import see_working_folder

Row = dict[str, Any]
Generate = Callable[..., Iterator[Row]]


def generator_names() -> list[str]:
    """The built-in generators, by name."""
    return sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))


def generator(name: str) -> Generate:
    """The generator of a built-in name or of a dotted path ``package.module.function``."""
    if name in generator_names():
        return importlib.import_module(f"{__name__}.{name}").generate
    if "." not in name:
        close = difflib.get_close_matches(name, generator_names(), n=1, cutoff=0.4)
        raise DataError(
            f"there is no generator {name!r}; built in: {', '.join(generator_names())}",
            where="dataset.generator",
            fix=f"dataset.generator={close[0] if close else 'arithmetic'}",
        )
    return _dotted(name)


def _dotted(path: str) -> Generate:
    """A user's own generator; the module is imported, the function must be callable."""
    module, _, function = path.rpartition(".")
    see_working_folder()
    try:
        found = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise DataError(f"the generator {path!r} cannot be imported: {error}", where="dataset.generator") from error
    if not callable(found):
        raise DataError(f"the generator {path!r} is not a function", where="dataset.generator")
    return found


def generator_keys(name: str) -> dict[str, Any]:
    """A generator's own keys and their defaults: what may stand beside ``dataset.generator``."""
    parameters = inspect.signature(generator(name)).parameters.values()
    return {p.name: None if p.default is p.empty else p.default for p in parameters if _is_key(p)}


def _is_key(parameter: inspect.Parameter) -> bool:
    return parameter.name not in ("count", "seed") and parameter.kind in (parameter.KEYWORD_ONLY, parameter.POSITIONAL_OR_KEYWORD)


def takes_any_key(name: str) -> bool:
    """Whether a generator of the user's own has ``**kwargs``, so that no key of it can be called unknown."""
    return any(p.kind is p.VAR_KEYWORD for p in inspect.signature(generator(name)).parameters.values())
