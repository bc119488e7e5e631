"""Leaving the rows of advantage zero out changes neither the loss nor the gradient, for every loss type; and says when it must not."""

import sys
from pathlib import Path

import pytest

from rlvr_cli.lab.losses import LOSS_TYPES

torch = pytest.importorskip("torch")
pytest.importorskip("trl")
pytestmark = pytest.mark.real

sys.path.insert(0, str(Path(__file__).parent))
from toy_grpo import inputs_of, model, tokenizer, trainer_of  # noqa: E402, F401

from rlvr_cli.training import live_rows  # noqa: E402


def padded(inputs):
    """Half of the rows dead, a column of padding left of the short prompts and two right of all completions."""
    out = dict(inputs)
    rows = len(inputs["advantages"])
    out["advantages"] = torch.tensor([1.0, 0.0, 0.7, 0.0, 0.0, -0.4])
    for name, value in inputs.items():
        if value.dim() == 2 and name.startswith("prompt"):
            out[name] = torch.cat([torch.zeros(rows, 1, dtype=value.dtype), value], 1)
        elif value.dim() == 2:
            out[name] = torch.cat([value, torch.zeros(rows, 2, dtype=value.dtype)], 1)
    return out


def gradient(model, loss):  # noqa: F811
    model.zero_grad()
    loss.backward()
    return torch.cat([p.grad.flatten() for p in model.parameters()])


@pytest.mark.parametrize("level", ["token", "sequence"])
@pytest.mark.parametrize("loss_type", LOSS_TYPES)
def test_loss_and_gradient_stay_the_same(model, tokenizer, tmp_path, loss_type, level):  # noqa: F811
    trainer = trainer_of(model, tokenizer, tmp_path, loss_type=loss_type, importance_sampling_level=level, beta=0.0)
    trainer.current_gradient_accumulation_steps = 1
    inputs = padded(inputs_of(model))
    whole = trainer._compute_loss(model, inputs)
    expected = gradient(model, whole)
    live = live_rows.only_live(inputs)
    assert live["completion_ids"].shape == (3, 7)
    assert live["prompt_ids"].shape == (3, 3)
    part = trainer._compute_loss(model, live) * live_rows.scale(loss_type, inputs, live)
    found = gradient(model, part)
    assert part.item() == pytest.approx(whole.item(), rel=1e-4, abs=1e-6)
    assert expected.norm() > 1e-4
    assert (found - expected).norm() / expected.norm() < 1e-4


def test_one_row_stays_where_all_are_dead(model, tokenizer, tmp_path):  # noqa: F811
    trainer = trainer_of(model, tokenizer, tmp_path, loss_type="dapo", beta=0.0)
    trainer.current_gradient_accumulation_steps = 1
    inputs = {**inputs_of(model), "advantages": torch.zeros(6)}
    live = live_rows.only_live(inputs)
    assert len(live["advantages"]) == 1
    assert gradient(model, trainer._compute_loss(model, live)).abs().max() == 0


@pytest.mark.parametrize(
    ("settings", "exact"), [({}, True), ({"beta": 0.1}, False), ({"entropy_coef": 0.01}, False), ({"top_entropy_quantile": 0.5}, False)]
)
def test_it_is_done_only_where_it_is_exact(model, tokenizer, tmp_path, settings, exact):  # noqa: F811
    trainer = trainer_of(model, tokenizer, tmp_path, **{"beta": 0.0, **settings})
    assert live_rows.can_skip(trainer, inputs_of(model)) is exact
