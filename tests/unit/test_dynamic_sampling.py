"""Which groups carry signal, how many prompts a round asks, and what moving groups does to a batch; without a model."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from rlvr_cli.config.schema import DynamicSampling as Settings
from rlvr_cli.training.dynamic_sampling import Batch, DynamicSampling, Rollout, prompts_to_ask, with_signal

NAN = float("nan")


def test_signal_is_a_difference_of_weighted_totals_over_judged_rows() -> None:
    matrix = np.array([[1, 0], [0, 1], [1, 0], [1, 1], [NAN, NAN], [1, 1], [NAN, NAN], [NAN, NAN]], dtype=np.float32)
    assert with_signal(matrix, np.array([1.0, 1.0]), 2).tolist() == [False, True, False, False]
    assert with_signal(matrix, np.array([1.0, 0.5]), 2).tolist() == [True, True, False, False]
    assert with_signal(matrix, np.array([1.0, 1.0]), 2, by_term=True).tolist() == [True, True, False, False], "GDPO looks at each term"


def test_a_tie_in_float32_is_a_tie() -> None:
    assert not with_signal(np.full((4, 3), 0.1, dtype=np.float32), np.array([0.3, 0.3, 0.4], dtype=np.float32), 4).any()


@pytest.mark.parametrize(
    ("missing", "oversample", "size", "ranks", "most", "asked"),
    [
        (1, 1.0, 8, 1, 16, 1),
        (5, 1.5, 8, 1, 16, 8),
        (3, 1.0, 3, 2, 16, 4),
        (3, 1.0, 8, 8, 16, 3),
        (9, 8.0, 8, 1, 16, 16),
        (1, 1.0, 4, 8, 4, 2),
    ],
)
def test_a_round_divides_over_the_ranks_and_is_never_larger_than_the_batch(missing, oversample, size, ranks, most, asked) -> None:
    assert prompts_to_ask(missing, oversample, size, ranks, most) == asked
    assert asked * size % ranks == 0


class World:
    """A trainer of one rank, with G=2, whose policy answers prompt p right in group place j when ``right(p, j)``."""

    num_generations = 2
    multi_objective_aggregation = "sum_then_normalize"
    reward_weights = SimpleNamespace(numpy=lambda: np.ones(1))
    accelerator = SimpleNamespace(num_processes=1, process_index=0)

    def __init__(self, right, prompts: int):
        self.right, self.prompts, self.left = right, prompts, list(range(100, 100 + prompts))
        self.bridge = self.sampling = self

    def row(self, index: int) -> dict:
        return {"prompt": f"p{index}", "row": index}

    def further_rows(self, count: int) -> list[int]:
        taken, self.left = self.left[:count], self.left[count:]
        return taken

    def ask(self, rows: list[int]) -> Batch:
        return self.batch(rows)

    def batch(self, rows: list[int]) -> Batch:
        inputs = [self.row(row) for row in rows for _ in range(2)]
        ids = [[row, j] for row in rows for j in range(2)]
        rollout = Rollout([[row] for row in rows for _ in range(2)], ids, None, [str(i) for i in ids], None, {}, None, [])
        scores = np.array([[float(self.right(row, j))] for row, j in ids], dtype=np.float32)
        return Batch(inputs, [row["prompt"] for row in inputs], rollout, SimpleNamespace(matrix=scores), np.array([row for row, _ in ids]))

    def with_groups(self, base, other, pairs, size):
        matrix = base.matrix.copy()
        for a, b in pairs:
            matrix[a * size : (a + 1) * size] = other.matrix[b * size : (b + 1) * size]
        return SimpleNamespace(matrix=matrix)


def filled(right, max_rounds: int = 9, prompts: int = 20, oversample: float = 1.0):
    world = World(right, prompts)
    batch = world.batch([0, 1, 2, 3])
    cost = DynamicSampling(world, Settings(max_rounds=max_rounds, oversample=oversample)).fill(batch)
    return batch, cost, world


def test_dead_groups_become_living_ones_and_the_others_stay_in_place() -> None:
    alive = {1, 3, 101, 104}
    batch, cost, _ = filled(lambda row, j: row in alive and j == 0)
    assert [row["row"] for row in batch.inputs] == [101, 101, 1, 1, 104, 104, 3, 3]
    assert batch.prompts == [row["prompt"] for row in batch.inputs]
    assert batch.rollout.completion_ids == [[101, 0], [101, 1], [1, 0], [1, 1], [104, 0], [104, 1], [3, 0], [3, 1]]
    assert batch.tokens.tolist() == [101, 101, 1, 1, 104, 104, 3, 3]
    assert with_signal(batch.scored.matrix, np.ones(1), 2).all()
    # round 1: prompts 100, 101 (101 lives); rounds 2 to 4: 102, 103, 104
    assert cost == {"rounds": 4, "further_prompts": 5, "dead_before": 0.5, "dead_after": 0.0}


def test_a_step_where_every_group_is_dead_ends_after_the_bound_and_keeps_its_batch() -> None:
    batch, cost, _ = filled(lambda row, j: False, max_rounds=3)
    assert cost == {"rounds": 3, "further_prompts": 12, "dead_before": 1.0, "dead_after": 1.0}
    assert [row["row"] for row in batch.inputs] == [0, 0, 1, 1, 2, 2, 3, 3]


def test_a_data_set_without_further_prompts_ends_the_refill() -> None:
    _, cost, _ = filled(lambda row, j: False, max_rounds=50, prompts=6)
    assert cost["further_prompts"] == 6 and cost["rounds"] == 2 and cost["dead_after"] == 1.0


def test_a_batch_that_lives_costs_nothing() -> None:
    _, cost, world = filled(lambda row, j: j == 0)
    assert cost == {"rounds": 0, "further_prompts": 0, "dead_before": 0.0, "dead_after": 0.0} and len(world.left) == 20


def test_oversampling_trades_prompts_for_rounds() -> None:
    def third(row: int, j: int) -> bool:
        return row % 3 == 0 and j == 0

    one, two = filled(third)[1], filled(third, oversample=3.0)[1]
    assert two["rounds"] < one["rounds"] and two["dead_after"] == one["dead_after"] == 0.0
