"""Edges are checked, sums are exact, rows hold both directions."""

from __future__ import annotations

import numpy as np
import pytest

from pgs_neo4j.graph import csr


def test_self_loops_are_left_out_and_counted() -> None:
    edges = csr.undirected(3, np.array([0, 1, 2]), np.array([0, 2, 2]))
    assert edges.self_loops == 2
    assert edges.source.tolist() == [1]
    assert edges.total == 1.0


def test_parallel_edges_add_up_in_rows() -> None:
    edges = csr.undirected(3, np.array([0, 1, 2]), np.array([1, 0, 1]), np.array([1.0, 2.0, 4.0]))
    rows = csr.rows(edges)
    assert rows.start.tolist() == [0, 1, 3, 4]
    assert rows.neighbor.tolist() == [1, 0, 2, 1]
    assert rows.weight.tolist() == [3.0, 3.0, 4.0, 4.0]
    assert csr.strengths(edges).tolist() == [3.0, 7.0, 4.0]


@pytest.mark.parametrize(
    ("target", "weight", "message"),
    [
        ([1, 0], -1.0, "negative, not a number, or too large"),
        ([1, 0], float("nan"), "negative, not a number, or too large"),
        ([1, 0], 1e308, "negative, not a number, or too large"),
        ([-1, 0], 1.0, "outside the 2 nodes"),
        ([2, 0], 1.0, "outside the 2 nodes"),
        ([1], 1.0, "of one length"),
    ],
)
def test_edges_that_fit_no_graph_are_refused(
    target: list[int], weight: float, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        csr.undirected(2, np.array([0, 1]), np.array(target), np.array([1.0, weight]))


@pytest.mark.parametrize("scale", [5e-324, 1e-310, 1e-30, 1e300])
def test_extreme_weights_keep_their_proportion(scale: float) -> None:
    edges = csr.undirected(3, np.array([0, 1]), np.array([1, 2]), np.array([1.0, 4.0]) * scale)
    assert edges.weight[1] == 4 * edges.weight[0] > 0


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([], []),
        ([7, 7, 3, 7, 9], [0, 0, 1, 0, 2]),
        ([-5, 10**15, -5, 0], [0, 1, 0, 2]),
    ],
)
def test_dense_counts_labels_by_their_lowest_node(labels: list[int], expected: list[int]) -> None:
    assert csr.dense(np.array(labels, dtype=np.int64)).tolist() == expected


def test_first_best_takes_the_first_of_equals() -> None:
    score = np.array([1.0, 3.0, 3.0, -np.inf, 2.0])
    best, top = csr.first_best(score, np.array([0, 0, 0, 2, 2]), 4)
    assert best.tolist() == [1, 0, 4, 0]
    assert top.tolist() == [3.0, -np.inf, 2.0, -np.inf]


def test_mixed_is_fixed_and_spreads_evenly() -> None:
    values = csr.mixed(np.arange(80_000), 3)
    assert np.array_equal(values, csr.mixed(np.arange(80_000), 3))
    assert np.unique(values).size == 80_000
    assert np.abs(np.bincount((values % 8).astype(np.int64)) - 10_000).max() < 500


def test_contracted_edges_are_summed_once_per_pair_from_the_lower_label() -> None:
    edges = csr.undirected(
        5, np.array([4, 0, 1, 2, 0]), np.array([0, 3, 4, 3, 1]), np.array([1.0, 2.0, 4.0, 8.0, 16])
    )
    quotient = csr.contracted(edges, np.array([0, 0, 1, 2, 1]))
    assert quotient.node_count == 3
    assert quotient.source.tolist() == [0, 0, 1]
    assert quotient.target.tolist() == [1, 2, 2]
    assert quotient.weight.tolist() == [5.0, 2.0, 8.0]


def test_edges_count_one_each_only_where_no_weight_says_otherwise() -> None:
    ends = np.array([0, 1]), np.array([1, 2])
    assert csr.counted(csr.undirected(3, *ends, np.zeros(2))).weight.tolist() == [1.0, 1.0]
    some = csr.undirected(3, *ends, np.array([0.0, 2.0]))
    assert csr.counted(some) is some
