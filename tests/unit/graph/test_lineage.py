"""A partition hands its name to at most one successor, for the best total."""

from __future__ import annotations

import numpy as np
import pytest

from pgs_neo4j.graph.lineage import inherited


def labels(*overlaps: tuple[int, int, int]) -> tuple[np.ndarray, np.ndarray]:
    """The labels of nodes that lie in (old, new) so many times."""
    table = np.array(overlaps, dtype=np.int64).reshape(-1, 3)
    return np.repeat(table[:, 0], table[:, 2]), np.repeat(table[:, 1], table[:, 2])


@pytest.mark.parametrize(
    ("overlaps", "expected"),
    [
        # The same partitions under other numbers.
        ([(0, 2, 30), (1, 0, 40), (2, 1, 50)], [1, 2, 0]),
        # Of two pieces, and of two that merged, the larger carries on, or else the first.
        ([(0, 0, 40), (0, 1, 60)], [-1, 0]),
        ([(0, 0, 50), (0, 1, 50)], [0, -1]),
        ([(0, 0, 40), (1, 0, 60)], [1]),
        ([(0, 0, 50), (1, 0, 50)], [0]),
        # Old 0 overlaps new 0 most, but then old 1 and new 1 would both be left with nothing.
        ([(0, 0, 60), (0, 1, 50), (1, 0, 50)], [1, 0]),
        ([(0, 0, 60), (0, 1, 29), (1, 0, 29)], [0, -1]),
    ],
)
def test_names_pass_on_for_the_best_total(
    overlaps: list[tuple[int, int, int]], expected: list[int]
) -> None:
    """No node came or went."""
    old, new = labels(*overlaps)
    assert inherited(old, new, np.bincount(old), np.bincount(new)).tolist() == expected


def test_less_than_half_of_both_is_no_match() -> None:
    old, new = labels((0, 0, 49))
    assert inherited(old, new, np.array([100]), np.array([100])).tolist() == [-1]
    assert inherited(old, new, np.array([98]), np.array([1000])).tolist() == [0]
    assert inherited(old, new, np.array([1000]), np.array([98])).tolist() == [0]


def test_partitions_without_a_common_node_begin_a_lineage() -> None:
    none = np.empty(0, dtype=np.int64)
    assert inherited(none, none, np.array([3, 4]), np.array([5])).tolist() == [-1]
    assert inherited(none, none, none, np.array([5, 5])).tolist() == [-1, -1]
    assert inherited(none, none, np.array([5, 5]), none).tolist() == []


def test_a_long_chain_of_growing_overlaps_is_matched_for_the_best_total() -> None:
    """1 + 2 + … along one path of 801 partitions: every second overlap, from the largest."""
    steps = np.repeat(np.arange(800), np.arange(1, 801))
    old, new = steps // 2, (steps + 1) // 2
    found = inherited(old, new, np.bincount(old), np.bincount(new))
    assert found.tolist() == [-1, *range(400)]


@pytest.mark.parametrize(
    ("old", "new", "old_sizes", "message"),
    [
        ([0, 0], [0], [2], "one label each"),
        ([0, 0], [0, 0], [1], "more common nodes than its size"),
        ([0, 1], [0, 0], [2], "more common nodes than its size"),
    ],
)
def test_sizes_and_labels_that_contradict_each_other_are_refused(
    old: list[int], new: list[int], old_sizes: list[int], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        inherited(np.array(old), np.array(new), np.array(old_sizes), np.array([9]))
