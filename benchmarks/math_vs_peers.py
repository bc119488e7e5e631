"""The mathematics reward beside math_verify and TRL's accuracy_reward: the same rows, one process, one after the other.

Prints one table: accuracy with its 95% interval (Wilson), false accepts, false rejects, rows not judged, and rows a second on
the ordinary kinds (all but the ones built to hang a judge), as a ratio of ours to theirs::

    python benchmarks/math_vs_peers.py                        the labelled cases beside the repository
    python benchmarks/math_vs_peers.py --data labelled.jsonl  any file of rows {completion, gold, expect, kind}

Peers get each gold as ``$gold$``, which suits them best. A judge that raises, passes its own deadline, or is busy for 20 s has not
judged; each runs in a process of its own, so that it can be killed.
"""

from __future__ import annotations

import argparse
import json
import logging
import math
import multiprocessing
import sys
import time
import warnings
from collections.abc import Callable, Collection
from multiprocessing.connection import Connection
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
HOSTILE = ("deep_long", "huge_number")
Judge = Callable[[str, str], float | None]


def ours() -> Judge:
    from rewards.math import correct

    return lambda completion, gold: correct([completion], answer=[gold])[0]


def math_verify() -> Judge:
    from math_verify import parse, verify

    def judge(completion: str, gold: str) -> float | None:
        return float(verify(parse(f"${gold}$"), parse(completion)))

    return judge


def trl() -> Judge:
    from trl.rewards import accuracy_reward

    def judge(completion: str, gold: str) -> float | None:
        return accuracy_reward([[{"role": "assistant", "content": completion}]], [f"${gold}$"])[0]

    return judge


JUDGES = {"rlvr": ours, "math_verify": math_verify, "TRL accuracy_reward": trl}
DEADLINE_S = 20.0  # of one row, in seconds on the clock: a judge that is still busy then is killed, and has not judged


def serve(name: str, pipe: Connection) -> None:
    """One judge in a process of its own: (completion, gold) in, (score, seconds) out."""
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    from rlvr_cli.verifiers import pool

    pool.configure(cache=False)
    judge = JUDGES[name]()
    for completion, gold in iter(pipe.recv, None):
        start = time.perf_counter()
        try:
            score = judge(completion, gold)
        except Exception:
            score = None
        pipe.send((score, time.perf_counter() - start))


class Judging:
    """A judge that can be killed: some rows keep some judges busy for hours."""

    def __init__(self, name: str, warm_up: list[dict]):
        self.name, self.rows = name, warm_up
        self.start()

    def start(self) -> None:
        """A new process, its imports and caches behind it."""
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(self.name, theirs))
        self.process.start()
        theirs.close()
        for row in self.rows:
            self.pipe.send((row["completion"], row["gold"]))
            self.pipe.recv()

    def __call__(self, row: dict) -> tuple[float | None, float]:
        """(score, seconds) of one row."""
        self.pipe.send((row["completion"], row["gold"]))
        if self.pipe.poll(DEADLINE_S):
            return self.pipe.recv()
        self.process.kill()
        self.process.join()
        self.start()
        return None, DEADLINE_S

    def close(self) -> None:
        """Let the process end."""
        self.pipe.send(None)
        self.process.join(10)


def measured(name: str, rows: list[dict]) -> dict:
    """Scores and seconds of one judge over all rows."""
    judging = Judging(name, [row for row in rows if row.get("kind") not in HOSTILE][:20])
    results = [judging(row) for row in rows]
    judging.close()
    return {"scores": [score for score, _ in results], "seconds": [seconds for _, seconds in results]}


def wilson(right: int, n: int) -> tuple[float, float]:
    """The 95% interval of a share."""
    z, p = 1.96, right / n
    middle, half = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)


def summary(name: str, result: dict, rows: list[dict], hostile: Collection[str] = HOSTILE) -> dict:
    """One line of the table. ``hostile``: kinds whose time does not count."""
    expected, scores = [row["expect"] for row in rows], result["scores"]
    right = sum(score == expect for score, expect in zip(scores, expected, strict=True))
    ordinary = [s for s, row in zip(result["seconds"], rows, strict=True) if row.get("kind") not in hostile]
    low, high = wilson(right, len(rows))
    judged = [(score, expect) for score, expect in zip(scores, expected, strict=True) if score is not None and expect is not None]
    return {
        "judge": name,
        "rows": len(rows),
        "harmed": sum(map(bool, result["harmed"])) if "harmed" in result else "",
        "accuracy": right / len(rows),
        "interval": f"{low:.3f}-{high:.3f}",
        "accepted": sum(score > expect for score, expect in judged),
        "rejected": sum(score < expect for score, expect in judged),
        "unjudged": sum(score is None and expect is not None for score, expect in zip(scores, expected, strict=True)),
        "slowest": max(result["seconds"]),
        "rate": len(ordinary) / sum(ordinary),
    }


def print_table(groups: list[list[dict]]) -> None:
    """Judges of one task a group; the first of each is ours."""
    print("| judge | rows | accuracy | 95% | false accepts | false rejects | not judged | rows that did harm | slowest row, s "
          "| rows a second | ours is faster by |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for lines in groups:
        for line in lines:
            print(f"| {line['judge']} | {line['rows']} | {line['accuracy']:.3f} | {line['interval']} | {line['accepted']} "
                  f"| {line['rejected']} | {line['unjudged']} | {line['harmed']} | {line['slowest']:.2f} | {line['rate']:.0f} "
                  f"| {lines[0]['rate'] / line['rate']:.1f}x |")  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT / "../shared/cases/math_dev.jsonl")
    parser.add_argument("--every", type=int, default=1, help="take every Nth row only")
    arguments = parser.parse_args()
    if not arguments.data.exists():
        print(f"no labelled cases at {arguments.data}; give a file with --data")
        return 2
    rows = [json.loads(line) for line in arguments.data.open(encoding="utf-8")][:: arguments.every]
    lines = []
    for name in JUDGES:
        lines.append(summary(name, measured(name, rows), rows))
        print(f"{name}: measured", file=sys.stderr, flush=True)
    print_table([lines])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
