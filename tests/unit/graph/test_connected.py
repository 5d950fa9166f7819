"""Partitions in one piece."""

from __future__ import annotations

import numpy as np
import pytest

from pgs_neo4j.graph.bounds import Limits, sizes_of
from pgs_neo4j.graph.connected import components, connect, count_pieces
from pgs_neo4j.graph.csr import Edges, undirected
from pgs_neo4j.graph.limits import apply_limits
from tests.unit.graph.conftest import clique_pairs, graph


def pieces_of(edges: Edges, labels: np.ndarray) -> list[int]:
    """How many pieces each part has, by a search that follows edges one by one."""
    near: dict[int, set[int]] = {node: set() for node in range(labels.size)}
    for a, b in zip(edges.source.tolist(), edges.target.tolist(), strict=True):
        if labels[a] == labels[b]:
            near[a].add(b)
            near[b].add(a)
    counts = [0] * (int(labels.max()) + 1)
    seen: set[int] = set()
    for first in range(labels.size):
        if first in seen:
            continue
        counts[labels[first]] += 1
        waiting = [first]
        while waiting:
            node = waiting.pop()
            if node not in seen:
                seen.add(node)
                waiting += near[node]
    return counts


def random_graph(seed: int) -> tuple[Edges, np.ndarray]:
    """A sparse weighted graph, and communities of it in many pieces."""
    random = np.random.default_rng(seed)
    n = int(random.integers(20, 400))
    m = int(random.integers(n // 2, 3 * n))
    source, target = random.integers(0, n, (2, m))
    edges = undirected(n, source, target, random.exponential(1.0, m))
    return edges, random.integers(0, random.integers(1, 12), n)


@pytest.mark.parametrize("seed", range(40))
def test_each_partition_but_pools_is_connected_where_there_is_room(seed: int) -> None:
    edges, labels = random_graph(seed)
    n = edges.node_count
    limits = Limits(min_nodes=8, max_nodes=n)
    result = apply_limits(edges, labels, np.ones(n, dtype=np.int64), limits)
    counts = np.asarray(pieces_of(edges, result.labels))
    assert (counts[~result.pool] == 1).all()
    # Pools have nothing that an edge could place.
    pooled = result.pool[result.labels]
    assert not (pooled[edges.source] ^ pooled[edges.target]).any()


@pytest.mark.parametrize("seed", range(40))
def test_a_partition_in_pieces_has_a_small_one_without_room_elsewhere(seed: int) -> None:
    edges, labels = random_graph(seed)
    n = edges.node_count
    limits = Limits(min_nodes=8, max_nodes=20)
    tokens = np.ones(n, dtype=np.int64)
    result = apply_limits(edges, labels, tokens, limits)
    sizes = np.bincount(result.labels)
    assert sizes.max() <= limits.max_nodes
    assert sizes[~result.pool].min(initial=limits.min_nodes) >= min(limits.min_nodes, n)
    pieces = components(edges, result.labels)
    for part in np.flatnonzero(np.asarray(pieces_of(edges, result.labels)) > 1):
        own = pieces[result.labels == part]
        assert result.pool[part] or np.bincount(own)[own].min() < limits.min_nodes


def test_components_are_those_of_a_plain_search() -> None:
    for seed in range(20):
        edges, labels = random_graph(seed)
        assert int(components(edges, labels).max()) + 1 == sum(pieces_of(edges, labels))


def test_large_pieces_part_and_a_small_one_joins_its_strongest_neighbor() -> None:
    cliques = [*clique_pairs(0, 10), *clique_pairs(10, 10), *clique_pairs(20, 10), (30, 31)]
    edges = graph(32, [*cliques, (9, 10), (19, 20), (30, 0), (30, 20), (31, 20)])
    labels = np.array([0] * 10 + [1] * 10 + [0] * 10 + [1] * 2)
    tokens = np.ones(32, dtype=np.int64)
    found = connect(edges, labels, tokens, Limits(min_nodes=5, max_nodes=20))
    assert found.tolist() == [0] * 10 + [1] * 10 + [2] * 12


def test_leaves_of_a_full_hub_stay_together_in_pieces() -> None:
    edges = graph(13, ((0, leaf) for leaf in range(1, 13)))
    labels = np.array([0] * 5 + [1] * 4 + [2] * 4)
    limits = Limits(min_nodes=4, max_nodes=5)
    tokens = np.ones(13, dtype=np.int64)
    found = connect(edges, labels, tokens, limits)
    assert found.tolist() == labels.tolist()
    assert not limits.small(*_sizes(found, tokens)).any()


def _sizes(labels: np.ndarray, tokens: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    sizes = sizes_of(labels, tokens)
    return sizes.nodes, sizes.tokens


def test_the_order_of_edges_and_the_numbers_of_labels_decide_nothing() -> None:
    edges, labels = random_graph(3)
    tokens = np.ones(edges.node_count, dtype=np.int64)
    limits = Limits(min_nodes=8, max_nodes=60)
    turned = np.random.default_rng(0).permutation(edges.source.size)
    other = undirected(
        edges.node_count, edges.target[turned], edges.source[turned], edges.weight[turned]
    )
    same = connect(edges, labels, tokens, limits)
    assert connect(other, 100 - labels, tokens, limits).tolist() == same.tolist()


@pytest.mark.parametrize("seed", range(12))
def test_pieces_are_counted_by_part(seed: int) -> None:
    edges, labels = random_graph(seed)
    assert count_pieces(edges, labels).tolist() == pieces_of(edges, labels)
