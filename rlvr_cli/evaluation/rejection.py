"""From scored draws to training data: what the verifier accepted (rejection sampling), or right against wrong (DPO).

Plain functions on records of :mod:`.heldout`. A whole line of each kind of file, ready for TRL's trainers::

    accepted  {"prompt": [{"role": "user", ...}], "completion": [{"role": "assistant", "content": "..."}], "row_id": ..., "answer": ...}
    pairs     {"prompt": [...], "chosen": [{"role": "assistant", ...}], "rejected": [{"role": "assistant", ...}], "row_id": ...}
"""

from __future__ import annotations

import itertools
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rlvr_cli.evaluation.judging import as_completion

Record = Mapping[str, Any]
Say = Callable[[str], None]


def by_prompt(records: Sequence[Record]) -> dict[str, list[Record]]:
    """Records grouped by row, in order."""
    groups: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        groups[record["row_id"]].append(record)
    return dict(groups)


def accepted(records: Sequence[Record], say: Say) -> list[Record]:
    """Records with full marks that the limit did not cut, each text once a prompt (white space aside)."""
    right = [r for r in records if r["correct"] and not r["truncated"]]
    seen: set[tuple[str, str]] = set()
    kept = []
    for record in right:
        key = (record["row_id"], " ".join(record["completion"].split()))
        if key not in seen:
            seen.add(key)
            kept.append(record)
    prompts, hit = len(by_prompt(records)), len(by_prompt(kept))
    repeats = len(right) - len(kept)
    say(f"accepted {len(right)} of {len(records)} completions, {repeats} of them repeats; {hit} of {prompts} prompts have any")
    return kept


def picked(records: Sequence[Record], *, pick: str, per_prompt: int, seed: int) -> list[Record]:
    """``pick`` ``shortest`` or ``random``: at most ``per_prompt`` of each prompt; ``all`` keeps every one."""
    if pick == "all":
        return list(records)
    kept: list[Record] = []
    for row_id, group in by_prompt(records).items():
        if pick == "shortest":
            kept += sorted(group, key=lambda r: (r["tokens"], r["sample"]))[:per_prompt]
        else:
            kept += random.Random(f"{seed}-{row_id}").sample(group, min(per_prompt, len(group)))
    return kept


def balanced(records: Sequence[Record], levels: Mapping[str, Any], *, seed: int, say: Say, ratio: float = 1.0) -> list[Record]:
    """At most ``ratio`` times as many prompts of a level as the rarest level has; ``levels``: row ids to levels; absent ones are said."""
    groups = by_prompt(records)
    of_level: dict[str, list[str]] = defaultdict(list)
    for row_id in groups:
        of_level[str(levels[row_id])].append(row_id)
    missing = sorted(set(map(str, levels.values())) - set(of_level))
    if missing:
        say(f"no completion was kept at level {', '.join(missing)}")
    size = int(ratio * min(map(len, of_level.values()), default=0))
    chosen = {row_id for level, ids in of_level.items() for row_id in random.Random(f"{seed}-{level}").sample(ids, min(size, len(ids)))}
    counts = Counter({level: len(ids) for level, ids in of_level.items()})
    said = ", ".join(f"{level}: {count}" for level, count in sorted(counts.items()))
    say(f"balanced to {'at most ' * (ratio > 1)}{size} prompts a level (had {said})")
    return [r for r in records if r["row_id"] in chosen]


def pairs(records: Sequence[Record], *, pick: str, per_prompt: int, seed: int, say: Say) -> list[dict[str, Any]]:
    """Right against wrong completions of the same prompt, no pair twice; what could not be judged is neither.

    The side with fewer texts is used again: a prompt has one way to be right and many to be wrong, and a reward model learns from
    every one of them.
    """
    made = []
    groups = by_prompt(records)
    for row_id, group in groups.items():
        rng = random.Random(f"{seed}-{row_id}")
        right = distinct([r for r in group if r["correct"] and not r["truncated"]])
        wrong = distinct([r for r in group if not r["correct"] and not r["unjudged"]])
        right = sorted(right, key=lambda r: (r["tokens"], r["sample"])) if pick == "shortest" else rng.sample(right, len(right))
        wrong = rng.sample(wrong, len(wrong))
        if right and wrong:
            wanted = min(per_prompt, max(len(right), len(wrong)))
            made += [pair_line(good, bad) for good, bad in itertools.islice(zip(itertools.cycle(right), itertools.cycle(wrong)), wanted)]
    with_one = len({line["row_id"] for line in made})
    say(f"{len(made)} pairs from {with_one} of {len(groups)} prompts; the others were all right, all wrong or not judged")
    return made


def distinct(records: Sequence[Record]) -> list[Record]:
    """The first record of each text."""
    return list({r["completion"].strip(): r for r in reversed(records)}.values())[::-1]


def pair_line(good: Record, bad: Record) -> dict[str, Any]:
    """One line for a preference trainer."""
    prompt = good["prompt"]
    return {
        "prompt": prompt,
        "chosen": as_completion(prompt, good.get("messages") or good["completion"]),
        "rejected": as_completion(prompt, bad.get("messages") or bad["completion"]),
        "row_id": good["row_id"],
        "answer": good["answer"],
        "chosen_total": good["total"],
        "rejected_total": bad["total"],
    }


def line_of(record: Record, extra: Mapping[str, Any]) -> dict[str, Any]:
    """One line for a supervised trainer or for reading: the completion in the prompt's form, the row's other columns beside."""
    said = record.get("messages") or record["completion"]
    return {**extra, **{k: v for k, v in record.items() if k != "messages"}, "completion": as_completion(record["prompt"], said)}
