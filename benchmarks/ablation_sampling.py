"""Which prompts to ask: dynamic sampling, pass rates, replay and a difficulty schedule, each where its illness is there to be seen.

    python benchmarks/ablation_sampling.py hopeless      one training prompt in ten can be solved at all
    python benchmarks/ablation_sampling.py levels        sums of two to six numbers, mixed from the start or easy ones first

The runs, the budget in generated tokens and the tables are `benchmarks/ablations.py`'s, with its options (`--seeds`, `--arms`, `--tokens`).
``hopeless`` trains on a file made here: sums of two-digit numbers, nine times as many of three-digit ones that the start model never
gets right, so that nine groups of ten are dead; it is judged on two-digit sums that no run has seen.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

import ablations
from ablations import LONGER, LONGER_WORDS, SMALL, Line, Study, mean_of, silent

ROWS = ablations.ROOT / "outputs" / "ablations" / "hopeless.jsonl"
SOLVABLE, HOPELESS = 80, 720


def dead_at_first(lines: list[Line]) -> float:
    """Share of dead groups among the prompts as they were first asked, before any refill."""
    name = "dynamic_sampling/dead_before" if any("dynamic_sampling/dead_before" in line for line in lines) else "frac_reward_zero_std"
    return mean_of(name)(lines)


def write_rows(path: Path) -> None:
    """The training rows of ``hopeless``: none of them is on the held-out side."""
    from rlvr_cli.data.generate.arithmetic import training_rows

    rows = list(training_rows(SOLVABLE, seed=11)) + list(training_rows(HOPELESS, seed=12, min=100, max=999))
    random.Random(0).shuffle(rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def held_out_rows(path: Path) -> Path:
    """300 two-digit sums of the held-out side."""
    from rlvr_cli.data.generate.arithmetic import generate
    from rlvr_cli.data.split import held_out

    rows = [row for row in generate(count=6000, seed=13) if held_out(row, share=0.1)][:300]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


STUDIES = {
    "hopeless": Study(
        "One prompt in ten can be solved: what do the tokens buy?",
        {
            "plain": [],
            "dynamic": ["algorithm.dynamic_sampling.max_rounds=4"],
            "pass_rate": ["curriculum=pass_rate"],
            "pass_rate+dynamic": ["curriculum=pass_rate", "algorithm.dynamic_sampling.max_rounds=4"],
            "replay": ["curriculum.replay.share=0.25", "curriculum.replay.below=0.9"],
        },
        [*SMALL, "dataset=jsonl", f"dataset.train={ROWS}", f"dataset.eval={ROWS.with_suffix('.held_out.jsonl')}"],
        80_000,
        {
            "dead as asked": dead_at_first, "dead in the batch": mean_of("frac_reward_zero_std"), "tokens without signal": silent,
            "steps": lambda lines: lines[-1]["step"],
        },
    ),
    "levels": Study(
        "Sums of two to six numbers: mixed from the start, or easy ones first?",
        {
            "mixed": [],
            "difficulty": ["curriculum=difficulty", "curriculum.levels=4", "curriculum.until=0.015"],  # of 1000 steps: open at step 15
            "pass_rate": ["curriculum=pass_rate"],
        },
        [*SMALL, *LONGER_WORDS, "dataset.limit=400", "generation.max_completion_length=64"],
        60_000,
        {"dead groups": mean_of("frac_reward_zero_std"), "tokens without signal": silent, "steps": lambda lines: lines[-1]["step"]},
        LONGER,
    ),
}  # fmt: skip

if __name__ == "__main__":
    write_rows(ROWS)
    held_out_rows(ROWS.with_suffix(".held_out.jsonl"))
    ablations.STUDIES.clear()
    ablations.STUDIES.update(STUDIES)
    ablations.__doc__ = __doc__
    ablations.main()
