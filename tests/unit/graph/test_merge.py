"""Small communities merge first, into the neighbor with most beyond chance and room."""

from __future__ import annotations

import numpy as np

from pgs_neo4j.graph.bounds import Limits
from pgs_neo4j.graph.csr import Edges, undirected
from pgs_neo4j.graph.merge import join_siblings, merge


def ones(edges: Edges) -> np.ndarray:
    return np.ones(edges.node_count, dtype=np.int64)


def each_alone(edges: Edges) -> np.ndarray:
    return np.arange(edges.node_count)


def test_the_strongest_tie_wins() -> None:
    edges = undirected(
        7,
        np.array([0, 0, 1, 2, 4, 5]),
        np.array([1, 4, 2, 3, 5, 6]),
        np.array([1.0, 5.0, 9.0, 9.0, 9.0, 9.0]),
    )
    labels = np.array([0, 1, 1, 1, 2, 2, 2])
    parts = merge(edges, labels, ones(edges), Limits(min_nodes=2, max_nodes=7))
    assert parts.tolist() == [0, 1, 1, 1, 0, 0, 0]


def test_equal_ties_go_to_the_lower_label() -> None:
    edges = undirected(5, np.array([4, 4, 0, 2]), np.array([0, 2, 1, 3]))
    parts = merge(edges, np.array([0, 0, 1, 1, 2]), ones(edges), Limits(min_nodes=2, max_nodes=9))
    assert parts.tolist() == [0, 0, 1, 1, 0]


def test_a_full_neighbor_is_passed_over() -> None:
    edges = undirected(
        6, np.array([0, 0, 1, 2, 4]), np.array([1, 4, 2, 3, 5]), np.array([9.0, 1.0, 1.0, 1.0, 1.0])
    )
    labels, limits = np.array([0, 1, 1, 1, 2, 2]), Limits(min_nodes=2, max_nodes=3)
    assert merge(edges, labels, ones(edges), limits).tolist() == [0, 1, 1, 1, 0, 0]


def test_tokens_keep_a_neighbor_from_growing() -> None:
    edges = undirected(3, np.array([0, 1]), np.array([1, 2]))
    limits = Limits(min_nodes=2, max_nodes=3, max_tokens=100)
    cost = np.array([40, 90, 40])
    assert merge(edges, np.arange(3), cost, limits).tolist() == [0, 1, 2]
    assert join_siblings(edges, np.arange(3), cost, limits).tolist() == [0, 1, 0]


def test_what_is_half_full_of_tokens_is_not_small() -> None:
    edges = undirected(2, np.array([0]), np.array([1]))
    limits = Limits(min_nodes=2, max_nodes=3, max_tokens=100)
    assert merge(edges, np.arange(2), np.array([50, 50]), limits).tolist() == [0, 1]
    assert merge(edges, np.arange(2), np.array([49, 51]), limits).tolist() == [0, 0]


def test_a_path_of_single_nodes_does_not_chain(path: Edges) -> None:
    parts = merge(path, each_alone(path), ones(path), Limits())
    sizes = np.bincount(parts)
    assert sizes.min() >= 30
    assert sizes.max() < 120
    assert np.count_nonzero(np.diff(parts)) == sizes.size - 1


def test_edges_without_weight_still_place_a_node() -> None:
    edges = undirected(2, np.array([0]), np.array([1]), np.zeros(1))
    assert merge(edges, np.arange(2), ones(edges), Limits(max_nodes=99)).tolist() == [0, 0]


def test_leaves_of_a_full_hub_are_gathered(star: Edges) -> None:
    parts = merge(star, each_alone(star), ones(star), Limits())
    assert np.bincount(parts).max() == 1800
    sizes = np.bincount(join_siblings(star, parts, ones(star), Limits()))
    assert 30 <= sizes.min() <= sizes.max() <= 1800
    assert sizes.size == 6
