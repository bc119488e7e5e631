"""Contradictions, one row a rule: what is refused, the words that must be in the line, and what is told to type."""

from __future__ import annotations

from typing import Any

import pytest

from rlvr_cli.config import checks
from rlvr_cli.config.schema import Config
from rlvr_cli.errors import ConfigError, RlvrError


def config(**changes: Any) -> Config:
    """A configuration that holds, with dotted keys changed: ``config(**{"trainer.fp16": True})``."""
    data = Config().model_dump()
    data["model"]["path"] = "owner/model"
    data["dataset"]["train"] = "rows.jsonl"
    data["reward"]["terms"] = {"correct": {"fn": "rewards.math.correct"}}
    for key, value in changes.items():
        node = data
        *parents, last = key.split(".")
        for parent in parents:
            node = node[parent]
        node[last] = value
    return Config.model_validate(data)


def test_the_plain_configuration_holds() -> None:
    assert checks.check(config()) == []


REFUSED = [
    ({"model.path": ""}, "model.path is empty", "model=tiny"),
    ({"model.builder": "a.b"}, "model.path and model.builder are both set", "model.builder=null"),
    ({"dataset.train": None}, "dataset.train is empty", "dataset=arithmetic"),
    ({"dataset.generator": "arithmetic"}, "dataset.generator and dataset.train", "dataset=jsonl dataset.train=rows.jsonl"),
    ({"reward.terms": {}}, "no terms", "reward=math"),
    ({"reward.terms": {"a": {"fn": "m.f", "weight": 0}}}, "every reward weight is 0", "reward.terms.a.weight=1"),
    ({"reward.terms": {"a": {"fn": "m.f", "gate": "a"}}}, "gated", "reward.terms.a.gate=null"),
    (
        {"reward.terms": {"a": {"fn": "rewards.code.tests_passed"}}, "reward.pool.backend": "inline"},
        "inline",
        "reward.pool.backend=process",
    ),
    ({"reward.terms": {"a": {"fn": "rewards.sql.same_result"}}, "reward.pool.backend": "inline"}, "inline", "reward.pool.backend=process"),
    ({"trainer.bf16": True, "trainer.fp16": True}, "trainer.bf16 and trainer.fp16", "trainer.fp16=false"),
    ({"trainer.fp16": True, "hardware.device": "cpu"}, "needs a GPU", "trainer.fp16=false trainer.bf16=true"),
    ({"model.dtype": "bfloat16"}, "no fp32 masters", "hardware.zero_stage=0"),
    ({"model.dtype": "float16", "hardware.ranks": 1}, "no fp32 masters", "model.dtype=float32"),
    ({"model.dtype": "float16", "trainer.bf16": True, "hardware.zero_stage": 2}, "contradicts trainer.bf16", "model.dtype=auto"),
    ({"model.attn_implementation": "flash_attention_2", "hardware.device": "cpu"}, "needs a GPU", "model.attn_implementation=sdpa"),
    ({"model.attn_implementation": "flash_attention_2", "model.dtype": "float32"}, "does not take", "model.attn_implementation=sdpa"),
    (
        {"generation.backend": "vllm_colocate", "hardware.ranks": 3, "generation.tensor_parallel_size": 2},
        "does not divide hardware.ranks=3",
        "generation.tensor_parallel_size=1",
    ),
    ({"algorithm.loss_type": "grpo", "algorithm.epsilon": 3e-4}, "GSPO's clip", "algorithm=grpo"),
    ({"reward.terms": {"a": {"fn": "rewards.environment.end_state"}}}, "there is none", "environment=custom"),
    ({"algorithm.loss_type": "cispo"}, "cispo clamps", "algorithm.epsilon_high=5.0"),
    ({"algorithm.loss_type": "cispo", "algorithm.epsilon_high": 0.28}, "cispo clamps", "algorithm.epsilon_high=5.0"),
    ({"algorithm.importance_sampling_level": "sequence"}, "GSPO is loss_type=grpo", "algorithm=gspo"),
    ({"algorithm.importance_sampling_level": "sequence", "algorithm.loss_type": "dr_grpo"}, "weights long completions", "algorithm=gspo"),
    ({"algorithm.loss_type": "luspo"}, "sequence ratio", "algorithm.importance_sampling_level=sequence"),
    ({"algorithm.epsilon": 1.0}, "lower clip at 0", "algorithm.epsilon=0.2"),
    ({"algorithm.epsilon_high": 0.1}, "below algorithm.epsilon", "algorithm.epsilon_high=0.28"),
    ({"algorithm.delta": 1.1}, "inside the clip range", "algorithm.delta=4.0"),
    ({"algorithm.sync_ref_model": True}, "algorithm.beta=0 loads none", "algorithm.beta=0.001"),
    ({"algorithm.sync_ref_model": True, "algorithm.beta": 0.1, "peft.kind": "lora"}, "does not work with peft", "sync_ref_model=false"),
    ({"algorithm.use_adaptive_entropy": True, "algorithm.entropy_coef": 2.0}, "outside", "algorithm.entropy_coef=0"),
    (
        {"algorithm.multi_objective_aggregation": "normalize_then_sum", "algorithm.scale_rewards": "none"},
        "no effect",
        "scale_rewards=group",
    ),
    ({"algorithm.extra": {"learning_rate": 1}}, "a key of its own", "optimizer.learning_rate=1"),
    ({"algorithm.extra": {"report_to": "x"}}, "a key of its own", "tracker.report_to=x"),
    ({"algorithm.extra": {"num_generations": 4}}, "a key of its own", "algorithm.num_generations=4"),
    ({"algorithm.extra": {"auto_find_batch_size": True}}, "does not support", "~algorithm.extra.auto_find_batch_size"),
    ({"algorithm.extra": {"generation_batch_size": 8}}, "contradicts", "~algorithm.extra.generation_batch_size"),
    ({"generation.backend": "vllm_server", "generation.top_p": 0.9}, "biased", "generation.top_p=1.0"),
    ({"generation.backend": "vllm_colocate", "generation.top_k": 50}, "biased", "generation.top_k=0"),
    ({"generation.backend": "vllm_server", "generation.min_p": 0.1}, "biased", "generation.min_p=null"),
    (
        {"algorithm.loss_type": "vespo", "generation.backend": "vllm_server", "generation.importance_sampling_mode": "sequence_mask"},
        "token mode",
        "generation.importance_sampling_mode=token_truncate",
    ),
    ({"generation.max_model_len": 600, "dataset.max_prompt_tokens": 200}, "exceed", "generation.max_model_len=712"),
    ({"generation.max_model_len": 512}, "leaves no prompt", "generation.max_model_len=1024"),
    ({"generation.server_args": {"port": 8000}}, "set by the launcher", "~generation.server_args.port"),
    ({"generation.server_args": {"--swap-space": 4}}, "has dashes", "+generation.server_args.swap_space=4"),
    ({"peft.kind": "lora", "model.lora_target_modules": []}, "is empty", "all-linear"),
    ({"peft.kind": "lora", "model.lora_target_modules": ["lm_head"]}, "lm_head", "all-linear"),
    ({"peft.kind": "qlora", "hardware.device": "cpu"}, "needs a GPU", "peft=lora"),
    ({"peft.kind": "qlora", "generation.backend": "vllm_server"}, "rounds them away", "generation=hf"),
    ({"peft.kind": "qlora", "hardware.zero_stage": 3}, "not sharded", "hardware.zero_stage=2"),
    ({"hardware.offload": "optimizer", "hardware.device": "cpu"}, "moves nothing", "hardware.offload=none"),
    ({"hardware.offload": "all", "hardware.zero_stage": 2}, "needs ZeRO-3", "hardware.zero_stage=3"),
    ({"hardware.offload": "optimizer"}, "needs DeepSpeed", "hardware.zero_stage=2"),
    ({"hardware.server_devices": [1], "hardware.device": "cpu"}, "hardware.device=cpu", "hardware.server_devices=null"),
    ({"hardware.trainer_devices": [0, 0]}, "names a GPU twice", "hardware.trainer_devices=[0]"),
    ({"hardware.trainer_devices": [0, 1], "hardware.server_devices": [1]}, "GPU 1 is in", "generation=vllm_colocate"),
    ({"hardware.server_devices": [0, 1, 2], "generation.tensor_parallel_size": 2}, "does not divide", "tensor_parallel_size=3"),
    ({"hardware.node_rank": 1}, "ranks count from 0", "hardware.nodes=2"),
    ({"hardware.nodes": 2}, "an address and a port", "hardware.master_addr=HOST"),
    ({"algorithm.num_iterations": 3, "trainer.save_steps": 100}, "inside a generation cycle of 3 steps", "trainer.save_steps=99"),
    (
        {"algorithm.steps_per_generation": 8, "trainer.gradient_accumulation_steps": 2, "trainer.save_steps": 5},
        "cycle of 4",
        "trainer.save_steps=4",
    ),
    ({"algorithm.steps_per_generation": 5, "trainer.gradient_accumulation_steps": 2, "trainer.save_steps": 0}, "do not divide", "=4"),
    ({"trainer.max_steps": 0}, "trains nothing", "trainer.max_steps=100"),
    ({"tracker.report_to": ["wandbb"]}, "not a tracker", "tracker=wandb"),
    ({"reward.terms": {"a": {"fn": "m.f", "options": {"api_key": "abc"}}}}, "looks like a secret", "~reward.terms.a.options.api_key"),
    ({"model.chat_template": "template.jinja"}, "there is no file", "model.chat_template=null"),
    ({"run.name": "../elsewhere"}, "not a folder name", "run.name=elsewhere"),
    ({"run.name": "a b"}, "not a folder name", "run.name=a-b"),
]


@pytest.mark.parametrize(("changes", "says", "fix"), REFUSED, ids=[str(i) for i in range(len(REFUSED))])
def test_contradictions_are_refused(changes: dict[str, Any], says: str, fix: str) -> None:
    with pytest.raises(RlvrError) as caught:
        checks.check(config(**changes))
    assert says in caught.value.what
    assert fix in (caught.value.fix or "")
    assert caught.value.exit_code == 2
    assert "\n" not in str(caught.value)


ALLOWED = [
    {"algorithm.loss_type": "cispo", "algorithm.epsilon_high": 5.0},
    {
        "algorithm.loss_type": "grpo",
        "algorithm.importance_sampling_level": "sequence",
        "algorithm.epsilon": 3e-4,
        "algorithm.epsilon_high": 4e-4,
    },
    {"algorithm.loss_type": "sapo", "algorithm.epsilon": 1.5},
    {"model.dtype": "bfloat16", "hardware.zero_stage": 0},
    {"model.dtype": "bfloat16", "hardware.ranks": 2},
    {"model.dtype": "bfloat16", "peft.kind": "lora"},
    {"generation.top_p": 0.9, "generation.backend": "hf"},
    {"generation.top_p": 0.9, "generation.backend": "vllm_server", "generation.importance_sampling_correction": False},
    {"trainer.save_steps": 0, "algorithm.num_iterations": 3},
    {"trainer.save_steps": 99, "algorithm.num_iterations": 3},
    {"algorithm.extra": {"cast_lm_head_to_fp32": True}},
    {"model.chat_template": "{% for m in messages %}{{ m.content }}{% endfor %}"},
    {"model.stop_token_ids": [1], "dataset.max_prompt_tokens": 100},
    {"reward.terms": {"a": {"fn": "m.f", "options": {"eos_token": "</s>"}}}},
    {"tracker.options": {"WANDB_API_KEY": "abc"}, "tracker.report_to": ["wandb"]},
    {"hardware.nodes": 2, "hardware.master_addr": "node0", "hardware.master_port": 29500},
]


@pytest.mark.parametrize("changes", ALLOWED, ids=[str(i) for i in range(len(ALLOWED))])
def test_what_works_is_not_refused(changes: dict[str, Any]) -> None:
    checks.check(config(**changes))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"reward.terms": {"random": {"fn": "rewards.control.random"}}}, "control arm"),
        ({"algorithm.loss_type": "grpo", "algorithm.importance_sampling_level": "sequence"}, "never clips a sequence ratio"),
        ({"optimizer.warmup_steps": 50, "trainer.max_steps": 20}, "ends in its warm-up"),
        ({"model.trust_remote_code": True}, "runs Python from the model's repository"),
        ({"model.parameters": 1e9, "optimizer.learning_rate": 1e-3}, "is high"),
        (
            {
                "generation.backend": "vllm_server",
                "generation.importance_sampling_mode": "sequence_mask",
                "generation.max_completion_length": 1024,
            },
            "zeroes",
        ),
        ({"algorithm.steps_per_generation": 4, "trainer.save_steps": 0}, "token mean of dapo"),
    ],
)
def test_what_a_person_should_know_is_said(changes: dict[str, Any], says: str) -> None:
    assert any(says in sentence for sentence in checks.check(config(**changes)))


def test_save_steps_proposal_is_itself_legal() -> None:
    for iterations in (1, 2, 3, 4):
        for spg, gas in ((None, 1), (None, 4), (8, 2), (4, 4), (2, 8)):
            for save in (1, 5, 7, 50):
                changes = {
                    "algorithm.num_iterations": iterations,
                    "algorithm.steps_per_generation": spg,
                    "trainer.gradient_accumulation_steps": gas,
                    "trainer.save_steps": save,
                }
                try:
                    checks.cadence.save_on_boundary(config(**changes))
                except ConfigError as error:
                    changes["trainer.save_steps"] = int(error.fix.partition("=")[2])
                    checks.cadence.save_on_boundary(config(**changes))


def test_rules_lists_every_fault_and_not_only_the_first() -> None:
    spoilt = config(**{"trainer.bf16": True, "trainer.fp16": True, "algorithm.loss_type": "cispo"})
    assert {name for name, _, error in checks.faults(spoilt) if error} == {"one_half_precision", "cispo_bound"}
