"""Node weights: gaps are filled by degree, and ranks follow weight, then index."""

import numpy as np

from pgs_neo4j.graph import weights

NAN = float("nan")


def test_degrees_leave_self_loops_out_and_count_parallels() -> None:
    source, target = np.array([0, 0, 1, 2]), np.array([1, 1, 2, 2])
    assert weights.degrees(source, target, 4).tolist() == [2, 3, 1, 0]


def test_without_any_weight_the_degree_counts_and_an_isolate_weighs_1() -> None:
    weight = np.array([NAN, NAN, NAN])
    assert weights.complete(weight, np.array([4.0, 0.0, 1.0])).tolist() == [4, 1, 1]


def test_known_weights_stay_and_negative_ones_become_0() -> None:
    weight = np.array([2.0, -5.0, 0.0])
    assert weights.complete(weight, np.ones(3)).tolist() == [2, 0, 0]


def test_a_gap_is_filled_by_degree_within_the_known_range() -> None:
    weight = np.array([1.0, 2.0, 3.0, NAN, NAN, NAN])
    filled = weights.complete(weight, np.array([2.0, 2.0, 2.0, 100.0, 0.0, 2.0]))
    assert filled[3] == 3.0
    assert filled[4] == 1.0
    assert 1.0 <= filled[5] <= 3.0


def test_ranks_count_from_0_in_each_part_heaviest_first_ties_by_index() -> None:
    label = np.array([0, 1, 0, 0, 1])
    weight = np.array([1.0, 5.0, 3.0, 3.0, 9.0])
    assert weights.ranks(label, weight).tolist() == [2, 1, 0, 1, 0]


def test_empty_arrays_are_fine() -> None:
    empty = np.empty(0)
    assert weights.complete(empty, empty).tolist() == []
    assert weights.ranks(np.empty(0, dtype=np.int64), empty).tolist() == []
