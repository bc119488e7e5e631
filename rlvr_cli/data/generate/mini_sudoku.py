"""Four by four sudoku with exactly one solution.

>>> row = next(generate(count=1, seed=0, empty=6))
>>> print(row["prompt"])
Solve this 4x4 sudoku: each row, column and 2x2 box holds 1 to 4 once. An underscore is an empty cell. Answer with the four full rows.
3 _ _ 2
4 2 3 1
2 _ _ _
1 4 _ 3
>>> print(row["answer"])
3 1 4 2
4 2 3 1
2 3 1 4
1 4 2 3
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from rlvr_cli.errors import DataError

Grid = list[list[int]]  # 0 is an empty cell
RULES = (
    "Solve this 4x4 sudoku: each row, column and 2x2 box holds 1 to 4 once. An underscore is an empty cell. Answer with the four full rows."
)


def generate(*, count: int, seed: int, empty: int = 8) -> Iterator[dict[str, Any]]:
    """``count`` puzzles with at most ``empty`` (1 to 12) cells to fill in; fewer where one more would allow a second solution."""
    if not 1 <= empty <= 12:
        raise DataError(f"empty={empty} is not from 1 to 12", where="dataset.empty", fix="dataset.empty=8")
    rng = random.Random(f"mini_sudoku-{seed}")
    for _ in range(count):
        full = _full(rng)
        puzzle = _dig(full, empty, rng)
        yield {
            "prompt": f"{RULES}\n{written(puzzle)}",
            "answer": written(full),
            "state": {"puzzle": puzzle, "solution": full},
            "difficulty": sum(cell == 0 for line in puzzle for cell in line),
            "task": "mini_sudoku",
            "kind": "logic",
        }


def written(grid: Grid) -> str:
    """Four lines of digits."""
    return "\n".join(" ".join(str(cell) if cell else "_" for cell in line) for line in grid)


def allowed(grid: Grid, r: int, c: int) -> list[int]:
    """Digits that the row, the column and the box still allow."""
    box = {grid[r // 2 * 2 + i][c // 2 * 2 + j] for i in range(2) for j in range(2)}
    return [d for d in (1, 2, 3, 4) if d not in grid[r] and d not in (line[c] for line in grid) and d not in box]


def solve(grid: Grid, most: int = 2, rng: random.Random | None = None) -> list[Grid]:
    """Up to ``most`` solutions; the grid is left as it was."""
    empty = next(((r, c) for r in range(4) for c in range(4) if not grid[r][c]), None)
    if empty is None:
        return [[list(line) for line in grid]]
    r, c = empty
    found: list[Grid] = []
    digits = allowed(grid, r, c)
    if rng:
        rng.shuffle(digits)
    for digit in digits:
        grid[r][c] = digit
        found += solve(grid, most - len(found), rng)
        grid[r][c] = 0
        if len(found) >= most:
            break
    return found


def _full(rng: random.Random) -> Grid:
    return solve([[0] * 4 for _ in range(4)], most=1, rng=rng)[0]


def _dig(full: Grid, empty: int, rng: random.Random) -> Grid:
    """Empty cells one by one while the solution stays the only one."""
    grid = [list(line) for line in full]
    for r, c in rng.sample([(r, c) for r in range(4) for c in range(4)], 16):
        if sum(not cell for line in grid for cell in line) == empty:
            break
        kept, grid[r][c] = grid[r][c], 0
        if len(solve(grid)) != 1:
            grid[r][c] = kept
    return grid
