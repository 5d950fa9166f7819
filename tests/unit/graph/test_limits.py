"""The three steps together: every limit holds, on awkward graphs as well."""

from __future__ import annotations

import numpy as np
import pytest

from pgs_neo4j.graph.bounds import Limits
from pgs_neo4j.graph.csr import Edges, undirected
from pgs_neo4j.graph.limits import Limited, apply_limits, largest_first, repool


def limited(edges: Edges, labels: np.ndarray, limits: Limits | None = None) -> Limited:
    """The result for nodes of 10 tokens, after a check of bounds that hold for any graph."""
    limits = limits or Limits()
    result = apply_limits(edges, labels, np.full(edges.node_count, 10), limits)
    sizes = np.bincount(result.labels)
    assert limits.fits(sizes, 10 * sizes).all()
    least = min(limits.min_nodes, edges.node_count)
    assert sizes[~result.pool].min(initial=least) >= least
    return result


def test_isolates_share_one_pool_and_are_counted(giant_component: Edges) -> None:
    result = limited(giant_component, np.zeros(2_450, dtype=np.int64))
    assert result.pool.sum() == 1
    assert result.pooled_nodes == 50
    assert result.split == 1
    assert result.pool[result.labels[2_400:]].all()


def test_what_hangs_on_a_full_hub_is_not_pooled(hub_of_cliques: Edges) -> None:
    labels = np.concatenate(([0], 1 + np.repeat(np.arange(2_000), 5)))
    result = limited(hub_of_cliques, labels)
    assert result.pooled_nodes == 0
    cliques = result.labels[1:].reshape(-1, 5)
    assert (cliques == cliques[:, :1]).all()
    assert result.merged == 2_001 - result.partition_count
    assert result.split == 0


def test_a_graph_under_the_minimum_is_one_partition(two_triangles: Edges) -> None:
    result = limited(two_triangles, np.array([4, 4, 4, 9, 9, 9]))
    assert result.labels.tolist() == [0] * 6
    assert result.pool.tolist() == [False]
    assert (result.merged, result.split, result.pooled_nodes) == (1, 0, 0)


def test_tokens_split_what_nodes_alone_would_not(barbell: Edges) -> None:
    limits = Limits(min_nodes=10, max_tokens=250)
    result = limited(barbell, np.zeros(40, dtype=np.int64), limits)
    assert result.labels.tolist() == [0] * 20 + [1] * 20
    assert limited(barbell, np.zeros(40, dtype=np.int64)).partition_count == 1


def test_labels_count_by_size_then_by_lowest_node() -> None:
    assert largest_first(np.array([3, 1, 1, 0, 0, 7])).tolist() == [2, 0, 0, 1, 1, 3]


def test_repool_moves_pooled_nodes_only() -> None:
    empty = np.empty(0, dtype=np.int64)
    cost, topic = np.ones(3_000, dtype=np.int64), np.arange(3_000) % 2
    first = apply_limits(undirected(3_000, empty, empty), np.arange(3_000), cost, Limits())
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
