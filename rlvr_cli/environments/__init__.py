"""What a policy may do in the middle of an answer: call tools, or act in an environment of its own.

TRL runs the turns in training (its ``tools`` and ``environment_factory``); :mod:`.turns` plays the same turns for held-out
accuracy and ``rlvr eval``, so a model is judged the way it was trained. A tool is a plain function with types and a
docstring; what follows ``*`` in its parameters is set in YAML and hidden from the model. An environment is a class with
``reset(**row)`` whose public methods are tools::

    bound = bind(config.environment)        # None: single turn
    bound.functions, bound.factory          # what TRL's trainer takes

>>> from rlvr_cli.config.schema import Environment
>>> bind(Environment.model_validate({"tools": {"calculate": {"fn": "rlvr_cli.environments.calculator.calculate"}}})).functions[0]("2*21")
'42'
"""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from rlvr_cli.config.nearest import nearest
from rlvr_cli.config.schema import Environment
from rlvr_cli.errors import ConfigError, RewardError
from rlvr_cli.rewards_api.resolve import ENVIRONMENT, EXAMPLES, TOOL, resolve

NOT_TOOLS = ("reset", "get_reward")


@dataclass(frozen=True)
class Bound:
    """functions: the tools, named as the model sees them; factory: makes one environment a completion; max_turns: rounds of calls."""

    functions: list[Callable]
    factory: Callable[[], Any] | None
    max_turns: int

    def tools_of(self, instance: Any = None) -> list[Callable]:
        """Every tool of one completion: the functions, and the methods of its environment."""
        return self.functions + (methods_of(instance) if instance is not None else [])


def bind(environment: Environment) -> Bound | None:
    """The environment of a run, every dotted path resolved; None for a single turn. Raises ConfigError, one line."""
    if not environment.tools and not environment.fn:
        return None
    functions = [_tool(name, tool.fn, tool.options) for name, tool in environment.tools.items()]
    return Bound(functions, _factory(environment) if environment.fn else None, environment.max_turns)


def ready(environment: Environment, *, unsafe: bool = False) -> None:
    """What a tool needs of this machine (a corpus, a sandbox) is there: each tool's own ``check``. Raises an RlvrError.

    ``unsafe`` is ``reward.pool.unsafe``: model-written code may run although nothing confines it.
    """
    for name, tool in environment.tools.items():
        fn = _resolved(tool.fn, f"environment.tools.{name}.fn")
        options = {"unsafe": True} if unsafe and "unsafe" in _split(fn)[1] else {}
        if hasattr(fn, "check"):
            fn.check(f"environment.tools.{name}.options", **options | tool.options)


def methods_of(instance: Any) -> list[Callable]:
    """The tools of an environment: its public methods but ``reset`` and ``get_reward``, as TRL lists them."""
    names = [name for name, _ in inspect.getmembers(type(instance), predicate=inspect.isfunction)]
    return [getattr(instance, name) for name in names if name not in NOT_TOOLS and not name.startswith("_")]


# ------------------------------------------------------------------------------------------------ resolving


def _resolved(dotted: str, where: str, wanted: str = TOOL) -> Any:
    """What stands behind a dotted path; where nothing does, ConfigError with the whole word to type."""
    try:
        return resolve(dotted, where=where, wanted=wanted)
    except RewardError as error:
        fix = error.fix or EXAMPLES[wanted]
        raise ConfigError(error.what, where=error.where, fix=fix if " " in fix else f"{where}={fix}") from error  # a space: a command


def _tool(name: str, dotted: str, options: Mapping[str, Any]) -> Callable:
    """The function under the name that the model calls, its options bound and out of the model's reach."""
    where = f"environment.tools.{name}"
    fn = _resolved(dotted, f"{where}.fn")
    shown, hidden = _split(fn)
    _check_options(dotted, options, hidden, f"{where}.options")
    _check_described(dotted, fn, shown, f"{where}.fn")
    signature = inspect.signature(fn).replace(parameters=list(shown.values()))

    @functools.wraps(fn)
    def tool(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)  # an option that the model tries to set is a TypeError, which it gets to read
        return fn(*bound.args, **bound.kwargs, **options)

    del tool.__wrapped__  # its signature would show the options
    hints = typing.get_type_hints(fn)
    tool.__name__ = tool.__qualname__ = name
    tool.__signature__, tool.__annotations__ = signature, {k: v for k, v in hints.items() if k in shown or k == "return"}
    return tool


def _split(fn: Callable) -> tuple[dict[str, inspect.Parameter], dict[str, inspect.Parameter]]:
    """(what the model gives, what YAML sets): the parameters before and after ``*``."""
    parameters = inspect.signature(fn).parameters
    hidden = {name: p for name, p in parameters.items() if p.kind is p.KEYWORD_ONLY}
    return {name: p for name, p in parameters.items() if name not in hidden}, hidden


def _check_options(dotted: str, options: Mapping[str, Any], known: Mapping[str, inspect.Parameter], where: str) -> None:
    """Every option is a parameter, and every parameter without default is set."""
    _check_known(dotted, options, known, where)
    _check_given(dotted, {name for name, value in options.items() if value not in (None, "")}, known, where)


def _check_given(dotted: str, given: Collection[str], known: Mapping[str, inspect.Parameter], where: str) -> None:
    """Every parameter without default is set."""
    for name, parameter in known.items():
        if parameter.default is parameter.empty and name not in given:
            raise ConfigError(f"{dotted} needs the option {name!r}", where=where, fix=f"{where}.{name}=VALUE")


def _check_known(dotted: str, options: Mapping[str, Any], known: Mapping[str, inspect.Parameter], where: str) -> None:
    """Every option is a parameter; the nearest is named for one that is not."""
    for name in options:
        if name not in known:
            near = nearest(name, list(known))
            what = f"{dotted} has no option {name!r} (it has: {', '.join(known) or 'none'})"
            raise ConfigError(what, where=where, fix=near and f"{where}.{near}={options[name]}")


def _check_taken(dotted: str, options: Mapping[str, Any], made: Callable) -> None:
    """What makes an environment takes its options, and gets those that it needs."""
    try:
        parameters = inspect.signature(made).parameters
    except (TypeError, ValueError):  # a class without a signature: calling it will say
        return
    where = "environment.options"
    named = {name: p for name, p in parameters.items() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    if not any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        _check_known(dotted, options, named, where)
    _check_given(dotted, options, named, where)


def _check_described(dotted: str, fn: Callable, shown: Mapping[str, Any], where: str) -> None:
    """The model learns of a tool by its types and docstring, so each parameter has both."""
    try:
        hints = typing.get_type_hints(fn)
    except NameError as error:
        raise ConfigError(f"the types of {dotted} cannot be read: {error}", where=where) from error
    text = inspect.getdoc(fn) or ""
    for name in shown:
        if name not in hints or f"{name}:" not in text:
            lacks = "has no type" if name not in hints else "is not in the docstring"
            what = f"{dotted}: parameter {name!r} {lacks}, and the model sees a tool only by these"
            raise ConfigError(what, where=where, fix=f"def {fn.__name__}({name}: str): with a line '{name}: what it is' under Args:")


def _factory(environment: Environment) -> Callable[[], Any]:
    """What makes an environment, tried once: ``reset``, at least one tool, and options that it takes."""
    where, dotted = "environment.fn", environment.fn
    made = _resolved(dotted, where, ENVIRONMENT)
    _check_taken(dotted, environment.options, made)
    factory = functools.partial(made, **environment.options)
    try:
        instance = factory()
    except Exception as error:
        what = f"{dotted}({', '.join(environment.options)}) raised {type(error).__name__}: {' '.join(str(error).split())[:200]}"
        raise ConfigError(what, where="environment.fn, environment.options") from error
    if not inspect.isroutine(getattr(instance, "reset", None)):
        raise ConfigError(f"{dotted} makes a {type(instance).__name__} without a method reset(**row)", where=where)
    methods = methods_of(instance)
    if not methods and not environment.tools:
        raise ConfigError(f"{dotted} has no public method besides reset, so the model can do nothing", where=where)
    for method in methods:
        _check_described(f"{dotted}.{method.__name__}", method, inspect.signature(method).parameters, where)
    return factory
