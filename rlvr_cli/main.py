"""The command table, dispatch and exit codes. Standard library only, so that ``rlvr --help`` answers at once.

Each verb is one module of :mod:`rlvr_cli.commands` with ``run(argv: list[str]) -> int``; it is imported when called.
``--debug`` anywhere on the line shows the traceback of an error that is otherwise one line.
"""

from __future__ import annotations

import importlib
import sys

from rlvr_cli import __version__
from rlvr_cli.errors import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK, EXIT_USAGE, RlvrError

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
    speak_utf8()
    args = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in args
    args = [a for a in args if a != "--debug"]
    if not args or args[0] in ("-h", "--help", "help"):
        print(usage())
        return EXIT_OK if args else EXIT_USAGE
    if args[0] in ("-V", "--version"):
        print(f"rlvr {__version__}")
        return EXIT_OK
    if args[0] not in COMMANDS:
        near = nearest_command(args[0])
        hint = f". Type: rlvr {near}" if near else ". Type: rlvr --help"
        print(f"rlvr: {args[0]!r} is not a command{hint}", file=sys.stderr)
        return EXIT_USAGE
    return run_command(args[0], args[1:], debug=debug)


def speak_utf8() -> None:
    """Completions hold any character; an ASCII terminal setting must not end a command in the middle of its output."""
    for stream in (sys.stdout, sys.stderr):
        encoding = (getattr(stream, "encoding", None) or "utf-8").lower().replace("-", "")
        if encoding != "utf8" and hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def run_command(name: str, argv: list[str], *, debug: bool) -> int:
    """Import the verb's module, run it, and turn its errors into one line and an exit code."""
    try:
        return importlib.import_module(f"rlvr_cli.commands.{name}").run(argv)
    except RlvrError as error:
        if debug:
            raise
        print(f"rlvr {name}: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print(f"rlvr {name}: interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    except BrokenPipeError:  # `rlvr ls | head`
        sys.stderr.close()
        return EXIT_OK
    except Exception as error:
        if debug:
            raise
        print(f"rlvr {name}: {type(error).__name__}: {error}. Type: rlvr {name} ... --debug", file=sys.stderr)
        return EXIT_FAILED


if __name__ == "__main__":
    raise SystemExit(main())
