"""Control arms: what a run gains when the reward knows nothing. A reward is worth its gap to these.

``random`` is a coin that ignores the answer. It is drawn from seed, step, place and text, so that a resumed run sees
the same coins, the same text at another step a new one, and no answer can be learnt to be lucky.

>>> verdicts = [judge("4", {"step": step, "place": 0}).score for step in range(1000)]
>>> 450 < sum(verdicts) < 550
True
"""

from __future__ import annotations

import random as rnd
from typing import Any

from rlvr_cli.verifiers import format as form
from rlvr_cli.verifiers.verdict import Completion, Verdict, text_of

STYLES = ("answer_tag", "boxed", "think_answer")


def judge(completion: Completion, row: dict[str, Any], *, p: float = 0.5, seed: int = 0) -> Verdict:
    """Heads with probability ``p``."""
    drawn_from = f"{seed}|{row.get('step', 0)}|{row.get('place', 0)}|{row.get('prompt')}|{text_of(completion)}"
    coin = rnd.Random(drawn_from.encode("utf-8", "surrogatepass")).random()
    return Verdict(float(coin < p), f"a coin of probability {p:g}")


def judge_form(completion: Completion, row: dict[str, Any], *, style: str = "any") -> Verdict:
    """Full marks for any filled answer form, whatever it says."""
    if style != "any":
        return form.judge(completion, row, form=style)
    verdicts = [form.judge(completion, row, form=name) for name in STYLES]
    return next((v for v in verdicts if v.score == 1.0), verdicts[0])


def gold_completion(row: dict[str, Any]) -> str | None:
    """None: no answer is better than another for a control arm."""
    return None
