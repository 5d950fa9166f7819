"""Splitting ends with parts that all fit, along the structure where there is some."""

from __future__ import annotations

import numpy as np

from pgs_neo4j.graph.bounds import Limits
from pgs_neo4j.graph.csr import Edges
from pgs_neo4j.graph.split import split

LIMITS = Limits()


def one_community(edges: Edges) -> np.ndarray:
    return np.zeros(edges.node_count, dtype=np.int64)


def tokens(edges: Edges, each: int = 10) -> np.ndarray:
    return np.full(edges.node_count, each)


def test_what_fits_is_left_alone(barbell: Edges) -> None:
    labels = np.repeat([5, 2], 20)
    assert split(barbell, labels, tokens(barbell), LIMITS).tolist() == [0] * 20 + [1] * 20


def test_a_node_over_the_tokens_stands_alone(barbell: Edges) -> None:
    cost = tokens(barbell, 1)
    cost[7] = 10**9
    parts = split(barbell, one_community(barbell), cost, Limits(max_tokens=1_000))
    assert np.bincount(parts)[parts[7]] == 1
    assert np.bincount(parts).tolist() == [39, 1]


def test_only_giants_become_only_single_parts(barbell: Edges) -> None:
    parts = split(barbell, one_community(barbell), tokens(barbell, 99), Limits(max_tokens=98))
    assert parts.tolist() == list(range(40))
