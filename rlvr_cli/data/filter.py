"""Rows kept and rows dropped, each drop with its reason: pass rate, length, language, duplicates, unsafe words, personal data.

The settings are the words of ``rlvr data filter``; each row is dropped for the first reason that holds, in the order below:

>>> rows = [{"prompt": "1+1=?"}, {"prompt": "1 + 1 = ?"}, {"prompt": "Write to ann@firm.de"}, {"prompt": "Hello"}]
>>> kept, dropped = filter_rows(rows, {**DEFAULTS, "max_chars": 30, "personal": "drop"}, column="prompt")
>>> len(kept), [reason for _, reason in dropped]
(2, ['the same prompt as row 1', 'personal data: e-mail'])
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rlvr_cli.data.files import progressing, text_in
from rlvr_cli.data.near import near_duplicates
from rlvr_cli.data.normal import normal
from rlvr_cli.data.personal import found, masked
from rlvr_cli.errors import ConfigError, DataError

Row = dict[str, Any]
Rule = Callable[[Row, str], str | None]  # the row and its question -> why it is dropped
Dropped = list[tuple[Row, str]]

DEFAULTS: dict[str, Any] = {
    "pass_min": None,
    "pass_max": None,
    "pass_column": "pass_rate",
    "min_chars": None,
    "max_chars": None,
    "max_tokens": None,
    "tokenizer": None,
    "language": None,
    "duplicates": True,
    "near": None,
    "unsafe": None,
    "personal": "off",
}
HELP = {
    "pass_min": "lowest pass rate kept, 0 to 1 (of `rlvr data difficulty`)",
    "pass_max": "highest pass rate kept; 0 < rate < 1 teaches, the ends have no signal",
    "pass_column": "column with the pass rate",
    "min_chars": "shortest question in characters",
    "max_chars": "longest question in characters",
    "max_tokens": "longest question in tokens of `tokenizer`",
    "tokenizer": "folder or hub id of a tokenizer, for max_tokens",
    "language": "keep questions in these languages: en, zh, [en,zh] ...",
    "duplicates": "drop a question that stands there already, but for case, width, spaces and sentence marks",
    "near": "drop a question whose three-word runs overlap an earlier one's by this share, 0 to 1",
    "unsafe": "true for the shipped list of unsafe phrases, or a file of your own; all text columns are read",
    "personal": "off, drop or mask e-mails, phone, card, bank and identity numbers and network addresses",
}


def filter_rows(rows: Sequence[Row], settings: dict[str, Any], *, column: str) -> tuple[list[Row], Dropped]:
    """(kept, dropped with reasons). ``column`` has the question; settings are DEFAULTS with some set.

    Raises ConfigError for a setting that cannot be, DataError where the rows lack the column that it needs.
    """
    rules = rules_of(settings, rows)
    kept: list[Row] = []
    questions: list[str] = []
    dropped: Dropped = []
    seen: dict[str, int] = {}
    for number, row in enumerate(progressing(rows, "filter"), 1):
        question = text_in(row.get(column))
        reason = next((why for rule in rules if (why := rule(row, question))), None)
        if not reason and settings["duplicates"] and (first := seen.setdefault(normal(question), number)) != number:
            reason = f"the same prompt as row {first}"
        if reason:
            dropped.append((row, reason))
        else:
            kept.append(row)
            questions.append(question)
    if settings["near"] is not None:
        kept = _without_near(kept, questions, _share("near", settings["near"]), dropped)
    return [mask_row(row) for row in kept] if settings["personal"] == "mask" else kept, dropped


def rules_of(settings: dict[str, Any], rows: Sequence[Row]) -> list[Rule]:
    """The rules that the settings switch on, in the order in which a row meets them."""
    rules: list[Rule] = []
    if settings["pass_min"] is not None or settings["pass_max"] is not None:
        rules.append(_pass_rule(settings, rows))
    for key in ("min_chars", "max_chars"):
        if settings[key] is not None:
            rules.append(_length_rule(key, settings[key], len, "characters"))
    if settings["max_tokens"] is not None:
        rules.append(_length_rule("max_tokens", settings["max_tokens"], _counter(settings["tokenizer"]), "tokens"))
    if settings["language"] is not None:
        rules.append(_language_rule(settings["language"]))
    if settings["unsafe"] not in (None, False):
        rules.append(_unsafe_rule(settings["unsafe"]))
    if settings["personal"] not in ("off", "drop", "mask", False):
        raise ConfigError(f"personal={settings['personal']!r} is not off, drop or mask", where="personal", fix="personal=drop")
    if settings["personal"] == "drop":
        rules.append(_personal_rule)
    return rules


def _share(key: str, value: Any) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 <= value <= 1:
        raise ConfigError(f"{key}={value!r} is not a number from 0 to 1", where=key, fix=f"{key}=0.8")
    return float(value)


def _pass_rule(settings: dict[str, Any], rows: Sequence[Row]) -> Rule:
    column = settings["pass_column"]
    low, high = (_share(k, settings[k]) if settings[k] is not None else bound for k, bound in (("pass_min", 0.0), ("pass_max", 1.0)))
    if not any(column in row for row in rows):
        raise DataError(
            f"no row has a column {column!r}", where="pass_column", fix="rlvr data difficulty data=FILE checkpoint=... out=FILE"
        )

    def rule(row: Row, question: str) -> str | None:
        rate = row.get(column)
        if not isinstance(rate, (int, float)):
            return f"no {column}"
        return f"{column} {rate:g} below {low:g}" if rate < low else f"{column} {rate:g} above {high:g}" if rate > high else None

    return rule


def _length_rule(key: str, bound: int, count: Callable[[str], int], unit: str) -> Rule:
    if not isinstance(bound, int) or bound < 0:
        raise ConfigError(f"{key}={bound!r} is not a number of {unit}", where=key, fix=f"{key}=2000")

    def rule(row: Row, question: str) -> str | None:
        n = count(question)
        if key.startswith("min"):
            return f"shorter than {bound} {unit}" if n < bound else None
        return f"longer than {bound} {unit}" if n > bound else None

    return rule


def _counter(tokenizer: str | None) -> Callable[[str], int]:
    """Tokens of a text by the named tokenizer."""
    if tokenizer is None:
        raise ConfigError("max_tokens needs a tokenizer", where="max_tokens", fix="tokenizer=FOLDER or a hub id")
    from rlvr_cli.data.show import token_counter

    return token_counter(tokenizer)


def _language_rule(wanted: str | Sequence[str]) -> Rule:
    from rlvr_cli.verifiers.language import language_of

    names = [wanted] if isinstance(wanted, str) else list(wanted)

    def rule(row: Row, question: str) -> str | None:
        language = language_of(question)
        return None if language is None or language in names else f"language {language}"

    return rule


def _unsafe_rule(source: Any) -> Rule:
    pattern = phrase_pattern(Path(__file__).with_name("unsafe_words.txt") if source is True else Path(str(source)))

    def rule(row: Row, question: str) -> str | None:
        match = next((m for value in row.values() if (m := pattern.search(text_in(value)))), None)
        return f"unsafe phrase {match.group().lower()!r}" if match else None

    return rule


def phrase_pattern(path: Path) -> re.Pattern[str]:
    """One pattern out of a file of phrases; Latin phrases as whole words, others anywhere."""
    try:
        lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(
            f"the word list {str(path)!r} cannot be read: {error}", where="unsafe", fix="unsafe=true for the shipped list"
        ) from error
    phrases = [line for line in lines if line and not line.startswith("#")]
    if not phrases:
        raise DataError(f"the word list {str(path)!r} is empty", where="unsafe", fix="unsafe=true for the shipped list")
    escaped = [r"\s+".join(map(re.escape, phrase.split())) for phrase in phrases]
    return re.compile("|".join(rf"\b{e}\b" if phrase.isascii() else e for phrase, e in zip(phrases, escaped, strict=True)), re.IGNORECASE)


def _personal_rule(row: Row, question: str) -> str | None:
    kinds = dict.fromkeys(kind for value in row.values() for kind, _ in found(text_in(value)))
    return f"personal data: {', '.join(kinds)}" if kinds else None


def _without_near(rows: list[Row], questions: list[str], share: float, dropped: Dropped) -> list[Row]:
    twins = near_duplicates(questions, share)
    dropped += [(rows[i], f"overlaps an earlier prompt by {share:g} or more") for i in twins]
    return [row for i, row in enumerate(rows) if i not in twins]


def mask_row(row: Row) -> Row:
    """The row with personal data in its text columns and messages replaced."""
    return {key: _masked(value) for key, value in row.items()}


def _masked(value: Any) -> Any:
    if isinstance(value, str):
        return masked(value)
    if isinstance(value, list):
        return [_masked(v) for v in value]
    return {key: _masked(v) for key, v in value.items()} if isinstance(value, dict) else value


def reason_kind(reason: str) -> str:
    """A reason without the row's own figures, to count by.

    >>> reason_kind("pass_rate 0.03 below 0.1"), reason_kind("the same prompt as row 17"), reason_kind("language fr")
    ('pass_rate below 0.1', 'the same prompt as an earlier row', 'language fr')
    """
    reason = re.sub(r"^(\S+) [-\d.e]+ (below|above)", r"\1 \2", reason)
    return re.sub(r" as row \d+$", " as an earlier row", reason)
