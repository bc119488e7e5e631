"""`make test-slow`: the tests marked slow, one after the other, and a dated result file that the README can cite.

python scripts/test_slow.py [pytest words]     writes tests/results/<date>.md
"""

from __future__ import annotations

import platform
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "tests" / "results"


def main(words: list[str]) -> int:
    """Run pytest on the slow tests, write what each gave, return pytest's exit code."""
    RESULTS.mkdir(exist_ok=True)
    record = RESULTS / ".junit.xml"
    started = time.monotonic()
    argv = [sys.executable, "-m", "pytest", "-m", "slow", "-v", f"--junit-xml={record}", "-o", "junit_logging=system-out", *words]
    code = subprocess.run(argv, cwd=ROOT).returncode
    file = RESULTS / f"{time.strftime('%Y-%m-%d')}.md"
    with file.open("a") as day:  # a second run of the day stands below the first
        day.write(page(record, code, time.monotonic() - started, words))
    record.unlink()
    print(f"written: {file.relative_to(ROOT)}")
    return code


def page(record: Path, code: int, seconds: float, words: list[str]) -> str:
    """The result file: the commit, which tests, and a row a test with what it printed."""
    git = ["git", "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(git, cwd=ROOT, capture_output=True, text=True).stdout.strip()
    head = f"# Slow tests, {time.strftime('%Y-%m-%d %H:%M')}\n\n"
    which = f"of {' '.join(words)} only, " if words else ""
    head += f"Commit {commit}, {which}Python {platform.python_version()}, {seconds / 60:.1f} minutes, exit {code}.\n"
    rows = ["| test | result | seconds | measured |", "|---|---|---|---|"]
    for case in ElementTree.parse(record).iter("testcase"):
        kinds = {child.tag for child in case}
        result = next((kind for kind in ("failure", "error", "skipped") if kind in kinds), "passed")
        printed = re.sub(r"-+ Captured Out -+", "", case.findtext("system-out") or "")
        printed = " ".join(printed.split())[-400:].replace("|", "/")
        rows.append(f"| {case.get('classname')}.{case.get('name')} | {result} | {float(case.get('time') or 0):.0f} | {printed} |")
    return head + "\n" + "\n".join(rows) + "\n\n"


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
