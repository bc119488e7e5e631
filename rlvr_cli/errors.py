"""Errors a person can cause or meet, each one line: what happened, where it was set, what to type next.

Every command turns an :class:`RlvrError` into that line and the exit code of its class; ``--debug`` shows the traceback.

>>> print(ConfigError("trainer.max_stepz is not a key", where="command line", fix="trainer.max_steps=100"))
trainer.max_stepz is not a key (set in: command line). Type: trainer.max_steps=100
"""

from __future__ import annotations

EXIT_OK = 0
EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130


class RlvrError(Exception):
    """Base of all errors that are shown as one line. ``where`` says where it was set, ``fix`` what to type."""

    exit_code = EXIT_FAILED

    def __init__(self, what: str, *, where: str | None = None, fix: str | None = None):
        self.what, self.where, self.fix = what, where, fix
        super().__init__(what)

    def __str__(self) -> str:
        line = self.what
        if self.where:
            line += f" (set in: {self.where})"
        if self.fix:
            line += f". Type: {self.fix}"
        return line

    def __reduce__(self):  # keyword-only arguments survive a trip between processes
        return _rebuild, (type(self), self.what, self.where, self.fix)


def _rebuild(kind: type[RlvrError], what: str, where: str | None, fix: str | None) -> RlvrError:
    return kind(what, where=where, fix=fix)


def place_of(error: BaseException) -> str:
    """``FILE:LINE``, the deepest line of a raised error's traceback: where somebody else's code broke."""
    import traceback

    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{last.filename}:{last.lineno}"


class ConfigError(RlvrError):
    """A key, a value or a combination of values that cannot work; found before any model loads."""

    exit_code = EXIT_USAGE


class DataError(RlvrError):
    """A data file, a column, a row or a gold answer that cannot be used."""

    exit_code = EXIT_USAGE


class RewardError(RlvrError):
    """A reward function that cannot be resolved or breaks its contract (raises, hangs, wrong length, not a number)."""

    exit_code = EXIT_USAGE


class RunDirError(RlvrError):
    """A run folder that exists, is missing, is incomplete or belongs to a different configuration."""

    exit_code = EXIT_USAGE


class LaunchError(RlvrError):
    """A server or a rank that did not start, died, or stopped answering."""


class TrainingError(RlvrError):
    """Training that had to stop: a metric that is not finite, too many rows that could not be judged, a failed parity probe."""


class MissingDependency(RlvrError):
    """An optional package that a choice needs; ``fix`` holds the pip command."""

    exit_code = EXIT_USAGE
