"""Does the reward behave as a function: the same answer for the same input, in any batch, thread or process, on any text?

Each check returns findings; none means it holds. A hang is cut by the target's deadline and becomes one.
"""

from __future__ import annotations

import asyncio
import copy
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rlvr_cli.audit.cases import Case
from rlvr_cli.audit.target import Paid, Row, Target
from rlvr_cli.interpreter import python
from rlvr_cli.rewards_api.call import sample_of

SLOW_S = 10.0  # of one hostile completion
THREADS = 8
PROCESS_S = 120.0


@dataclass(frozen=True)
class Finding:
    """Something that does not hold."""

    name: str
    what: str
    serious: bool = True


def run_mechanics(target: Target, cases: Sequence[Case]) -> tuple[list[str], list[Finding]]:
    """``(names of all checks, findings)``."""
    checks: dict[str, Callable[[Target, list[str], list[Row]], list[Finding]]] = {
        "an empty batch": empty_batch,
        "the same twice": deterministic,
        "alone as in a batch": batch_free,
        "messages as text": messages_as_text,
        "inputs unchanged": unchanged,
        "from eight threads": threaded,
        "inside an event loop": in_a_loop,
        "in another process": in_a_process,
        "columns that are null": null_columns,
        "odd completions": odd_completions,
    }
    texts = [text for case in cases for text in (case.gold or case.dress(case.answer or "4"), case.dress(case.wrong[0]))]
    rows = [case.row for case in cases for _ in range(2)]
    findings = [finding for check in checks.values() for finding in check(target, texts, rows)]
    return list(checks), findings


def _shares(paid: Sequence[Paid]) -> list[Any]:
    return [p.error or (None if p.share is None else round(p.share, 9)) for p in paid]


def empty_batch(target: Target, texts: list[str], rows: list[Row]) -> list[Finding]:
    """No completions, no scores."""
    for term in target.terms:
        try:
            columns = {name: [] for name in term.needs.required_columns}
            given = {name: [] for name in ("group_id", "correct") if name in term.needs.given}
            got = list(
                term.fn(
                    **columns, **given, **{"completions": [], "prompts": []} if _takes_both(term) else {"completions": []}, **term.options
                )
            )
        except Exception as error:
            return [Finding("an empty batch", f"{term.name} raised {type(error).__name__}: {error}", serious=False)]
        if got:
            return [Finding("an empty batch", f"{term.name} gave {len(got)} scores for no completions")]
    return []


def _takes_both(term: Any) -> bool:
    return "prompts" in term.needs.given or term.needs.takes_rest


def deterministic(target: Target, texts: list[str], rows: list[Row]) -> list[Finding]:
    """The same batch twice."""
    first, second = (_shares(target.pay(texts, rows)) for _ in range(2))
    return [Finding("the same twice", _difference(texts, first, second))] if first != second else []


def batch_free(target: Target, texts: list[str], rows: list[Row]) -> list[Finding]:
    """A completion's score does not depend on its neighbours. Group-relative terms are judged in groups of one here."""
    whole = _shares(target.pay(texts, rows))
    turned = _shares(target.pay(texts[::-1], rows[::-1]))[::-1]
    alone = [_shares(target.pay([text], [row]))[0] for text, row in list(zip(texts, rows, strict=True))[:6]]
    for other in (turned, alone):
        if whole[: len(other)] != other:
            return [Finding("alone as in a batch", _difference(texts, whole, other))]
    return []


def messages_as_text(target: Target, texts: list[str], rows: list[Row]) -> list[Finding]:
    """A conversational data set hands over messages."""
    plain = _shares(target.pay(texts, rows))
    chat = _shares(target.pay([[{"role": "assistant", "content": text}] for text in texts], rows))
    return [Finding("messages as text", _difference(texts, plain, chat))] if plain != chat else []


def unchanged(target: Target, texts: list[str], rows: list[Row]) -> list[Finding]:
    """The reward writes on nothing that it is given."""
    before = copy.deepcopy(rows)
    chat = [[{"role": "assistant", "content": text}] for text in texts]
    target.pay(chat, rows)
    same = rows == before and all(c == [{"role": "assistant", "content": text}] for c, text in zip(chat, texts, strict=True))
    return [] if same else [Finding("inputs unchanged", "the reward changed its prompts, columns or completions")]


def threaded(target: Target, texts: list[str], rows: list[Row]) -> list[Finding]:
    """Eight threads at once."""
    wanted, got = _shares(target.pay(texts, rows)), {}

    def work(i: int) -> None:
        got[i] = _shares(target.pay(texts, rows))

    threads = [threading.Thread(target=work, args=(i,), daemon=True) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    bad = next((scores for scores in got.values() if scores != wanted), None)
    return [Finding("from eight threads", _difference(texts, wanted, bad))] if bad is not None else []


def in_a_loop(target: Target, texts: list[str], rows: list[Row]) -> list[Finding]:
    """Called while an event loop runs."""
    wanted = _shares(target.pay(texts, rows))

    async def inside() -> list[Any]:
        return _shares(target.pay(texts, rows))

    got = asyncio.run(inside())
    return [Finding("inside an event loop", _difference(texts, wanted, got))] if got != wanted else []


def in_a_process(target: Target, texts: list[str], rows: list[Row]) -> list[Finding]:
    """A clean interpreter, as a rank is, from the same configuration."""
    request = {"reward": target.choice.reward.model_dump(mode="json"), "name": target.name, "texts": texts, "rows": rows}
    code = "from rlvr_cli.audit.mechanics import answer_request; answer_request()"
    try:
        done = subprocess.run(
            python("-c", code), input=json.dumps(request), capture_output=True, text=True, timeout=PROCESS_S, cwd=Path.cwd()
        )
    except subprocess.TimeoutExpired:
        return [Finding("in another process", f"no answer within {PROCESS_S:.0f} s")]
    except TypeError as error:  # rows that JSON can not hold
        return [Finding("in another process", f"not checked: {error}", serious=False)]
    if done.returncode:
        return [Finding("in another process", (done.stderr.strip().splitlines() or ["it died"])[-1])]
    got = json.loads(done.stdout.splitlines()[-1])
    wanted = _plain(target, texts, rows)
    return [Finding("in another process", _difference(texts, wanted, got))] if got != wanted else []


def _plain(target: Target, texts: list[str], rows: list[Row]) -> list[Any]:
    return [row["total"] if row["total"] is None else round(row["total"], 9) for row in target.raw(texts, rows)]


def answer_request() -> None:
    """The other side of :func:`in_a_process`: score what stands on standard input."""
    from rlvr_cli.rewards_api.bind import validated
    from rlvr_cli.scoring import Choice

    request = json.loads(sys.stdin.read())
    target = Target.of(request["name"], Choice(validated(request["reward"])))
    print(json.dumps(_plain(target, request["texts"], request["rows"])))


def null_columns(target: Target, texts: list[str], rows: list[Row]) -> list[Finding]:
    """A row without its gold is "could not judge", never full marks and never an exception."""
    findings = []
    for column in sorted(target.columns):
        paid = target.pay(texts[:2], [{**row, column: None} for row in rows[:2]])
        broken = next((p.error for p in paid if p.error), None)
        if broken:
            findings.append(Finding("columns that are null", f"{column} null: {broken}"))
        elif any(p.full for p in paid):
            findings.append(Finding("columns that are null", f"{column} null still earns full marks"))
        elif any(p.share == 0 for p in paid):
            findings.append(
                Finding("columns that are null", f"{column} null counts as wrong, not as not judged: the row trains", serious=False)
            )
    return findings


def hostile() -> dict[str, Any]:
    """Completions that no reward expects: huge, deep, torn, foreign."""
    return {
        "100,000 digits": "<answer>\\boxed{" + "9" * 100_000 + "}</answer>",
        "a tower of powers": "\\boxed{9^{9^{9^{9^{9}}}}} <answer>9**9**9**9</answer>",
        "a factorial": "\\boxed{99999999!}",
        "10,000 braces": "\\boxed{" * 10_000 + "1" + "}" * 10_000,
        "10,000 brackets": "```json\n" + "[" * 10_000 + "]" * 10_000 + "\n```",
        "10,000 parentheses": "<answer>" + "(" * 10_000 + "1" + ")" * 10_000 + "</answer>",
        "10,000 tags": "<answer>" * 10_000 + "</answer>" * 10_000,
        "a megabyte of words": "so " * 350_000,
        "100,000 spaces": "<answer>" + " " * 100_000 + "</answer>",
        "200,000 leading spaces": " " * 200_000 + "4",
        "100,000 blank lines": "\n" * 100_000 + "4",
        "null bytes": "\x00\x00<answer>\x004</answer>",
        "lone surrogates": "<answer>\ud800</answer>",
        "right to left": "\u202e<answer>24</answer>\u202c",
        "1,000 accents": "<answer>4" + "\u0301" * 1000 + "</answer>",
        "no messages": [],
        "null content": [{"role": "assistant", "content": None}],
        "content blocks": [{"role": "assistant", "content": [{"type": "text", "text": "4"}]}],
        "a tool's turn": [{"role": "tool", "content": "4"}],
    }


def odd_completions(target: Target, texts: list[str], rows: list[Row]) -> list[Finding]:
    """No exception, no hang and no full marks for text that nobody means."""
    findings = []
    for name, completion in hostile().items():
        start = time.monotonic()
        [paid] = target.pay([completion], [rows[0]])
        seconds = time.monotonic() - start
        if seconds > SLOW_S and not paid.error:  # once more: a busy machine is not the reward's fault
            start = time.monotonic()
            [paid] = target.pay([completion], [rows[0]])
            seconds = min(seconds, time.monotonic() - start)
        if paid.error:
            findings.append(Finding("odd completions", f"{name}: {paid.error}"))
        elif seconds > SLOW_S:
            findings.append(Finding("odd completions", f"{name}: {seconds:.0f} s for one completion"))
        elif paid.full and target.columns:
            findings.append(Finding("odd completions", f"{name} earns full marks: {paid.reason}"))
    return findings


def _difference(texts: Sequence[str], wanted: Sequence[Any], got: Sequence[Any]) -> str:
    for text, a, b in zip(texts, wanted, got, strict=False):
        if a != b:
            return f"{a} and {b} for {sample_of(text)}"
    return f"{len(wanted)} and {len(got)} scores"
