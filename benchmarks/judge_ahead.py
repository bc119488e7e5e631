"""Rewards overlapped with generation beside rewards after it: the same steps with `reward.pool.ahead` on and off, ratio of medians.

    python benchmarks/judge_ahead.py [steps]

SmolLM2-135M on the vLLM CPU server, 8 prompts x G 4, answers of different length; the reward is `rewards.hybrid.judge`, asked of
an HTTP server here that takes 0.3 s for each reply, as a judge elsewhere would. The runs follow each other: their servers share no core.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ROOT = Path(__file__).parents[1]
LATENCY_S = 0.3
WORDS = [
    "recipe=smollm2_arithmetic", "generation=vllm_server", "generation.max_completion_length=40", "algorithm.num_generations=4",
    "dataset.prompt_template='What is {expression}? Explain.'", "dataset.eval_count=10", "trainer.eval_steps=0",
    "trainer.eval_at_start=false", "trainer.save_steps=0", "~reward.terms.correct", "+reward.terms.liked.fn=rewards.hybrid.judge",
    "+reward.terms.liked.options.model=slow",
]  # fmt: skip


class SlowJudge(BaseHTTPRequestHandler):
    """An OpenAI-compatible judge that thinks for a while and scores by length."""

    def do_POST(self) -> None:
        """One reply."""
        asked = self.rfile.read(int(self.headers["Content-Length"])).decode()
        time.sleep(LATENCY_S)
        code = re.search(r'\\"code\\": \\"(\w+)\\"', asked)[1]
        content = json.dumps({"code": code, "score": len(asked) % 11, "reason": "by length"})
        body = json.dumps({"choices": [{"message": {"content": content}}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Nothing."""


def steps_of(ahead: bool, steps: int, url: str, folder: Path) -> dict[str, float]:
    """Medians of a run: seconds of generation with rewards, of rewards alone, and the share judged ahead."""
    words = [*WORDS, f"trainer.max_steps={steps}", f"reward.pool.ahead={str(ahead).lower()}", f"+reward.terms.liked.options.url={url}"]
    command = [sys.executable, "-m", "rlvr_cli.main", "train", *words, f"run.dir={folder}", f"run.name=ahead_{ahead}", "--clean"]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stdout[-1500:] + done.stderr[-1500:])
    lines = [json.loads(line) for line in (folder / f"ahead_{ahead}" / "metrics.jsonl").read_text().splitlines()]
    lines = [line for line in lines if line.get("reward_s") is not None][1:]
    return {
        "both": statistics.median(line["generation_s"] + line["reward_s"] for line in lines),
        "reward": statistics.median(line["reward_s"] for line in lines),
        "share": statistics.fmean(line.get("judged_ahead", 0.0) for line in lines),
    }


def main() -> None:
    """Both runs and their ratio."""
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    judge = ThreadingHTTPServer(("127.0.0.1", 0), SlowJudge)
    threading.Thread(target=judge.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{judge.server_port}/v1"
    with tempfile.TemporaryDirectory() as folder:
        ahead, after = (steps_of(on, steps, url, Path(folder)) for on in (True, False))
    for name, run in (("ahead", ahead), ("after", after)):
        print(
            f"{name}: generation and rewards {run['both']:.2f} s a step, rewards {run['reward']:.2f} s, judged ahead {run['share']:.0%}"
        )
    print(f"ratio {ahead['both'] / after['both']:.2f}")


if __name__ == "__main__":
    main()
