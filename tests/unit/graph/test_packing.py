"""Bins keep connected nodes together, within their room, and in no more bins than before."""

from __future__ import annotations

import numpy as np
import pytest

from pgs_neo4j.graph.csr import Edges, undirected
from pgs_neo4j.graph.packing import fill_bins, weight_inside


def alternating(count: int, bins: int) -> np.ndarray:
    return np.arange(count) % bins


def one(count: int) -> np.ndarray:
    return np.ones((count, 1), dtype=np.int64)


def cliques(count: int, size: int) -> Edges:
    """Complete graphs whose nodes alternate, so that an order by node tears all of them."""
    ends = [
        (first * count + clique, second * count + clique)
        for clique in range(count)
        for first in range(size)
        for second in range(first)
    ]
    source, target = np.array(ends).T
    return undirected(count * size, source, target)


@pytest.mark.parametrize(("count", "size"), [(2, 5), (5, 20), (12, 9)])
def test_communities_that_fit_a_bin_stay_whole(count: int, size: int) -> None:
    edges = cliques(count, size)
    start = np.repeat(np.arange(count), size)
    bins = fill_bins(edges, one(count * size), np.array([size]), start)
    assert weight_inside(edges, start) < edges.total / 2
    assert weight_inside(edges, bins) == edges.total
    assert bins.tolist() == alternating(count * size, count).tolist()


def test_a_community_larger_than_a_bin_is_divided_where_it_is_thin(barbell: Edges) -> None:
    bins = fill_bins(barbell, one(40), np.array([20]), alternating(40, 2))
    assert np.unique(bins[:20]).tolist() == [0]
    assert np.unique(bins[20:]).tolist() == [1]


def test_full_bins_swap_nodes() -> None:
    edges = undirected(4, np.array([0, 1]), np.array([2, 3]))
    bins = fill_bins(edges, one(4), np.array([2]), np.array([0, 0, 1, 1]))
    assert bins.tolist() == [0, 1, 0, 1]


def test_what_cannot_gain_stays_as_it_was(all_isolated: Edges) -> None:
    start = np.repeat(np.arange(4), 1000)
    size = one(4000)
    assert fill_bins(all_isolated, size, np.array([1000]), start).tolist() == start.tolist()
    ring = undirected(4000, np.arange(4000), np.roll(np.arange(4000), 1))
    assert fill_bins(ring, size, np.array([1000]), start).tolist() == start.tolist()
