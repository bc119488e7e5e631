"""From a dotted path in YAML to a named reward that can be trusted: resolve, bind, call, compose.

A reward is a plain function, a batch in and a list of numbers out. What surrounds it lives here, once, for training,
evaluation, ``rlvr score`` and ``rlvr check`` alike: finding the function, checking its parameters against the columns,
routing rows, running terms side by side under a deadline, naming what breaks, and adding the terms up. No torch.

>>> terms = bind({"terms": {"shape": {"fn": "rewards.format.answer_tag", "weight": 0.5}}})
>>> results = score_batch(terms, prompts=["2+2?"], completions=["<answer>4</answer>"], columns={})
>>> compose(results, terms).total
[0.5]
"""

from rlvr_cli.rewards_api.bind import BoundTerm, bind, configure_pool, terms_ahead
from rlvr_cli.rewards_api.call import TermResult
from rlvr_cli.rewards_api.compose import NO_TERM, Composed, as_matrix, compose
from rlvr_cli.rewards_api.gold import GoldReport, check_gold
from rlvr_cli.rewards_api.group_terms import concat, consecutive_groups, correct_of, group_terms, groups_by_prompt, local_terms
from rlvr_cli.rewards_api.resolve import resolve
from rlvr_cli.rewards_api.score import score_batch, score_group, score_local

__all__ = [
    "NO_TERM",
    "BoundTerm",
    "Composed",
    "GoldReport",
    "TermResult",
    "as_matrix",
    "bind",
    "check_gold",
    "compose",
    "concat",
    "configure_pool",
    "consecutive_groups",
    "correct_of",
    "group_terms",
    "groups_by_prompt",
    "local_terms",
    "resolve",
    "score_batch",
    "score_group",
    "score_local",
    "terms_ahead",
]
