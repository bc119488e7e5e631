"""Pays for how long an answer is. L is in tokens in training (TRL passes ``completion_ids``), else in words or characters.

>>> kimi_paper(["one", "one two", "one two three"], group_id=[0, 0, 0], correct=[1.0, 1.0, 0.0])
[0.5, 0.0, -0.5]
"""

from functools import partial

from rlvr_cli.verifiers import length as form
from rlvr_cli.verifiers.length import gold_completion
from rlvr_cli.verifiers.verdict import Scores, text_of

__all__ = ["gold_completion", "kimi_lesson", "kimi_paper", "overlong", "per_word", "repetition", "step_bonus"]


def kimi_paper(completions, group_id, correct, *, completion_ids=None, prompts=None, **kwargs) -> Scores:
    """lambda = 0.5 - (L - L_min)/(L_max - L_min) over the group; right: lambda, wrong: min(0, lambda); all 0 where L_max = L_min.

    >>> kimi_paper(["x", "x"], [0, 0], [True, True], completion_ids=[[1, 2], [1, 2, 3, 4]])
    [0.5, -0.5]
    """
    return Scores(form.pay_groups(form.kimi_paper, completions, group_id, correct, completion_ids))


def kimi_lesson(completions, group_id, correct, *, scale=1.0, target, completion_ids=None, prompts=None, **kwargs) -> Scores:
    """Right: scale*(L_max - L)/(L_max - L_min). Wrong: -scale*max(0, (L - target)/(L_max - target)), 0 where L_max <= target.

    >>> kimi_lesson(["x", "x", "x"], [0, 0, 0], [1, 0, 0], scale=0.5, target=2, completion_ids=[[1], [1, 2, 3], [1, 2, 3, 4]])
    [0.5, -0.25, -0.5]
    """
    return Scores(form.pay_groups(partial(form.kimi_lesson, scale=scale, target=target), completions, group_id, correct, completion_ids))


def overlong(completions, *, max_length, cache=None, completion_ids=None, prompts=None, **kwargs) -> Scores:
    """DAPO's soft overlong punishment: 0 up to max_length - cache, down to -1 at max_length, -1 beyond. ``cache`` null: a fifth.

    >>> overlong(["x"] * 3, max_length=4, cache=2, completion_ids=[[1, 2], [1, 2, 3], [1, 2, 3, 4, 5]])
    [0.0, -0.5, -1.0]
    """
    sizes, unit = form.lengths(completions, completion_ids)
    room = form.cache_of(max_length, cache)
    return Scores(form.overlong(size, unit, max_length=max_length, cache=room) for size in sizes)


def repetition(completions, *, ngram=3, max_penalty=-1.0, prompts=None, **kwargs) -> Scores:
    """max_penalty times the share of word n-grams that are repeats.

    >>> repetition(["go go go go go", "a plain short answer"])
    [-0.6666666666666667, 0.0]
    """
    return Scores(form.repetition(text_of(c), ngram=ngram, max_penalty=max_penalty) for c in completions)


def per_word(completions, *, penalty=-0.1, per=10, free=0, floor=None, prompts=None, **kwargs) -> Scores:
    """-0.1 per 10 words, in proportion; ``free`` words cost nothing; never below ``floor``.

    >>> per_word(["five words are not many", "one"])
    [-0.05, -0.01]
    """
    return Scores(form.per_word(text_of(c), penalty=penalty, per=per, free=free, floor=floor) for c in completions)


def step_bonus(completions, *, bonus=0.2, minimum=2, prompts=None, **kwargs) -> Scores:
    """0.2 for at least ``minimum`` written steps, once. It pays for the look of reasoning, so it needs a gate.

    >>> step_bonus(["1. 2+2=4\\n2. 4+1=5\\nso 5", "5"])
    [0.2, 0.0]
    """
    return Scores(form.step_bonus(text_of(c), bonus=bonus, minimum=minimum) for c in completions)


step_bonus.needs_gate = True
