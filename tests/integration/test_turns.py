"""Several turns with the real trainer and a small model that learnt to call: what is masked, that evaluation plays the same
turns as TRL, that the verifier judges the end, and that calling is learnt."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parent))

from ranks import freeze, lines

pytestmark = [pytest.mark.real, pytest.mark.timeout(900)]

CALCULATOR = {"tools": {"calculate": {"fn": "rlvr_cli.environments.calculator.calculate"}}, "max_turns": 2}
COUNTER = '''
class Counter:
    """One call is the way to the end."""
    def reset(self, expression, **row):
        self.calls = []
    def calculate(self, expression: str) -> str:
        """Work it out.

        Args:
            expression: A product
        """
        self.calls.append(expression)
        return "7"
    def get_reward(self):
        return float(len(self.calls) == 1)
'''


@pytest.fixture(scope="module")
def model() -> Path:
    """A few seconds of cold start: most demonstrations call, so that calls, wrong calls and answers without any all occur."""
    from rlvr_cli.models.tiny_tools import build

    return build(0, calls=0.8, steps=200, layers=2)


def settings(**groups: Any) -> dict[str, Any]:
    """A run of two steps over products."""
    return {
        "dataset": {"generator": "arithmetic", "operators": ["*"], "count": 64, "eval_count": 24},
        "reward": {"terms": {"right": {"fn": "rewards.math.correct"}}},
        "environment": CALCULATOR,
        "generation": {"backend": "hf", "max_completion_length": 40},
        "trainer": {"max_steps": 2, "per_device_train_batch_size": 16, "save_steps": 0, "eval_steps": 0},
        **groups,
    }


@pytest.fixture(scope="module")
def assembled(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The trainer of a run, ready and not started, with one scored generation of greedy completions."""
    from rlvr_cli.config.compose import read_frozen
    from rlvr_cli.training import grpo_config, session
    from rlvr_cli.training.callbacks.record import Status

    run_dir = tmp_path_factory.mktemp("turns")
    file = freeze(run_dir, model, **settings())
    config = read_frozen(file)
    args = grpo_config.make(config, run_dir)
    trainer, held_out = session.assemble(config, {"model_path": str(model)}, run_dir, args, Status(run_dir, writes=True))
    trainer.generation_config.do_sample = False
    trainer.model.train()
    rows = [row for row in trainer.train_dataset.select(range(4)) for _ in range(4)]
    batch = trainer._generate_and_score_completions(rows)
    return SimpleNamespace(trainer=trainer, held_out=held_out, rows=rows, batch=batch, config=config)


def test_a_tools_tokens_are_masked_and_the_policys_are_not(assembled: Any) -> None:
    """The mask is zero from ``<|tool|>`` to the header of the next turn, and nowhere else."""
    batch, tokenizer = assembled.batch, assembled.trainer.processing_class
    spans = 0
    for ids, there, mine in zip(batch["completion_ids"], batch["completion_mask"], batch["tool_mask"], strict=True):
        kept = [i for i in range(len(ids)) if there[i]]
        told = [tokenizer.decode([ids[i]]) for i in kept if not mine[i]]
        wrote = tokenizer.decode([ids[i] for i in kept if mine[i]])
        spans += told.count("<|tool|>")
        assert "<|tool|>" not in wrote and told.count("<|tool|>") == told.count("<|assistant|>")
        if told:
            assert told[0] == "<|tool|>" and told[-1] == "<|assistant|>" and "<call>" in wrote
    assert spans >= 4


def test_no_gradient_comes_from_what_a_tool_wrote(assembled: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """TRL's own loss on this batch, differentiated by the log-probs of every token."""
    trainer, batch = assembled.trainer, dict(assembled.batch)
    batch["advantages"] = batch["advantages"] * 0 + 1.0
    caught: dict[str, Any] = {}
    real = trainer._get_per_token_logps_and_entropies

    def watched(*args: Any, **kwargs: Any) -> Any:
        logps, *rest = real(*args, **kwargs)
        caught["logps"] = logps.detach().requires_grad_()
        return (caught["logps"], *rest)

    monkeypatch.setattr(trainer, "_get_per_token_logps_and_entropies", watched)
    trainer.current_gradient_accumulation_steps = 1
    trainer._compute_loss(trainer.model, batch).backward()
    gradient, there, mine = caught["logps"].grad, batch["completion_mask"].bool(), batch["tool_mask"].bool()
    assert (there & ~mine).any() and (gradient[there & ~mine] == 0).all()
    assert (gradient[there & mine] != 0).all()


def test_evaluation_plays_the_turns_that_trl_plays(assembled: Any) -> None:
    """Greedy, the same rows: token by token what TRL's loop wrote, tools' answers included."""
    from functools import partial

    from rlvr_cli.evaluation.generate import Sampling, draw_ids, stop_tokens
    from rlvr_cli.evaluation.heldout import draws_of

    trainer, batch = assembled.trainer, assembled.batch
    stops = stop_tokens(trainer.model, trainer.processing_class, trainer.eos_token_ids)
    ask, rows = partial(draw_ids, trainer.model, trainer.processing_class, batch_size=16), assembled.rows
    played = assembled.held_out.turns.play(ask, draws_of(rows), rows, Sampling(40, greedy=True, stop_ids=tuple(stops)))
    ours = [p.ids for p in played]
    theirs = [ids[there.bool()].tolist() for ids, there in zip(batch["completion_ids"], batch["completion_mask"], strict=True)]
    assert ours == theirs
    assert sum(p.calls > 0 for p in played) >= 4 and any(len(p.messages) == 3 for p in played)
    frequency = trainer._metrics["train"]["tools/call_frequency"][-1]
    assert frequency == pytest.approx(sum(p.calls for p in played) / len(played))


def test_the_reward_sees_the_whole_exchange_and_judges_the_answer(assembled: Any) -> None:
    results = assembled.trainer.scored.results["right"]
    completions = list(assembled.trainer._logs["completion"])[-len(assembled.rows) :]
    exchanged = [c for c in completions if len(c) == 3]
    assert exchanged and all([m["role"] for m in c] == ["assistant", "tool", "assistant"] for c in exchanged)
    for row, completion, score in zip(assembled.rows, completions, results.scores, strict=True):
        assert score == float(f"<answer>{row['answer']}</answer>" in completion[-1]["content"])


def test_a_turn_limit_and_a_full_budget_end_the_calls(assembled: Any) -> None:
    """A policy that calls for ever: it is answered ``max_turns`` times, or until the tokens are used up."""
    from rlvr_cli.environments import Bound
    from rlvr_cli.environments.turns import Turns
    from rlvr_cli.evaluation.generate import Draw, Sampling

    tokenizer = assembled.trainer.processing_class
    call = tokenizer("<call>calculate expression=2*3</call><|end|>")["input_ids"]
    bound = assembled.held_out.turns.bound
    draws = [Draw("a", [{"role": "user", "content": "2*3=?"}])]

    def play(limit: int, turns: int) -> Any:
        ask = lambda ids, names, sampling: [list(call) for _ in ids]  # noqa: E731
        return Turns(Bound(bound.functions, None, turns), tokenizer).play(ask, draws, [{}], Sampling(limit, greedy=True))[0]

    limited = play(200, 2)
    assert (limited.calls, len(limited.messages), limited.wrote) == (2, 5, 3 * len(call))
    full = play(len(call) + 2, 5)
    assert full.ids == call and [m["role"] for m in full.messages] == ["assistant"]


def test_a_run_with_an_environment_of_its_own_is_judged_by_its_end_state(model: Path, tmp_path: Path) -> None:
    from rlvr_cli.training.worker import main

    (tmp_path / "game.py").write_text(COUNTER)
    end = {"terms": {"done": {"fn": "rewards.environment.end_state"}}}
    groups = settings(reward=end, environment={"fn": f"{tmp_path}/game.py:Counter", "max_turns": 2}, trainer={
        "max_steps": 2, "per_device_train_batch_size": 16, "save_steps": 0, "eval_steps": 1, "profile": True})  # fmt: skip
    assert main([str(freeze(tmp_path / "run", model, **groups))]) == 0, (tmp_path / "run" / "failure.json").read_text()
    samples, metrics = lines(tmp_path / "run", "samples.jsonl"), lines(tmp_path / "run")
    assert {s["scores"]["done"] for s in samples} == {0.0, 1.0}
    for s in samples:
        turns = s["completion"] if isinstance(s["completion"], list) else []
        called = sum(len(m.get("tool_calls") or []) for m in turns)  # the limits may leave a call without its answer
        told = [m["content"] for m in turns if m["role"] == "tool"]
        assert set(told) <= {"7"} and len(told) <= called
        assert not s["scores"]["done"] or (called and len(told) <= 1)
        assert s["scores"]["done"] or len(told) != called or called != 1
    assert all(0 < m["eval/call_rate"] <= 1 for m in metrics)
    told = json.loads((tmp_path / "run" / "profile.json").read_text())
    parts = {"generation", "forward, backward", "optimizer", "rewards", "tools", "records", "evaluation", "saving"}
    assert told["steps"] == 2 and parts <= set(told["parts"])
    assert sum(told["parts"].values()) == pytest.approx(told["seconds"], abs=0.05) and told["parts"]["generation"] > 0


@pytest.mark.slow
def test_the_embedded_model_learns_to_call_and_rlvr_eval_agrees(here: Path, rlvr: Any) -> None:
    """A fifth of the run: from no call in greedy answers to nearly always, and accuracy with it; evaluation says the same."""
    done = rlvr("train", "environment=calculator", "trainer.max_steps=30", "trainer.eval_steps=0", "trainer.save_steps=0", "run.name=calls")
    assert done.code == 0, done.err
    metrics = lines(here / "outputs" / "calls")
    before, after = metrics[0], metrics[-1]
    assert before["eval/call_rate"] < 0.3 and after["eval/call_rate"] > 0.9
    assert after["eval/accuracy"] > before["eval/accuracy"] + 0.4
    done = rlvr("eval", "checkpoint=outputs/calls", "eval.name=again")
    assert done.code == 0, done.err
    summary = json.loads((here / "outputs" / "calls" / "eval" / "again" / "summary.json").read_text())
    best = max(m["eval/accuracy"] for m in metrics if "eval/accuracy" in m)
    assert summary["greedy"]["accuracy"] == pytest.approx(best, abs=0.01) and summary["tools"]["call_rate"] > 0.9
