"""Splitting ends with parts that all fit, along the structure where there is some."""

from __future__ import annotations

import numpy as np

from pgs_neo4j.graph.bounds import Limits
from pgs_neo4j.graph.csr import Edges, undirected
from pgs_neo4j.graph.split import MIDDLE, halve, split

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


def test_barbell_is_cut_at_the_bar(barbell: Edges) -> None:
    side = halve(barbell, np.zeros(40, dtype=np.int64), np.ones(40))
    assert np.unique(side[:20]).size == np.unique(side[20:]).size == 1
    assert side[0] != side[39]


def test_each_side_of_a_star_gets_its_share(star: Edges) -> None:
    side = halve(star, np.zeros(10_001, dtype=np.int64), np.ones(10_001))
    assert MIDDLE <= side.mean() <= 1 - MIDDLE


def test_nodes_without_edges_are_divided_in_order(all_isolated: Edges) -> None:
    side = halve(all_isolated, np.zeros(4_000, dtype=np.int64), np.ones(4_000))
    assert side.tolist() == [False] * 2_000 + [True] * 2_000


def test_load_is_balanced_rather_than_nodes(all_isolated: Edges) -> None:
    load = np.ones(4_000)
    load[0] = 3_999.0
    side = halve(all_isolated, np.zeros(4_000, dtype=np.int64), load)
    assert np.count_nonzero(~side) == 1


def test_both_sides_have_nodes_where_the_load_is_lost_in_rounding() -> None:
    """After 1e17, 1 + 23 add up to 16: two thirds of 24, as if a cut after the last were even."""
    none = np.empty(0, dtype=np.int64)
    side = halve(undirected(3, none, none), np.array([0, 1, 1]), np.array([1e17, 1.0, 23.0]))
    assert side.tolist() == [False, False, True]
