"""The weights that a policy computed with, where they are not those that its trainer keeps.

Under autocast a trainer keeps float32 weights and computes with them rounded, so what was rewarded and judged is the rounded policy:
updates smaller than the rounding were never seen by it. They add up all the same, unjudged. Measured with SmolLM2-135M after 20
supervised steps under bfloat16 autocast: 72 of 80 sums right as trained, 38 of 80 with the float32 weights, 72 with these rounded once
more. So ``final/`` and ``last/`` hold rounded weights, as DeepSpeed's are, and a checkpoint, which must keep float32 to go on from,
says in its ``metrics.json`` what it was computed in, for whoever judges it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

COMPUTED = "computed_in"


def computed_in(args: Any) -> str:
    """The type a trainer computes in, of its TrainingArguments: ``float32``, ``bfloat16`` or ``float16``."""
    return "bfloat16" if args.bf16 else "float16" if args.fp16 else "float32"


def store_as_computed(folder: Path, dtype: str) -> None:
    """Round the float32 tensors of a saved model to ``dtype``, in place; its ``config.json`` says so."""
    import torch
    from safetensors import safe_open
    from safetensors.torch import load_file, save_file

    for file in folder.glob("*.safetensors") if dtype != "float32" else ():
        with safe_open(file, framework="pt") as opened:
            wide, metadata = {opened.get_slice(name).get_dtype() for name in opened.keys()} & {"F32"}, opened.metadata()  # noqa: SIM118
        if not wide:
            continue
        tensors = {name: t.to(getattr(torch, dtype)) if t.dtype == torch.float32 else t for name, t in load_file(file).items()}
        rounded = file.with_suffix(".part")  # what is kept as it was may still be read from the file
        save_file(tensors, rounded, metadata=metadata)
        rounded.replace(file)
        say_dtype(folder / "config.json", dtype)


def say_dtype(file: Path, dtype: str) -> None:
    """Set the type in a model's ``config.json``; an adapter has none."""
    if file.is_file():
        file.write_text(json.dumps({**json.loads(file.read_text()), "dtype": dtype}, indent=2) + "\n")


def recorded(folder: Path) -> str | None:
    """The type that a checkpoint's policy was computed in, as its ``metrics.json`` says; None where that is silent or says float32."""
    try:
        dtype = json.loads((folder / "metrics.json").read_text()).get(COMPUTED)
    except (OSError, ValueError):
        return None
    return dtype if dtype in ("bfloat16", "float16") else None


def round_as_computed(model: Any, folder: Path) -> None:
    """Give a model that was loaded from a checkpoint the weights that its policy computed with."""
    import torch

    if dtype := recorded(folder):
        with torch.no_grad():
            for p in model.parameters():
                p.copy_(p.to(getattr(torch, dtype)))
