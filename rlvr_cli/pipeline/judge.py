"""One policy of a chain, measured in a process of its own: ``python -m rlvr_cli.pipeline.judge outputs/PIPELINE MODEL LABEL``.

Four things, always on the same rows, so that two policies can be compared row by row:

- each task's held-out prompts, greedily, judged by the task's reward: right or not, and in the asked form or not;
- everyday and harmful prompts, judged by rule (:mod:`rlvr_cli.verifiers.general`);
- the loss on a fixed held-out text, in nats a token (its exponential is the perplexity);
- once there is a reward model, what it says of the replies to those prompts (``--learned``).

``MODEL`` is a folder, a hub id, or ``-`` for the pipeline's own model before any stage. A line of ``judged/LABEL.jsonl``::

    {"set": "task:sums", "row_id": "ab12...", "completion": "<think>...", "right": true, "form": true, "tokens": 21}
    {"set": "prompts", "row_id": "3", "completion": "A lemon is yellow.", "right": true, "refuse": false, "tokens": 18}
    {"set": "text", "row_id": "7", "nll": 12.4, "tokens": 18}
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rlvr_cli.errors import DataError, RlvrError

SETTINGS = "judge.json"
RULE = {"expected": {"fn": "rewards.general.expected", "options": {"max_words": None}}}
Row = dict[str, Any]


def main(argv: list[str]) -> int:
    """Judge one model, or let a reward model read what was judged; the exit code is the error's class."""
    folder, model, label = Path(argv[0]), argv[1], argv[2]
    try:
        learned(folder, model) if label == "--learned" else judge(folder, model, label)
    except RlvrError as error:
        print(f"rlvr train: judging {label}: {error}", flush=True)
        return error.exit_code
    return 0


def judge(folder: Path, model: str, label: str) -> None:
    """Measure ``model`` and write ``judged/LABEL.jsonl``, whole or not at all."""
    from rlvr_cli.config.schema import EvalConfig
    from rlvr_cli.evaluation import policy

    started = time.monotonic()
    policy.need_torch()
    settings = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
    tasks = {name: EvalConfig.model_validate(task) for name, task in settings["tasks"].items()}
    first = next(iter(tasks.values()))
    path = str(weights_of(first) if model == "-" else model)
    records = answered(tasks, settings, path)
    if settings["text"]:
        records += losses(first, settings, path)
    print(f"judged {path} in {time.monotonic() - started:.0f} s: {len(records)} lines", flush=True)
    write(folder / "judged" / f"{label}.jsonl", records)


def weights_of(config: Any) -> Any:
    """The pipeline's own model, built where it has to be."""
    from rlvr_cli.models import prepare

    return prepare(config.model, config.seed)


def answered(tasks: dict[str, Any], settings: dict[str, Any], path: str) -> list[Row]:
    """Greedy answers to all tasks and prompts, each judged."""
    from rlvr_cli.evaluation.evaluate import asked, load_rows, sampling_of
    from rlvr_cli.evaluation.heldout import draws_of

    first = next(iter(tasks.values()))
    records: list[Row] = []
    with asked(first, path, say) as (_, ask):
        for name, config in tasks.items():
            rows = load_rows(config, say)
            answers = ask(draws_of(rows), sampling_of(config, greedy=True), rows)
            records += task_records(name, config, rows, answers, settings["format"])
        if settings["prompts"]:
            rows = prompts_of(settings["prompts"], first.model.system_prompt)
            sampling = sampling_of(limited(first, settings["max_completion_length"]), greedy=True)
            answers = ask(draws_of(rows), sampling, rows)
            records += prompt_records(rows, answers)
    return records


def limited(config: Any, tokens: int | None) -> Any:
    """The same settings with another limit on the reply."""
    if tokens is None:
        return config
    return config.model_copy(update={"eval": config.eval.model_copy(update={"max_completion_length": tokens})})


def task_records(name: str, config: Any, rows: Sequence[Row], answers: Sequence[Any], form: str) -> list[Row]:
    """One line a prompt of a task."""
    from rlvr_cli.evaluation.heldout import draws_of, judged_samples
    from rlvr_cli.evaluation.judging import as_completion, columns_of, scored

    draws = draws_of(rows)
    samples = judged_samples(rows, draws, answers, config.reward.terms, kind="greedy", pool=config.reward.pool.model_dump())
    completions = [as_completion(d.prompt, a.text) for d, a in zip(draws, answers, strict=True)]
    forms = scored({"form": {"fn": form}}, [d.prompt for d in draws], completions, columns_of(rows))
    return [
        {
            "set": f"task:{name}",
            "row_id": sample["row_id"],
            "prompt": sample["prompt"],
            "completion": sample["completion"],
            "right": sample["correct"],
            "form": (formed.scores.get("form") or 0.0) >= 1.0,
            "tokens": sample["tokens"],
            "truncated": sample["truncated"],
            "reasons": sample["reasons"],
        }
        for sample, formed in zip(samples, forms, strict=True)
    ]


def prompts_of(source: str, system: str | None) -> list[Row]:
    """Everyday prompts as chat messages; a row is named by its place."""
    from rlvr_cli.stages.rows import asked, located

    rows = [row for _, row in located(source, "judge.prompts")]
    lacking = next((i for i, row in enumerate(rows, 1) if not row.get("prompt")), None)
    if lacking:
        raise DataError(f"{source} row {lacking} has no prompt", where="judge.prompts")
    return [{**row, "prompt": asked(row["prompt"], system), "row_id": str(i)} for i, row in enumerate(rows)]


def prompt_records(rows: Sequence[Row], answers: Sequence[Any]) -> list[Row]:
    """One line an everyday prompt, judged by rule."""
    from rlvr_cli.evaluation.judging import as_completion, columns_of, scored

    prompts = [row["prompt"] for row in rows]
    completions = [as_completion(row["prompt"], answer.text) for row, answer in zip(rows, answers, strict=True)]
    verdicts = scored(RULE, prompts, completions, columns_of(rows))
    return [
        {
            "set": "prompts",
            "row_id": row["row_id"],
            "prompt": row["prompt"],
            "completion": answer.text,
            "right": verdict.scores.get("expected") == 1.0,
            "refuse": str(row.get("refuse")).lower() == "true",
            "tokens": answer.tokens,
            "reason": verdict.reasons.get("expected"),
        }
        for row, answer, verdict in zip(rows, answers, verdicts, strict=True)
    ]


# ---------------------------------------------------------------------------------------------- the held-out text


def losses(config: Any, settings: dict[str, Any], path: str) -> list[Row]:
    """One line a held-out text: the summed loss in nats, and over how many tokens."""
    from rlvr_cli.evaluation import policy
    from rlvr_cli.stages.rows import located

    model, tokenizer = policy.load_policy(path, config.model, device=policy.device_of(config.hardware))
    texts = [ids_of(row, tokenizer, config.model.system_prompt, settings["text"]) for _, row in located(settings["text"], "judge.text")]
    found: list[Row] = []
    for start in range(0, len(texts), settings["batch_size"]):
        sums = summed_losses(model, texts[start : start + settings["batch_size"]], tokenizer.pad_token_id)
        found += [{"set": "text", "row_id": str(start + i), "nll": nll, "tokens": count} for i, (nll, count) in enumerate(sums)]
    return found


def ids_of(row: Row, tokenizer: Any, system: str | None, source: str) -> tuple[list[int], int]:
    """A text as (token ids, how many of them are given and not predicted): a plain text, or a reply after its prompt."""
    from rlvr_cli.evaluation.generate import prompt_ids
    from rlvr_cli.stages.rows import as_answer, reply_of

    if row.get("text"):
        ids = list(tokenizer(row["text"])["input_ids"])
        return ids, 1
    if not (row.get("prompt") and reply_of(row)):
        raise DataError(f"{source} has a row with neither text nor prompt and completion", where="judge.text")
    pair = as_answer(row, system)
    given = prompt_ids(tokenizer, pair["prompt"])
    whole = tokenizer.apply_chat_template([*pair["prompt"], *pair["completion"]], tokenize=False)
    return list(tokenizer(whole, add_special_tokens=False)["input_ids"]), len(given)


def summed_losses(model: Any, texts: Sequence[tuple[list[int], int]], pad: int) -> list[tuple[float, int]]:
    """(summed negative log-likelihood in nats, predicted tokens) of each text; right-padded, which a causal model does not see."""
    import torch

    longest = max(len(ids) for ids, _ in texts)
    batch = torch.full((len(texts), longest), pad, device=model.device)  # [B, T]
    mask = torch.zeros(len(texts), longest, dtype=torch.bool, device=model.device)
    attention = torch.zeros(len(texts), longest, dtype=torch.long, device=model.device)
    for i, (ids, given) in enumerate(texts):
        batch[i, : len(ids)] = torch.tensor(ids)
        attention[i, : len(ids)] = 1
        mask[i, max(1, given) : len(ids)] = True
    with torch.inference_mode():
        logits = model(input_ids=batch, attention_mask=attention).logits[:, :-1].float()  # [B, T-1, V]
        nll = torch.nn.functional.cross_entropy(logits.transpose(1, 2), batch[:, 1:], reduction="none")  # [B, T-1]
    predicted = mask[:, 1:]
    return [(float(nll[i][predicted[i]].sum()), int(predicted[i].sum())) for i in range(len(texts))]


# ---------------------------------------------------------------------------------------------- the learned reward


def learned(folder: Path, reward_model: str) -> None:
    """What the reward model says of every judged policy's replies to the everyday prompts: ``judged/learned.json``, 0 to 1."""
    from rlvr_cli.evaluation import policy
    from rlvr_cli.evaluation.judging import as_completion
    from rlvr_cli.rewards_api.resolve import resolve

    policy.need_torch()
    score = resolve("rewards.hybrid.reward_model")
    told: dict[str, dict[str, float]] = {}
    for file in sorted((folder / "judged").glob("*.jsonl")):
        rows = [row for row in map(json.loads, file.read_text(encoding="utf-8").splitlines()) if row["set"] == "prompts"]
        prompts = [row["prompt"] for row in rows]
        completions = [as_completion(row["prompt"], row["completion"]) for row in rows]
        scores = score(completions, prompts=prompts, model=reward_model, batch_size=64)
        told[file.stem] = {row["row_id"]: value for row, value in zip(rows, scores, strict=True)}
    write_text(folder / "judged" / "learned.json", json.dumps({"model": reward_model, "scores": told}) + "\n")


def say(text: str) -> None:
    """Progress, for the log."""
    print(text, flush=True)


def write(path: Path, records: Sequence[Row]) -> None:
    """JSON lines, the file whole or not at all."""
    write_text(path, "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records))


def write_text(path: Path, text: str) -> None:
    """A file whole or not at all; a lone surrogate of a completion becomes its JSON escape."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    part.write_text(text, encoding="utf-8", errors="backslashreplace")
    part.replace(path)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
