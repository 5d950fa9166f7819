"""Re-clustering finds planted structure, inside groups, and the same each time."""

from __future__ import annotations

import numpy as np

from pgs_neo4j.graph.csr import Edges, strengths, undirected
from pgs_neo4j.graph.recluster import recluster


def whole(edges: Edges) -> np.ndarray:
    return np.zeros(edges.node_count, dtype=np.int64)


def test_barbell_falls_into_its_two_cliques(barbell: Edges) -> None:
    assert recluster(barbell, whole(barbell)).tolist() == [0] * 20 + [1] * 20


def test_planted_blocks_are_found_and_isolates_stay_alone(giant_component: Edges) -> None:
    labels = recluster(giant_component, whole(giant_component))
    blocks = labels[:2_400].reshape(4, 600)
    shares = [np.bincount(block).max() / 600 for block in blocks]
    assert min(shares) > 0.98
    assert len({int(np.bincount(block).argmax()) for block in blocks}) == 4
    assert np.unique(labels[2_400:]).size == 50


def test_a_clique_is_not_torn() -> None:
    clique = undirected(600, *np.triu_indices(600, 1))
    assert recluster(clique, whole(clique)).max() == 0


def test_each_group_is_clustered_as_if_it_were_alone(barbell: Edges) -> None:
    twice = undirected(
        80,
        np.concatenate((barbell.source, barbell.source + 40)),
        np.concatenate((barbell.target, barbell.target + 40)),
    )
    labels = recluster(twice, np.repeat([0, 1], 40))
    assert labels.tolist() == [0] * 20 + [1] * 20 + [2] * 20 + [3] * 20


def test_nodes_without_weight_stay_alone() -> None:
    edges = undirected(3, np.array([0, 1]), np.array([1, 2]), np.zeros(2))
    assert recluster(edges, whole(edges)).tolist() == [0, 1, 2]
    empty = undirected(0, np.empty(0), np.empty(0))
    assert recluster(empty, whole(empty)).size == 0


def test_defaults_are_the_edges_own_strength_and_half_a_resolution() -> None:
    random = np.random.default_rng(0)
    source, target = random.integers(0, 500, (2, 2_000))
    edges = undirected(500, source, target, random.random(2_000))
    found = [recluster(edges, whole(edges), gamma, strengths(edges)) for gamma in (0.4, 0.5, 0.6)]
    assert [np.array_equal(recluster(edges, whole(edges)), one) for one in found] == [
        False,
        True,
        False,
    ]


def test_a_lower_resolution_joins_and_a_higher_one_parts(giant_component: Edges) -> None:
    group = whole(giant_component)
    found = [recluster(giant_component, group, gamma)[:2_400] for gamma in (0.01, 0.5, 20.0)]
    counts = [np.unique(labels).size for labels in found]
    assert counts[0] == 1
    assert counts[1] == 4
    assert counts[2] > 20


def test_inner_weight_of_contracted_nodes_holds_them_apart() -> None:
    """A pair joins where its tie is all that it has, not where it is next to nothing."""
    pair = undirected(4, np.array([0, 2]), np.array([1, 3]))
    assert recluster(pair, whole(pair), 1.0).tolist() == [0, 0, 1, 1]
    heavy = np.array([50.0, 50.0, 1.0, 1.0])
    assert recluster(pair, whole(pair), 1.0, heavy).tolist() == [0, 1, 2, 2]
