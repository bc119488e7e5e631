"""rlvr doctor: a failure's own words to what to do, causes before consequences; the machine's facts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from rlvr_cli.config.symptoms import SYMPTOMS, recognise
from tests.cli.test_show_and_runs import make_run

# Lines as the libraries print them, and the symptom that each must be.
LINES = [
    ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has", "gpu out of memory"),
    ("RuntimeError: [enforce fail at alloc_cpu.cpp:118] . DefaultCPUAllocator: can't allocate memory: you tried", "host out of memory"),
    ("E1129 torch.distributed.elastic: failed (exitcode: -9) local_rank: 1 (pid: 77)", "host out of memory"),
    ("OSError: [Errno 28] No space left on device", "disk full"),
    ("ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).", "shared memory"),
    ("ValueError: This model's maximum context length is 1024 tokens. However, you requested 1100", "server context"),
    ("VLLMValidationError: The decoder prompt (length 1300) is longer than the maximum model length of 1024.", "server context"),
    ("ValueError: Available memory on node 0 (3.1/23.5 GiB) on startup is less than desired CPU memory utilization", "server memory"),
    ("ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization`", "server memory"),
    ("importlib.metadata.PackageNotFoundError: No package metadata was found for vllm", "server package"),
    ("RuntimeError: operator torchvision::nms does not exist", "torchvision mismatch"),
    ("Using /root/.cache/torch_extensions/py311_cpu as PyTorch extensions root...", "stale build lock"),
    ("RuntimeError: Error building extension 'deepspeed_shm_comm'", "compiler missing"),
    ("ZeRORuntimeException: The checkpoint being loaded used a DP world size of 2 but the current world size is 1.", "deepspeed world"),
    ("ModuleNotFoundError: No module named 'mpi4py'", "deepspeed without launcher"),
    ("RuntimeError: don't know how to restore data location of torch.storage.UntypedStorage (tagged with cpu:0)", "resume on cpu"),
    ("IndexError: pop from an empty deque", "zero3 trace"),
    ("ImportError: liger_kernel is not installed, but `use_liger_kernel` is set", "liger"),
    ("huggingface_hub.errors.GatedRepoError: 403 Client Error.", "gated model"),
    ("huggingface_hub.errors.LocalEntryNotFoundError: Cannot find the requested files in the local cache", "hub unreachable"),
    ("TrainingError: grad_norm is not finite at step 12", "not finite"),
    ("RuntimeError: probability tensor contains either `inf`, `nan` or element < 0", "not finite"),
    ("OSError: [Errno 98] Address already in use", "address in use"),
    ("RuntimeError: start_weight_update called while a weight update is already active", "weight update active"),
    ("requests.exceptions.ConnectionError: ('Connection aborted.', RemoteDisconnected('Remote end closed'))", "server lost"),
    ("[rank1]: Watchdog caught collective operation timeout: WorkNCCL(SeqNum=12)", "collective timeout"),
    ("RuntimeError: [gloo] Connection closed by peer [127.0.0.1]:40123", "collective timeout"),
    ("KeyboardInterrupt", "interrupted"),
]


@pytest.mark.parametrize(("line", "name"), LINES, ids=[f"{i}-{n}" for i, (_, n) in enumerate(LINES)])
def test_a_known_line_is_recognised(line: str, name: str) -> None:
    assert [s.name for s, _, _ in recognise([line])] == [name]


def test_every_symptom_says_what_to_do() -> None:
    assert all(s.what and s.do for s in SYMPTOMS)
    assert len({s.name for s in SYMPTOMS}) == len(SYMPTOMS)


@pytest.mark.parametrize(
    "line",
    [
        "{'loss': 0.0, 'grad_norm': 0.12, 'reward': 0.4, 'info': 'fine'}",
        "INFO 11-29 Started server process [123]",
        "step 12 reward 0.51",
        "",
        "x" * 100_000,
    ],
)
def test_a_healthy_line_is_no_symptom(line: str) -> None:
    assert recognise([line]) == []


def test_causes_come_before_consequences() -> None:
    lines = ["Connection closed by peer", "torch.OutOfMemoryError: CUDA out of memory", "torch.OutOfMemoryError: CUDA out of memory"]
    assert [(s.name, n) for s, n, _ in recognise(lines)] == [("gpu out of memory", 2), ("collective timeout", 1)]


def test_a_log_file(rlvr: Callable, here: Path) -> None:
    (here / "run.log").write_text("fine\nOSError: [Errno 28] No space left on device\n")
    done = rlvr("doctor", "run.log")
    assert done.code == 1
    assert "x disk full" in done.out and "do: run.dir=FOLDER_WITH_ROOM" in done.out
    (here / "fine.log").write_bytes(b"all well \xff\xfe\n")
    assert rlvr("doctor", "fine.log").code == 0


def test_a_failed_run_says_why_and_how_to_go_on(rlvr: Callable, here: Path) -> None:
    path = make_run("one", state="failed")
    (path / "failure.json").write_text(
        json.dumps({"what": "a reward raised", "where": "reward.terms.correct", "step": 3, "fix": "rlvr reward audit"})
    )
    (path / "logs" / "rank0.1.log").write_text("Traceback\nRuntimeError: Error building extension 'cpu_adam'\n")
    done = rlvr("doctor", "one")
    assert done.code == 1
    assert "x recorded: a reward raised (reward.terms.correct), step 3" in done.out
    assert "x compiler missing" in done.out and "rank0.1.log" in done.out
    assert "step_10: trainer_state.json is missing" in done.out
    assert "start again: there is no whole checkpoint" in done.out


def test_a_killed_run_is_told_from_a_failed_one(rlvr: Callable, here: Path) -> None:
    make_run("one", state="running")
    assert "x launcher gone" in rlvr("doctor", "one").out


def test_the_curves_of_a_finished_run_are_looked_at(rlvr: Callable, here: Path) -> None:
    path = make_run("one")
    assert rlvr("doctor", "one").code == 0
    sick = [{"step": s, "reward": 0.9, "frac_reward_zero_std": 0.9, "completions/clipped_ratio": 0.95, "entropy": 0.01} for s in range(30)]
    sick += [{"step": 10, "eval/accuracy": 0.8}, {"step": 30, "eval/accuracy": 0.6}]
    (path / "metrics.jsonl").write_text("".join(json.dumps(m) + "\n" for m in sick))
    out = rlvr("doctor", "one").out
    for name in ("dead groups", "cut completions", "entropy collapse", "past the peak"):
        assert f"x {name}" in out


def test_the_machine(rlvr: Callable, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCH_EXTENSIONS_DIR", str(here / "ext"))
    facts = {f["name"]: f for f in json.loads(rlvr("doctor", "--json").out)}
    assert {"python", "host", "gpus", "training", "server", "g++", "/dev/shm", "sandbox", "hub cache"} <= set(facts)
    lock = here / "ext" / "op" / "lock"
    lock.parent.mkdir(parents=True)
    lock.write_text("")
    done = rlvr("doctor")
    assert done.code == 1 and f"rm {lock}" in done.out
