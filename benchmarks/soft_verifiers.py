"""How often the soft verifiers are wrong, on text that nobody wrote for them.

arithmetic: worked solutions of GSM8K. In the reference solutions every equation is meant to be true, so a flagged one is a
false alarm (or a slip of their authors: each is printed with --show). Then one digit of each true result is changed, which
must be found. language: English and Chinese word problems; the question's own text is in its language, another
language's text is not, and the two glued together are half and half.

    python benchmarks/soft_verifiers.py [--show]
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import time
from collections.abc import Iterator
from pathlib import Path

from rlvr_cli.evaluation.intervals import wilson
from rlvr_cli.verifiers import language
from rlvr_cli.verifiers.arithmetic_text import equations

DATA = Path(__file__).parents[1] / "../shared/data"


def references() -> list[str]:
    """The reference solutions, each once, with the calculator's annotations taken out."""
    path = DATA / "graded_gsm8k_openai/example_model_solutions.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return list(dict.fromkeys(re.sub(r"<<[^<>]*>>", "", json.loads(line)["ground_truth"]) for line in file))


def changed(text: str, rng: random.Random) -> Iterator[str]:
    """Each line with a checkable true equation, one digit of its result changed."""
    for line in text.splitlines():
        found = [e for e in equations(line) if e.true]
        if len(found) != 1:
            continue
        result = re.search(r"=\s*\$?(\d+)(?![\d.,/%])(?!\s*[-+*/=x×])", line)
        if result and result.group(1) == found[0].text.rpartition("=")[2]:
            digits = result.group(1)
            at = rng.randrange(len(digits))
            other = rng.choice([d for d in "123456789" if d != digits[at]])
            yield line[: result.start(1)] + digits[:at] + other + digits[at + 1 :] + line[result.end(1) :]


def said(name: str, count: int, of: int) -> str:
    """A line of the table."""
    low, high = wilson(count, of)
    return f"{name:<58} {count:>5} of {of:<5} {count / of:.4f}  95% [{low:.4f}, {high:.4f}]"


def arithmetic(show: bool) -> None:
    """False alarms and finds."""
    texts, rng = references(), random.Random(0)
    start = time.perf_counter()
    checked = [e for text in texts for e in equations(text)]
    seconds = time.perf_counter() - start
    flagged = [e.text for e in checked if not e.true]
    print(said("arithmetic: equations flagged in reference solutions", len(flagged), len(checked)))
    if show:
        print("\n".join(f"    {text}" for text in flagged))
    wrong = [line for text in texts for line in changed(text, rng)]
    print(
        said(
            "arithmetic: one digit of a result changed, found", sum(any(not e.true for e in equations(line)) for line in wrong), len(wrong)
        )
    )
    print(f"{'arithmetic: solutions a second, one process':<58} {len(texts) / seconds:>5.0f}")


def languages() -> None:
    """Share of texts that are judged as they should be."""
    english = references()[:600]
    with open(DATA / "cmath/test.jsonl", encoding="utf-8") as file:
        chinese = [
            text for line in file if (text := next((v for v in json.loads(line).values() if isinstance(v, str) and len(v) > 10), ""))
        ][:600]
    for name, own, other in (("English", english, chinese), ("Chinese", chinese, english)):
        pairs = list(zip(own, other, strict=False))
        same = sum(language.judge(a, {"prompt": b}).score >= 0.95 for a, b in zip(own, own[1:] + own[:1], strict=True))
        foreign = sum(language.judge(b, {"prompt": a}).score <= 0.05 for a, b in pairs)
        mixed = sum(0.05 < language.judge(f"{a}\n{b}", {"prompt": a}).score < 0.95 for a, b in pairs)
        print(said(f"language: {name} text for a {name} prompt, at least 0.95", same, len(own)))
        print(said(f"language: the other language for a {name} prompt, at most 0.05", foreign, len(pairs)))
        print(said(f"language: both for a {name} prompt, in between", mixed, len(pairs)))


def main() -> None:
    """The table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--show", action="store_true", help="print each flagged equation of the reference solutions")
    args = parser.parse_args()
    if not DATA.exists():
        print("needs the data beside the repository (../shared/data); nothing measured")
        return
    arithmetic(args.show)
    languages()


if __name__ == "__main__":
    main()
