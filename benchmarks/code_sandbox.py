"""How fast short programs run in each sandbox tier, beside bubblewrap started once per run, in one pass on one machine.

    python benchmarks/code_sandbox.py                  as the current user; as root also as a plain user (uid 65534)
    python benchmarks/code_sandbox.py --runs 400 --workers 2
    python benchmarks/code_sandbox.py --cases ../shared/cases/code_cases_dev.jsonl     also: labelled rows right, tier by tier

Every way runs the same program on the same stdin and must print the right line. The ways take turns in small blocks, so that
a busy spell of the machine hits all of them; the ratio is against "bwrap + python", what a runner without a server does.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from rlvr_cli.verifiers import pool, sandbox
from rlvr_cli.verifiers.code import judge_all
from rlvr_cli.verifiers.sandbox.client import Pool, SandboxFailure, finish
from rlvr_cli.verifiers.sandbox.limits import Limits

PROGRAM = "n = int(input())\nprint(sum(i * i for i in range(n)))"
STDIN, EXPECTED = b"10\n", b"285\n"
ENTRY = "rlvr_cli.verifiers.code.inside:script"
BLOCK = 20


def bwrap(python: list[str]) -> Callable[[], bytes] | None:
    """One program under bubblewrap with every namespace, a read-only /usr and an empty folder."""
    if not shutil.which("bwrap") or not Path(python[0]).resolve().as_posix().startswith("/usr"):
        return None
    walls = "bwrap --unshare-all --die-with-parent --ro-bind /usr /usr --symlink usr/lib /lib --symlink usr/lib64 /lib64"
    folders = "--symlink usr/bin /bin --proc /proc --dev /dev --tmpfs /work --chdir /work"
    command = [*walls.split(), *folders.split(), *python, "-c", PROGRAM]

    def run() -> bytes:
        return subprocess.run(command, input=STDIN, capture_output=True, env={"PATH": "/usr/bin"}).stdout

    return run


def plain(python: list[str]) -> Callable[[], bytes]:
    return lambda: subprocess.run([*python, "-c", PROGRAM], input=STDIN, capture_output=True).stdout


def tier(pool: Pool) -> Callable[[], bytes]:
    def run() -> bytes:
        with pool.borrow("solution") as jail:
            return finish(jail.start(ENTRY, spec={"code": PROGRAM}, stdin=STDIN, limits=Limits()))[0].stdout

    return run


def ways() -> dict[str, Callable[[], bytes]]:
    """Name to runner, as far as this user and this machine have them."""
    system = shutil.which("python3", path="/usr/bin") or sys.executable
    found: dict[str, Callable[[], bytes] | None] = {
        "bwrap + python": bwrap([system]), "bwrap + python -I -S": bwrap([system, "-I", "-S"]),
        "python alone, no walls": plain([system]),
    }  # fmt: skip
    for name in ("namespaces", "landlock"):
        try:
            pool = Pool(name)
            with pool.borrow("solution") as jail:
                assert jail.layers
            found[f"rlvr, tier {name}"] = tier(pool)
        except SandboxFailure as error:
            print(f"tier {name} does not start here: {error}")
    return {name: run for name, run in found.items() if run is not None}


def measure(runners: dict[str, Callable[[], bytes]], runs: int, workers: int) -> dict[str, float]:
    """Runs a second of each way, the ways taking turns."""
    spent = dict.fromkeys(runners, 0.0)
    with ThreadPoolExecutor(workers) as pool:
        for _ in range(max(1, runs // BLOCK)):
            for name, run in runners.items():
                start = time.perf_counter()
                outputs = list(pool.map(lambda _, run=run: run(), range(BLOCK)))
                spent[name] += time.perf_counter() - start
                assert all(output == EXPECTED for output in outputs), name
    return {name: max(1, runs // BLOCK) * BLOCK / seconds for name, seconds in spent.items()}


def table(runs: int, workers: int) -> None:
    """One table for the user that runs this."""
    runners = ways()
    for run in runners.values():
        run()  # servers start, files get warm
    rates = measure(runners, runs, workers)
    base = rates.get("bwrap + python", next(iter(rates.values())))
    print(f"\nuid {os.geteuid()}, {workers} workers, {runs} runs a way, load {os.getloadavg()[0]:.1f}, {sandbox.describe()}")
    print(f"{'way':28} {'runs/s':>8} {'ms a run':>9} {'times bwrap + python':>21}")
    for name, rate in rates.items():
        print(f"{name:28} {rate:8.1f} {1000 * workers / rate:9.2f} {rate / base:21.2f}")


def labelled(path: Path) -> None:
    """Labelled rows right in the tier that is on: the settings are the same as those timed."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    pool.configure(cache=False)
    start = time.perf_counter()
    verdicts = judge_all([row["completion"] for row in rows], [{"tests": row["tests"]} for row in rows])
    wrong = [row["id"] for v, row in zip(verdicts, rows, strict=True) if v.score != row["expect"]]
    right, tier = len(rows) - len(wrong), sandbox.describe().split(" (")[0]
    print(f"{path.name}: {right} of {len(rows)} right in {time.perf_counter() - start:.0f} s, uid {os.geteuid()}, {tier}", *wrong)


def each_tier(path: Path) -> None:
    """The labelled rows in a fresh process for each tier."""
    for name in ("namespaces", "landlock"):
        environment = {**os.environ, "RLVR_SANDBOX_TIER": name}
        subprocess.run([sys.executable, __file__, "--only-cases", "--cases", str(path)], env=environment)


def as_plain_user(arguments: argparse.Namespace) -> None:
    """The same table again under uid 65534, with the system's Python, which that user can read."""
    system = shutil.which("python3", path="/usr/bin")
    if os.geteuid() != 0 or not shutil.which("setpriv") or system is None:
        return
    drop = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "env", "-i", "PATH=/usr/bin:/bin"]
    options = ["--runs", str(arguments.runs), "--workers", str(arguments.workers)]
    options += ["--cases", str(arguments.cases.resolve())] if arguments.cases else []
    subprocess.run([*drop, system, str(Path(__file__).resolve()), *options], cwd="/")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200, help="runs of each way (default 200)")
    parser.add_argument("--workers", type=int, default=2, help="runs at once (default 2)")
    parser.add_argument("--cases", type=Path, help="a file of labelled rows to judge as well, in each tier")
    parser.add_argument("--only-cases", action="store_true", help="judge them in the best tier (or RLVR_SANDBOX_TIER) and do nothing else")
    arguments = parser.parse_args()
    if arguments.only_cases:
        return labelled(arguments.cases)
    table(arguments.runs, arguments.workers)
    if arguments.cases:
        each_tier(arguments.cases)
    sys.stdout.flush()
    as_plain_user(arguments)


if __name__ == "__main__":
    main()
