"""Under autocast the policy computes with rounded weights: what a run leaves, and whoever judges it, must have those."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1]))
sys.path.append(str(Path(__file__).parent))

from ranks import freeze
from tiny_run import make_model

pytest.importorskip("trl")
pytestmark = [pytest.mark.real, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three supervised steps under bf16 autocast, too small for bfloat16 to hold all of them."""
    from rlvr_cli.training.worker import main

    folder = tmp_path_factory.mktemp("run")
    trainer = {"max_steps": 3, "save_steps": 3, "eval_steps": 0, "per_device_train_batch_size": 8, "bf16": True}
    file = freeze(
        folder, make_model(tmp_path_factory.mktemp("model")), stage={"kind": "sft"}, trainer=trainer, optimizer={"learning_rate": 1e-4}
    )
    assert main([str(file)]) == 0, (folder / "failure.json").read_text()
    return folder


def test_the_model_that_is_kept_has_the_weights_that_were_computed_with(run: Path) -> None:
    import torch
    from safetensors.torch import load_file

    kept, masters = (load_file(run / name / "model.safetensors") for name in ("final", "checkpoints/step_3"))
    assert {t.dtype for t in kept.values()} == {torch.bfloat16} and {t.dtype for t in masters.values()} == {torch.float32}
    assert all(torch.equal(t, masters[name].bfloat16()) for name, t in kept.items())
    assert any(not torch.equal(t.float(), masters[name]) for name, t in kept.items()), "nothing was rounded: the test shows nothing"
    assert json.loads((run / "final" / "config.json").read_text())["dtype"] == "bfloat16"


def test_a_checkpoint_is_judged_with_the_weights_that_were_computed_with(run: Path) -> None:
    import torch

    from rlvr_cli.config.schema import Model
    from rlvr_cli.evaluation.policy import load_policy

    final, checkpoint = (
        load_policy(str(run / name), Model(path="x", dtype="float32"), device="cpu")[0] for name in ("final", "checkpoints/step_3")
    )
    assert all(torch.equal(a, b) for a, b in zip(final.parameters(), checkpoint.parameters(), strict=True))


def test_a_server_computes_in_the_trainers_type() -> None:
    from rlvr_cli.config.schema import Config
    from rlvr_cli.weights import server_dtype

    def of(**trainer) -> str:
        return server_dtype(Config.model_validate({"model": {"dtype": "float32"}, "hardware": {"zero_stage": None}, "trainer": trainer}))

    assert (of(bf16=True), of(bf16=False)) == ("bfloat16", "float32")


def test_a_checkpoint_says_what_its_policy_was_computed_in(run: Path) -> None:
    from rlvr_cli.models.precision import recorded

    assert (recorded(run / "checkpoints" / "step_3"), recorded(run / "final")) == ("bfloat16", None)
