"""Whether a checkpoint is whole: a run that was killed, or a disk that was full, may have left half of one.

Nothing is loaded. Weights know their own length (safetensors' header), torch's files end with a zip directory, and DeepSpeed's
``latest`` names a folder with one optimizer file a rank::

    latest_checkpoint(Path("outputs/RUN"), ranks=2, zero_stage=2)
    # (PosixPath('outputs/RUN/checkpoints/step_40'), ['step_60: model.safetensors is cut short'])
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path


def latest_checkpoint(path: Path, *, ranks: int | None = None, zero_stage: int | None = None) -> tuple[Path | None, list[str]]:
    """The newest checkpoint that a run can go on from, and why newer ones were passed over.

    ``checkpoint-N`` is a save under way: it becomes ``step_N`` once everything is in it, and what a kill left under the first name
    is removed when the run goes on, however whole it looks.

    ranks, zero_stage: what the new attempt uses; DeepSpeed's files fit only the number of ranks that wrote them.
    """
    found = sorted(
        ((int(m[1]), p) for p in (path / "checkpoints").glob("*") if (m := re.fullmatch(r"(?:step_|checkpoint-)(\d+)", p.name))),
        reverse=True,
    )
    passed_over = []
    for step, checkpoint in found:
        fault = checkpoint_fault(checkpoint, step, ranks=ranks, zero_stage=zero_stage)
        if fault is None and not checkpoint.name.startswith("step_"):
            fault = "its save did not end"
        if fault is None:
            return checkpoint, passed_over
        passed_over.append(f"{checkpoint.name}: {fault}")
    return None, passed_over


def remove_torn(run_dir: Path) -> None:
    """Half-written saves, which nothing goes on from, are removed: on a full disk they hold the room that the last records need."""
    torn = [p for p in (run_dir / "checkpoints").glob("checkpoint-*") if p.name[11:].isdigit()]
    for path in (*torn, *(run_dir / f".{name}.part" for name in ("final", "last"))):
        shutil.rmtree(path, ignore_errors=True)


def checkpoint_fault(path: Path, step: int, *, ranks: int | None = None, zero_stage: int | None = None) -> str | None:
    """Why training can not go on from this folder; None when it is whole."""
    if global_step(path / "trainer_state.json") != step:
        return "trainer_state.json is missing or is of another step"
    weights = [*path.glob("*.safetensors"), *path.glob("pytorch_model*.bin")]
    if not weights:
        return "no weights"
    cut = next((w.name for w in weights if w.suffix == ".safetensors" and not safetensors_whole(w)), None)
    if cut:
        return f"{cut} is cut short"
    if (path / "latest").is_file():
        return deepspeed_fault(path, ranks)
    if zero_stage is not None:
        return "was written without DeepSpeed"
    missing = next((n for n in ("optimizer.pt", "scheduler.pt") if not torch_file_whole(path / n)), None)
    return f"{missing} is missing or cut short" if missing else None


def deepspeed_fault(path: Path, ranks: int | None) -> str | None:
    """DeepSpeed's half: the folder that ``latest`` names, one optimizer file a rank, each whole."""
    tag = (path / "latest").read_text(encoding="utf-8").strip()
    shards = path / tag
    if not tag or not shards.is_dir():
        return f"latest names {tag!r}, which is not there"
    states = sorted(shards.glob("*optim_states.pt"))
    if not states and not list(shards.glob("*model_states.pt")):
        return f"{tag} holds no states"
    cut = next((p.name for p in shards.glob("*_states.pt") if not torch_file_whole(p)), None)
    if cut:
        return f"{cut} is cut short"
    if ranks is not None and states and len(states) != ranks:
        return f"was written by {len(states)} ranks, this run has {ranks}"
    return None


def safetensors_whole(path: Path) -> bool:
    """Whether the file is as long as its own header says."""
    size = path.stat().st_size
    with path.open("rb") as handle:
        length = int.from_bytes(handle.read(8), "little")
        if size < 8 or length > size - 8:
            return False
        try:
            header = json.loads(handle.read(length))
        except ValueError:
            return False
    ends = [t["data_offsets"][1] for name, t in header.items() if name != "__metadata__"]
    return size == 8 + length + max(ends, default=0)


def torch_file_whole(path: Path) -> bool:
    """torch saves zip archives; a cut one has lost its directory, which stands at the end."""
    import zipfile

    return path.is_file() and zipfile.is_zipfile(path)


def global_step(path: Path) -> int | None:
    """The step that ``trainer_state.json`` says, or None where it can not be read."""
    try:
        return json.loads(path.read_text(encoding="utf-8")).get("global_step")
    except (OSError, ValueError, AttributeError):
        return None
