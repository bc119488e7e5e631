"""The nearest legal name or key, for errors that end with what to type.

>>> nearest("gsm8", ["gsm8k", "math"])
'gsm8k'
>>> nearest_key("learning_rate", ["optimizer.learning_rate", "optimizer.optim"])
'optimizer.learning_rate'
>>> nearest_key("trainer.max_stepz", ["trainer.max_steps", "trainer.save_steps"])
'trainer.max_steps'
"""

from __future__ import annotations

from collections.abc import Iterable

# What people type from memory of other tools, and the key here.
OTHER_TOOLS = {
    "lr": "optimizer.learning_rate",
    "epochs": "trainer.num_train_epochs",
    "num_epochs": "trainer.num_train_epochs",
    "steps": "trainer.max_steps",
    "batch_size": "trainer.per_device_train_batch_size",
    "train_batch_size": "trainer.per_device_train_batch_size",
    "micro_batch_size": "trainer.per_device_train_batch_size",
    "group_size": "algorithm.num_generations",
    "n_samples": "algorithm.num_generations",
    "rollout.n": "algorithm.num_generations",
    "kl_coef": "algorithm.beta",
    "clip_ratio": "algorithm.epsilon",
    "clip_ratio_high": "algorithm.epsilon_high",
    "max_new_tokens": "generation.max_completion_length",
    "max_tokens": "generation.max_completion_length",
    "max_response_length": "generation.max_completion_length",
    "max_prompt_length": "dataset.max_prompt_tokens",
    "model_name": "model.path",
    "model_name_or_path": "model.path",
    "pretrained": "model.path",
    "dataset_name": "dataset.train",
    "data_path": "dataset.train",
    "train_file": "dataset.train",
    "output_dir": "run.dir",
    "run_name": "run.name",
    "name": "run.name",
    "report_to": "tracker.report_to",
    "wandb": "tracker",
    "use_vllm": "generation",
    "vllm_mode": "generation",
    "sampler": "generation",
    "sampling": "generation",
    "rollout": "generation",
    "logger": "tracker",
    "scheduler": "optimizer",
    "lr_scheduler": "optimizer",
    "use_peft": "peft",
    "lora": "peft",
    "num_gpus": "hardware",
    "gpus": "hardware",
    "deepspeed": "hardware.zero_stage",
    "config": "recipe",
}


def nearest(name: str, names: Iterable[str], *, cutoff: float = 0.5) -> str | None:
    """The name most like ``name``; a name that starts with it beats one that only resembles it."""
    import difflib

    names = list(dict.fromkeys(names))
    lower = {n.lower(): n for n in reversed(names)}
    if name.lower() in lower:
        return lower[name.lower()]
    close = difflib.get_close_matches(name.lower(), lower, n=1, cutoff=cutoff)
    starts = [n for n in names if name and n.lower().startswith(name.lower())]
    if starts and not (close and difflib.SequenceMatcher(None, name.lower(), close[0]).ratio() > 0.9):
        return min(starts, key=len)
    return lower[close[0]] if close else None


def nearest_key(key: str, keys: Iterable[str]) -> str | None:
    """The dotted key most like ``key``: the same last part first, then a known name of another tool, then likeness."""
    keys = list(keys)
    last = key.rsplit(".", 1)[-1]
    same_last = [k for k in keys if k.rsplit(".", 1)[-1] == last and k != key]
    if len(same_last) == 1:
        return same_last[0]
    if same_last:
        return nearest(key, same_last, cutoff=0.0)
    other = OTHER_TOOLS.get(key) or OTHER_TOOLS.get(last)
    if other:
        return other
    head = key.rsplit(".", 1)[0]
    siblings = [k for k in keys if "." in key and k.rsplit(".", 1)[0] == head]
    found = nearest(last, [k.rsplit(".", 1)[-1] for k in siblings], cutoff=0.6)
    if found:
        return f"{head}.{found}"
    by_last = nearest(last, [k.rsplit(".", 1)[-1] for k in keys], cutoff=0.8)
    if by_last:
        return nearest(key, [k for k in keys if k.rsplit(".", 1)[-1] == by_last], cutoff=0.0)
    return None if siblings else nearest(key, keys, cutoff=0.6)
