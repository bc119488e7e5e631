"""Weights on their way to the server: the shared file is an ordinary safetensors file, and the probe's arithmetic holds."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
import torch

from rlvr_cli.config.schema import Config
from rlvr_cli.errors import ConfigError, TrainingError
from rlvr_cli.weights import max_model_len, server_args
from rlvr_cli.weights.client import request_seed
from rlvr_cli.weights.parity import can_double, doubling, stop_when_apart
from rlvr_cli.weights.shared_file import SharedFile, views


def test_the_shared_file_is_safetensors_and_is_rewritten_in_place(tmp_path: Path) -> None:
    from safetensors.torch import load_file

    layout = [("a.weight", (3, 5)), ("b", (7,)), ("scalar", ())]
    file = SharedFile(tmp_path / "w.safetensors", layout, torch.bfloat16)
    for _ in range(2):
        tensors = {name: torch.randn(shape) for name, shape in layout}
        for name, tensor in tensors.items():
            file.write(name, tensor, 2.0 if name == "b" else 1.0)
        read = load_file(tmp_path / "w.safetensors")
        assert {n: t.dtype for n, t in read.items()} == dict.fromkeys(tensors, torch.bfloat16)
        for name, tensor in tensors.items():
            assert torch.equal(read[name], (tensor * (2.0 if name == "b" else 1.0)).bfloat16())
    assert len(file) == 3 and oct((tmp_path / "w.safetensors").stat().st_mode)[-3:] == "600"


def test_the_servers_views_show_every_later_update(tmp_path: Path) -> None:
    layout = [("a.weight", (3, 5)), ("scalar", ())]
    file = SharedFile(tmp_path / "w.safetensors", layout, torch.float32)
    seen = views(file.path)
    for _ in range(2):
        tensors = {name: torch.randn(shape) for name, shape in layout}
        for name, tensor in tensors.items():
            file.write(name, tensor)
        assert all(torch.equal(seen[name], tensor) for name, tensor in tensors.items())
    assert list(seen) == ["a.weight", "scalar"]


@pytest.mark.parametrize("tied", [True, False])
def test_scaled_weights_double_the_logits_of_a_pre_norm_model(tied: bool) -> None:
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    shape = {"vocab_size": 50, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 3, "num_attention_heads": 4}
    config = LlamaConfig(**shape, tie_word_embeddings=tied)
    model = LlamaForCausalLM(config).eval()
    for p in model.parameters():  # variances that RMSNorm's epsilon does not blur
        p.data.mul_(8.0 if p.dim() > 1 else 1.0)
    ids = torch.arange(10)[None]
    with torch.no_grad():
        before = model(ids).logits
        for name, p in model.named_parameters():
            p.mul_(doubling(name))
        after = model(ids).logits
        assert can_double(model)
        assert torch.allclose(after, 2 * before, atol=1e-3)
        model.model.layers[1].mlp.down_proj.weight.mul_(1 / 16)  # what a dropped layer would leave
        assert (model(ids).logits - 2 * before).abs().mean() > 0.05


def test_the_bound_stops_and_a_missing_number_does_too() -> None:
    stop_when_apart({"parity/true": 0.03, "parity/doubled": 0.11}, 0.12, 5)
    with pytest.raises(TrainingError, match=r"parity/doubled is 0\.300"):
        stop_when_apart({"parity/true": 0.03, "parity/doubled": 0.3}, 0.12, 5)
    with pytest.raises(TrainingError, match="nan"):
        stop_when_apart({"parity/true": float("nan")}, 0.12, 5)


def test_each_request_has_a_seed_of_its_own() -> None:
    seeds = {request_seed(run, step, prompt) for run in range(3) for step in range(20) for prompt in range(20)}
    assert len(seeds) == 3 * 20 * 20 and max(seeds) < 2**48


def frozen(**groups: dict) -> Config:
    return Config.model_validate({"hardware": {"device": "cpu"}, "trainer": {"bf16": False}, **groups})


def test_the_server_is_private_and_computes_in_the_trainers_type(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"max_position_embeddings": 600}')
    settings = {"max_completion_length": 100, "server_args": {"max_num_seqs": 4, "enforce_eager": False}}
    argv, env = server_args(frozen(generation=settings), tmp_path, 8123, Path("/dev/shm/x"), 7)
    flags = dict(itertools.pairwise(argv[3:]))
    assert flags["--host"] == "127.0.0.1" and flags["--dtype"] == "float32" and flags["--seed"] == "7" and flags["--max-num-seqs"] == "4"
    assert "--enforce-eager" not in argv and flags["--max-model-len"] == "600" and env["VLLM_SERVER_DEV_MODE"] == "1"
    on_gpu = frozen(hardware={"device": "cuda", "zero_stage": 2}, trainer={"bf16": True})
    argv, _ = server_args(on_gpu, "some/model", 8123, None, 7)
    assert '{"backend": "nccl"}' in argv and "bfloat16" in argv
    (tmp_path / "config.json").write_text('{"hidden_size": 64, "num_attention_heads": 4}')
    with pytest.raises(ConfigError, match="heads of 16"):
        server_args(frozen(), tmp_path, 8123, Path("/dev/shm/x"), 7)
    assert max_model_len(frozen(generation={"max_model_len": 77}), tmp_path) == 77
