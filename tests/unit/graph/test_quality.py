"""Modularity and conductance against their definitions."""

from __future__ import annotations

import numpy as np
import pytest

from pgs_neo4j.graph.csr import Edges, undirected
from pgs_neo4j.graph.quality import conductance, modularity, quality

TRIANGLES = np.array([0, 0, 0, 1, 1, 1])


def test_two_triangles_have_the_known_modularity(two_triangles: Edges) -> None:
    assert modularity(two_triangles, TRIANGLES) == pytest.approx(5 / 14)
    assert modularity(two_triangles, np.zeros(6, dtype=np.int64)) == pytest.approx(0.0)


def test_modularity_equals_the_sum_over_pairs() -> None:
    random = np.random.default_rng(5)
    source, target = random.integers(0, 12, (2, 40))
    weight, labels = random.random(40), random.integers(0, 3, 12)
    edges = undirected(12, source, target, weight)
    matrix = np.zeros((12, 12))
    np.add.at(matrix, (edges.source, edges.target), edges.weight)
    matrix += matrix.T
    strength = matrix.sum(axis=0)
    chance = np.outer(strength, strength) / matrix.sum()
    together = labels[:, None] == labels[None, :]
    expected = ((matrix - chance) * together).sum() / matrix.sum()
    assert modularity(edges, labels) == pytest.approx(expected)


def test_conductance_is_the_share_that_leaves(two_triangles: Edges) -> None:
    assert conductance(two_triangles, TRIANGLES).tolist() == pytest.approx([1 / 7, 1 / 7])
    assert conductance(two_triangles, np.zeros(6, dtype=np.int64)).tolist() == [0.0]
    assert conductance(two_triangles, np.arange(6)).tolist() == [1.0] * 6


def test_a_graph_without_edges_has_figures(all_isolated: Edges) -> None:
    figures = quality(all_isolated, np.repeat([0, 0, 0, 1], 1_000))
    assert figures.modularity == 0.0
    assert figures.conductance.tolist() == [0.0, 0.0]
    nothing = quality(undirected(0, np.empty(0), np.empty(0)), np.empty(0, dtype=np.int64))
    assert (nothing.modularity, nothing.mean_conductance) == (0.0, 0.0)
