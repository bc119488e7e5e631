"""What runs inside the sandbox: the entries that a forked job calls, with the walls already closed around it.

    script   extract, report, run as __main__ with the case's stdin         (tests by stdin and stdout)
    static   extract and report only
    module   extract, report, load as a module and serve calls on the peer  (the solution side of assert tests)
    tests    run assert statements against the peer, a report line each     (the trusted side, in another sandbox)

A job reads its spec, one JSON object, and writes report lines; the report pipe is closed before model code runs, so that
nothing a program does can add to it.
"""

from __future__ import annotations

import _sitebuiltins
import builtins
import json
import os
import sys
import types

from rlvr_cli.verifiers.code import extract, rpc_solution, rpc_tests

SPEC, REPORT, PEER = 3, 4, 5
FILE = "solution.py"


def script() -> None:
    """Run the program as ``python solution.py`` would."""
    code = _prepare()
    _like_a_script()
    module = _main_module()
    _finish(_run(code, module))


def static() -> None:
    """Only look: the report says what was found and whether it compiles."""
    _prepare()
    os._exit(0)


def module() -> None:
    """Load the solution as a module that is not ``__main__`` and answer the tests' calls."""
    code = _prepare()
    _like_a_script()
    rpc_solution.serve(code, PEER, FILE)
    os._exit(0)


def tests() -> None:
    """Run the tests; the other end of the peer socket is the solution."""
    spec = _spec()
    _like_a_script()
    rpc_tests.run(spec, REPORT, PEER)
    os._exit(0)


def _spec() -> dict:
    parts = []
    while part := os.read(SPEC, 1 << 16):
        parts.append(part)
    os.close(SPEC)
    return json.loads(b"".join(parts))


def _prepare() -> types.CodeType:
    """Extract, compile and report; ends the job when there is nothing to run."""
    spec = _spec()
    program = extract.Program(spec["code"]) if "code" in spec else _extracted(spec)
    problem, code = program.problem, None
    if problem is None:
        code, problem = _compiled(program.code)
    if "code" not in spec or problem:  # the later cases of a program need no second report
        _write_all(REPORT, json.dumps({"extracted": program.code or None, "problem": problem}).encode())
    os.close(REPORT)
    if code is None:
        os._exit(3)
    file = os.open(FILE, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o644)
    _write_all(file, program.code.encode("utf-8", "surrogatepass"))
    os.close(file)
    return code


def _write_all(fd: int, data: bytes) -> None:
    while data:
        data = data[os.write(fd, data) :]


def _extracted(spec: dict) -> extract.Program:
    return extract.extract(spec["completion"], entry_point=spec.get("entry_point"), stdio=spec["stdio"])


def _compiled(source: str) -> tuple[types.CodeType | None, str | None]:
    try:
        return compile(source, FILE, "exec", dont_inherit=True), None
    except SyntaxError as error:
        return None, f"does not compile: {error.msg} (line {error.lineno})"
    except (ValueError, RecursionError, MemoryError, OverflowError) as error:
        return None, f"does not compile: {type(error).__name__}"


def _like_a_script() -> None:
    """What a program finds around itself: its path, its folder first among the modules, and exit(), which -S left out."""
    builtins.exit, builtins.quit = _sitebuiltins.Quitter("exit", "Ctrl-D"), _sitebuiltins.Quitter("quit", "Ctrl-D")
    here = os.getcwd()
    sys.argv, sys.path[:] = [f"{here}/{FILE}"], [here, *[p for p in sys.path if p]]


def _main_module() -> types.ModuleType:
    main = types.ModuleType("__main__")
    main.__dict__.update(__file__=sys.argv[0], __builtins__=builtins)
    sys.modules["__main__"] = main
    return main


def _run(code: types.CodeType, main: types.ModuleType) -> int:
    """Execute to the end; the exit code as the interpreter would give it."""
    try:
        exec(code, main.__dict__)  # the walls are the sandbox's
        return 0
    except SystemExit as error:
        return _exit_code(error.code)
    except BaseException:
        kind, value, trace = sys.exc_info()
        sys.excepthook(kind, value, trace.tb_next if trace else None)
        return 1


def _exit_code(code: object) -> int:
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF
    print(code, file=sys.stderr)
    return 1


def _finish(code: int) -> None:
    """End as an interpreter does: wait for threads, call atexit, flush; a lost flush is exit code 120."""
    import atexit

    try:
        if "threading" in sys.modules:
            sys.modules["threading"]._shutdown()
        atexit._run_exitfuncs()
    except SystemExit as error:
        code = _exit_code(error.code)
    except BaseException:
        code = code or 1
    try:
        sys.stdout.flush()
    except (OSError, ValueError, AttributeError):
        code = code or 120
    os._exit(code)
