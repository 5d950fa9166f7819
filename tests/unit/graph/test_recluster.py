"""Re-clustering finds planted structure, inside groups, and the same each time."""

from __future__ import annotations

import numpy as np

from pgs_neo4j.graph.csr import Edges, undirected, within
from pgs_neo4j.graph.quality import modularity
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


def test_a_clique_is_not_torn(clique: Edges) -> None:
    assert recluster(clique, whole(clique)).max() == 0


def test_a_path_falls_into_stretches(path: Edges) -> None:
    labels = recluster(path, whole(path))
    assert np.count_nonzero(np.diff(labels)) == labels.max()
    assert modularity(path, labels) > 0.95


def test_communities_never_cross_groups(giant_component: Edges) -> None:
    group = np.arange(giant_component.node_count) % 3
    edges = within(giant_component, group, np.ones(3, dtype=np.bool_))
    labels = recluster(edges, group)
    assert np.unique(np.stack((labels, group)), axis=1).shape[1] == labels.max() + 1


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
