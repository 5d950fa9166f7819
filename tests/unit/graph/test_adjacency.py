"""Neighbors by shared edges, then weight, then label."""

from __future__ import annotations

import numpy as np

from pgs_neo4j.graph.adjacency import adjacency
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
