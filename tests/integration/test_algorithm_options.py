"""Each algorithm option is the formula of its header: written here once more from the paper, held to TRL's loss and gradient.

The formulas are plain torch on log-probs, so autograd gives their gradient; TRL gets the option's own settings and runs its
own ``_compute_loss`` on the same random Llama and the same hand-made completions. Advantages are checked in whole runs, from
the rewards and advantages that ``samples.jsonl`` kept.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("trl")
pytestmark = [pytest.mark.real, pytest.mark.timeout(600)]

sys.path.append(str(Path(__file__).parents[1]))
sys.path.append(str(Path(__file__).parent))
from ranks import freeze, lines  # noqa: E402
from tiny_run import make_model  # noqa: E402
from toy_grpo import PROMPT, B, T, inputs_of, model, tokenizer, trainer_of  # noqa: E402, F401

from rlvr_cli.config.compose import compose  # noqa: E402
from rlvr_cli.config.schema import Algorithm  # noqa: E402
from rlvr_cli.training import grpo_config  # noqa: E402

NOT_THE_LOSS = {"num_generations", "shuffle_dataset", "disable_dropout", "steps_per_generation"}


def clipped(ratio, advantage, low, high):
    """min(r A, clip(r, 1 - low, 1 + high) A)"""
    return torch.minimum(ratio * advantage, ratio.clamp(1 - low, 1 + high) * advantage)


def k3(now, ref):
    return torch.exp(ref - now) - (ref - now) - 1


def formulas(now, old, ref, advantage, mask, entropy):
    """name -> the loss of the option's header. now, old, ref, mask, entropy: (B, T); advantage: (B, 1)."""
    ratio, lengths, total = torch.exp(now - old), mask.sum(1, keepdim=True), mask.sum()
    sequence = torch.exp(((now - old) * mask).sum(1, keepdim=True) / lengths)  # GSPO, eq. 7
    gspo = clipped(sequence, advantage, 3e-4, 4e-4)
    weight = torch.exp(((now - old) * mask).sum(1, keepdim=True)).detach()  # VESPO: the whole sequence's ratio
    k, lam = torch.where(advantage >= 0, 2.0, 3.0), torch.where(advantage >= 0, 3.0, 2.0)
    phi = torch.exp(lam) * weight**k * torch.exp(-lam * weight)
    tau = torch.where(advantage > 0, 1.0, 1.05)
    kept = mask * (entropy >= torch.quantile(entropy[mask.bool()], 0.8))
    token_mean = -(clipped(ratio, advantage, 0.2, 0.28) * mask).sum() / total
    return {
        "default": token_mean,
        "dapo": token_mean,
        "gdpo": token_mean,
        "bnpo": token_mean,  # the micro-batch is the whole step here
        "lite_ppo": -(clipped(ratio, advantage, 0.2, 0.2) * mask).sum() / total,
        "grpo": -(((clipped(ratio, advantage, 0.2, 0.2) - 0.04 * k3(now, ref)) * mask).sum(1, keepdim=True) / lengths).mean(),
        "dr_grpo": -(clipped(ratio, advantage, 0.2, 0.2) * mask).sum() / (B * T),
        "gspo": -gspo.mean(),
        "luspo": -(lengths * gspo).mean(),
        "cispo": -(ratio.clamp(max=5.0).detach() * advantage * now * mask).sum() / total,
        "sapo": -((4 / tau * torch.sigmoid(tau * (ratio - 1)) * advantage * mask).sum(1, keepdim=True) / lengths).mean(),
        "vespo": -(phi * advantage * now * mask).sum() / total,
        "high_entropy": -(clipped(ratio, advantage, 0.2, 0.28) * kept).sum() / total,
        "kl_bands": token_mean + (0.05 * k3(now, ref) * ratio * mask).sum() / total,
        "kl_target": token_mean + (0.05 * k3(now, ref) * ratio * mask).sum() / total,
    }


def settings_of(name: str, folder: Path) -> dict:
    """The option's settings as ``GRPOConfig`` gets them, without those of the batch."""
    config = compose([f"algorithm={name}", "hardware=cpu", "trainer.bf16=false"]).config
    made = grpo_config.make(config, folder)
    return {k: getattr(made, k) for k in {*Algorithm.model_fields, *config.algorithm.extra} - NOT_THE_LOSS if hasattr(made, k)}


def log_probs(model, inputs):  # noqa: F811
    """(log-probs, entropies) of the completions, each (B, T)."""
    ids = torch.cat([inputs["prompt_ids"], inputs["completion_ids"]], 1)
    attention = torch.cat([inputs["prompt_mask"], inputs["completion_mask"]], 1)
    every = model(ids, attention_mask=attention).logits[:, PROMPT - 1 : -1].log_softmax(-1)
    return every.gather(-1, inputs["completion_ids"][..., None])[..., 0], -(every.exp() * every).sum(-1).detach()


def gradient(model, loss):  # noqa: F811
    model.zero_grad()
    loss.backward()
    return torch.cat([p.grad.flatten() for p in model.parameters()])


NAMES = sorted(formulas(*(torch.zeros(B, T) for _ in range(3)), torch.zeros(B, 1), torch.ones(B, T), torch.zeros(B, T)))


def test_every_option_but_rloo_has_its_formula_here() -> None:
    from rlvr_cli.config.options import options

    assert {*NAMES, "rloo"} == set(options("algorithm", Path("/")))


@pytest.mark.parametrize("name", NAMES)
def test_trl_computes_the_options_formula(model, tokenizer, tmp_path, monkeypatch, name):  # noqa: F811
    monkeypatch.chdir(tmp_path)
    trainer = trainer_of(model, tokenizer, tmp_path, **settings_of(name, tmp_path))
    trainer.current_gradient_accumulation_steps = 1
    inputs = inputs_of(model)
    if name in ("gspo", "luspo"):  # a clip range a thousand times narrower: old log-probs that lie on both sides of it
        now = log_probs(model, inputs)[0].detach()
        inputs["old_per_token_logps"] = now + 0.003 * (inputs["old_per_token_logps"] - now)
    theirs = trainer._compute_loss(model, inputs)
    expected = gradient(model, theirs)
    now, entropy = log_probs(model, inputs)
    old, ref, mask = inputs["old_per_token_logps"], inputs["ref_per_token_logps"], inputs["completion_mask"].float()
    ours = formulas(now, old, ref, inputs["advantages"][:, None], mask, entropy)[name]
    assert ours.item() == pytest.approx(theirs.item(), rel=1e-4, abs=1e-6)
    found = gradient(model, ours)
    assert expected.norm() > 1e-5 and (found - expected).norm() / expected.norm() < 1e-4


def test_rloo_is_the_leave_one_out_gradient_times_a_constant(model, tokenizer, tmp_path, monkeypatch):  # noqa: F811
    """Back to Basics, eq. 7: the mean over completions of (r_i - mean of the others) grad log p(o_i); G - 1 over G of it here."""
    monkeypatch.chdir(tmp_path)
    trainer = trainer_of(model, tokenizer, tmp_path, **settings_of("rloo", tmp_path))
    trainer.current_gradient_accumulation_steps = 1
    rewards = torch.tensor([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]])  # two prompts of G = 3
    inputs = inputs_of(model) | {"advantages": (rewards - rewards.mean(1, keepdim=True)).flatten()}  # scale_rewards none
    del inputs["old_per_token_logps"]  # one step a generation: the ratio is 1
    expected = gradient(model, trainer._compute_loss(model, inputs))
    others = (rewards.sum(1, keepdim=True) - rewards) / 2
    log_prob = (log_probs(model, inputs)[0] * inputs["completion_mask"]).sum(1)
    found = gradient(model, -((rewards - others).flatten() * log_prob).mean()) * (2 / 3)
    assert expected.norm() > 1e-5 and (found - expected).norm() / expected.norm() < 1e-4


def test_the_bonus_that_the_guard_raises_is_in_the_gradient(model, tokenizer, tmp_path):  # noqa: F811
    """L - entropy_coef H with H the mean entropy of the tokens; a coefficient of 1e-9 at the start keeps the term, as the guard does."""
    trainer = trainer_of(model, tokenizer, tmp_path, entropy_coef=1e-9)
    trainer.current_gradient_accumulation_steps = 1
    inputs = inputs_of(model)
    without = gradient(model, trainer._compute_loss(model, inputs))
    trainer.entropy_coef = 0.5
    bonus = gradient(model, trainer._compute_loss(model, inputs)) - without
    ids = torch.cat([inputs["prompt_ids"], inputs["completion_ids"]], 1)
    attention = torch.cat([inputs["prompt_mask"], inputs["completion_mask"]], 1)
    every = model(ids, attention_mask=attention).logits[:, PROMPT - 1 : -1].log_softmax(-1)
    mask = inputs["completion_mask"]
    expected = gradient(model, -0.5 * (-(every.exp() * every).sum(-1) * mask).sum() / mask.sum())
    assert expected.norm() > 1e-5 and (bonus - expected).norm() / expected.norm() < 1e-3


ADVANTAGES = {
    "default": lambda r, b: (r - r.mean(1, keepdims=True)) / (r.std(1, ddof=1, keepdims=True) + 1e-4),
    "dr_grpo": lambda r, b: r - r.mean(1, keepdims=True),
    "rloo": lambda r, b: r - r.mean(1, keepdims=True),
    "lite_ppo": lambda r, b: (r - r.mean(1, keepdims=True)) / (b.std(ddof=1) + 1e-4),
}


@pytest.mark.parametrize("name", sorted(ADVANTAGES))
def test_advantages_of_a_run_are_the_options_formula(name: str, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    from rlvr_cli.training.worker import main

    algorithm = compose([f"algorithm={name}"]).config.algorithm.model_dump(mode="json") | {"num_generations": 4}
    trainer = {"max_steps": 1, "per_device_train_batch_size": 16, "save_steps": 0, "eval_steps": 0, "eval_at_start": False}
    file = freeze(tmp_path / "run", make_model(tmp_path / "model"), algorithm=algorithm, trainer=trainer, dataset={"eval_count": 0})
    assert main([str(file)]) == 0, (tmp_path / "run" / "failure.json").read_text()
    samples = lines(tmp_path / "run", "samples.jsonl")
    rewards = np.array([s["scores"]["right"] for s in samples]).reshape(-1, 4)
    found = np.array([s["advantage"] for s in samples]).reshape(-1, 4)
    assert np.ptp(rewards) > 0 and np.allclose(found, ADVANTAGES[name](rewards, rewards), atol=1e-4)


def test_gdpos_advantage_is_normalised_by_term_and_then_over_the_batch(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    from rlvr_cli.training.worker import main

    algorithm = compose(["algorithm=gdpo"]).config.algorithm.model_dump(mode="json") | {"num_generations": 4}
    trainer = {"max_steps": 1, "per_device_train_batch_size": 16, "save_steps": 0, "eval_steps": 0, "eval_at_start": False}
    folder = tmp_path / "run"
    terms = {
        "right": {"fn": f"{folder}/mine.py:right", "weight": 1.0},
        "short": {"fn": "rewards.length.per_word", "weight": 0.5, "options": {"per": 1, "free": 0}},
    }
    groups = {"algorithm": algorithm, "trainer": trainer, "dataset": {"eval_count": 0}, "reward": {"terms": terms}}
    file = freeze(folder, make_model(tmp_path / "model"), **groups)
    assert main([str(file)]) == 0, (folder / "failure.json").read_text()
    samples = lines(folder, "samples.jsonl")
    total = np.zeros((len(samples) // 4, 4))
    for name, term in terms.items():
        scores = np.array([s["scores"][name] for s in samples]).reshape(-1, 4)
        total += term["weight"] * (scores - scores.mean(1, keepdims=True)) / (scores.std(1, ddof=1, keepdims=True) + 1e-4)
    expected = (total - total.mean()) / (total.std(ddof=1) + 1e-4)
    assert np.allclose(np.array([s["advantage"] for s in samples]).reshape(-1, 4), expected, atol=1e-3)
