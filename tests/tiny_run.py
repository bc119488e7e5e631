"""A run folder in a second, for tests of what reads runs: a random Llama with a character tokenizer, rows and a reward.

The weights are random, so answers are noise; the reward pays by a property of the text (its checksum is even), so about
half of them are "right", and two models differ. Nothing here is trained.
"""

from __future__ import annotations

import json
from pathlib import Path

import yaml

REWARD = '''
def even(completions, answer, *, strict=False, **kwargs):
    """Right when the text's code points sum to an even number; strict also wants more than four characters."""
    scores = []
    for completion in completions:
        text = completion if isinstance(completion, str) else completion[0]["content"]
        right = sum(map(ord, text)) % 2 == 0 and (len(text) > 4 or not strict)
        scores.append(None if "?" in text else float(right))
    return scores
'''


def make_model(folder: Path, seed: int = 0) -> Path:
    """A random Llama of 30,000 weights with the project's character tokenizer, saved in ``folder``."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    from rlvr_cli.models.tokenizer import character_tokenizer

    tokenizer = character_tokenizer()
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=128,
        tie_word_embeddings=False,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=None,
    )
    model = LlamaForCausalLM(config)
    with torch.no_grad():  # a sharper distribution, so that greedy texts differ between prompts; and an end now and then
        model.lm_head.weight.mul_(20)
        model.lm_head.weight[tokenizer.eos_token_id].mul_(1.5)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def make_rows(path: Path, n: int = 24, first: int = 0) -> Path:
    """``n`` sums as JSONL, with three levels of difficulty."""
    numbers = range(first, first + n)
    rows = [{"prompt": f"{i * 7 % 50}+{i}=?", "answer": str(i * 7 % 50 + i), "difficulty": i % 3} for i in numbers]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def make_run(root: Path, name: str = "demo", *, seed: int = 0, n: int = 24) -> Path:
    """``root/outputs/<name>`` with a frozen configuration, ``final/``, and the reward ``rewards/parity.py`` beside it."""
    from rlvr_cli.config.schema import Config

    (root / "rewards").mkdir(exist_ok=True)
    (root / "rewards" / "parity.py").write_text(REWARD)
    rows, train = make_rows(root / "rows.jsonl", n), make_rows(root / "train.jsonl", n, first=n)
    run = root / "outputs" / name
    make_model(run / "final", seed)
    settings = {
        "seed": seed,
        "model": {"path": str(run / "final"), "dtype": "float32"},
        "dataset": {"train": str(train), "eval": str(rows)},
        "reward": {"terms": {"correct": {"fn": "rewards.parity.even"}}},
        "generation": {"max_completion_length": 8, "temperature": 0.9},
        "hardware": {"device": "cpu", "threads": 1},
        "run": {"name": name},
    }
    frozen = Config.model_validate(settings).model_dump(mode="json")
    (run / "config.yaml").write_text(yaml.safe_dump(frozen, sort_keys=False))
    return run
