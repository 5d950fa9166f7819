"""Partitions stay stable: cut along earlier ones, and moved only for a gain."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from pgs_neo4j.graph.csr import Edges, IntArray, undirected
from pgs_neo4j.graph.limits import Limited, Limits, apply_limits, renumbered
from pgs_neo4j.graph.quality import modularity
from pgs_neo4j.graph.steady import WORTH, numbered, staying, steadied, steady, unchanged

LIMITS = Limits(min_nodes=2, max_nodes=10, max_tokens=1000)


def parts(labels: IntArray) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(labels == label).tolist()) for label in np.unique(labels)}


@pytest.mark.parametrize(
    ("labels", "before", "tokens", "expected"),
    [
        # What fits stays whole wherever it was, and what is too large is cut along what was.
        ([3] * 10 + [8] * 10, [0, 1, 2, 3, 4] * 4, 0, [[*range(10)], [*range(10, 20)]]),
        ([0] * 20, [4] * 8 + [2] * 8 + [4] * 4, 1, [[*range(8), *range(16, 20)], [*range(8, 16)]]),
        # Too much text counts as too large.
        ([0] * 8, [0] * 4 + [1] * 4, 200, [[*range(4)], [*range(4, 8)]]),
        # A node without a partition stands alone.
        ([0] * 14, [0] * 6 + [-1] * 2 + [1] * 6, 0, [[*range(6)], [6], [7], [*range(8, 14)]]),
        ([], [], 0, []),
    ],
)
def test_communities_are_cut_along_the_partitions_before(
    labels: list[int], before: list[int], tokens: int, expected: list[list[int]]
) -> None:
    old, now = np.array(before, dtype=np.int64), np.array(labels, dtype=np.int64)
    found = steadied(now, old, np.full(now.size, tokens), LIMITS)
    assert parts(found) == {frozenset(nodes) for nodes in expected}


def test_old_nodes_stay_and_new_ones_join_most_of_their_community() -> None:
    before = np.array([0, 0, 0, 1, 1, 1, -1, -1, -1, -1])
    labels = np.array([5, 5, 7, 7, 7, 7, 5, 7, 9, 9])
    found = staying(labels, before)
    expected = {frozenset([0, 1, 2, 6]), frozenset([3, 4, 5, 7]), frozenset([8, 9])}
    assert parts(found) == expected


def test_of_two_homes_that_are_as_good_the_lower_one_is_taken() -> None:
    found = staying(np.zeros(5, dtype=np.int64), np.array([3, 1, 3, 1, -1]))
    assert parts(found) == {frozenset([0, 2]), frozenset([1, 3, 4])}


def test_a_partition_is_the_same_only_with_the_same_nodes() -> None:
    labels = np.array([0, 0, 1, 1, 2, 2, 3, 3, 4])
    before = np.array([2, 2, 0, 0, 1, 3, 3, -1, 4])
    sizes = np.array([3, 1, 2, 2, 1])  # a node of partition 0 is gone
    assert unchanged(labels, before, sizes).tolist() == [2, -1, -1, -1, 4]
    assert unchanged(labels[:0], before[:0], sizes).tolist() == []


@pytest.mark.parametrize(
    ("same", "numbers"),
    [
        ([-1, 1, -1, 0], [2, 1, 3, 0]),
        ([7, 0, -1], [1, 0, 2]),  # there are not so many any more
        ([-1, -1], [0, 1]),
        ([], []),
    ],
)
def test_an_equal_partition_keeps_its_number(same: list[int], numbers: list[int]) -> None:
    assert numbered(np.array(same, dtype=np.int64)).tolist() == numbers


def ring_of_cliques(extra: list[tuple[int, int]]) -> Edges:
    """Four cliques of six, each tied to the next by an edge, and some edges more."""
    pairs = [
        (6 * k + i, 6 * k + j) for k in range(4) for i, j in itertools.combinations(range(6), 2)
    ]
    pairs += [(6 * k + 5, (6 * k + 6) % 24) for k in range(4)] + extra
    source, target = np.array(pairs).T
    return undirected(24, source, target, np.ones(len(pairs)))


WITHIN = Limits(min_nodes=3, max_nodes=10, max_tokens=1000)


def settled(
    edges: Edges, labels: IntArray, before: IntArray, bound: IntArray | None = None
) -> Limited:
    bound = before if bound is None else bound
    return steady(edges, labels, before, bound, np.zeros(24, dtype=np.int64), WITHIN)


def test_a_gain_that_is_not_worth_it_moves_no_node() -> None:
    before = np.arange(24) // 6
    moved = before.copy()
    moved[5] = 1
    extra = [(5, 6 + i) for i in range(1, 6)]  # node 5 is tied a little better to the next
    edges = ring_of_cliques(extra)
    gain = modularity(edges, moved) - modularity(edges, before)
    assert 0 < gain < WORTH * modularity(edges, moved)
    assert parts(settled(edges, moved, before).labels) == parts(before)


def test_a_gain_that_is_worth_it_moves_them() -> None:
    before = np.arange(24) // 6
    wrong = before.copy()
    wrong[:3] = 3
    edges = ring_of_cliques([])
    assert parts(settled(edges, before, wrong).labels) == parts(before)


def test_who_was_in_a_pool_does_not_hold_it_together() -> None:
    source, target = np.array([(i, i + 1) for i in range(9)] + [(10, 11)]).T
    edges = undirected(24, source, target, np.ones(10))
    before = np.array([0] * 10 + [1] * 14)
    communities = np.array([0] * 10 + [1, 1, *range(2, 14)])
    found = settled(edges, communities, before, np.where(before == 1, -1, before))
    assert np.flatnonzero(found.pool[found.labels]).tolist() == list(range(10, 24))
    assert found.labels[:10].tolist() == [found.labels[0]] * 10


def test_other_numbers_are_the_same_partitioning() -> None:
    limited = apply_limits(
        ring_of_cliques([]), np.arange(24) // 6, np.zeros(24, dtype=np.int64), WITHIN
    )
    numbers = np.array([2, 0, 3, 1])
    other = renumbered(limited, numbers)
    assert (other.labels == numbers[limited.labels]).all()
    flagged = renumbered(replace(limited, pool=np.array([False, True, False, False])), numbers)
    assert flagged.pool.tolist() == [True, False, False, False]


def test_refined_partitions_of_an_unchanged_graph_stay_as_they_are() -> None:
    random = np.random.default_rng(6)
    first = random.integers(0, 1_200, 9_600)
    inside = first // 200 * 200 + random.integers(0, 200, first.size)
    outer = random.integers(0, 1_200, (2, 2_400))
    edges = undirected(1_200, np.append(first, outer[0]), np.append(inside, outer[1]))
    tokens, communities = random.integers(100, 2_000, 1_200), np.arange(1_200) // 200
    limits = Limits(max_tokens=20_000)
    before = apply_limits(edges, communities, tokens, limits)
    bound = np.where(before.pool[before.labels], -1, before.labels)
    after = steady(edges, communities, before.labels, bound, tokens, limits)
    assert parts(after.labels) == parts(before.labels)
