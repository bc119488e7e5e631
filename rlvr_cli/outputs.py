"""Files that a command writes where a person said: found wanting before the work starts, written whole or not at all, never over another.

A command asks :func:`claim` first, so that an hour of sampling does not end at a file that could not be written, and writes with
:func:`writing`, so that a full disk leaves the old file or none::

    place = claim("scored.jsonl", overwrite=False)     # ConfigError: scored.jsonl exists (set in: out). Type: overwrite=true
    with writing(place) as file:
        file.write(...)
"""

from __future__ import annotations

import errno
import gzip
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from rlvr_cli.errors import ConfigError, RlvrError

NOT_THE_PERSONS_FAULT = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG)


def claim(out: str | Path, *, overwrite: bool = False, where: str = "out", fix: str | None = None) -> Path:
    """The path of a file that can be written. ``fix``: what to type where it exists (``overwrite=true``).

    Raises ConfigError where it exists and may not be overwritten, is a folder, or lies where nothing can be written.
    A device or a pipe (``/dev/null``) is taken as it is.
    """
    path = Path(out).expanduser()
    if path.is_dir():
        raise ConfigError(f"{out} is a folder", where=where, fix=f"{path / 'FILE'}")
    if is_special(path):
        return path
    if path.exists() and not overwrite:
        raise ConfigError(f"{out} exists", where=where, fix=fix or "overwrite=true, or another name")
    need_writable(path.parent, where=where, what=str(out))
    return path


def need_writable(folder: Path, *, where: str, what: str | None = None, fix: str | None = None) -> None:
    """Raise ConfigError where ``folder``, or the nearest one above it that exists, takes no file."""
    above = next((p for p in (folder, *folder.absolute().parents) if p.exists() or p.is_symlink()), Path("/"))
    if not above.is_dir():
        raise ConfigError(f"{what or folder} can not be written: {above} is not a folder", where=where, fix=fix)
    if not os.access(above, os.W_OK | os.X_OK):
        place = above.absolute()
        raise ConfigError(f"{what or folder} can not be written: {place} is read-only or belongs to somebody else", where=where, fix=fix)


def is_special(path: Path) -> bool:
    """A device or a pipe: renaming a file over it would destroy it, so it is written straight."""
    return path.exists() and not path.is_file() and not path.is_dir()


@contextmanager
def writing(path: Path, *, where: str = "out", errors: str = "backslashreplace") -> Iterator[IO[str]]:
    """A text file under a neighbour's name that gets its own when the block ends well (``.gz`` packs), and is removed otherwise.

    errors: how a lone surrogate is written; in JSON the backslash makes it its own escape.
    """
    straight = is_special(path)
    part = path if straight else path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with opened(part, packed=path.suffix == ".gz", errors=errors) as file:
            yield file
        if not straight:
            os.replace(part, path)
    except OSError as error:
        if error.errno is None or isinstance(error, BrokenPipeError):
            raise
        raise refused(path, error, where) from error
    finally:
        if not straight:
            with suppress(OSError):
                part.unlink()


def opened(part: Path, *, packed: bool, errors: str) -> Any:
    """The file, packed or not."""
    return gzip.open(part, "wt", encoding="utf-8", errors=errors) if packed else open(part, "w", encoding="utf-8", errors=errors)


def refused(path: Path, error: OSError, where: str) -> RlvrError:
    """What the system said, in a line: a full disk is a failure, a wrong place is the person's."""
    what = f"{path} can not be written: {error.strerror}"
    if error.errno in NOT_THE_PERSONS_FAULT:
        return RlvrError(what, where=where)
    return ConfigError(what, where=where)
