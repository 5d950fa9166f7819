"""Partitions regain what the limits cost, by nodes first, and by groups where it is much."""

from __future__ import annotations

import numpy as np
import pytest

from pgs_neo4j.graph.bounds import Limits, sizes_of
from pgs_neo4j.graph.csr import Edges, IntArray, strengths, undirected
from pgs_neo4j.graph.limits import apply_limits
from pgs_neo4j.graph.quality import modularity
from pgs_neo4j.graph.refine import Units, move_units, refine
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


WIDE = Limits(min_nodes=2, max_nodes=100, max_tokens=1_000)
# node 6 hangs on node 5, and three times on the clique of nodes 0-3; a larger clique stands apart
TORN = graph(
    17, [*clique_pairs(0, 4), (4, 5), (5, 6), *((6, i) for i in range(3)), *clique_pairs(7, 10)]
)


def units(edges: Edges, tokens: IntArray | None = None) -> Units:
    """Each node as a unit that may move, of one token unless stated."""
    one = np.ones(edges.node_count, dtype=np.int64)
    free = np.ones(edges.node_count, dtype=np.bool_)
    tokens, strength = one if tokens is None else tokens, strengths(edges)
    return Units(one, tokens, strength, strength, free, edges.total)


def moved(
    edges: Edges, parts: list[int], limits: Limits = WIDE, tokens: IntArray | None = None
) -> list[int]:
    return move_units(edges, np.array(parts), units(edges, tokens), limits).tolist()


@pytest.mark.parametrize("before", [[0, 0, 0, 0, 1, 1], [0, 0, 0, 1, 1, 1]])
def test_a_node_moves_only_to_a_partition_it_is_tied_to_more(
    before: list[int], two_triangles: Edges
) -> None:
    assert moved(two_triangles, before) == [0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize(
    "limits",
    [
        Limits(min_nodes=2, max_nodes=7, max_tokens=1_000),
        Limits(min_nodes=2, max_nodes=100, max_tokens=16),
    ],
)
def test_nodes_move_only_as_far_as_there_is_room(limits: Limits) -> None:
    edges = graph(13, [*clique_pairs(0, 5), *clique_pairs(5, 5), (0, 5)])
    before, tokens = [0, 0, 0, *[1] * 7, 0, 0, 0], np.repeat([4, 1], [3, 10])
    after = np.array(moved(edges, before, limits, tokens))
    assert np.bincount(after).tolist() == [7, 6]
    assert np.bincount(moved(edges, before, tokens=tokens)).tolist() == [8, 5]
    assert modularity(edges, after) > modularity(edges, np.array(before))


def test_a_partition_at_the_minimum_gives_no_node_away() -> None:
    before = [*[0] * 4, *[1] * 3, *[2] * 10]
    assert moved(TORN, before, Limits(min_nodes=3, max_nodes=10)) == before
    assert moved(TORN, before) == [*[0] * 4, 1, 1, 0, *[2] * 10]


def test_text_lets_a_partition_go_below_the_minimum() -> None:
    before, tokens = [*[0] * 4, *[1] * 3, *[2] * 10], np.ones(17, dtype=np.int64)
    tokens[4:6] = 30
    limits = Limits(min_nodes=3, max_nodes=10, max_tokens=100)
    assert moved(TORN, before, limits, tokens) == [*[0] * 4, 1, 1, 0, *[2] * 10]


def test_no_node_joins_a_partition_that_is_too_small() -> None:
    before = [*[0] * 4, 1, 1, 0, *[2] * 10]
    edges = undirected(17, np.append(TORN.source, [6, 6, 6]), np.append(TORN.target, [4, 5, 5]))
    assert moved(edges, before, Limits(min_nodes=3, max_nodes=10)) != before
    assert moved(edges, before, Limits(min_nodes=3, max_nodes=5)) == before


def test_a_group_needs_room_for_all_of_its_nodes() -> None:
    between = undirected(3, np.array([0, 1]), np.array([1, 2]), np.array([1.0, 9.0]))
    parts, strength = np.array([0, 0, 1]), np.array([9.0, 14.0, 17.0])
    text = np.ones(3, dtype=np.int64)
    free, outer = np.ones(3, dtype=np.bool_), strengths(between)
    groups = Units(np.array([5, 5, 5]), text, strength, outer, free, 20.0)
    after = [
        move_units(between, parts, groups, Limits(min_nodes=2, max_nodes=most)).tolist()
        for most in (9, 10)
    ]
    assert after == [[0, 0, 1], [0, 1, 1]]
