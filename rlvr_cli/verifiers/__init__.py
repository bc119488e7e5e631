"""Verifiers judge, rewards pay.

A verifier is a module with one public function::

    judge(completion, row, **options) -> Verdict(score, reason, extracted)

and ``gold_completion(row) -> str | None``, what a perfect answer to the row looks like. The faces in ``rewards/`` turn
a verifier into the batch function that TRL calls; :func:`rlvr_cli.verifiers.verdict.pay` is the bridge.
"""

from rlvr_cli.verifiers.verdict import Scores, Verdict, pay, rows_of

__all__ = ["Scores", "Verdict", "pay", "rows_of"]
