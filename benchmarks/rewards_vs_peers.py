"""The rewards beside what people use instead, in one run: maths beside math_verify and TRL's accuracy_reward, code beside a plain runner.

The same labelled rows for all, one after the other in one process. Accuracy with Wilson's 95% interval, false accepts and rejects, rows
that were not judged, rows that did harm (code), the slowest row, and rows a second on the ordinary kinds as a ratio of ours to theirs::

    python benchmarks/rewards_vs_peers.py                          the labelled cases beside the repository
    python benchmarks/rewards_vs_peers.py --math A.jsonl --code B.jsonl

The plain runner (``plain_runner.py``: a subprocess a test, exit code 0 passes) has no walls, so it runs in a bubblewrap container of its
own; that is started once, outside what is timed. Ours runs in the sandbox tier that ``rlvr check`` names.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from math_vs_peers import JUDGES, ROOT, measured, print_table, summary
from plain_runner import FOLDER, SECRET, Bait, harmed, lay_out

CONTAINER = (
    "bwrap --unshare-all --die-with-parent --ro-bind /usr /usr --symlink usr/lib /lib --symlink usr/lib64 /lib64 --symlink usr/bin /bin "
    "--proc /proc --dev /dev --tmpfs /tmp --size 800000000 --tmpfs /scratch --chdir /scratch --setenv RLVR_CANARY canary-51c0ffee"
)


def math_lines(path: Path) -> list[dict]:
    """One line a judge of mathematics."""
    rows = read(path)
    lines = []
    for name in JUDGES:
        lines.append(summary(f"maths: {name}", measured(name, rows), rows))
        print(f"maths: {name}: measured", file=sys.stderr, flush=True)
    return lines


def code_lines(path: Path) -> list[dict]:
    """One line a judge of programs."""
    rows = read(path)
    strange = {row["kind"] for row in rows if row["kind"].startswith("attack") or row["kind"] in ("resource", "error", "broken_task")}
    lines = [summary("code: rlvr", ours_code(rows), rows, strange)]
    if (plain := plain_code(rows)) is not None:
        lines.append(summary("code: a subprocess a test", plain, rows, strange))
    return lines


def ours_code(rows: list[dict]) -> dict:
    """Scores, seconds and harm of our own code reward, one row after the other."""
    from rewards.code import tests_passed

    os.environ["RLVR_CANARY"] = "canary-51c0ffee"
    os.chdir(tempfile.mkdtemp())
    tests_passed(["```python\nprint(1)\n```"], [[["", "1\n"]]])  # the tier is proved and its servers start
    result: dict = {"scores": [], "seconds": [], "harmed": []}
    with bait_laid_out() as bait:
        for row in rows:
            bait.touched.clear()
            start = time.perf_counter()
            result["scores"].append(tests_passed([row["completion"]], [row["tests"]], workers=1)[0])
            result["seconds"].append(time.perf_counter() - start)
            result["harmed"].append(harmed(row, bait))
    return result


@contextmanager
def bait_laid_out():
    """The bait of the attacks, on this machine: our sandbox must keep them from it."""
    lay_out()
    try:
        yield Bait()
    finally:
        os.unlink(SECRET)
        os.rmdir(FOLDER)


def plain_code(rows: list[dict]) -> dict | None:
    """The same of the plain runner, in its container; None where there is no bubblewrap."""
    python = shutil.which("python3", path="/usr/bin")
    if not shutil.which("bwrap") or python is None:
        print("no bubblewrap here: the plain runner is left out", file=sys.stderr)
        return None
    script = str(Path(__file__).with_name("plain_runner.py").resolve())
    command = [*CONTAINER.split(), "--ro-bind", script, "/runner.py", python, "/runner.py"]
    found: list[dict] = []
    while len(found) < len(rows):  # a row may take the runner down with it: the next goes to a new one
        text = "\n".join(json.dumps(row) for row in rows[len(found) :])
        done = subprocess.run(command, input=text, stdout=subprocess.PIPE, text=True, env={"PATH": "/usr/bin:/bin"}, cwd="/")
        found += [json.loads(line) for line in done.stdout.splitlines()]
        if len(found) < len(rows):
            found.append({"score": None, "seconds": 0.0, "harmed": ["the runner was killed"]})
    return {name: [line[key] for line in found] for name, key in (("scores", "score"), ("seconds", "seconds"), ("harmed", "harmed"))}


def read(path: Path) -> list[dict]:
    """Labelled rows."""
    return [json.loads(line) for line in path.open(encoding="utf-8")]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--math", type=Path, default=ROOT / "../shared/cases/math_dev.jsonl")
    parser.add_argument("--only", choices=("math", "code"), help="one of the two")
    parser.add_argument("--code", type=Path, default=ROOT / "../shared/cases/code_cases_dev.jsonl")
    arguments = parser.parse_args()
    if missing := [str(path) for path in (arguments.math, arguments.code) if not path.exists()]:
        print(f"no labelled cases at {', '.join(missing)}; give files with --math and --code")
        return 2
    from rlvr_cli.verifiers import pool

    pool.configure(cache=False)
    lines = [math_lines(arguments.math.resolve())] if arguments.only != "code" else []
    lines += [code_lines(arguments.code.resolve())] if arguments.only != "math" else []
    print_table(lines)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
