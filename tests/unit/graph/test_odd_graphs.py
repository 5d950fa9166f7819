"""Shapes that break partitioners, through all steps, and exactly what comes out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pgs_neo4j.graph.csr import Edges, undirected
from pgs_neo4j.graph.limits import Limited, Limits, apply_limits

LIMITS = Limits(max_tokens=600_000)
NONE = np.empty(0, dtype=np.int64)


def limited(edges: Edges, labels: np.ndarray, each: int = 100, limits: Limits = LIMITS) -> Limited:
    """The result for nodes of equally much text, after the checks that hold for any graph."""
    tokens = np.full(edges.node_count, each)
    result = apply_limits(edges, labels, tokens, limits)
    sizes = np.bincount(result.labels, minlength=result.partition_count)
    assert sizes.sum() == edges.node_count
    assert sizes.tolist() == sorted(sizes.tolist(), reverse=True)
    assert limits.fits(sizes, sizes * each).all()
    assert (sizes[~result.pool] >= limits.min_nodes).all()
    return result


def starts(node_count: int) -> list[np.ndarray]:
    """All nodes in one community, and each in its own."""
    return [np.zeros(node_count, dtype=np.int64), np.arange(node_count)]


def runs(result: Limited) -> int:
    """In how many stretches of consecutive nodes the partitions lie."""
    return 1 + int(np.count_nonzero(np.diff(result.labels)))


def test_a_star_of_ten_thousand_leaves() -> None:
    edges = undirected(10_001, np.zeros(10_000, dtype=np.int64), np.arange(1, 10_001))
    whole, single = (limited(edges, labels) for labels in starts(10_001))
    assert 6 <= whole.partition_count <= 10
    assert (whole.split, whole.pooled_nodes) == (1, 0)
    # the hub fills up with leaves, and the others share evenly as few partitions as hold them
    assert np.bincount(single.labels).tolist() == [1_800, 1_641, 1_640, 1_640, 1_640, 1_640]
    assert (single.split, single.merged, single.pooled_nodes) == (0, 9_995, 0)


@pytest.mark.parametrize("weight", [1.0, 0.0])
def test_a_clique_has_no_seam_and_one_half_fills_up(weight: float) -> None:
    source, target = np.triu_indices(300, 1)
    edges = undirected(300, source, target, np.full(source.size, weight))
    result = limited(edges, starts(300)[0], limits=replace(LIMITS, max_nodes=216))
    assert np.bincount(result.labels).tolist() == [216, 84]
    assert (result.split, result.merged, result.pooled_nodes) == (1, 0, 0)


def test_a_path_falls_into_stretches() -> None:
    edges = undirected(10_000, np.arange(9_999), np.arange(1, 10_000))
    for labels in starts(10_000):
        result = limited(edges, labels)
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


def test_isolated_nodes_fill_as_few_pools_as_hold_them() -> None:
    for labels in starts(5_000):
        result = limited(undirected(5_000, NONE, NONE), labels)
        assert np.bincount(result.labels).tolist() == [1_667, 1_667, 1_666]
        assert result.pool.tolist() == [True] * 3
        assert runs(result) == 3


@pytest.mark.parametrize("count", [0, 1, 29])
def test_hardly_any_nodes_and_no_edge(count: int) -> None:
    for labels in starts(count):
        result = limited(undirected(count, NONE, NONE), labels)
        assert result.labels.tolist() == [0] * count
        assert result.pool.tolist() == [True] * min(count, 1)


def test_weights_that_are_all_zero_change_nothing() -> None:
    source, target = np.random.default_rng(4).integers(0, 4_000, (2, 12_000))
    flat = undirected(4_000, source, target, np.zeros(12_000))
    for labels in starts(4_000):
        result, even = limited(flat, labels), limited(undirected(4_000, source, target), labels)
        assert np.array_equal(result.labels, even.labels)
        assert 3 <= result.partition_count <= 4_000 // 30


def test_a_hundred_thousand_tiny_components_stay_whole_in_full_pools() -> None:
    size = 2 + np.arange(100_000) % 2
    first = np.cumsum(size) - size
    third = first[size == 3]
    edges = undirected(250_000, np.append(first, third), np.append(first + 1, third + 2))
    component = np.repeat(np.arange(100_000), size)
    for labels in (*starts(250_000), component):
        result = limited(edges, labels)
        assert result.pool.all()
        # 139 would hold them exactly; one more leaves room for components of three
        assert result.partition_count == 140
        assert np.ptp(np.bincount(result.labels)) <= 3
        assert np.array_equal(result.labels, result.labels[first][component])
