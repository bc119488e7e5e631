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
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from rlvr_cli.config.nearest import nearest
from rlvr_cli.errors import MissingDependency, RewardError


def resolve(dotted: str, *, search: Path | None = None, where: str | None = None, classes: bool = False) -> Callable:
    """The function behind ``dotted``. ``search`` is the folder whose ``rewards/`` comes first (the working folder).

    ``classes``: a class will do as well (an environment is one).

    Raises RewardError (what, where it was set, the nearest name) or MissingDependency.
    """
    search = Path.cwd() if search is None else Path(search)
    check_namespace(search)
    if ":" in dotted:
        return _of_file(dotted, search, where, classes)
    module_name, _, function = dotted.rpartition(".")
    if not module_name or not all(part.isidentifier() for part in dotted.split(".")):
        raise RewardError(f"{dotted!r} is not a dotted path of a function", where=where, fix="rewards.math.correct")
    module = _import(module_name, search, where)
    return _attribute(module, module_name, function, where, classes)


def check_namespace(search: Path) -> None:
    """Refuse a ``rewards/__init__.py``: it turns the user's folder into a package that hides the built-in rewards."""
    init = search / "rewards" / "__init__.py"
    if init.exists():
        raise RewardError("./rewards/__init__.py hides the built-in rewards", where=str(init), fix="rm rewards/__init__.py")


def _of_file(dotted: str, search: Path, where: str | None, classes: bool) -> Callable:
    """``path/to/file.py:function`` or ``package.module:function``."""
    place, _, function = dotted.rpartition(":")
    if not place.endswith(".py"):
        return _attribute(_import(place, search, where), place, function, where, classes)
    path = Path(place) if Path(place).is_absolute() else search / place
    if not path.is_file():
        raise RewardError(f"no file {place!r} in {search}", where=where)
    name = "rlvr_user_" + hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:12]
    return _attribute(_load(name, path, where, search), place, function, where, classes)


def _import(name: str, search: Path, where: str | None) -> ModuleType:
    if str(search) not in sys.path:
        sys.path.append(str(search))
        importlib.invalidate_caches()
    own = users_file(name, search)
    if own is not None:
        return _load(name, own, where, search)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise _not_found(error, name, where, search) from error
    except Exception as error:
        raise _broken(error, name, where) from error


def users_file(name: str, search: Path) -> Path | None:
    """The user's own file of ``rewards.<x>``, which comes before the built-in of that name."""
    parts = name.split(".")
    if len(parts) != 2 or parts[0] != "rewards":
        return None
    base = search / "rewards" / parts[1]
    return next((p for p in (base / "__init__.py", base.with_suffix(".py")) if p.is_file()), None)


def _load(name: str, path: Path, where: str | None, search: Path) -> ModuleType:
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
        raise _not_found(error, name, where, search) from error
    except Exception as error:
        sys.modules.pop(name, None)
        raise _broken(error, name, where) from error
    return module


def _not_found(error: ModuleNotFoundError, name: str, where: str | None, search: Path) -> RewardError | MissingDependency:
    missing = error.name or ""
    if not (name == missing or name.startswith(missing + ".")):  # the module is there, something that it imports is not
        package = missing.split(".")[0]
        return MissingDependency(f"{name} needs the package {package!r}", where=where, fix=f"pip install {package}")
    near = nearest(name, modules(search))
    return RewardError(f"no module {name!r}", where=where, fix=near or "rlvr ls reward")


def _broken(error: Exception, name: str, where: str | None) -> RewardError:
    """An import that raises: name the line of the file, not of the import machinery."""
    if isinstance(error, SyntaxError):
        return RewardError(f"{name} does not parse: {error.msg} at {error.filename}:{error.lineno}", where=where)
    last = traceback.extract_tb(error.__traceback__)[-1]
    return RewardError(f"importing {name} raised {type(error).__name__}: {error} at {last.filename}:{last.lineno}", where=where)


def modules(search: Path) -> list[str]:
    """Every module of the merged ``rewards`` folder, ours and that below ``search``, also where ``rewards`` was imported without it."""
    import rewards

    places = [str(search / "rewards"), *rewards.__path__]
    return sorted({f"rewards.{found.name}" for found in pkgutil.iter_modules(places)})


def functions(module: ModuleType) -> list[str]:
    """Names of the reward functions of a module: public, and with a parameter for the completions."""
    names = []
    for name, value in vars(module).items():
        if name.startswith("_") or not inspect.isfunction(value) or value.__module__ != module.__name__:
            continue
        if "completions" in inspect.signature(value).parameters:
            names.append(name)
    return names


def _attribute(module: ModuleType, module_name: str, function: str, where: str | None, classes: bool) -> Callable:
    found = getattr(module, function, None)
    if found is None:
        near = nearest(function, functions(module))
        sep = ":" if module_name.endswith(".py") else "."
        raise RewardError(f"{module_name} has no function {function!r}", where=where, fix=near and f"{module_name}{sep}{near}")
    if (inspect.isclass(found) and not classes) or not callable(found):
        raise RewardError(f"{module_name}.{function} is a {type(found).__name__}, not a function", where=where)
    return found
