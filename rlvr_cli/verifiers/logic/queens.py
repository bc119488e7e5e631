"""Queens on a board: as many as the board is wide, none attacks another, those given stay where they are."""

from __future__ import annotations

from typing import Any

from rlvr_cli.verifiers.verdict import Verdict


def judge_queens(answer: str, state: dict[str, Any]) -> Verdict:
    """The last board of the answer; ``Q`` is a queen, ``_`` or ``.`` is none."""
    puzzle = state["puzzle"]
    size = len(puzzle)
    lines = [line.replace(".", "_").split() for line in answer.splitlines() if "Q" in line or "_" in line or "." in line]
    board = lines[-size:]
    if len(board) < size or any(len(line) != size or not set(line) <= {"Q", "_"} for line in board):
        return Verdict(0.0, f"no {size}x{size} board found", answer[:200])
    queens = [(r, c) for r in range(size) for c in range(size) if board[r][c] == "Q"]
    text = "\n".join(" ".join(line) for line in board)
    if any(puzzle[r][c] == "Q" and board[r][c] != "Q" for r in range(size) for c in range(size)):
        return Verdict(0.0, "a given queen was moved", text)
    if len(queens) != size:
        return Verdict(0.0, f"{len(queens)} queens, not {size}", text)
    lined = [len({f(r, c) for r, c in queens}) for f in (lambda r, c: r, lambda r, c: c, lambda r, c: r - c, lambda r, c: r + c)]
    return Verdict(float(min(lined) == size), "no queen attacks another" if min(lined) == size else "two queens attack each other", text)
