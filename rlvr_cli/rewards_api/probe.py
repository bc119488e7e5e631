"""A user's own reward, called once on real rows before a model loads, in a process that can be killed.

A reward with ``gold_completion`` is tried by the gold check. One without it is only read until step 1, where a bug costs the model's
load; so it is called here with a few completions of each kind a young policy writes: the gold dressed, the gold bare, nothing, words.
In a process of its own, because a reward may hang, end its process, or hold the interpreter in a loop of C::

    probe(reward, terms, rows)    # RewardError: reward 'mine' raised KeyError: 'x' on completion 0: '<answer>4</answer>'
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from rlvr_cli.errors import RewardError, RlvrError
from rlvr_cli.interpreter import python
from rlvr_cli.rewards_api.bind import BoundTerm, bind, configure_pool
from rlvr_cli.rewards_api.resolve import users_file

ROWS = 3
PROBES = ("<answer>{gold}</answer>", "{gold}", "", "I do not know.")
LONGEST_S = 60.0
LOADS_A_MODEL = ("rewards.hybrid.", "rewards.image.")


def unproved(terms: Sequence[BoundTerm]) -> list[BoundTerm]:
    """Terms that the gold check does not call and that a probe may: no perfect answer is known, no model is loaded for it."""
    own = [t for t in terms if t.gold_completion is None and not is_shipped(t.dotted) and "environments" not in t.needs.given]
    return [t for t in own if not t.dotted.startswith(LOADS_A_MODEL)]


def is_shipped(dotted: str) -> bool:
    """Whether a function is one of ours, which tests call; in a checkout ours lie where a user's own would."""
    module = dotted.rpartition(".")[0]
    return module.startswith("rewards.") and users_file(module, Path.cwd()) is None


def probe(reward: Any, terms: Sequence[BoundTerm], rows: Sequence[dict[str, Any]]) -> str | None:
    """What was tried; None where there is nothing to try. Raises RewardError, one line, for a reward that breaks its contract."""
    names = [term.name for term in unproved(terms)]
    if not names or not rows:
        return None
    limit = min(LONGEST_S, sum(t.deadline_s(ROWS * len(PROBES)) for t in terms if t.name in names))
    job = pickle.dumps({"reward": reward.model_dump(mode="json"), "names": names, "rows": list(rows[:ROWS])})
    code, reply = answer_of(job, limit)
    said = ", ".join(names)
    if code is None:
        what = f"reward {said} did not answer within {limit:.0f} s on {ROWS * len(PROBES)} probe completions"
        raise RewardError(what, where=where(terms, names[0]), fix="reward.pool.batch_timeout_s=600, if it is right to be that slow")
    if not reply:
        raise RewardError(f"reward {said} ended its process with code {code} on a probe completion", where=where(terms, names[0]))
    told = pickle.loads(reply)
    if isinstance(told, RlvrError):
        told.where = told.where or where(terms, names[0])
        raise told
    return f"{said}: called on {told} probe completions"


def where(terms: Sequence[BoundTerm], name: str) -> str:
    """The key that names a term's function."""
    return f"reward.terms.{name}.fn"


def answer_of(job: bytes, limit: float) -> tuple[int | None, bytes]:
    """The child's exit code (None: it took longer and was killed) and its reply; nothing of it is left."""
    child = subprocess.Popen(
        python("-m", "rlvr_cli.rewards_api.probe"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        reply, _ = child.communicate(job, timeout=limit)
        return child.returncode, reply
    except subprocess.TimeoutExpired:
        return None, b""
    finally:
        with suppress(ProcessLookupError, PermissionError):  # what it started, too
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def main() -> None:
    """The child: the job on standard input, the number of completions or the error on standard output."""
    reply = os.dup(1)
    os.dup2(2, 1)  # what a reward prints is not the reply
    job = pickle.loads(sys.stdin.buffer.read())
    try:
        told: Any = call(job)
    except RlvrError as error:
        told = error
    with os.fdopen(reply, "wb") as out:
        out.write(pickle.dumps(told))
    os._exit(0)  # a reward's threads do not hold the process


def call(job: dict[str, Any]) -> int:
    """Call each named term on every probe of every row, as a trainer would; the number of completions."""
    reward = job["reward"]
    configure_pool(reward)
    terms = [term for term in bind(reward, alone=True) if term.name in job["names"]]
    pairs = [(row, text.format(gold=gold_of(row))) for row in job["rows"] for text in PROBES]
    n, names = len(pairs), dict.fromkeys(name for row, _ in pairs for name in row)
    columns = {name: [row.get(name) for row, _ in pairs] for name in names if name != "prompt"}
    prompts = [row.get("prompt") for row, _ in pairs]
    chat = isinstance(prompts[0], list)
    completions = [[{"role": "assistant", "content": text}] if chat else text for _, text in pairs]
    for term in terms:
        term.call(prompts, completions, columns, extra=given(n))
    return n


def gold_of(row: dict[str, Any]) -> str:
    """What stands for the row's answer in a probe."""
    return str(row.get("answer") if row.get("answer") is not None else "4")


def given(n: int) -> dict[str, Any]:
    """What a trainer hands over beside columns."""
    state = SimpleNamespace(global_step=0, max_steps=1, epoch=0.0)
    per_row = {"completion_ids": [[1, 2, 3]] * n, "group_id": [i // len(PROBES) for i in range(n)], "correct": [0.0] * n}
    return {**per_row, "trainer_state": state, "log_extra": lambda *_: None, "log_metric": lambda *_: None}


if __name__ == "__main__":
    main()
