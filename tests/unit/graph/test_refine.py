"""Partitions regain what the limits cost, by nodes first, and by groups where it is much."""

from __future__ import annotations

import numpy as np

from pgs_neo4j.graph.bounds import Limits, sizes_of
from pgs_neo4j.graph.csr import Edges, IntArray, undirected
from pgs_neo4j.graph.limits import apply_limits
from pgs_neo4j.graph.quality import modularity
from pgs_neo4j.graph.refine import refine
from tests.unit.graph.conftest import clique_pairs, graph

NONE = np.empty(0, dtype=np.int64)


def blocks(count: int, size: int, seed: int) -> tuple[Edges, IntArray]:
    """Dense blocks of equal size with a few edges between them, and the block of each node."""
    random = np.random.default_rng(seed)
    n = count * size
    first = random.integers(0, n, 8 * n)
    inside = first // size * size + random.integers(0, size, first.size)
    outer = random.integers(0, n, (2, 2 * n))
    source, target = np.append(first, outer[0]), np.append(inside, outer[1])
    return undirected(n, source, target), np.arange(n) // size


def test_long_texts_cost_less_modularity_than_before() -> None:
    edges, community = blocks(6, 200, seed=2)
    tokens = np.random.default_rng(3).integers(100, 2_000, community.size)
    limits = Limits(max_tokens=20_000)
    plain = apply_limits(edges, community, tokens, limits, refined=False)
    refined = apply_limits(edges, community, tokens, limits)
    gained = modularity(edges, refined.labels) / modularity(edges, plain.labels)
    assert gained >= 1.05
    sizes = sizes_of(refined.labels, tokens)
    assert limits.fits(sizes.nodes, sizes.tokens).all()
    assert not limits.small(sizes.nodes, sizes.tokens)[~refined.pool].any()


def test_a_group_moves_that_single_nodes_would_not_leave() -> None:
    # three cliques of six, each tied to the next; the middle one stands with the wrong neighbor
    pairs = [pair for first in (0, 6, 12) for pair in clique_pairs(first, 6)]
    pairs += [(5, 6), *((6 + i, 12 + i) for i in range(4))]
    edges = graph(18, pairs)
    labels, community = np.repeat([0, 0, 1], 6), np.repeat([0, 1, 1], 6)
    limits = Limits(min_nodes=3, max_nodes=12)
    after = refine(edges, labels, community, np.ones(18, dtype=np.int64), limits)
    assert after.tolist() == community.tolist()


def test_what_the_limits_did_not_touch_stays() -> None:
    edges, community = blocks(4, 50, seed=4)
    after = refine(edges, community, community, np.ones(200, dtype=np.int64), Limits())
    assert after.tolist() == community.tolist()


def test_without_weight_nothing_moves() -> None:
    labels = np.array([1, 0, 1])
    after = refine(undirected(3, NONE, NONE), labels, labels, np.ones(3, dtype=np.int64), Limits())
    assert after.tolist() == [0, 1, 0]
    assert refine(undirected(0, NONE, NONE), NONE, NONE, NONE, Limits()).size == 0
