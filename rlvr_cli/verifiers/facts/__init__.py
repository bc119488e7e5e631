"""Facts: short answers with aliases, numbers with units, key facts in a longer text, faithfulness to passages.

Four judges, one a question:

- ``judge`` (``rewards.facts.exact``): does the answer *state* a gold? Equal after SQuAD's normalisation, or a gold said in
  the answer's opening statement without being denied, hedged or one of several candidates. Numbers compare as quantities.
- ``judge_f1``: SQuAD's token F1, the best over aliases.
- ``judge_facts``: share of the row's key facts that the answer says.
- ``judge_faithful``: share of the answer's numbers, quotations and names that stand in the passages.

>>> row = {"answer": ["Pyotr Ilyich Tchaikovsky", "Tchaikovsky"]}
>>> judge("All three were composed by Tchaikovsky.", row).reason
'states the gold Tchaikovsky'
>>> judge("It was not Tchaikovsky.", row).score, judge("Tchaikovsky, Ravel or Bizet", row).score
(0.0, 0.0)
>>> judge("about 3.0e8 m/s", {"answer": "299,792,458 m/s"}, tolerance=0.001).reason
'the same quantity, 300000000 m/s'
"""

from rlvr_cli.verifiers.facts.coverage import judge_facts
from rlvr_cli.verifiers.facts.faithful import judge_faithful
from rlvr_cli.verifiers.facts.short import gold_completion, judge, judge_f1

__all__ = ["gold_completion", "judge", "judge_f1", "judge_facts", "judge_faithful"]
