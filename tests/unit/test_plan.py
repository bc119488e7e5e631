"""Who gets what, on machines we have and machines we do not: the plan is arithmetic, so all of it is tested here."""

import dataclasses

import pytest

from rlvr_cli.config.schema import Config
from rlvr_cli.errors import ConfigError
from rlvr_cli.launch.freeze import freeze
from rlvr_cli.launch.machine import Gpu, Machine, parse_gpu
from rlvr_cli.launch.memory import Shape, Sizes, estimate, read_shape, saved
from rlvr_cli.launch.plan import lines, solve
from rlvr_cli.launch.ports import free_ports

STACK = {"torch": True, "trl": True, "deepspeed": True, "vllm": True, "peft": True}
LAPTOP = Machine(cores=2, memory_gib=24, shm_gib=12, gpus=[], installed=STACK)


def gpus(count: int, capability: float = 9.0) -> Machine:
    return Machine(64, 512, 256, [Gpu(i, "NVIDIA H200", 140.4, capability) for i in range(count)], STACK)


def config(**groups) -> Config:
    return Config.model_validate({"model": {"path": "Qwen/Qwen2.5-1.5B-Instruct"}, **groups})


def test_cpu_default_is_one_rank_without_deepspeed():
    plan = solve(config(generation={"backend": "hf"}), LAPTOP)
    assert (plan.device, plan.ranks, plan.zero_stage, plan.mixed_precision) == ("cpu", 1, None, "fp32")
    assert plan.trainer_devices == [] and plan.server_devices == []


def test_two_ranks_on_cpu_always_get_deepspeed():
    plan = solve(config(hardware={"ranks": 2}, generation={"backend": "hf"}), LAPTOP)
    assert plan.zero_stage == 2 and any("ZeRO-2" in note for note in plan.notes)


@pytest.mark.parametrize(
    ("count", "backend", "server", "trainers"),
    [
        (2, "vllm_server", [1], [0]),
        (4, "vllm_server", [3], [0, 1, 2]),
        (8, "vllm_server", [6, 7], [0, 1, 2, 3, 4, 5]),
        (8, "vllm_colocate", [], list(range(8))),
    ],
)
def test_server_and_trainer_gpus_are_disjoint(count, backend, server, trainers):
    plan = solve(config(generation={"backend": backend}), gpus(count))
    assert (plan.server_devices, plan.trainer_devices) == (server, trainers)
    assert (plan.ranks == len(trainers) and plan.zero_stage == 2) or len(trainers) == 1


def test_one_gpu_colocates_and_refuses_a_server():
    assert solve(config(generation={"backend": "auto"}), gpus(1)).backend == "vllm_colocate"
    with pytest.raises(ConfigError, match="only GPU"):
        solve(config(generation={"backend": "vllm_server"}), gpus(1))


def test_auto_backend_is_said_aloud():
    plan = solve(config(generation={"backend": "auto"}), LAPTOP)
    assert plan.backend == "vllm_server" and "generation: vllm_server" in plan.notes
    assert solve(config(generation={"backend": "auto"}), dataclasses.replace(LAPTOP, installed={**STACK, "vllm": False})).backend == "hf"


@pytest.mark.parametrize(
    ("groups", "machine", "says"),
    [
        ({"hardware": {"device": "cuda"}}, LAPTOP, "no NVIDIA GPU"),
        ({"generation": {"backend": "vllm_colocate"}}, LAPTOP, "needs a GPU"),
        (
            {"hardware": {"server_devices": [0], "trainer_devices": [0, 1]}, "generation": {"backend": "vllm_server"}},
            gpus(2),
            "given to the server and",
        ),
        ({"hardware": {"trainer_devices": [7]}, "generation": {"backend": "hf"}}, gpus(2), "GPU 7 is not here"),
        ({"hardware": {"ranks": 3}, "generation": {"backend": "hf"}}, gpus(2), "3 ranks for 2"),
        ({"trainer": {"per_device_train_batch_size": 6}, "generation": {"backend": "hf"}}, LAPTOP, "not a multiple of G = 8"),
    ],
)
def test_what_cannot_be_is_one_line(groups, machine, says):
    with pytest.raises(ConfigError, match=says) as caught:
        solve(config(**groups), machine)
    assert "\n" not in str(caught.value)


def test_impossible_batch_names_the_nearest_legal_value():
    with pytest.raises(ConfigError) as caught:
        solve(config(trainer={"per_device_train_batch_size": 6}, generation={"backend": "hf"}), LAPTOP)
    assert caught.value.fix == "trainer.per_device_train_batch_size=8"


def test_batch_numbers():
    plan = solve(
        config(
            trainer={"per_device_train_batch_size": 4, "gradient_accumulation_steps": 8},
            hardware={"ranks": 2},
            algorithm={"num_generations": 8},
            generation={"backend": "hf"},
        ),
        LAPTOP,
    )
    assert (plan.completions_per_step, plan.prompts_per_generation) == (64, 8)


@pytest.mark.parametrize(("native", "precision"), [(True, "bf16"), (False, "fp32")])
def test_a_cpu_gets_bf16_only_where_it_computes_in_it(native, precision):
    """Emulated bf16 was measured at a quarter of float32's speed."""
    plan = solve(config(generation={"backend": "hf"}), dataclasses.replace(LAPTOP, cpu_bf16=native))
    assert plan.mixed_precision == precision
    assert any(note.startswith(f"precision: {precision}") for note in plan.notes)
    asked = config(generation={"backend": "hf"}, trainer={"bf16": True})
    assert solve(asked, dataclasses.replace(LAPTOP, cpu_bf16=native)).mixed_precision == "bf16"


@pytest.mark.parametrize(("capability", "precision"), [(9.0, "bf16"), (8.0, "bf16"), (7.5, "fp16")])
def test_precision_follows_the_gpu(capability, precision):
    assert solve(config(generation={"backend": "hf"}), gpus(2, capability)).mixed_precision == precision


SEVEN = Sizes(7.6e9, Shape(hidden=3584, layers=28, inner=18944, key_value=512, vocabulary=152064), tokens=8 * 1024, ranks=8)


def test_memory_of_a_7b_at_each_stage():
    """16 bytes a parameter in all; on 8 ranks stage 3 keeps an eighth of it."""
    seven = {stage: estimate(Sizes(7e9, zero_stage=stage, ranks=8)).state for stage in (0, 1, 2, 3)}
    assert seven[0] == pytest.approx(7e9 * 16 / 2**30, abs=0.01)
    assert seven[0] > seven[1] > seven[2] > seven[3] == pytest.approx(seven[0] / 8, abs=0.01)


def test_recomputation_keeps_two_of_34_bytes_and_one_layer():
    whole, recomputed = estimate(SEVEN).activations, estimate(dataclasses.replace(SEVEN, recompute=True)).activations
    assert whole == pytest.approx(8 * 1024 * 3584 * 28 * 34 / 2**30, abs=0.01)
    assert recomputed == pytest.approx(whole * 2 / 34 + whole / 28, abs=0.01)


def test_adapters_and_four_bits():
    """Rank x (in + out) of each projection; 4 bits and a scale for each 64 weights of a projection, instead of 16."""
    assert SEVEN.shape.adapters(16) == 28 * 16 * (2 * (3584 + 3584) + 2 * (3584 + 512) + 3 * (3584 + 18944))
    lora = dataclasses.replace(SEVEN, lora_rank=16)
    assert estimate(lora).state == pytest.approx((7.6e9 * 2 + SEVEN.shape.adapters(16) * 16) / 2**30, abs=0.05)
    spared = estimate(lora).state - estimate(dataclasses.replace(lora, four_bits=True)).state
    assert spared == pytest.approx(SEVEN.shape.linear * (2 - 0.5 - 4 / 64) / 2**30, abs=0.02)


def test_offload_moves_and_does_not_lose():
    sharded = dataclasses.replace(SEVEN, zero_stage=3)
    for offload in ("optimizer", "all"):
        moved = estimate(dataclasses.replace(sharded, offload=offload))
        assert moved.host > 0 and moved.state + moved.host == pytest.approx(estimate(sharded).state, abs=0.02)


def test_a_reference_is_a_second_copy_but_for_adapters():
    assert saved(SEVEN, reference=True) == pytest.approx(7.6e9 * 2 / 2**30, abs=0.02)
    assert saved(dataclasses.replace(SEVEN, lora_rank=16), reference=True) == 0


@pytest.mark.parametrize(
    ("groups", "machine", "said"),
    [
        ({"trainer": {"gradient_checkpointing": True}}, gpus(1), "gradient checkpointing saves"),
        ({}, gpus(1), "trainer.gradient_checkpointing=true would save"),
        ({"peft": {"kind": "lora"}}, gpus(1), "adapters (peft=lora) save"),
        ({"peft": {"kind": "qlora"}}, gpus(1), "4-bit base and adapters (peft=qlora) save"),
        ({"hardware": {"offload": "optimizer", "zero_stage": 2}}, gpus(1), "hardware.offload=optimizer moves"),
        ({"algorithm": {"beta": 0.01}}, gpus(1), "the reference model (algorithm.beta=0.01) takes"),
        ({}, gpus(1), "no reference model (algorithm.beta=0) saves"),
        ({}, gpus(1, 7.5), "and a loss scaler: for GPUs without bf16"),
        ({}, gpus(1), "log-probs in tiles"),
        ({"generation": {"backend": "vllm_colocate"}}, gpus(1), "one more forward pass a generation: they correct the server"),
        ({"algorithm": {"num_iterations": 2}}, gpus(1), "one generation feeds 2 optimizer steps"),
        ({"algorithm": {"num_iterations": 2}}, gpus(1), "for it feeds more than one optimizer step"),
    ],
)
def test_the_plan_says_what_an_option_does(groups, machine, said):
    """A line each, with GiB where it is memory: 1.5 billion parameters on one GPU."""
    settings = {"model": {"path": "Qwen/Qwen2.5-1.5B-Instruct", "parameters": 1.54e9}, "generation": {"backend": "hf"}, **groups}
    plan = solve(Config.model_validate(settings), machine)
    found = [line for line in plan.options if said in line]
    assert len(found) == 1 and f"option      {found[0]}" in lines(plan)


def test_a_small_run_says_nothing_of_memory_options():
    tiny = Config.model_validate({"model": {"builder": "rlvr_cli.models.tiny.build", "parameters": 3e5}, "generation": {"backend": "hf"}})
    assert solve(tiny, LAPTOP, longest_prompt=20).options == []


def test_a_measured_prompt_takes_the_place_of_the_guess():
    asked = config(generation={"backend": "hf"}, dataset={"generator": "arithmetic"})
    guessed, measured = solve(asked, LAPTOP), solve(asked, LAPTOP, longest_prompt=40)
    assert (guessed.prompt_tokens, measured.prompt_tokens) == (512, 40)
    assert measured.max_tokens_per_step < guessed.max_tokens_per_step


def test_shape_of_a_model_from_its_config_file(tmp_path):
    """SmolLM2-135M's published shape has 134.5M parameters (its model card)."""
    (tmp_path / "config.json").write_text(
        '{"hidden_size": 576, "num_hidden_layers": 30, "vocab_size": 49152, "intermediate_size": 1536,'
        ' "num_attention_heads": 9, "num_key_value_heads": 3, "tie_word_embeddings": true}'
    )
    parameters, shape = read_shape(tmp_path)
    assert parameters == pytest.approx(134.5e6, rel=0.001) and (shape.vocabulary, shape.key_value) == (49152, 192)
    assert read_shape(tmp_path / "absent") == (None, None)


def test_frozen_config_has_no_auto_left():
    plan = solve(config(generation={"backend": "auto"}), LAPTOP)
    frozen = freeze(config(generation={"backend": "auto"}), plan)
    assert "auto" not in (frozen.generation.backend, frozen.hardware.device, frozen.hardware.zero_stage)
    assert frozen.hardware.ranks == 1


def test_lines_name_units_and_shares():
    text = "\n".join(lines(solve(config(generation={"backend": "hf"}), LAPTOP)))
    assert "prompts x G 8" in text and "tokens a step" in text


def test_gpu_line():
    assert parse_gpu("0, NVIDIA H200, 143771, 9.0") == Gpu(0, "NVIDIA H200", 140.4, 9.0)


def test_free_ports_differ():
    assert len(set(free_ports(20))) == 20
