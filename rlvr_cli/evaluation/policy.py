"""A model to be asked: weights and tokenizer from a folder or the hub, adapters merged, on the device at hand.

``dtype: auto`` means float32 on a CPU, as in training, so that a number does not depend on bfloat16's near ties; on a GPU
it is the checkpoint's own type. A folder that holds only an adapter is loaded onto its base model and merged::

    model, tokenizer = load_policy("outputs/RUN/final", ModelConfig(), device="cpu")
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from rlvr_cli.config.schema import Hardware
from rlvr_cli.config.schema import Model as ModelConfig
from rlvr_cli.errors import ConfigError, MissingDependency
from rlvr_cli.models.precision import round_as_computed


def device_of(hardware: Hardware) -> str:
    """``cuda`` or ``cpu``."""
    import torch

    if hardware.device == "cuda" and not torch.cuda.is_available():
        raise ConfigError("no NVIDIA GPU here", where="hardware.device=cuda", fix="hardware=cpu")
    return "cuda" if torch.cuda.is_available() and hardware.device != "cpu" else "cpu"


def need_torch() -> None:
    """A base install scores without a model; asking a model needs the training extra. Imports quietly: stdout is the result's."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    try:
        import torch

        if not torch.cuda.is_available():
            os.environ.setdefault("DS_ACCELERATOR", "cpu")  # else DeepSpeed, once imported, prints what it did not find
        from transformers.utils import logging

        logging.disable_progress_bar()
    except ImportError as error:
        raise MissingDependency(f"asking a model needs {error.name}", fix="pip install 'rlvr[cpu]'") from error


def may_reach_hub(path: str) -> bool:
    """Whether ``path`` is here or the hub answers; when it does not, its libraries are told, so that they do not retry for a minute."""
    if Path(path).exists():
        return True
    from rlvr_cli.data.sources import hub_answers

    if hub_answers():
        return True
    os.environ["HF_HUB_OFFLINE"] = "1"  # read by processes started from here, such as a server
    return False


def load_policy(path: str, config: ModelConfig, *, device: str) -> tuple[Any, Any]:
    """Model in evaluation mode and tokenizer. Raises ConfigError, one line, where nothing can be loaded from ``path``."""
    may_reach_hub(path)
    try:
        tokenizer = load_tokenizer(path, config)
        model = load_weights(path, config, device)
    except Exception as error:  # torn weights are a SafetensorError, other shapes a RuntimeError, a missing package an ImportError
        said = " ".join(str(error).split())[:300]
        if not Path(path).exists() and not may_reach_hub(path):
            said = "the hub does not answer, and it is not in the cache"
        raise ConfigError(f"no model can be loaded from {path}: {said}", where="checkpoint", fix="rlvr runs") from error
    return model.to(device).eval(), tokenizer


def load_tokenizer(path: str, config: ModelConfig) -> Any:
    """The tokenizer, with the configured chat template where one is set, and some padding token."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(tokenizer_place(path), trust_remote_code=config.trust_remote_code)
    if config.chat_template:
        place = Path(config.chat_template)
        is_file = len(config.chat_template) < 500 and place.is_file()
        tokenizer.chat_template = place.read_text(encoding="utf-8") if is_file else config.chat_template
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer


def tokenizer_place(path: str) -> str:
    """The folder itself, or the adapter's base model where the folder has no tokenizer."""
    folder = Path(path)
    if (folder / "adapter_config.json").is_file() and not (folder / "tokenizer_config.json").is_file():
        return base_of_adapter(folder)
    return path


def base_of_adapter(folder: Path) -> str:
    """Where the model lies that an adapter was trained on."""
    import json

    return json.loads((folder / "adapter_config.json").read_text())["base_model_name_or_path"]


def load_weights(path: str, config: ModelConfig, device: str) -> Any:
    """The causal model, an adapter merged into its base; a checkpoint's with the weights that its policy computed with."""
    import torch
    from transformers import AutoModelForCausalLM

    dtype: Any = config.dtype if config.dtype != "auto" else ("auto" if device == "cuda" else torch.float32)
    options: dict[str, Any] = {"dtype": dtype, "trust_remote_code": config.trust_remote_code}
    if config.attn_implementation:
        options["attn_implementation"] = config.attn_implementation
    folder = Path(path)
    if not (folder / "adapter_config.json").is_file():
        model = AutoModelForCausalLM.from_pretrained(path, **options)
    else:
        from peft import PeftModel

        base = AutoModelForCausalLM.from_pretrained(base_of_adapter(folder), **options)
        model = PeftModel.from_pretrained(base, path).merge_and_unload()
    round_as_computed(model, folder)
    return model
