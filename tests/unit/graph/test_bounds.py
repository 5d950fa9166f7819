"""Which communities stand as they are, and which parts fit."""

from __future__ import annotations

import numpy as np
import pytest

from pgs_neo4j.graph.bounds import Limits
from pgs_neo4j.graph.csr import undirected
from pgs_neo4j.graph.limits import apply_limits
from pgs_neo4j.graph.split import split

LIMITS = Limits(max_tokens=600_000)


@pytest.mark.parametrize(
    ("nodes", "tokens", "stands"),
    [
        (1_800, 600_000, True),
        (60, 600_001, False),  # chapters
        (1_900, 3_800, True),  # single words
        (1_980, 60_000, True),
        (1_981, 60_000, False),
        (1_980, 60_001, False),
        (1_900, 0, False),  # without a text nothing shows that these are light
        (1, 10**9, True),
    ],
)
def test_text_decides_about_a_little_more_nodes(nodes: int, tokens: int, stands: bool) -> None:
    size, text = np.array([nodes]), np.array([tokens])
    assert LIMITS.stands(size, text).tolist() == [stands]
    assert LIMITS.fits(size, text).tolist() == [stands and nodes <= 1_800]
    assert Limits().stands(size, text).tolist() == [nodes <= 1_800]


def test_a_light_community_is_not_torn_and_a_heavy_one_is() -> None:
    source, target = np.triu_indices(190, 1)
    edges, one = undirected(190, source, target), np.zeros(190, dtype=np.int64)
    words, pages = np.full(190, 2), np.full(190, 100)
    limits = Limits(max_nodes=180, max_tokens=60_000)
    assert apply_limits(edges, one, words, limits).labels.tolist() == [0] * 190
    assert np.bincount(split(edges, one, pages, limits)).tolist() == [95, 95]
    assert np.bincount(split(edges, one, words, Limits(max_nodes=180))).tolist() == [95, 95]
    assert np.bincount(split(edges, one, one, limits)).tolist() == [95, 95]


def test_halves_of_what_has_no_seam_must_fit() -> None:
    """Two of 1,950 could stand, had the graph made them: but nothing made them so large."""
    none = np.empty(0, dtype=np.int64)
    edges = undirected(3_900, none, none)
    ring = undirected(3_900, np.arange(3_900), (np.arange(3_900) + 1) % 3_900)
    one, words = np.zeros(3_900, dtype=np.int64), np.full(3_900, 2)
    for graph in (edges, ring):
        assert np.bincount(split(graph, one, words, LIMITS)).max() <= 1_800
    clique = undirected(39, *np.triu_indices(39, 1))
    parts = split(clique, one[:39], words[:39], Limits(min_nodes=2, max_nodes=18, max_tokens=900))
    assert np.bincount(parts).tolist() == [10, 9, 10, 10]


def test_nothing_joins_a_community_that_is_over_the_maximum() -> None:
    """Twenty-two nodes of words, and one that hangs on them: it finds no room and is pooled."""
    source, target = np.triu_indices(22, 1)
    edges = undirected(23, np.append(source, 0), np.append(target, 22))
    limits = Limits(min_nodes=2, max_nodes=20, max_tokens=1_000)
    result = apply_limits(edges, np.repeat([0, 1], [22, 1]), np.ones(23, dtype=np.int64), limits)
    assert result.labels.tolist() == [0] * 22 + [1]
    assert result.pool.tolist() == [False, True]
