"""A random Llama, a word tokenizer and hand-made inputs of TRL's loss, for tests that compare losses and gradients."""

import pytest
import torch

B, PROMPT, T, VOCABULARY = 6, 3, 7, 32


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    words = {"<pad>": 0, "<eos>": 1, **{f"w{i}": i for i in range(2, VOCABULARY)}}
    inner = Tokenizer(models.WordLevel(words, unk_token="<eos>"))
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=inner, pad_token="<pad>", eos_token="<eos>")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    shape = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": VOCABULARY}
    config = LlamaConfig(**shape, pad_token_id=0, eos_token_id=1, max_position_embeddings=64)
    folder = tmp_path_factory.mktemp("model")  # saved, because with beta > 0 TRL loads the reference by the model's path
    LlamaForCausalLM(config).save_pretrained(folder)
    return LlamaForCausalLM.from_pretrained(folder).train()


def trainer_of(model, tokenizer, folder, **settings):
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    args = GRPOConfig(
        output_dir=str(folder), use_cpu=True, bf16=False, per_device_train_batch_size=B, num_generations=2, max_completion_length=T,
        gradient_checkpointing=False, report_to=[], **settings,
    )  # fmt: skip
    rows = Dataset.from_list([{"prompt": "w2 w3 w4"}] * 8)
    return GRPOTrainer(model=model, args=args, reward_funcs=lambda **k: [0.0], train_dataset=rows, processing_class=tokenizer)


def inputs_of(model):
    """Prompts and completions of different lengths, with old and reference log-probs far enough off to clip both ways."""
    generator = torch.Generator().manual_seed(1)
    prompt = torch.randint(2, VOCABULARY, (B, PROMPT), generator=generator)
    completion = torch.randint(2, VOCABULARY, (B, T), generator=generator)
    lengths = torch.tensor([7, 5, 1, 7, 3, 6])
    mask = (torch.arange(T)[None] < lengths[:, None]).long()
    with torch.no_grad():
        logits = model(torch.cat([prompt, completion], 1)).logits[:, PROMPT - 1 : -1]
        now = logits.log_softmax(-1).gather(-1, completion[..., None])[..., 0]
    return {
        "prompt_ids": prompt, "prompt_mask": torch.ones_like(prompt), "completion_ids": completion, "completion_mask": mask,
        "advantages": torch.tensor([1.0, -1.0, 0.7, -0.4, 0.0, 1.6]),
        "old_per_token_logps": now + 0.35 * torch.randn(B, T, generator=generator),
        "ref_per_token_logps": now + 0.5 * torch.randn(B, T, generator=generator),
        "num_items_in_batch": mask.sum(),
    }  # fmt: skip
