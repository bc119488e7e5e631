"""``rlvr reward audit``: attack a reward, check its manners, play blind; say what works and what it would teach."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from rlvr_cli import scoring
from rlvr_cli.audit.attacks import Outcome, run_attacks
from rlvr_cli.audit.blind import BlindReport, play
from rlvr_cli.audit.cases import Case, cases_of
from rlvr_cli.audit.mechanics import Finding, run_mechanics
from rlvr_cli.audit.samples import kinds_for
from rlvr_cli.audit.target import Target
from rlvr_cli.errors import DataError, RewardError

BLIND_ROWS = 20  # fewer say nothing of a data set


@dataclass
class AuditReport:
    """Everything found. ``golds``: rows whose own perfect answer earns full marks, of those that have one."""

    reward: str
    rows: int
    source: str
    golds: tuple[int, int]
    refused_golds: list[str]
    attacks: list[Outcome]
    checks: list[str]
    findings: list[Finding]
    blind: BlindReport | None
    seconds_a_verdict: float
    notes: list[str] = field(default_factory=list)

    @property
    def serious(self) -> bool:
        """Would this ruin a run?"""
        blind = self.blind is not None and self.blind.serious
        return blind or any(a.level == "serious" for a in self.attacks) or any(f.serious for f in self.findings)

    def as_dict(self) -> dict[str, Any]:
        """For ``--json``."""
        blind = self.blind and {
            "serious": self.blind.serious,
            "reasoning": self.blind.reasoning,
            "policies": [{**asdict(e), "ci95": e.ci95} for e in self.blind.policies],
        }
        return {
            "reward": self.reward,
            "rows": self.rows,
            "source": self.source,
            "serious": self.serious,
            "golds": {"full_marks": self.golds[0], "of": self.golds[1], "refused": self.refused_golds},
            "attacks": [{**asdict(a), "level": a.level} for a in self.attacks],
            "checks": self.checks,
            "findings": [asdict(f) for f in self.findings],
            "blind": blind,
            "ms_a_verdict": round(self.seconds_a_verdict * 1000, 3),
            "notes": self.notes,
        }


def run_audit(choice: scoring.Choice, name: str, *, source: str | None, n: int, max_blind: float, seed: int) -> AuditReport:
    """The whole audit. ``source`` None takes the built-in rows that have the reward's columns."""
    target = Target.of(name, choice)
    rows = read(source, choice) if source else built_in_rows(target)
    choice.bound(scoring.columns_of(rows))  # a column that the data lacks is one line, not thirty findings
    few = rows[:: max(1, len(rows) // n)][:n]
    cases = cases_of(target, few)
    golds, refused = measured(target, cases)
    attacks = run_attacks(target, cases)
    seconds = target.seconds / max(1, target.calls)  # of ordinary text: the odd completions come after
    checks, findings = run_mechanics(target, cases)
    blind = play(target, cases_of(target, rows), seed=seed, limit=max_blind) if source and len(rows) >= BLIND_ROWS else None
    said = notes(target, cases, attacks)
    return AuditReport(name, len(few), source or "built-in rows", golds, refused, attacks, checks, findings, blind, seconds, said)


def built_in_rows(target: Target) -> list[scoring.Row]:
    """The built-in rows that fit best: the first kind with the reward's columns of which it pays a perfect answer."""
    kinds = kinds_for(target.columns, target.optional_columns)
    if not kinds:
        columns = ", ".join(sorted(target.columns))
        fix = f"rlvr reward audit {target.name} data=FILE"
        raise RewardError(f"no built-in rows have the columns {columns}", where=target.name, fix=fix)
    target.choice.bound(scoring.columns_of(kinds[0]))
    return next((rows for rows in kinds if any(case.gold for case in cases_of(target, rows[:2]))), kinds[0])


def read(source: str, choice: scoring.Choice) -> list[scoring.Row]:
    """Rows of a data file; a completion is not needed here."""
    from rlvr_cli.data.sources import Broken, find_path, read_file

    path = find_path(source)
    if path is None or path.is_dir():
        raise DataError(f"there is no file {source!r}", where="data", fix="data=FILE.jsonl")
    rows = []
    for item in read_file(path, key="data"):
        if isinstance(item, Broken):
            raise DataError(f"{item.where}: {item.reason}", where="data")
        row = item[1]
        row |= {new: row[old] for new, old in choice.renames.items() if old in row}
        row.setdefault("answer", row.get("gold"))
        rows.append({k: v for k, v in row.items() if not (k == "answer" and v is None)})
    return rows


def measured(target: Target, cases: Sequence[Case]) -> tuple[tuple[int, int], list[str]]:
    """How many rows' own golds earn full marks, and what is said of those that do not."""
    full, of, refused = 0, 0, []
    for case in cases:
        golds = target.golds(case.row)
        if not golds:
            continue
        of += 1
        paid = target.pay(golds, [case.row] * len(golds))
        if any(p.full for p in paid):
            full += 1
        else:
            refused.append(paid[0].error or paid[0].reason)
    return (full, of), refused


def notes(target: Target, cases: Sequence[Case], attacks: Sequence[Outcome]) -> list[str]:
    """What an honest audit must say of itself, and the cure of the commonest illness."""
    said = []
    if any(a.name == "a wrong answer" and a.worked * 2 > a.tried for a in attacks):
        said.append("it pays whether or not the answer is right: use it beside a correctness term, with a gate or a cap")
    if any(term.group_relative for term in target.terms):
        said.append("group-relative terms were judged in groups of one, where nobody is right")
    if not any(case.gold for case in cases):
        said.append(
            "no perfect answer is known (no gold_completion, and no plain form of the answer earns anything): full marks are assumed"
        )
    return said


def lines_of(report: AuditReport) -> list[str]:
    """The report as plain lines: what works first."""
    speed = f"{report.seconds_a_verdict * 1000:.2f} ms a verdict"
    lines = [f"audit of {report.reward}: {report.rows} rows ({report.source}), {speed}"]
    if report.golds[1]:
        lines.append(f"own golds: {report.golds[0]} of {report.golds[1]} earn full marks")
        lines += [f"  refused: {reason}" for reason in report.refused_golds[:3]]
    order = {"serious": 0, "note": 1, "ok": 2}
    for attack in sorted(report.attacks, key=lambda a: (order[a.level], -a.pays)):
        lines += _attack_lines(attack)
    lines += _finding_lines(report)
    lines += _blind_lines(report.blind)
    lines += [f"note: {note}" for note in report.notes]
    lines.append("result: something serious works" if report.serious else "result: nothing serious works")
    return lines


def _attack_lines(attack: Outcome) -> list[str]:
    head = f"{attack.level:<8} {attack.name:<24} works {attack.worked} of {attack.tried}, pays {attack.pays:.2f} of full marks"
    if attack.level == "ok":
        return [head]
    lines = [f"{head}: teaches {attack.teaches}"]
    if attack.errors:
        lines.append(f"           breaks: {attack.errors[0]}")
    return lines + ([f"           e.g. {attack.example}: {attack.reason}"] if attack.example else [])


def _finding_lines(report: AuditReport) -> list[str]:
    lines = [f"{'serious' if f.serious else 'note':<8} {f.name}: {f.what}" for f in report.findings]
    fine = [name for name in report.checks if name not in {f.name for f in report.findings}]
    return lines + ([f"ok       {', '.join(fine)}"] if fine else [])


def _blind_lines(blind: BlindReport | None) -> list[str]:
    if blind is None:
        return [f"blind policies: need data= with at least {BLIND_ROWS} rows"]
    head = f"blind policies over {blind.best.n if blind.best else 0} rows"
    head += f"; the completions in the file earn {blind.reasoning:.3f}" if blind.reasoning is not None else ""
    lines = [f"{'serious' if blind.serious else 'ok':<8} {head}"]
    for earned in blind.policies[:6]:
        low, high = earned.ci95
        lines.append(f"           {earned.mean:.3f} of full marks, {earned.full} in full, 95% [{low:.3f}, {high:.3f}]: {earned.policy}")
    return lines
