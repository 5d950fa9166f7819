"""Small named graphs as undirected edges, with weight 1 unless stated."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

from pgs_neo4j.graph.csr import Edges, undirected


def graph(node_count: int, pairs: Iterable[tuple[int, int]]) -> Edges:
    """Edges of weight 1 from pairs of nodes."""
    table = np.array(list(pairs), dtype=np.int64).reshape(-1, 2)
    return undirected(node_count, table[:, 0], table[:, 1])


def clique_pairs(first: int, size: int) -> list[tuple[int, int]]:
    """All pairs among ``size`` nodes from ``first`` on."""
    nodes = range(first, first + size)
    return [(a, b) for a in nodes for b in nodes if a < b]


@pytest.fixture
def two_triangles() -> Edges:
    """Nodes 0-2 and 3-5, joined by the edge 2-3."""
    return graph(6, [*clique_pairs(0, 3), *clique_pairs(3, 3), (2, 3)])


@pytest.fixture
def barbell() -> Edges:
    """Two cliques of 20 joined by one edge."""
    return graph(40, [*clique_pairs(0, 20), *clique_pairs(20, 20), (19, 20)])


@pytest.fixture
def star() -> Edges:
    """A hub, node 0, and 10,000 leaves."""
    return graph(10_001, ((0, leaf) for leaf in range(1, 10_001)))


@pytest.fixture
def path() -> Edges:
    """10,000 nodes in a row."""
    return graph(10_000, ((node, node + 1) for node in range(9_999)))


@pytest.fixture
def giant_component() -> Edges:
    """Four dense blocks of 600 tied into one component, and 50 isolates after them."""
    random = np.random.default_rng(7)
    inner = random.integers(0, 600, (2, 24_000)) + np.repeat(np.arange(4), 6_000) * 600
    outer = random.integers(0, 2_400, (2, 3_000))
    source, target = np.concatenate((inner, outer), axis=1)
    return undirected(2_450, source, target)


@pytest.fixture
def all_isolated() -> Edges:
    """4,000 nodes, no edge."""
    return graph(4_000, [])
