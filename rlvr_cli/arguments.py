"""argparse with the errors of this project: one line, the nearest name, what to type; and the exit code of a wrong setting.

argparse itself prints its usage and leaves; a person who mistyped one letter then reads four lines that do not say which.

>>> made = Arguments(prog="rlvr runs", epilog="examples:\\n  rlvr runs --json        one JSON line a run")
>>> _ = made.add_argument("--json", action="store_true")
>>> made.parse_args(["--jsn"])
Traceback (most recent call last):
...
rlvr_cli.errors.ConfigError: --jsn is not a flag of rlvr runs (set in: command line). Type: --json
"""

from __future__ import annotations

import argparse
import re
from typing import Any, NoReturn

from rlvr_cli.errors import ConfigError

WHERE = "command line"


class Arguments(argparse.ArgumentParser):
    """A parser whose every error is a :class:`ConfigError`. Keyword arguments are argparse's; the epilogue holds example commands."""

    def __init__(self, **settings: Any):
        settings.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        settings.setdefault("allow_abbrev", False)  # `--re` must not mean --resume today and something else tomorrow
        super().__init__(**settings)

    def error(self, message: str) -> NoReturn:
        """What argparse would have printed, as this project says it."""
        flag, _, said = message.removeprefix("argument ").partition(": ")
        if message.startswith("unrecognized arguments: "):
            self._refuse_word(message.removeprefix("unrecognized arguments: ").split(" ")[0])
        if message.startswith("the following arguments are required: "):
            first = message.removeprefix("the following arguments are required: ").split(", ")[0]
            raise ConfigError(f"{first} is missing", where=WHERE, fix=self._example())
        if said.startswith("expected "):
            raise ConfigError(f"{flag} needs a value", where=WHERE, fix=self._with_value(flag))
        if bad := re.fullmatch(r"invalid (\w+) value: (.*)", said):
            kind = {"int": "a whole number", "float": "a number"}.get(bad[1], f"a {bad[1]}")
            raise ConfigError(f"{flag} must be {kind}, not {bad[2]}", where=WHERE, fix=self._with_value(flag))
        raise ConfigError(message, where=WHERE, fix=f"{self.prog} --help")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """One of ``choices``, or the nearest of them."""
        if action.choices is None or value in action.choices:
            return
        from rlvr_cli.config.nearest import nearest

        names = [str(choice) for choice in action.choices]
        near = nearest(str(value), names)
        name = action.option_strings[-1] if action.option_strings else action.dest
        before = f"{action.option_strings[-1]} " if action.option_strings else f"{self.prog} "
        fix = f"{before}{near}" if near else f"{self.prog} --help"
        raise ConfigError(f"{name} {value!r} is not one of {', '.join(names)}", where=WHERE, fix=fix)

    def _refuse_word(self, word: str) -> NoReturn:
        """A flag that does not exist, or a word too many."""
        if not word.startswith("-"):
            raise ConfigError(f"{word!r} is one word too many", where=WHERE, fix=f"{self.prog} --help")
        from rlvr_cli.config.nearest import nearest

        flag = word.partition("=")[0]
        near = nearest(flag, [name for name in self._option_string_actions if name.startswith("--")], cutoff=0.6)
        raise ConfigError(f"{flag} is not a flag of {self.prog}", where=WHERE, fix=near or f"{self.prog} --help")

    def _with_value(self, flag: str) -> str:
        """``--resume RUN``: how the flag is written, by its metavar, a choice or its default."""
        action = self._option_string_actions.get(flag.split("/")[-1].split(" ")[0])
        if action is None:
            return f"{self.prog} --help"
        known = next(iter(action.choices)) if action.choices else action.default
        value = known if known is not None else 1 if action.type is int else action.metavar or action.dest.upper()
        return f"{action.option_strings[-1]} {value}"

    def _example(self) -> str:
        """The first command of the epilogue."""
        for line in (self.epilog or "").splitlines():
            if line.strip().startswith(f"{self.prog} "):
                return re.split(r"\s{2,}", line.strip())[0]
        return f"{self.prog} --help"
