"""The policy and its tokenizer, as the model's family file asks: dtype, template, stop ids, adapters.

The path is handed to TRL as it is, so that TRL loads the model after DeepSpeed knows its stage, and loads the reference
from the same place when ``beta`` asks for one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rlvr_cli.config.schema import Config
from rlvr_cli.errors import ConfigError


def load_tokenizer(config: Config, path: str) -> Any:
    """The tokenizer with the configured chat template, padding on the left."""
    from transformers import AutoTokenizer

    model = config.model
    revision = {} if model.builder or not model.revision else {"revision": model.revision}
    tokenizer = AutoTokenizer.from_pretrained(path, trust_remote_code=model.trust_remote_code, padding_side="left", **revision)
    if model.chat_template:
        named = Path(model.chat_template)
        is_file = len(model.chat_template) < 1024 and named.is_file()
        tokenizer.chat_template = named.read_text() if is_file else model.chat_template
    if tokenizer.chat_template is None:
        fix = "model.chat_template=FILE.jinja"
        raise ConfigError(f"the tokenizer of {path} has no chat template", where="model.chat_template", fix=fix)
    return tokenizer


def load_policy(config: Config, path: str, args: Any) -> Any:
    """The model, with the configured stop ids in its generation settings."""
    from trl.trainer.utils import create_model_from_path

    settings = dict(args.model_init_kwargs)
    if args.distributed_state.distributed_type in ("MULTI_GPU", "DEEPSPEED"):
        settings["device_map"] = None
    if config.peft.kind == "qlora":
        settings["quantization_config"] = four_bits(config)
    model = create_model_from_path(path, **settings)
    own = model.generation_config.eos_token_id
    known = [own] if isinstance(own, int) else list(own or [])
    model.generation_config.eos_token_id = list(dict.fromkeys([*known, *config.model.stop_token_ids])) or None
    return model


def peft_config(config: Config) -> Any:
    """LoRA's settings, or None for full fine-tuning."""
    if config.peft.kind == "none":
        return None
    from peft import LoraConfig

    peft = config.peft
    return LoraConfig(
        task_type="CAUSAL_LM",
        r=peft.r,
        lora_alpha=peft.lora_alpha,
        lora_dropout=peft.lora_dropout,
        use_rslora=peft.use_rslora,
        target_modules=config.model.lora_target_modules,
    )


def four_bits(config: Config) -> Any:
    """bitsandbytes' NF4; refused where there is no GPU to run it, and with a server, whose merged weights it would round."""
    if config.hardware.device == "cpu":
        raise ConfigError("4-bit weights need a GPU", where="peft.kind=qlora", fix="peft=lora")
    if config.generation.backend != "hf":
        what = "merging adapters into 4-bit weights for vLLM rounds them at each sync"
        raise ConfigError(what, where="peft.kind=qlora", fix="generation=hf")
    import torch
    from transformers import BitsAndBytesConfig

    return BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=torch.bfloat16)
