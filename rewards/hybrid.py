"""Learned rewards: a reward model, or a judge behind an OpenAI-compatible server. conf/reward/hybrid.yaml mixes them 0.7 : 0.3 with maths.

A whole example, in YAML::

    terms:
      correct: {fn: rewards.math.correct, weight: 0.7}
      liked:   {fn: rewards.hybrid.judge, weight: 0.3, options: {url: "http://127.0.0.1:8000/v1", model: qwen}}

>>> judge(["4"], url="http://127.0.0.1:9/v1", model="nobody", retries=0, timeout_s=0.5)  # nobody is there: not judged, never 0
[None]
"""

from rlvr_cli.verifiers import hybrid as learned
from rlvr_cli.verifiers.hybrid import RUBRIC, gold_completion
from rlvr_cli.verifiers.verdict import Scores, Verdict, rows_of

__all__ = ["gold_completion", "judge", "reward_model"]


def judge(
    completions,
    answer=None,
    *,
    url,
    model,
    rubric=RUBRIC,
    scale=10.0,
    timeout_s=30.0,
    retries=2,
    workers=8,
    max_tokens=200,
    api_key_env="OPENAI_API_KEY",
    prompts=None,
    **kwargs,
) -> Scores:
    """The judge's score / ``scale``; None where it did not answer in ``timeout_s``. ``answer`` is its reference, if the data has one.

    >>> judge(["4"], url="http://127.0.0.1:9", model="nobody", retries=0, timeout_s=0.5).verdicts[0].score is None
    True
    """
    server = learned.Server(url, model, rubric, scale, timeout_s, retries, max_tokens, api_key_env)
    rows = rows_of(len(completions), prompt=prompts, answer=answer)
    return Scores(learned.judge_all(server, completions, rows, workers))


judge.judge_ahead = True  # takes long: an answer may be judged while others are drawn


def reward_model(
    completions,
    *,
    model,
    squash="sigmoid",
    batch_size=8,
    max_length=2048,
    device=None,
    trust_remote_code=False,
    prompts=None,
    **kwargs,
) -> Scores:
    """First logit of a Hugging Face sequence classifier, squashed: ``sigmoid`` (0..1), ``tanh`` (-1..1) or null (as it is).

    An example: ``reward_model(["Paris."], prompts=["Capital of France?"], model="outputs/RUN/final")`` gives ``[0.93]``.

    >>> reward_model([], model="never loaded")
    []
    """
    if not completions:
        return Scores([])
    load = {"device": device, "trust_remote_code": trust_remote_code}
    asked = prompts if prompts is not None else [""] * len(completions)
    logits = learned.score_pairs(model, asked, completions, batch_size=batch_size, max_length=max_length, **load)
    return Scores(Verdict(learned.squashed(logit, squash), f"logit {logit:.3f}") for logit in logits)


reward_model.loads_model = "model"  # looked for before a run starts
