"""A Python tool. What the model writes runs where judged code runs: in the sandbox, under its limits, or not at all.

Every call is a fresh process, so nothing is left from one call to the next. What is printed comes back, then how it ended
when it did not end well::

    >>> print(python("print(sum(range(10)))"))
    45
    >>> print(python("1/0"))
    ZeroDivisionError: division by zero
"""

from __future__ import annotations

from rlvr_cli.verifiers import sandbox

ENTRY = "rlvr_cli.verifiers.code.inside:script"
SILENT = "(no output: print what you want to see)"


def python(code: str, *, cpu_s: float = 4.0, memory_mb: int = 512, max_chars: int = 1000, unsafe: bool = False) -> str:
    """Run a Python program and read what it prints.

    Args:
        code: The program. Nothing is kept from one call to the next; there is no network.

    Returns:
        What was printed, and the error if there was one.
    """
    limits = sandbox.Limits(cpu_s=cpu_s, wall_s=cpu_s * 3.5, memory_mb=memory_mb)
    outcome = sandbox.run(ENTRY, {"code": str(code), "stdio": True}, limits=limits, role="tool", unsafe=unsafe)
    printed = outcome.stdout.decode("utf-8", "replace").rstrip()
    return cut("\n".join(filter(None, (printed, ending(outcome)))), max_chars) or SILENT


def ending(outcome: sandbox.Outcome) -> str:
    """How it ended, where it did not end by itself with code 0: the limit, or the last line of the traceback."""
    if outcome.reason:
        return f"stopped: over the {outcome.reason} limit"
    if outcome.code == 3 and outcome.report:  # it did not compile, so nothing ran
        import json

        return json.loads(outcome.report)["problem"]
    if outcome.code or outcome.signal:
        lines = outcome.stderr.decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else f"exit code {outcome.code}"
    return ""


def cut(text: str, limit: int) -> str:
    """At most ``limit`` characters, the middle left out: errors stand at the end."""
    return text if len(text) <= limit else f"{text[: limit // 2]}\n...\n{text[-limit // 2 :]}"


def check(where: str, *, unsafe: bool = False, **_: object) -> None:
    """Something confines model-written code on this machine, or a person said to run it all the same."""
    from rlvr_cli.errors import ConfigError

    if unsafe or sandbox.probe().name != "none":
        return
    what = f"no sandbox works on this machine, so the Python tool would not run ({'; '.join(sandbox.probe().problems)})"
    raise ConfigError(what, where=where, fix="environment=calculator")


python.check = check
