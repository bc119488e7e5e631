"""The folder of a run: who may write it, what lies where, and whether a checkpoint in it is whole.

A run explains itself: ``config.yaml`` (resolved, frozen), ``command.txt``, ``env.json``, ``fingerprint.json``,
``logs/<who>.<attempt>.log``, ``metrics.jsonl``, ``samples.jsonl``, ``checkpoints/step_N/``, ``final/``, ``last/``, ``eval/``.
Nothing is ever overwritten: a name that exists is refused, resumed (``--resume``) or, being a run, removed (``--clean``)::

    run = start(config, overrides, choices=composed.choices)      # outputs/tiny-arithmetic-math-20261129-214500
    run.log("rank0")                                               # .../logs/rank0.1.log
    run.set_status("finished", accuracy=0.98)

Files are written whole or not at all; a lock that dies with its process keeps two launchers out of one folder.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import shlex
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rlvr_cli.checkpoints import latest_checkpoint as latest_checkpoint
from rlvr_cli.config.schema import Config
from rlvr_cli.errors import RunDirError
from rlvr_cli.masking import masked, masked_word
from rlvr_cli.outputs import need_writable

# Keys that may differ when a run is resumed: they change what is recorded or how long is waited, not what is learnt.
MAY_CHANGE = (
    "run.", "tracker.", "guard.", "trainer.timeout_s", "trainer.profile", "trainer.save_total_limit", "trainer.samples_per_step",
    "generation.startup_timeout_s", "generation.request_timeout_s", "generation.kv_cache_gib", "hardware.master_", "hardware.node_rank",
    "hardware.server_devices", "hardware.trainer_devices", "hardware.threads", "reward.pool.workers",
)  # fmt: skip


@dataclass
class RunDir:
    """One run's folder. ``attempt`` counts launches; ``lock`` is held by the launcher until it ends."""

    path: Path
    attempt: int = 1
    lock: Any = field(default=None, repr=False)

    @property
    def config(self) -> Path:
        """The frozen configuration that ranks read."""
        return self.path / "config.yaml"

    @property
    def metrics(self) -> Path:
        """A line a step."""
        return self.path / "metrics.jsonl"

    @property
    def samples(self) -> Path:
        """A line a completion."""
        return self.path / "samples.jsonl"

    @property
    def checkpoints(self) -> Path:
        """``step_N`` folders."""
        return self.path / "checkpoints"

    @property
    def final(self) -> Path:
        """The best model by held-out accuracy."""
        return self.path / "final"

    @property
    def last(self) -> Path:
        """The model of the last step."""
        return self.path / "last"

    def eval_dir(self, name: str) -> Path:
        """The folder of one evaluation."""
        return self.path / "eval" / name

    def log(self, who: str) -> Path:
        """The log file of ``launcher``, ``server``, ``rank0`` ... in this attempt."""
        return self.path / "logs" / f"{who}.{self.attempt}.log"

    def set_status(self, state: str, **facts: Any) -> None:
        """Record ``running``, ``finished``, ``failed`` or ``interrupted``, with what a person wants to know first."""
        old = read_json(self.path / "status.json")
        told = {"state": state, "attempt": self.attempt, "started": old.get("started") if state != "running" else now()}
        if state != "running":
            told["ended"] = now()
        write_atomic(self.path / "status.json", json.dumps({**told, **facts}, indent=1) + "\n")

    def release(self) -> None:
        """Give the lock back."""
        if self.lock is not None:
            self.lock.close()
            self.lock = None


def start(
    config: Config, overrides: list[str], *, choices: dict[str, str] | None = None, resume: str | None = None, clean: bool = False
) -> RunDir:
    """Create a run's folder, or take it up again with ``resume``; locked, attempt counted, explained.

    Raises RunDirError when the name exists and neither ``resume`` nor ``clean`` says what to do with it.
    """
    if resume is not None:
        return take_up(find(resume, config.run.dir), config)
    path = Path(config.run.dir) / (config.run.name or "")
    if config.run.name is None:
        path = make_unique(Path(config.run.dir), default_name(config, choices or {}))
    else:
        check_name(config.run.name)
        if path.exists() or path.is_symlink():
            if not clean:
                raise exists(path, config)
            remove(path)
        make(path)
    run = RunDir(path, lock=locked(path))
    explain(run, config, overrides, choices or {})
    return run


def refuse(config: Config, *, resume: str | None = None, clean: bool = False) -> None:
    """Raise RunDirError where :func:`start` would, without making anything: a taken name is said before a plan is."""
    if resume is not None:
        path = find(resume, config.run.dir)
        check_same(path, config)
    else:
        need_writable(Path(config.run.dir), where="run.dir", fix="run.dir=FOLDER")
        if config.run.name is None:
            return
        check_name(config.run.name)
        path = Path(config.run.dir) / config.run.name
        if not (path.exists() or path.is_symlink()):
            return
        if not clean:
            raise exists(path, config)
        refuse_removal(path)
    locked(path).close()


def make(path: Path) -> None:
    """Make one new folder; a file system that refuses is said in one line."""
    try:
        path.mkdir(parents=True, exist_ok=False)
    except OSError as error:
        raise RunDirError(f"{path} can not be made: {error.strerror}", where="run.dir and run.name", fix="run.dir=FOLDER") from error


def make_unique(parent: Path, name: str) -> Path:
    """Make ``parent/name``, or ``parent/name-2`` ... where another launcher was quicker."""
    for suffix in ["", *[f"-{n}" for n in range(2, 1000)]]:
        path = parent / (name + suffix)
        try:
            path.mkdir(parents=True, exist_ok=False)
        except FileExistsError:
            if parent.exists() and not parent.is_dir():
                break
            continue
        except OSError as error:
            raise RunDirError(f"{path} can not be made: {error.strerror}", where="run.dir", fix="run.dir=FOLDER") from error
        return path
    raise RunDirError(f"no free name like {parent / name}", where="run.dir", fix="run.dir=FOLDER")


def check_name(name: str) -> None:
    """A run's name is one folder name: no way out of ``run.dir``, nothing hidden."""
    if not re.fullmatch(r"[A-Za-z0-9_][\w.,=+@-]*", name) or ".." in name:
        safe = re.sub(r"[^\w.,=+@-]+", "-", name).strip(".-") or "mine"
        raise RunDirError(f"run.name={name!r} is not a folder name", where="run.name", fix=f"run.name={safe}")


def default_name(config: Config, choices: dict[str, str]) -> str:
    """``model-dataset-reward-time``: what a person looks for in a list of runs."""
    model = choices.get("model") or Path(config.model.path).name or "model"
    if model == "hf":
        model = Path(config.model.path).name or "hf"
    data = choices.get("dataset") or config.dataset.generator or "data"
    reward = choices.get("reward") or "-".join(config.reward.terms) or "reward"
    last = reward if config.stage.kind == "rl" else config.stage.kind
    name = f"{model}-{data}-{last}-{time.strftime('%Y%m%d-%H%M%S')}"
    return re.sub(r"[^\w.-]+", "-", name)


def explain(run: RunDir, config: Config, overrides: list[str], choices: dict[str, str]) -> None:
    """Write what this run is: configuration, command, machine, fingerprint."""
    from rlvr_cli.config.compose import write_frozen
    from rlvr_cli.machine import environment

    for folder in (run.path / "logs", run.checkpoints):
        folder.mkdir(exist_ok=True)
    write_frozen(config, run.config)
    write_atomic(run.path / "command.txt", command_line(overrides) + "\n")
    write_atomic(run.path / "env.json", json.dumps(environment(), indent=1) + "\n")
    write_atomic(run.path / "fingerprint.json", json.dumps({**fingerprint(config), "choices": choices}, indent=1) + "\n")
    run.set_status("running")


def command_line(overrides: list[str]) -> str:
    """The command as a person would type it again, secrets masked."""
    words = []
    for word in overrides:
        words.append(shlex.quote(masked_word(word)))
    return " ".join(["rlvr", "train", *words])


def take_up(path: Path, config: Config) -> RunDir:
    """Lock an existing run for another attempt; a configuration that would learn something else is refused, naming the keys."""

    lock = locked(path)
    try:
        check_same(path, config)
    except RunDirError:
        lock.close()
        raise
    run = RunDir(path, attempt=last_attempt(path) + 1, lock=lock)
    run.set_status("running")
    return run


def check_same(path: Path, config: Config) -> None:
    """Raise RunDirError where ``config`` would learn something else than the run in ``path`` did, naming the keys."""
    from rlvr_cli.config.compose import read_frozen

    frozen = read_frozen(path / "config.yaml")  # through the schema: a key that is younger than the run has its default
    changed = differences(frozen.model_dump(mode="json"), masked(config.model_dump(mode="json")))
    before, files = read_json(path / "fingerprint.json").get("data", {}), fingerprint(config)["data"]
    changed += [(f"the content of {k if '.' in k else f'dataset.{k}'}", before[k], v) for k, v in files.items() if before.get(k, v) != v]
    if changed:
        said = "; ".join(f"{k} was {a!r}, now {b!r}" for k, a, b in changed[:3]) + (
            f" and {len(changed) - 3} more" if len(changed) > 3 else ""
        )
        raise RunDirError(
            f"{path} was started with another configuration: {said}", where="--resume", fix=f"rlvr train --resume {path.name}"
        )


def differences(old: Any, new: Any, prefix: str = "") -> list[tuple[str, Any, Any]]:
    """Keys on which two configurations differ, as (key, old, new); keys that may change are left out."""
    if isinstance(old, dict) and isinstance(new, dict):
        found = []
        for key in dict.fromkeys([*old, *new]):
            found += differences(old.get(key), new.get(key), f"{prefix}{key}.")
        return found
    key = prefix.rstrip(".")
    if old == new or any(key.startswith(free) or f"{key}." == free for free in MAY_CHANGE):
        return []
    return [(key, old, new)]


def exists(path: Path, config: Config) -> RunDirError:
    """Why a folder that exists is not written to, and the two ways on."""
    if not is_run(path):
        return RunDirError(f"{path} exists and is not a run", where="run.name", fix=f"run.name={path.name}-2")
    same = read_json(path / "fingerprint.json").get("config") == fingerprint(config)["config"]
    state = status_of(path)["state"]
    if same and state != "finished":
        return RunDirError(f"{path} exists ({state}, same configuration)", where="run.name", fix=f"rlvr train --resume {path.name}")
    what = "same configuration" if same else "another configuration"
    return RunDirError(f"{path} exists ({state}, {what})", where="run.name", fix=f"run.name={path.name}-2, or --clean to remove it")


def is_run(path: Path) -> bool:
    """Whether a folder is one that :func:`start` made."""
    return path.is_dir() and not path.is_symlink() and (path / "config.yaml").is_file() and (path / "fingerprint.json").is_file()


def refuse_removal(path: Path) -> None:
    """``--clean`` removes runs, and no other folder."""
    if not is_run(path):
        raise RunDirError(f"{path} is not a run folder; nothing was removed", where="--clean", fix="run.name=OTHER")
    if Path.cwd().resolve().is_relative_to(path.resolve()):
        raise RunDirError(f"this shell is inside {path}; nothing was removed", where="--clean", fix="cd .. first")


def remove(path: Path) -> None:
    """Remove a run's folder; anything else, and a run that is being written, is left alone."""
    refuse_removal(path)
    lock = locked(path)
    try:
        shutil.rmtree(path)
    finally:
        lock.close()


def locked(path: Path) -> Any:
    """Hold the folder's lock until the process ends; RunDirError names the process that has it."""
    try:
        handle = (path / ".lock").open("a+")
    except OSError as error:
        raise RunDirError(f"{path} can not be written: {error.strerror}", where="run.dir", fix="run.dir=FOLDER") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        handle.seek(0)
        owner = handle.read().strip() or "?"
        handle.close()
        what = f"{path} is being written by process {owner}"
        raise RunDirError(what, where="run.name", fix=f"run.name={path.name}-2, or kill {owner} to end that one") from error
    handle.truncate(0)
    handle.write(str(os.getpid()))
    handle.flush()
    return handle


def is_locked(path: Path) -> bool:
    """Whether a living launcher writes this run."""
    try:
        with (path / ".lock").open("r") as handle:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    except OSError:  # no permission, or a file system without locks: nobody can tell
        return False
    return False


def last_attempt(path: Path) -> int:
    """The highest attempt that left a log or a status."""
    numbers = [int(m[1]) for p in (path / "logs").glob("*.log") if (m := re.search(r"\.(\d+)\.log$", p.name))]
    return max([*numbers, int(read_json(path / "status.json").get("attempt") or 0)])


def read_config(path: Path) -> dict[str, Any]:
    """The frozen configuration of a run as a plain mapping. Raises RunDirError, one line, where it is torn or gone."""
    import yaml

    file = path / "config.yaml"
    try:
        loaded = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise RunDirError(f"{file} can not be read: {' '.join(str(error).split())[:200]}", where=str(path), fix="rlvr runs") from error
    if not isinstance(loaded, dict):
        raise RunDirError(f"{file} holds no configuration", where=str(path), fix="rlvr runs")
    return loaded


def status_of(path: Path) -> dict[str, Any]:
    """``status.json`` with the truth added: a run that says running and has no launcher has died."""
    told = {"state": "unknown"} | read_json(path / "status.json")
    if told["state"] == "running" and not is_locked(path):
        told["state"] = "died"
    return told


def kept(path: Path) -> tuple[int, float] | None:
    """(step, held-out accuracy) of the model in ``final/``: what the run came to, wherever it is said; None where none was measured."""
    told = read_json(path / "final" / "metrics.json")
    step, accuracy = told.get("step"), told.get("eval/accuracy")
    return None if step is None or accuracy is None else (step, accuracy)


def runs(parent: Path) -> Iterator[Path]:
    """Every run in a folder, newest last; sweeps' jobs one level down too."""
    if not parent.is_dir():
        return
    found = [p for pattern in ("*", "*/*") for p in parent.glob(pattern) if is_run(p)]
    yield from sorted(found, key=lambda p: (p / "fingerprint.json").stat().st_mtime)


def find(name: str, parent: str = "outputs") -> Path:
    """A run by path, by name, by the start of a name that only one has, or ``latest``."""
    for path in (Path(name), Path(parent) / name):
        if is_run(path):
            return path
    known = list(runs(Path(parent)))
    if name == "latest" and known:
        return known[-1]
    starts = [p for p in known if p.name.startswith(name)]
    if len(starts) == 1:
        return starts[0]
    from rlvr_cli.config.nearest import nearest

    near = nearest(name, [p.name for p in known]) if known else None
    what = f"{len(starts)} runs start with {name!r}" if starts else f"there is no run {name!r}"
    raise RunDirError(what, where=f"{parent}/", fix=str(near) if near else "rlvr runs")


def fingerprint(config: Config) -> dict[str, Any]:
    """What decides what is learnt: the configuration without records and waits, the data files, the versions."""
    from rlvr_cli.machine import versions

    data = masked(config.model_dump(mode="json"))
    told = {k: v for k, v in flat(data) if not any(k.startswith(free) for free in MAY_CHANGE)}
    named = {k: getattr(config.dataset, k) for k in ("train", "eval")}
    named |= {"stage.data": config.stage.data, "stage.general.data": config.stage.general.data}
    files = {k: file_hash(Path(v)) for k, v in named.items() if v and Path(v).is_file()}
    return {"config": digest(told), "groups": {g: digest(data[g]) for g in sorted(data)}, "data": files, "versions": versions()}


def flat(data: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Nested mapping to dotted keys."""
    for key, value in data.items():
        if isinstance(value, dict) and value:
            yield from flat(value, f"{prefix}{key}.")
        else:
            yield prefix + str(key), value


def digest(data: Any) -> str:
    """Sixteen hex digits of a value's canonical JSON."""
    return hashlib.sha256(json.dumps(data, sort_keys=True, ensure_ascii=False).encode()).hexdigest()[:16]


def file_hash(path: Path) -> str:
    """Sixteen hex digits of a file's content."""
    summed = hashlib.sha256()
    with path.open("rb") as handle:
        while block := handle.read(1 << 20):
            summed.update(block)
    return summed.hexdigest()[:16]


def write_atomic(path: Path, text: str) -> None:
    """Write a whole file or none: a neighbour is written, flushed and renamed over it."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException as error:
        Path(temporary).unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None:  # a full disk does not say which file it had no room for
            error.filename = str(path)
        raise


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object, or an empty one where there is none."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}


def now() -> str:
    """This moment, as a person and a sorter read it."""
    return time.strftime("%Y-%m-%dT%H:%M:%S%z")
