"""Neighbors by shared edges, then weight, then label."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pgs_neo4j.graph.adjacency import LEAST_EACH, adjacency, reach
from pgs_neo4j.graph.csr import Edges, undirected


def test_two_triangles_are_each_others_neighbor(two_triangles: Edges) -> None:
    table = adjacency(two_triangles, np.array([0, 0, 0, 1, 1, 1]))
    assert table.of(0) == [(1, 1, 1.0)]
    assert table.of(1) == [(0, 1, 1.0)]


def test_parallel_relationships_count_one_by_one_and_ties_go_by_weight_then_label() -> None:
    source = np.array([0, 1, 0, 2, 3, 0, 0])
    target = np.array([1, 0, 2, 0, 0, 4, 0])
    weight = np.array([1.0, 1.0, 2.0, 1.0, 9.0, 9.0, 5.0])
    table = adjacency(undirected(5, source, target, weight), np.arange(5))
    assert table.of(0) == [(2, 2, 3.0), (1, 2, 2.0), (3, 1, 9.0), (4, 1, 9.0)]
    assert table.of(4) == [(0, 1, 9.0)]


def test_only_the_top_are_kept(star: Edges) -> None:
    labels = np.concatenate(([0], 1 + np.arange(10_000) % 20))
    assert [row[0] for row in adjacency(star, labels).of(0)] == [1, 2, 3, 4, 5]
    assert [row[1] for row in adjacency(star, labels, top=2).of(0)] == [500, 500]
    assert len(adjacency(star, labels, top=None).of(0)) == 20
    assert adjacency(star, labels, top=1).of(20) == [(0, 500, 500.0)]


def reached(
    pairs: Sequence[tuple[int, int]],
    labels: Sequence[int],
    listed: Sequence[tuple[int, int]],
    most: int = 100,
    most_each: int = 100,
) -> dict[tuple[int, int], list[int]]:
    """Reached nodes by partition and neighbor; the rank of a node is its number."""
    ends = np.array(pairs, np.int64).reshape(-1, 2)
    parts = np.array(labels, np.int64)
    found = reach(
        (ends[:, 0], ends[:, 1]),
        parts,
        np.arange(len(parts)),
        listed,
        np.full(int(parts.max(initial=0)) + 1, most),
        most_each,
    )
    nodes: dict[tuple[int, int], list[int]] = {}
    for owner, neighbor, node in zip(
        found.owner.tolist(), found.neighbor.tolist(), found.node.tolist(), strict=True
    ):
        nodes.setdefault((owner, neighbor), []).append(node)
    return nodes


LABELS = [0, 0, 0, 1, 1, 2]
PAIRS = [(0, 4), (1, 4), (4, 2), (0, 3), (5, 1), (0, 1), (3, 4)]


def test_nodes_come_by_the_number_of_relationships_in_either_direction() -> None:
    found = reached(PAIRS, LABELS, [(0, 1), (1, 0), (0, 2), (2, 0)])
    assert found == {(0, 1): [4, 3], (0, 2): [5], (1, 0): [0, 1, 2], (2, 0): [1]}


def test_neighbors_that_are_not_listed_are_left_out() -> None:
    assert reached(PAIRS, LABELS, [(0, 2)]) == {(0, 2): [5]}


def test_a_partition_gets_so_many_nodes_and_each_neighbor_some() -> None:
    labels = [0] + [1] * 9 + [2] * 9
    pairs = [(0, node) for node in range(1, 10) for _ in range(5)]
    pairs += [(0, node) for node in range(10, 19)]
    found = reached(pairs, labels, [(0, 1), (0, 2)], most=8)
    assert found == {(0, 1): [1, 2, 3, 4, 5], (0, 2): [10, 11, 12]}
    assert len(found[0, 2]) == LEAST_EACH
    assert reached(pairs, labels, [(0, 1)], most_each=4) == {(0, 1): [1, 2, 3, 4]}


def test_without_relationships_between_partitions_nothing_is_reached() -> None:
    assert reached([(0, 1)], [0, 0, 1], [(0, 1)]) == {}
    assert reached([], [0, 1], [(0, 1)]) == {}
    assert reached([(0, 1)], [0, 1], []) == {}
