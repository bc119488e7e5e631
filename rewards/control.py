"""Control arms of an experiment: rewards that know nothing of right and wrong. If they climb too, the climb was not reasoning.

>>> format_only(["2+2 is <answer>5</answer>", "4"])
[1.0, 0.0]
"""

from rlvr_cli.verifiers.control import gold_completion, judge, judge_form
from rlvr_cli.verifiers.verdict import Scores, pay, rows_of

__all__ = ["format_only", "gold_completion", "random"]


def random(completions, *, p=0.5, seed=0, prompts=None, trainer_state=None, **kwargs) -> Scores:
    """A coin flip each, drawn from seed, step, place and text: resumable, and no answer is lucky for long.

    >>> scores = random(["4"] * 1000)
    >>> set(scores), 400 < sum(scores) < 600, scores == random(["4"] * 1000)
    ({0.0, 1.0}, True, True)
    """
    step, n = getattr(trainer_state, "global_step", 0), len(completions)
    rows = rows_of(n, step=[step] * n, place=range(n), prompt=prompts)
    return pay(judge, completions, rows, p=p, seed=seed)


def format_only(completions, *, style="any", prompts=None, **kwargs) -> Scores:
    r"""1.0 for any filled answer form (``style``: any, answer_tag, boxed, think_answer), right or wrong.

    >>> format_only([r"\boxed{5}", "<answer></answer>"])
    [1.0, 0.0]
    """
    return pay(judge_form, completions, rows_of(len(completions)), style=style)
