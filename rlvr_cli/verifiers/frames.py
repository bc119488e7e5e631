"""Length-prefixed JSON over a pipe: how the trainer, its judges and their engines talk.

JSON and not pickle, because the other end may have been subverted by what it judged: a frame can lie about a value but
never run code here. Both ends wait with a deadline, so that a stuck peer costs a bounded time.

>>> import os
>>> out, inp = os.pipe()
>>> send(inp, {"sql": "SELECT 1"})
>>> receive(out)
{'sql': 'SELECT 1'}
"""

from __future__ import annotations

import json
import os
import select
import struct
import time
from typing import Any

HEADER = struct.Struct(">I")
LARGEST = 256 * 2**20  # bytes of one frame; a longer one is a peer that has gone mad
SLICE = 2**16


class Closed(Exception):
    """The other end is gone, or speaks something else than frames."""


class Late(Exception):
    """The deadline passed before a whole frame went through."""


def send(fd: int, message: Any, until: float | None = None) -> None:
    """Write one message, waiting until ``until`` (``time.monotonic()``) at most; None waits for ever.

    Raises TypeError, ValueError or RecursionError when the message is not JSON, before anything is written.
    """
    send_bytes(fd, encode(message), until)


def encode(message: Any) -> bytes:
    """A message as a frame. Values of numpy and the like become plain numbers, lists and text."""
    body = json.dumps(message, default=plain, separators=(",", ":")).encode("ascii")
    if len(body) > LARGEST:
        raise ValueError(f"message of {len(body)} bytes is over the limit of {LARGEST}")
    return HEADER.pack(len(body)) + body


def plain(value: Any) -> Any:
    """JSON form of a value that json does not know: arrays by ``tolist``, sets sorted, the rest as text."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=repr)
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).decode("utf-8", "surrogateescape")
    return str(value)


def send_bytes(fd: int, frame: bytes, until: float | None = None) -> None:
    """Write an encoded frame to a pipe, which may be in non-blocking mode."""
    view = memoryview(frame)
    while view:
        _wait(fd, select.POLLOUT, until)
        try:
            view = view[os.write(fd, view[:SLICE]) :]
        except BlockingIOError:
            continue
        except OSError as error:
            raise Closed(str(error)) from error


def receive(fd: int, until: float | None = None) -> Any:
    """Read one message. Raises Closed at the end of the pipe or on nonsense, Late after ``until``."""
    (length,) = HEADER.unpack(_read(fd, HEADER.size, until))
    if length > LARGEST:
        raise Closed(f"frame of {length} bytes")
    try:
        return json.loads(_read(fd, length, until))
    except (ValueError, RecursionError) as error:
        raise Closed(f"frame is not JSON: {error}") from error


def _read(fd: int, size: int, until: float | None) -> bytes:
    parts = []
    while size:
        _wait(fd, select.POLLIN, until)
        try:
            part = os.read(fd, min(size, 2**20))
        except BlockingIOError:
            continue
        except OSError as error:
            raise Closed(str(error)) from error
        if not part:
            raise Closed("end of the pipe")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _wait(fd: int, event: int, until: float | None) -> None:
    """Wait for a pipe. poll and not select: select dies on descriptors over 1,023."""
    poller = select.poll()
    poller.register(fd, event)
    left = None if until is None else max(0.0, until - time.monotonic())
    if not poller.poll(None if left is None else left * 1000):
        raise Late
