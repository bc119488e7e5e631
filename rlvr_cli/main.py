"""The command table, dispatch and exit codes. Standard library only, so that ``rlvr --help`` answers at once.

Each verb is one module of :mod:`rlvr_cli.commands` with ``run(argv: list[str]) -> int``; it is imported when called.
``--debug`` anywhere on the line shows the traceback of an error that is otherwise one line.
"""

from __future__ import annotations

import contextlib
import errno
import importlib
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any, TextIO

from rlvr_cli import __version__
from rlvr_cli.errors import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK, EXIT_USAGE, ConfigError, RlvrError

LONGEST_LINE = 600  # characters of an error that is not ours
OUTLIVE = ("train", "eval", "sample")  # commands whose work does not end because nobody reads what they print

COMMANDS: dict[str, str] = {
    "train": "train a model with verifiable rewards",
    "eval": "judge a checkpoint: accuracy and pass@k with intervals",
    "check": "everything that can fail without training, in seconds, no GPU",
    "score": "score completions in a JSONL file, no model needed",
    "reward": "test, audit or label for a reward function",
    "data": "generate, show, filter and decontaminate data sets",
    "sample": "draw k scored completions a prompt from a checkpoint",
    "report": "one self-contained HTML page of one or more runs",
    "doctor": "what is wrong with this machine, or with a run or log",
    "show": "a run in the terminal",
    "runs": "the runs in outputs/",
    "chat": "talk to a run's model",
    "export": "a run's model as a plain Hugging Face folder",
    "ls": "the options of every configuration group",
    "cp": "copy a shipped configuration file here, to change it",
    "config": "show the composed configuration",
    "lab": "the objective in NumPy, live, in under a minute",
}

EPILOGUE = """\
examples:
  rlvr train                                         the embedded default: a tiny model learns to add
  rlvr train model=qwen1.5b reward=math dataset=gsm8k
  rlvr check model=qwen1.5b reward=math              would it run? answers without a GPU
  rlvr eval checkpoint=outputs/RUN eval.k=8          accuracy and pass@8, with intervals
  rlvr train -m seed=1,2 reward=math,format_only     a sweep, ranked by held-out accuracy
  rlvr COMMAND --help                                more of any command"""


def usage() -> str:
    """The text of ``rlvr --help``."""
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {text}" for name, text in COMMANDS.items()]
    return "\n".join(["usage: rlvr COMMAND [group=option] [key=value] [--debug]", "", "commands:", *lines, "", EPILOGUE])


def nearest_command(name: str) -> str | None:
    """The command that a person most likely meant."""
    import difflib

    close = difflib.get_close_matches(name, COMMANDS, n=1, cutoff=0.5)
    return close[0] if close else None


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code: 0 done, 1 failed, 2 usage or configuration, 130 interrupted."""
    open_standard_streams()
    speak_utf8()
    args = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in args
    args = [a for a in args if a != "--debug"]
    if args and args[0] in COMMANDS:
        return guarded(lambda: run_command(args[0], args[1:]), name=f"rlvr {args[0]}", debug=debug)
    return guarded(lambda: answer(args), name="rlvr", debug=debug)


def answer(args: list[str]) -> int:
    """A line that names no command: the usage, the version, or the command that was most likely meant."""
    if not args or args[0] in ("-h", "--help", "help"):
        if len(args) > 1 and args[1] in COMMANDS:
            return run_command(args[1], ["--help"])
        print(usage())
        return EXIT_OK if args else EXIT_USAGE
    if args[0] in ("-V", "--version"):
        print(f"rlvr {__version__}")
        return EXIT_OK
    near = nearest_command(args[0])
    raise ConfigError(f"{args[0]!r} is not a command", fix=f"rlvr {near or '--help'}")


def run_command(name: str, argv: list[str]) -> int:
    """Import the verb's module and run it."""
    run = importlib.import_module(f"rlvr_cli.commands.{name}").run
    if name not in OUTLIVE:
        return run(argv)
    with contextlib.redirect_stdout(Unread(sys.stdout)), contextlib.redirect_stderr(Unread(sys.stderr)):
        return run(argv)


class Unread:
    """A stream whose reader may leave (``rlvr train | head -3``): what is written afterwards goes nowhere, and the work goes on."""

    def __init__(self, stream: TextIO):
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """``text`` to the stream, or to nobody."""
        with self._without_reader():
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """What is buffered too."""
        with self._without_reader():
            self._stream.flush()

    @contextlib.contextmanager
    def _without_reader(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            discard_output(self._stream)


def guarded(run: Callable[[], int], *, name: str, debug: bool) -> int:
    """The exit code of ``run()``, its output flushed; an error becomes one line on standard error and the code of its class."""
    try:
        try:
            return run()
        finally:  # here, where a reader that left and a full disk are still ours to say; also after --help, which leaves by SystemExit
            sys.stdout.flush()
    except BrokenPipeError:  # `rlvr ls | head`: who reads has what he wanted
        discard_output(sys.stdout)
        return EXIT_OK
    except KeyboardInterrupt:
        complain(f"{name}: interrupted")
        return EXIT_INTERRUPTED
    except Exception as raised:
        error = shadowed(raised)
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            discard_output(sys.stdout)  # what is still buffered can not be written either
        if debug:
            raise raised
        complain(f"{name}: {one_line(error, name)}")
        return error.exit_code if isinstance(error, RlvrError) else EXIT_FAILED


def shadowed(error: Exception) -> Exception:
    """The error, or the file of ``PYTHONPATH`` behind it where an import fails because the file has the name of a library."""
    from rlvr_cli.interpreter import refuse_shadows

    try:
        if isinstance(error, (ImportError, AttributeError)):
            refuse_shadows()
    except ConfigError as found:
        return found
    return error


def one_line(error: Exception, name: str) -> str:
    """An error in a line: ours as it is, the system's with its file, anything else with how to see where it came from."""
    if isinstance(error, RlvrError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename or 'standard output'}"
    said = " ".join(str(error).split())[:LONGEST_LINE]
    return f"{type(error).__name__}: {said}. Type: {name} ... --debug"


def open_standard_streams() -> None:
    """A closed standard stream (``>&-``) becomes /dev/null; else the next file that is opened would take its number and its output."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
            setattr(sys, name, open(number, mode, encoding="utf-8"))  # noqa: SIM115  it lives as long as the process


def discard_output(stream: TextIO) -> None:
    """Nobody can take this stream's text any more; point it to /dev/null, so that Python's last flush does not fail as well."""
    with contextlib.suppress(OSError, ValueError):  # a stream without a number, in tests
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def complain(line: str) -> None:
    """One line on standard error; that nobody reads it changes no exit code."""
    try:
        print(line, file=sys.stderr, flush=True)
    except OSError:
        discard_output(sys.stderr)


def speak_utf8() -> None:
    """Completions hold any character; an ASCII terminal setting must not end a command in the middle of its output."""
    for stream in (sys.stdout, sys.stderr):
        encoding = (getattr(stream, "encoding", None) or "utf-8").lower().replace("-", "")
        if encoding != "utf8" and hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


if __name__ == "__main__":
    raise SystemExit(main())
