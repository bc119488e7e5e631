"""Dotted path to function: ``rewards.math.correct``, ``mypackage.rewards.f``, or ``my_file.py:f``.

The built-in ``rewards/`` has no ``__init__.py``, so Python merges it with a ``rewards/`` folder of the user (PEP 420).
The working folder goes to the *end* of ``sys.path`` (a user's ``datasets.py`` must not hide a library), and yet a
user's ``./rewards/math.py`` comes before ours of the same name: it is loaded from its file. To build on ours inside
such a file, import the verifier: ``from rlvr_cli.verifiers.math import judge``.

>>> resolve("rewards.format.answer_tag").__name__
'answer_tag'
>>> resolve("rewards.format.answer_tga")
Traceback (most recent call last):
...
rlvr_cli.errors.RewardError: rewards.format has no function 'answer_tga'. Type: rewards.format.answer_tag
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import pkgutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from rlvr_cli.config.nearest import nearest
from rlvr_cli.errors import MissingDependency, RewardError, place_of

REWARD, TOOL, ENVIRONMENT = "reward", "tool", "environment"
EXAMPLES = {REWARD: "rewards.math.correct", TOOL: "my_module.my_tool", ENVIRONMENT: "my_module.MyEnvironment"}


@dataclass(frozen=True)
class Asked:
    """What is looked for: a name in a module, where it was set, from which folder, and what it is to be (``REWARD`` ...)."""

    name: str
    search: Path
    where: str | None
    wanted: str


def resolve(dotted: str, *, search: Path | None = None, where: str | None = None, wanted: str = REWARD) -> Callable:
    """The function behind ``dotted``. ``search`` is the folder whose ``rewards/`` comes first (the working folder).

    ``wanted``: what it is to be, which decides the names that are proposed in place of a wrong one; an ``ENVIRONMENT`` may be a class.

    Raises RewardError (what, where it was set, the nearest name) or MissingDependency.
    """
    search = Path.cwd() if search is None else Path(search)
    check_namespace(search)
    sep = ":" if ":" in dotted else "."
    place, _, name = dotted.rpartition(sep)
    asked = Asked(name, search, where, wanted)
    if sep == ":":
        return _of_file(place, asked)
    if not place or not all(part.isidentifier() for part in dotted.split(".")):
        noun = "function or class" if wanted == ENVIRONMENT else "function"
        raise RewardError(f"{dotted!r} is not a dotted path of a {noun}", where=where, fix=EXAMPLES[wanted])
    return _attribute(_import(place, asked), place, asked)


def check_namespace(search: Path) -> None:
    """Refuse a ``rewards/__init__.py``: it turns the user's folder into a package that hides the built-in rewards."""
    init = search / "rewards" / "__init__.py"
    if init.exists():
        raise RewardError("./rewards/__init__.py hides the built-in rewards", where=str(init), fix="rm rewards/__init__.py")


def _of_file(place: str, asked: Asked) -> Callable:
    """``path/to/file.py:function`` or ``package.module:function``."""
    if not place.endswith(".py"):
        return _attribute(_import(place, asked), place, asked)
    path = asked.search / place  # an absolute place stays itself
    if not path.is_file():
        near = nearest(path.name, sorted(p.name for p in path.parent.glob("*.py")))
        fix = near and f"{Path(place).with_name(near)}:{asked.name}"
        raise RewardError(f"no file {place!r} in {asked.search}", where=asked.where, fix=fix)
    name = "rlvr_user_" + hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:12]
    return _attribute(_load(name, path, asked), place, asked)


def _import(name: str, asked: Asked) -> ModuleType:
    if str(asked.search) not in sys.path:
        sys.path.append(str(asked.search))
        importlib.invalidate_caches()
    own = users_file(name, asked.search)
    if own is not None:
        return _load(name, own, asked)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise _not_found(error, name, asked) from error
    except Exception as error:
        raise _broken(error, name, asked.where) from error


def users_file(name: str, search: Path) -> Path | None:
    """The user's own file of ``rewards.<x>``, which comes before the built-in of that name."""
    parts = name.split(".")
    if len(parts) != 2 or parts[0] != "rewards":
        return None
    base = search / "rewards" / parts[1]
    return next((p for p in (base / "__init__.py", base.with_suffix(".py")) if p.is_file()), None)


def _load(name: str, path: Path, asked: Asked) -> ModuleType:
    """The module ``name`` from exactly ``path``, once a process."""
    loaded = sys.modules.get(name)
    if loaded is not None and getattr(loaded, "__file__", None) and Path(loaded.__file__).resolve() == path.resolve():
        return loaded
    places = [str(path.parent)] if path.name == "__init__.py" else None
    spec = importlib.util.spec_from_file_location(name, path, submodule_search_locations=places)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except ModuleNotFoundError as error:
        sys.modules.pop(name, None)
        raise _not_found(error, name, asked) from error
    except Exception as error:
        sys.modules.pop(name, None)
        raise _broken(error, name, asked.where) from error
    return module


def _not_found(error: ModuleNotFoundError, name: str, asked: Asked) -> RewardError | MissingDependency:
    missing = error.name or ""
    if not (name == missing or name.startswith(missing + ".")):  # the module is there, something that it imports is not
        package = missing.split(".")[0]
        return MissingDependency(f"{name} needs the package {package!r}", where=asked.where, fix=f"pip install {package}")
    near = nearest(name, modules(asked.search))
    unknown = "rlvr ls reward" if asked.wanted == REWARD else EXAMPLES[asked.wanted]
    return RewardError(f"no module {name!r}", where=asked.where, fix=f"{near}.{asked.name}" if near else unknown)


def _broken(error: Exception, name: str, where: str | None) -> RewardError:
    """An import that raises: name the line of the file, not of the import machinery."""
    if isinstance(error, SyntaxError):
        return RewardError(f"{name} does not parse: {error.msg} at {error.filename}:{error.lineno}", where=where)
    return RewardError(f"importing {name} raised {type(error).__name__}: {error} at {place_of(error)}", where=where)


def modules(search: Path) -> list[str]:
    """The user's own modules in ``search``, and the merged ``rewards`` folder's, also where it was imported without that of ``search``."""
    import rewards

    places = [str(search / "rewards"), *rewards.__path__]
    own = {found.name for found in pkgutil.iter_modules([str(search)])}
    return sorted({f"rewards.{found.name}" for found in pkgutil.iter_modules(places)} | own)


def functions(module: ModuleType) -> list[str]:
    """Names of the reward functions of a module: public, and with a parameter for the completions."""
    names = []
    for name, value in vars(module).items():
        if name.startswith("_") or not inspect.isfunction(value) or value.__module__ != module.__name__:
            continue
        if "completions" in inspect.signature(value).parameters:
            names.append(name)
    return names


def candidates(module: ModuleType, wanted: str) -> list[str]:
    """Names of a module that could have been meant: its rewards, its public functions, or for an environment its classes too."""
    if wanted == REWARD:
        return functions(module)
    public = [(name, value) for name, value in vars(module).items() if not name.startswith("_")]
    own = [(name, value) for name, value in public if getattr(value, "__module__", None) == module.__name__]
    return [name for name, value in own if inspect.isfunction(value) or (wanted == ENVIRONMENT and inspect.isclass(value))]


def _attribute(module: ModuleType, place: str, asked: Asked) -> Callable:
    found, classes = getattr(module, asked.name, None), asked.wanted == ENVIRONMENT
    noun = "function or class" if classes else "function"
    if found is None:
        near = nearest(asked.name, candidates(module, asked.wanted))
        sep = ":" if place.endswith(".py") else "."
        raise RewardError(f"{place} has no {noun} {asked.name!r}", where=asked.where, fix=near and f"{place}{sep}{near}")
    if (inspect.isclass(found) and not classes) or not callable(found):
        raise RewardError(f"{place}.{asked.name} is a {type(found).__name__}, not a {noun}", where=asked.where)
    return found
