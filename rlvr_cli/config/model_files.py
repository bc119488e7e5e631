"""What a model's files say before anything loads: where they are, their context length, their template. No torch, no network.

A hub id is looked for in the cache's own layout (``models--owner--name/snapshots/REVISION``), so a login node can answer.

>>> cached("nobody/nothing") is None
True
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

from rlvr_cli.errors import ConfigError

HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")


def looks_like_path(path: str) -> bool:
    """Whether a person meant a folder: it starts like one, or has more parts than a hub id."""
    return path.startswith((".", "/", "~")) or not HUB_ID.fullmatch(path)


def surely_local(path: str) -> bool:
    """Whether a model that is neither here nor in the cache was meant as a folder: ``outputs/RUN`` has the form of a hub id too."""
    first = path.partition("/")[0]
    return looks_like_path(path) or first == "outputs" or ("/" in path and Path(first).is_dir())


def nearest_folder(path: str) -> Path | None:
    """A folder like the missing ``path``: the first part of it that is wrong, put right, where the whole is then there."""
    from rlvr_cli.config.nearest import nearest

    parts = Path(path).expanduser().parts
    for end, part in enumerate(parts):
        parent = Path(*parts[:end])
        if (parent / part).exists():
            continue
        near = nearest(part, [p.name for p in parent.iterdir() if p.is_dir()], cutoff=0.6) if parent.is_dir() else None
        found = Path(parent, near, *parts[end + 1 :]) if near else None
        return found if found is not None and found.is_dir() else None
    return None


def hub_cache() -> Path:
    """The folder of downloaded models."""
    home = os.environ.get("HF_HOME") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "huggingface"
    return Path(os.environ.get("HF_HUB_CACHE") or Path(home) / "hub").expanduser()


def cached(hub_id: str, revision: str | None = None) -> Path | None:
    """The folder of a downloaded model, or None."""
    repository = hub_cache() / ("models--" + hub_id.replace("/", "--"))
    reference = repository / "refs" / (revision or "main")
    commit = reference.read_text().strip() if reference.is_file() else revision
    folder = repository / "snapshots" / commit if commit else None
    return folder if folder is not None and (folder / "config.json").exists() else None


def fetch_small(hub_id: str, revision: str | None = None, *, where: str = "model.path") -> Path:
    """Download a model's settings and tokenizer, not its weights: whether it can be had is known before anything starts.
    ``where`` is the key that names it.

    Raises ConfigError, one line, where the hub does not answer, has no such model, or keeps it behind a licence.
    """
    from huggingface_hub import errors, snapshot_download

    small = ["*.json", "*.jinja", "*.model", "*.txt"]
    try:
        return Path(snapshot_download(hub_id, revision=revision, allow_patterns=small))
    except errors.GatedRepoError as error:
        raise ConfigError(f"{hub_id} is behind a licence that this account has not accepted", where=where, fix="hf auth login") from error
    except errors.RevisionNotFoundError as error:
        raise ConfigError(f"{hub_id} has no revision {revision!r}", where="model.revision", fix="model.revision=null") from error
    except errors.RepositoryNotFoundError as error:
        fix = "rlvr ls model" if where == "model.path" else f"{where}=FOLDER"
        raise ConfigError(f"there is no model {hub_id!r} on the hub", where=where, fix=fix) from error
    except Exception as error:  # no network: the client raises what its transport raises, and that changes between releases
        what = f"{hub_id} cannot be had: the hub does not answer, and it is not in the cache"
        raise ConfigError(what, where=where, fix=f"{where}=FOLDER" + (", or model=tiny" if where == "model.path" else "")) from error


def folder_of(path: str, revision: str | None = None) -> Path | None:
    """The folder that holds a model's files on this machine; None where they are not here."""
    local = Path(path).expanduser()
    if local.is_dir():
        return local
    return None if looks_like_path(path) else cached(path, revision)


def read(folder: Path, name: str) -> dict[str, Any]:
    """One JSON file of a model; empty where it is not there."""
    try:
        data = json.loads((folder / name).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}


def context(folder: Path) -> int | None:
    """The longest sequence that the model was made for, in tokens."""
    config = read(folder, "config.json")
    inner = config.get("text_config") if isinstance(config.get("text_config"), dict) else {}
    found = config.get("max_position_embeddings") or inner.get("max_position_embeddings")
    return found if isinstance(found, int) else None


def vocabulary(folder: Path) -> int | None:
    """How many tokens the model has."""
    config = read(folder, "config.json")
    inner = config.get("text_config") if isinstance(config.get("text_config"), dict) else {}
    found = config.get("vocab_size") or inner.get("vocab_size")
    return found if isinstance(found, int) else None


def end_ids(folder: Path) -> list[int]:
    """The ids at which the model's own generation settings stop."""
    for name in ("generation_config.json", "config.json"):
        found = read(folder, name).get("eos_token_id")
        if found is not None:
            return [i for i in (found if isinstance(found, list) else [found]) if isinstance(i, int)]
    return []


def has_template(folder: Path) -> bool:
    """Whether the tokenizer brings a chat template."""
    if any((folder / name).is_file() for name in ("chat_template.jinja", "chat_template.json")):
        return True
    return bool(read(folder, "tokenizer_config.json").get("chat_template"))


def template(folder: Path) -> str | None:
    """The tokenizer's chat template as text, where there is one."""
    file = folder / "chat_template.jinja"
    found = file.read_text(encoding="utf-8") if file.is_file() else read(folder, "tokenizer_config.json").get("chat_template")
    return found if found is None or isinstance(found, str) else json.dumps(found)


def has_weights(folder: Path) -> bool:
    """Whether weights are there, not only a configuration."""
    return any(folder.glob("*.safetensors")) or any(folder.glob("pytorch_model*.bin"))


def torn_weights(folder: Path) -> str | None:
    """What is wrong with the first safetensors file that is not whole (a copy or a download that stopped), or None. Reads headers only."""
    for path in sorted(folder.glob("*.safetensors")):
        try:
            with path.open("rb") as file:
                length = int.from_bytes(file.read(8), "little")
                if length > path.stat().st_size:
                    return f"{path} is no safetensors file, or is cut short"
                header = json.loads(file.read(length))
            want = 8 + length + max((tensor["data_offsets"][1] for name, tensor in header.items() if name != "__metadata__"), default=0)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return f"{path} is no safetensors file, or is cut short"
        if path.stat().st_size != want:
            return f"{path} has {path.stat().st_size:,} bytes, its header speaks of {want:,}"
    return None


def not_causal(folder: Path) -> str | None:
    """The architecture of a model that does not write text (a classifier, an encoder), or None."""
    named = architectures(folder)
    return None if not named or writes_text(folder) else ", ".join(named)


def writes_text(folder: Path) -> str | None:
    """The architecture of a model that writes text, or None."""
    return next((name for name in architectures(folder) if name.endswith(("ForCausalLM", "ForConditionalGeneration", "LMHeadModel"))), None)


def architectures(folder: Path) -> list[str]:
    """The names of the classes that the model was saved from."""
    return list(map(str, read(folder, "config.json").get("architectures") or []))


def module_names(folder: Path) -> set[str]:
    """Last names of the modules that have a weight matrix (``q_proj``), from the headers of the safetensors files."""
    names: set[str] = set()
    for path in folder.glob("*.safetensors"):
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if length > 100 * 2**20:
                continue
            try:
                header = json.loads(file.read(length))
            except ValueError:
                continue
        names |= {key.split(".")[-2] for key, tensor in header.items() if key.endswith(".weight") and len(tensor.get("shape", [])) == 2}
    return names
