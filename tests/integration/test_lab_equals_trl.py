"""The laboratory's losses and TRL's are the same numbers: value and gradient, every loss type offered, a small real model.

TRL's own ``_compute_loss`` runs on a random Llama and hand-made inputs. The laboratory gets the log-probs that the model
gave, and returns a loss and a slope a token; the slope, sent back through the model, must be TRL's gradient.
"""

import sys
import typing
from pathlib import Path

import numpy as np
import pytest

from rlvr_cli.config.schema import Algorithm
from rlvr_cli.lab.losses import LOSS_TYPES, Settings, loss_and_slope

torch = pytest.importorskip("torch")
pytest.importorskip("trl")
pytestmark = pytest.mark.real

sys.path.insert(0, str(Path(__file__).parent))
from toy_grpo import PROMPT, B, T, inputs_of, model, tokenizer, trainer_of  # noqa: E402, F401

CASES = [(loss, {}, {}) for loss in LOSS_TYPES]
CASES += [
    ("grpo", {"importance_sampling_level": "sequence"}, {"level": "sequence"}),
    ("luspo", {"importance_sampling_level": "sequence"}, {"level": "sequence"}),
    ("dapo", {"epsilon_high": 0.28}, {"epsilon_high": 0.28}),
    ("dapo", {"delta": 1.1}, {"delta": 1.1}),
    ("dapo", {"beta": 0.1}, {"beta": 0.1}),
    ("grpo", {"beta": 0.1, "use_bias_correction_kl": False}, {"beta": 0.1, "bias_correction_kl": False}),
    ("grpo", {"beta": 0.1, "importance_sampling_level": "sequence"}, {"beta": 0.1, "level": "sequence"}),
    ("cispo", {"epsilon_high": 1.2}, {"epsilon_high": 1.2}),
]


@pytest.mark.parametrize(
    ("loss_type", "trl", "lab"), CASES, ids=[f"{loss}-{'-'.join(map(str, trl.values())) or 'default'}" for loss, trl, _ in CASES]
)
def test_loss_and_gradient_equal_trl(model, tokenizer, tmp_path, loss_type, trl, lab):  # noqa: F811
    trainer = trainer_of(model, tokenizer, tmp_path, loss_type=loss_type, **{"beta": 0.0, **trl})
    trainer.current_gradient_accumulation_steps = 1
    inputs = inputs_of(model)

    model.zero_grad()
    theirs = trainer._compute_loss(model, inputs)
    theirs.backward()
    expected = torch.cat([p.grad.flatten() for p in model.parameters()])

    ids = torch.cat([inputs["prompt_ids"], inputs["completion_ids"]], 1)
    attention = torch.cat([inputs["prompt_mask"], inputs["completion_mask"]], 1)
    logits = model(ids, attention_mask=attention).logits[:, PROMPT - 1 : -1]
    log_prob = logits.log_softmax(-1).gather(-1, inputs["completion_ids"][..., None])[..., 0]
    arrays = [inputs[name].numpy().astype(np.float64) for name in ("old_per_token_logps", "advantages", "completion_mask")]
    settings = Settings(**{"max_completion_length": T, **lab})
    ours, slope = loss_and_slope(
        loss_type, log_prob.detach().numpy().astype(np.float64), *arrays, settings, inputs["ref_per_token_logps"].numpy().astype(np.float64)
    )
    model.zero_grad()
    (log_prob * torch.from_numpy(slope).float()).sum().backward()
    found = torch.cat([p.grad.flatten() for p in model.parameters()])

    assert ours == pytest.approx(theirs.item(), rel=1e-4, abs=1e-6)
    assert expected.norm() > 1e-4
    assert (found - expected).norm() / expected.norm() < 1e-4


def test_every_loss_type_that_the_schema_offers_is_here():
    offered = typing.get_args(Algorithm.model_fields["loss_type"].annotation)
    assert set(offered) == set(LOSS_TYPES)


def test_advantages_equal_trl():
    """TRL's group normalisation, repeated here from its formula on the same rewards, to float tolerance."""
    from rlvr_cli.lab.objective import advantages

    rewards = torch.rand(5, 8, generator=torch.Generator().manual_seed(0))
    theirs = (rewards - rewards.mean(1, keepdim=True)) / (rewards.std(1, keepdim=True) + 1e-4)
    assert np.allclose(advantages(rewards.numpy().astype(np.float64)), theirs.numpy(), atol=1e-5)
