"""One pool when it fits; otherwise few even ones along an order."""

from __future__ import annotations

import numpy as np
import pytest

from pgs_neo4j.graph.bounds import Limits
from pgs_neo4j.graph.pool import boxes, pool, similarity_order


def test_a_pool_counts_tokens() -> None:
    cost = np.full(60, 40)
    pooled = pool(np.arange(60), cost, Limits(max_tokens=1_000))
    assert np.bincount(pooled.labels, cost).max() <= 1_000
    assert pooled.pool.sum() == 3


def test_the_order_decides_who_shares_a_pool() -> None:
    topic = np.arange(3_000) % 2
    pooled = pool(np.arange(3_000), np.ones(3_000, dtype=np.int64), Limits(), topic)
    assert pooled.labels.tolist() == topic.tolist()
    with pytest.raises(ValueError, match="one rank for each of 3000 nodes"):
        pool(np.arange(3_000), np.ones(3_000, dtype=np.int64), Limits(), topic[:5])


def test_boxes_do_not_span_shelves() -> None:
    nodes, shelf = np.full(7, 4), np.array([2, 2, 2, 5, 5, 9, 9])
    numbers = boxes(nodes, nodes, shelf, Limits(min_nodes=5, max_nodes=8))
    assert numbers.tolist() == [0, 1, 2, 3, 3, 4, 4]


def test_similarity_order_puts_like_beside_like() -> None:
    random = np.random.default_rng(3)
    centers = random.normal(size=(4, 32))
    topic = random.integers(0, 4, 400)
    features = centers[topic] + 0.1 * random.normal(size=(400, 32))
    features[10], features[20] = 0.0, np.nan
    rank = similarity_order(features)
    assert np.sort(rank).tolist() == list(range(400))
    assert rank[10] == 398
    assert rank[20] == 399
    standing = topic[np.argsort(rank)][:398]
    assert np.count_nonzero(np.diff(standing)) < 40
    assert np.array_equal(rank, similarity_order(features))


@pytest.mark.parametrize("rows", [0, 1, 100])
def test_similarity_order_of_equal_rows_is_by_index(rows: int) -> None:
    assert similarity_order(np.ones((rows, 8))).tolist() == list(range(rows))
