"""Micro-batches by length: the same gradient of the step for every loss that is sorted, less padding, and not where it would count."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from rlvr_cli.lab.losses import LOSS_TYPES

torch = pytest.importorskip("torch")
pytest.importorskip("trl")
pytestmark = pytest.mark.real

sys.path.insert(0, str(Path(__file__).parent))
from toy_grpo import inputs_of, model, tokenizer, trainer_of  # noqa: E402, F401

from rlvr_cli.training import padding  # noqa: E402


def ragged(inputs):
    """Completions of unlike length and advantages all different."""
    out = dict(inputs)
    width = inputs["completion_ids"].size(1)
    lengths = torch.tensor([width, 1, 2, width, 1, 3])
    out["completion_mask"] = (torch.arange(width)[None] < lengths[:, None]).to(inputs["completion_mask"].dtype)
    out["advantages"] = torch.tensor([1.0, -0.3, 0.7, 0.2, 0.9, -0.4])
    out["num_items_in_batch"] = out["completion_mask"].sum()
    return out


def cut(inputs):
    """Three micro-batches of two."""
    return [{k: v[i : i + 2] if v.dim() else v for k, v in inputs.items()} for i in (0, 2, 4)]


def gradient(trainer, model, batches):  # noqa: F811
    model.zero_grad()
    for batch in batches:
        trainer._compute_loss(model, batch).backward()
    return torch.cat([p.grad.flatten() for p in model.parameters()])


@pytest.mark.parametrize("loss_type", [name for name in LOSS_TYPES if name not in padding.PER_MICRO_BATCH])
def test_the_steps_gradient_stays_the_same(model, tokenizer, tmp_path, loss_type):  # noqa: F811
    trainer = trainer_of(model, tokenizer, tmp_path, loss_type=loss_type, beta=0.0)
    trainer.current_gradient_accumulation_steps = 3
    batches = cut(ragged(inputs_of(model)))
    expected, by_length = gradient(trainer, model, batches), padding.by_length(batches)
    found = gradient(trainer, model, by_length)
    assert expected.norm() > 1e-5 and (found - expected).norm() / expected.norm() < 1e-4
    widths = [b["completion_ids"].size(1) for b in by_length]
    assert widths == sorted(widths) and sum(widths) < sum(b["completion_ids"].size(1) for b in batches)
    rows = torch.cat([b["advantages"] for b in by_length])
    assert sorted(rows.tolist()) == sorted(torch.cat([b["advantages"] for b in batches]).tolist())


def test_bnpo_would_learn_something_else(model, tokenizer, tmp_path):  # noqa: F811
    trainer = trainer_of(model, tokenizer, tmp_path, loss_type="bnpo", beta=0.0)
    trainer.current_gradient_accumulation_steps = 3
    batches = cut(ragged(inputs_of(model)))
    expected, found = gradient(trainer, model, batches), gradient(trainer, model, padding.by_length(batches))
    assert (found - expected).norm() / expected.norm() > 1e-2


@pytest.mark.parametrize(
    ("changed", "free"),
    [
        ({}, True),
        ({"loss_type": "bnpo"}, False),
        ({"steps": (8, 4)}, False),  # a generation feeds two steps: the order decides which step learns from what
        ({"steps": (1, 1)}, False),
        ({"top_entropy_quantile": 0.2}, False),
        ({"aux_loss_enabled": True}, False),
        ({"_entropy_bonus_enabled": True}, False),
    ],
)
def test_it_is_done_only_where_the_order_is_free(changed, free):
    feeds, accumulation = changed.pop("steps", (4, 4))
    state = {"loss_type": "dapo", "top_entropy_quantile": 1.0, "aux_loss_enabled": False, "_entropy_bonus_enabled": False, "_is_vlm": False}
    args = SimpleNamespace(steps_per_generation=feeds, gradient_accumulation_steps=accumulation)
    assert padding.can_sort(SimpleNamespace(args=args, **{**state, **changed})) is free
