"""``dataset.eval_fresh``: each evaluation of a run asks other held-out prompts, none of which ever trains."""

from types import SimpleNamespace

from rlvr_cli.config.schema import Config
from rlvr_cli.data import load, question_of


def test_each_evaluation_draws_its_own_held_out_rows():
    from rlvr_cli.training.callbacks.heldout import HeldOutAccuracy

    config = Config.model_validate(
        {
            "dataset": {"generator": "arithmetic", "count": 300, "eval_count": 40, "eval_fresh": True, "max_prompt_tokens": 7},
            "model": {"system_prompt": None},
        }
    )
    held = HeldOutAccuracy(config, load(config.dataset, seed=0).eval, status=None)
    held.trainer = SimpleNamespace(processing_class=FakeTokenizer())
    fixed = [question_of(row) for row in held.rows]
    draws = {step: [question_of(row) for row in held.fresh_rows(step)] for step in (0, 25, 50)}
    assert draws[0] == fixed and draws[25] != fixed and draws[25] != draws[50]
    assert draws[25] == [question_of(row) for row in held.fresh_rows(25)], "a resumed run draws the same"
    trained = {question_of(row) for row in load(config.dataset, seed=3).train}
    assert not trained & {q for asked in draws.values() for q in asked}


class FakeTokenizer:
    """One token a character of the last message."""

    def apply_chat_template(self, messages, **kwargs):
        return messages[-1]["content"]

    def __call__(self, text, **kwargs):
        return {"input_ids": list(text.encode())}
