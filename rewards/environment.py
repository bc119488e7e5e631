"""What the environment itself says of its end state: the run's own class judges, by its method ``get_reward``.

>>> class Light:
...     on = True
...     def get_reward(self): return float(self.on)
>>> end_state(["done", "done"], environments=[Light(), None])
[1.0, None]
"""

from rlvr_cli.verifiers.verdict import Scores, Verdict

__all__ = ["end_state", "gold_completion"]


def gold_completion(row):
    """None: how an environment is won is not a text."""
    return None


def end_state(completions, environments=None, **kwargs) -> Scores:
    """``environment.get_reward()`` of the environment that each completion acted in; could not judge where there is none.

    >>> end_state(["x"])
    [None]
    """
    acted = environments if environments is not None else [None] * len(completions)
    return Scores(map(judged, acted))


def judged(environment) -> Verdict:
    """The end state's verdict."""
    ask = getattr(environment, "get_reward", None)
    if ask is None:
        return Verdict(None, "no environment with a get_reward (environment.fn)")
    score = ask()
    return Verdict(None if score is None else float(score), f"{type(environment).__name__} gives {score}")
