"""Sudoku of any square size: the last full grid of the answer, the clues kept, each row, column and box complete."""

from __future__ import annotations

import re
from math import isqrt
from typing import Any

from rlvr_cli.verifiers.verdict import Verdict

LONGEST = 20_000


def judge_sudoku(answer: str, state: dict[str, Any]) -> Verdict:
    """Any solution counts, not only the stored one."""
    puzzle = state["puzzle"]
    size = len(puzzle)
    grid = grid_of(answer, size)
    if grid is None:
        return Verdict(0.0, f"no {size}x{size} grid found", answer[:200])
    text = "\n".join(" ".join(map(str, line)) for line in grid)
    for r in range(size):
        for c in range(size):
            if puzzle[r][c] and grid[r][c] != puzzle[r][c]:
                return Verdict(0.0, f"row {r + 1}, column {c + 1} was {puzzle[r][c]}, is {grid[r][c]}", text)
    for name, cells in units(grid):
        if sorted(cells) != list(range(1, size + 1)):
            return Verdict(0.0, f"{name} does not hold 1 to {size} once", text)
    return Verdict(1.0, "complete, and the clues are kept", text)


def grid_of(answer: str, size: int) -> list[list[int]] | None:
    """The last ``size`` neighbouring lines of ``size`` digits each; signs of a drawn grid between them are ignored.

    A list of lists, and all cells in one line, are rows too."""
    lines = [re.findall(r"\d+", line) for line in answer[-LONGEST:].replace("]", "]\n").splitlines() if re.search(r"\d", line)]
    rows: list[list[int]] = []
    for line in lines:
        cells = [int(d) for d in (line[0] if len(line) == 1 and len(line[0]) in (size, size * size) else line) if len(d) < 4]
        rows += [cells[i : i + size] for i in range(0, len(cells), size)] if len(cells) == size * size else [cells]
    for end in range(len(rows), size - 1, -1):
        if all(len(row) == size for row in rows[end - size : end]):
            return rows[end - size : end]
    return None


def units(grid: list[list[int]]) -> list[tuple[str, list[int]]]:
    """Rows, columns and boxes by name."""
    size, box = len(grid), isqrt(len(grid))
    found = [(f"row {r + 1}", list(grid[r])) for r in range(size)]
    found += [(f"column {c + 1}", [line[c] for line in grid]) for c in range(size)]
    for r in range(0, size, box):
        for c in range(0, size, box):
            cells = [grid[r + i][c + j] for i in range(box) for j in range(box)]
            found.append((f"the box at row {r + 1}, column {c + 1}", cells))
    return found
