"""One safetensors file in shared memory that is written in place at each sync: mapped once, so later syncs fault no page.

In place is safe because an update is a conversation: the trainer writes, asks the server to load, and waits until it has.
Writing casts and copies in one pass. A server's view of the same file is an ordinary safetensors file::

    file = SharedFile(Path("/dev/shm/rlvr-x/weights.safetensors"), [("model.norm.weight", (576,))], torch.bfloat16)
    file.write("model.norm.weight", tensor)
    views(file.path)["model.norm.weight"]  # what the server reads: the same memory, so a view made once shows every later sync
"""

from __future__ import annotations

import json
import mmap
import os
from collections.abc import Sequence
from math import prod
from pathlib import Path
from typing import Any

import torch

NAMES = {torch.bfloat16: "BF16", torch.float16: "F16", torch.float32: "F32"}


class SharedFile:
    """layout: (name, shape) of every tensor, in the order of the file."""

    def __init__(self, path: Path, layout: Sequence[tuple[str, Sequence[int]]], dtype: torch.dtype):
        self.path, self.dtype = path, dtype
        header, size = header_of(layout, dtype)
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            os.posix_fallocate(handle, 0, len(header) + size)  # a full /dev/shm is an error here, not a SIGBUS later
            os.pwrite(handle, header, 0)
        finally:
            os.close(handle)
        self.tensors = views(path)

    def __len__(self) -> int:
        return len(self.tensors)

    def write(self, name: str, tensor: torch.Tensor, scale: float = 1.0) -> None:
        """Cast and copy one tensor, times ``scale``, into its place."""
        self.tensors[name].copy_(tensor if scale == 1.0 else tensor * scale)


def header_of(layout: Sequence[tuple[str, Sequence[int]]], dtype: torch.dtype) -> tuple[bytes, int]:
    """The file's header, padded to eight bytes, and the number of bytes that follow it."""
    entries, start = {}, 0
    for name, shape in layout:
        end = start + prod(shape) * dtype.itemsize
        entries[name] = {"dtype": NAMES[dtype], "shape": list(shape), "data_offsets": [start, end]}
        start = end
    text = json.dumps(entries, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text, start


def views(path: Path) -> dict[str, torch.Tensor]:
    """Every tensor of a safetensors file by name, as a view of one shared mapping: nothing is read until it is used.

    Mapped for writing, by the trainer; the server only reads, and torch warns of read-only buffers.
    """
    with path.open("r+b") as file:
        mapped = mmap.mmap(file.fileno(), 0)
    start = 8 + int.from_bytes(mapped[:8], "little")
    entries = json.loads(mapped[8:start])
    types = {word: dtype for dtype, word in NAMES.items()}
    return {name: view_of(mapped, start, entry, types) for name, entry in entries.items() if name != "__metadata__"}


def view_of(mapped: mmap.mmap, start: int, entry: dict[str, Any], types: dict[str, torch.dtype]) -> torch.Tensor:
    """One header entry's tensor; ``start`` is where the file's data begin."""
    shape = entry["shape"]
    flat = torch.frombuffer(mapped, dtype=types[entry["dtype"]], offset=start + entry["data_offsets"][0], count=prod(shape))
    return flat.view(shape)
