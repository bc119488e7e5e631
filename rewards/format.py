"""Pays for the asked form of an answer, right or wrong. Pair it with a correctness term and keep it cheaper: see conf/reward/format.yaml.

>>> think_answer(["<think>2 and 2</think><answer>4</answer>", "<answer>4</answer>"])
[1.0, 0.0]
"""

from rlvr_cli.verifiers.format import gold_completion, judge
from rlvr_cli.verifiers.verdict import Scores, pay, rows_of

__all__ = ["answer_tag", "boxed", "gold_completion", "regex", "think_answer"]


def answer_tag(completions, *, tag="answer", last=False, prompts=None, **kwargs) -> Scores:
    """1.0 for exactly one filled ``<answer>`` pair outside the thinking; ``last``: with nothing behind it.

    >>> answer_tag(["2+2 is <answer>4</answer>", "<answer></answer>", "4", "<think><answer>4</answer></think> 4"])
    [1.0, 0.0, 0.0, 0.0]
    """
    return pay(judge, completions, rows_of(len(completions)), form="answer_tag", tag=tag, last=last)


def think_answer(completions, *, tag="answer", opened=False, prompts=None, **kwargs) -> Scores:
    """1.0 for ``<think>work</think><answer>4</answer>`` and nothing else. ``opened``: the template wrote ``<think>`` already.

    >>> think_answer(["<think>2 and 2</think>\\n<answer>4</answer>", "<think></think><answer>4</answer>", "Well, <answer>4</answer>"])
    [1.0, 0.0, 0.0]
    """
    return pay(judge, completions, rows_of(len(completions)), form="think_answer", tag=tag, opened=opened)


def boxed(completions, *, prompts=None, **kwargs) -> Scores:
    r"""1.0 for a filled, closed ``\boxed{}`` outside the thinking.

    >>> boxed([r"so \boxed{\frac{1}{2}}", r"\boxed{}", r"\boxed{4", "4"])
    [1.0, 0.0, 0.0, 0.0]
    """
    return pay(judge, completions, rows_of(len(completions)), form="boxed")


def regex(completions, *, pattern, full=False, flags="s", timeout_s=None, prompts=None, **kwargs) -> Scores:
    r"""1.0 where ``pattern`` is found; ``full``: where it matches the whole text. A pattern that runs away is stopped.

    >>> regex(["Answer: 4", "four"], pattern=r"Answer: \d+", full=True)
    [1.0, 0.0]
    """
    from rlvr_cli.verifiers.pool import pay_pooled

    options = {"form": "regex", "pattern": pattern, "full": full, "flags": flags}
    return pay_pooled("rlvr_cli.verifiers.format:judge", completions, rows_of(len(completions)), timeout_s=timeout_s, **options)
