"""The steps together: every limit holds, on shapes that break partitioners as well."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pgs_neo4j.graph.bounds import Limits
from pgs_neo4j.graph.csr import Edges, undirected
from pgs_neo4j.graph.limits import Limited, apply_limits, largest_first, repool, spread
from tests.unit.graph.conftest import clique_pairs, graph

NONE = np.empty(0, dtype=np.int64)
LIMITS = Limits(max_tokens=600_000)


def limited(edges: Edges, labels: np.ndarray, limits: Limits = LIMITS) -> Limited:
    """The result for nodes of 10 tokens, after a check of bounds that hold for any graph."""
    result = apply_limits(edges, labels, np.full(edges.node_count, 10), limits)
    sizes = np.bincount(result.labels, minlength=result.partition_count)
    assert sizes.tolist() == sorted(sizes.tolist(), reverse=True)
    assert limits.fits(sizes, 10 * sizes).all()
    least = min(limits.min_nodes, edges.node_count)
    assert sizes[~result.pool].min(initial=least) >= least
    return result


def starts(node_count: int) -> list[np.ndarray]:
    """All nodes in one community, and each in its own."""
    return [np.zeros(node_count, dtype=np.int64), np.arange(node_count)]


def runs(result: Limited) -> int:
    """In how many stretches of consecutive nodes the partitions lie."""
    return 1 + int(np.count_nonzero(np.diff(result.labels)))


def test_isolates_share_one_pool_and_are_counted(giant_component: Edges) -> None:
    result = limited(giant_component, np.zeros(2_450, dtype=np.int64))
    assert result.pool.sum() == 1
    assert result.pooled_nodes == 50
    assert result.split == 1
    assert result.pool[result.labels[2_400:]].all()


def test_cliques_that_hang_on_a_full_hub_are_not_pooled() -> None:
    firsts = range(1, 10_001, 5)
    hung = [pair for first in firsts for pair in [(0, first), *clique_pairs(first, 5)]]
    labels = np.concatenate(([0], 1 + np.repeat(np.arange(2_000), 5)))
    result = limited(graph(10_001, hung), labels)
    assert result.pooled_nodes == 0
    cliques = result.labels[1:].reshape(-1, 5)
    assert (cliques == cliques[:, :1]).all()
    assert result.merged == 2_001 - result.partition_count
    assert result.split == 0


def test_only_a_graph_under_the_minimum_is_one_partition(two_triangles: Edges) -> None:
    labels = np.array([4, 4, 4, 9, 9, 9])
    result = limited(two_triangles, labels, Limits(min_nodes=7))
    assert result.labels.tolist() == [0] * 6
    assert result.pool.tolist() == [False]
    assert (result.merged, result.split, result.pooled_nodes) == (1, 0, 0)
    apart = graph(6, [*clique_pairs(0, 3), *clique_pairs(3, 3)])
    for minimum, pool in ((7, False), (6, True)):
        assert limited(apart, labels, Limits(min_nodes=minimum)).pool.tolist() == [pool]


def test_tokens_split_what_nodes_alone_would_not(barbell: Edges) -> None:
    one = np.zeros(40, dtype=np.int64)
    result = limited(barbell, one, Limits(min_nodes=10, max_tokens=250))
    assert result.labels.tolist() == [0] * 20 + [1] * 20
    assert limited(barbell, one).partition_count == 1


def test_leaves_of_a_star_share_evenly_as_few_partitions_as_hold_them(star: Edges) -> None:
    whole, single = (limited(star, labels) for labels in starts(10_001))
    assert 6 <= whole.partition_count <= 10
    assert (whole.split, whole.pooled_nodes) == (1, 0)
    assert np.bincount(single.labels).tolist() == [1_800, 1_641, 1_640, 1_640, 1_640, 1_640]
    assert (single.split, single.merged, single.pooled_nodes) == (0, 9_995, 0)


@pytest.mark.parametrize("weight", [1.0, 0.0])
def test_a_clique_has_no_seam_and_one_half_fills_up(weight: float) -> None:
    source, target = np.triu_indices(300, 1)
    edges = undirected(300, source, target, np.full(source.size, weight))
    result = limited(edges, starts(300)[0], replace(LIMITS, max_nodes=216))
    assert np.bincount(result.labels).tolist() == [216, 84]
    assert (result.split, result.merged, result.pooled_nodes) == (1, 0, 0)


def test_a_path_falls_into_stretches(path: Edges) -> None:
    for labels in starts(10_000):
        result = limited(path, labels)
        assert runs(result) == result.partition_count
        assert 50 < result.partition_count <= 10_000 // 30
        assert result.pooled_nodes == 0


def test_two_giant_components_never_share_a_partition() -> None:
    ends = np.random.default_rng(3).integers(0, 5_000, (2, 25_000))
    ends = np.concatenate((ends, ends + 5_000), axis=1)
    # a ring through each makes sure that they are components, without any isolate
    ring = np.arange(10_000)
    after = (ring + 1) % 5_000 + ring // 5_000 * 5_000
    edges = undirected(10_000, np.append(ends[0], ring), np.append(ends[1], after))
    for labels in (*starts(10_000), ring // 5_000):
        result = limited(edges, labels)
        assert not set(result.labels[:5_000]) & set(result.labels[5_000:])
        assert result.partition_count >= 6
        assert result.pooled_nodes == 0


@pytest.mark.parametrize(
    ("count", "sizes"), [(0, []), (1, [1]), (29, [29]), (5_000, [1_667, 1_667, 1_666])]
)
def test_isolated_nodes_fill_as_few_pools_as_hold_them(count: int, sizes: list[int]) -> None:
    for labels in starts(count):
        result = limited(undirected(count, NONE, NONE), labels)
        assert np.bincount(result.labels).tolist() == sizes
        assert result.pool.tolist() == [True] * len(sizes)
        assert runs(result) == max(len(sizes), 1)


def test_tiny_components_stay_whole_in_full_pools() -> None:
    size = 2 + np.arange(10_000) % 2
    first = np.cumsum(size) - size
    third = first[size == 3]
    edges = undirected(25_000, np.append(first, third), np.append(first + 1, third + 2))
    component = np.repeat(np.arange(10_000), size)
    for labels in (*starts(25_000), component):
        result = limited(edges, labels, Limits(max_nodes=180))
        assert result.pool.all()
        # 139 would hold them exactly; more leave room for components of three
        assert result.partition_count == 142
        assert np.ptp(np.bincount(result.labels)) <= 3
        assert np.array_equal(result.labels, result.labels[first][component])


def test_labels_count_by_size_then_by_lowest_node() -> None:
    assert largest_first(np.array([3, 1, 1, 0, 0, 7])).tolist() == [2, 0, 0, 1, 1, 3]


def test_repool_moves_pooled_nodes_only() -> None:
    cost, topic = np.ones(3_000, dtype=np.int64), np.arange(3_000) % 2
    first = apply_limits(undirected(3_000, NONE, NONE), np.arange(3_000), cost, Limits())
    again = repool(first, cost, Limits(), topic)
    assert again.labels.tolist() == topic.tolist()
    assert np.array_equal(first.pool[first.labels], again.pool[again.labels])


@pytest.mark.parametrize(
    ("labels", "tokens", "message"),
    [
        ([0, 0], [1, 1, 1], "one entry for each of 3 nodes"),
        ([0, 0, 0], [1, 1], "one entry for each of 3 nodes"),
        ([0, 0, 0], [1, -1, 1], "negative number of tokens"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(
    labels: list[int], tokens: list[int], message: str
) -> None:
    edges = undirected(3, np.array([0]), np.array([1]))
    with pytest.raises(ValueError, match=message):
        apply_limits(edges, np.array(labels), np.array(tokens), Limits())


@pytest.mark.parametrize(
    "bounds", [{"min_nodes": 0}, {"min_nodes": 9, "max_nodes": 8}, {"max_tokens": 0}]
)
def test_bounds_that_exclude_each_other_are_refused(bounds: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"min_nodes <= max_nodes|max_tokens must be"):
        Limits(**bounds)


def test_bundles_are_never_divided_and_count_as_many_nodes_as_they_are() -> None:
    chance = np.random.default_rng(4)
    count = 400
    nodes = chance.integers(1, 40, count)
    tokens = nodes * chance.integers(1, 30, count)
    source, target = chance.integers(0, count, (2, 3_000))
    edges = undirected(count, source, target)
    limits = Limits(min_nodes=30, max_nodes=300, max_tokens=5_000)
    for labels in starts(count):
        result = apply_limits(edges, labels, tokens, limits, nodes=nodes)
        held = np.bincount(result.labels, nodes).astype(np.int64)
        weighed = np.bincount(result.labels, tokens).astype(np.int64)
        assert limits.fits(held, weighed).all()
        assert held.tolist() == sorted(held.tolist(), reverse=True)
        assert not limits.small(held, weighed)[~result.pool].any()
        of = np.repeat(np.arange(count), nodes)
        wide = spread(result, of)
        assert np.bincount(wide.labels).tolist() == held.tolist()


def test_a_bundle_of_one_node_counts_as_one() -> None:
    edges = graph(60, clique_pairs(0, 30) + clique_pairs(30, 30))
    labels, tokens = np.zeros(60, dtype=np.int64), np.full(60, 10)
    limits = Limits(min_nodes=10, max_nodes=40)
    alone = apply_limits(edges, labels, tokens, limits, nodes=np.ones(60, dtype=np.int64))
    assert alone.labels.tolist() == apply_limits(edges, labels, tokens, limits).labels.tolist()


def test_few_heavy_bundles_are_no_small_graph() -> None:
    edges = graph(4, [(0, 1), (2, 3)])
    labels, tokens = np.array([0, 0, 1, 1]), np.full(4, 10)
    result = apply_limits(edges, labels, tokens, Limits(), nodes=np.full(4, 20))
    assert result.labels.tolist() == [0, 0, 1, 1]
