"""Rows in: columns mapped, golds checked, prompts made into messages, the held-out share kept apart. No torch here.

``load`` is the one door that training, evaluation and checks go through; ``generate/`` draws rows, ``sources`` reads them.
"""

from rlvr_cli.data.generate import generator_keys, generator_names
from rlvr_cli.data.loader import Dropped, Loaded, fresh_eval, load
from rlvr_cli.data.prompts import drop_long, question_of
from rlvr_cli.data.split import held_out, split_prompts

__all__ = [
    "Dropped",
    "Loaded",
    "drop_long",
    "fresh_eval",
    "generator_keys",
    "generator_names",
    "held_out",
    "load",
    "question_of",
    "split_prompts",
]
