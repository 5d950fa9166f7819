"""Levels above the partitions are nested, much smaller, and follow the structure."""

from __future__ import annotations

import numpy as np
import pytest

from pgs_neo4j.graph.csr import Edges, undirected
from pgs_neo4j.graph.hierarchy import ROOTS, hierarchy

FACULTIES, FIELDS, GROUPS, SIZE = 3, 5, 4, 20
NODES = np.arange(FACULTIES * FIELDS * GROUPS * SIZE)
GROUP = NODES // SIZE
FIELD = GROUP // GROUPS


@pytest.fixture(scope="module")
def university() -> Edges:
    """Three faculties of five fields of four groups of 20: denser the nearer."""
    random = np.random.default_rng(11)
    pairs = []
    for width, each in ((SIZE, 8), (SIZE * GROUPS, 3), (SIZE * GROUPS * FIELDS, 1)):
        own = np.repeat(NODES, each)
        pairs.append((own, own // width * width + random.integers(0, width, own.size)))
    pairs.append(tuple(random.integers(0, NODES.size, (2, 100))))
    return undirected(NODES.size, *np.concatenate(pairs, axis=1))


def units(levels: list[np.ndarray]) -> list[int]:
    return [int(level.max()) + 1 for level in levels]


def test_the_first_level_is_what_was_detected_and_the_next_what_ties_it(university: Edges) -> None:
    first, second = hierarchy(university, GROUP, FIELD)
    assert first.tolist() == [field for field in range(15) for _ in range(4)]
    assert 1 < second.max() + 1 <= ROOTS
    faculty = np.arange(15) // FIELDS
    assert np.unique(np.stack((second, faculty)), axis=1).shape[1] == second.max() + 1


@pytest.mark.parametrize("community", [NODES, NODES * 0, GROUP], ids=["each", "one", "same"])
def test_communities_that_say_nothing_are_passed_over(
    university: Edges, community: np.ndarray
) -> None:
    levels = hierarchy(university, GROUP, community)
    assert levels[0].size == 60
    assert 10 <= units(levels)[0] <= 20
    fields = np.arange(60) // GROUPS
    together = np.unique(np.stack((levels[0], fields)), axis=1).shape[1]
    assert together <= 18


def test_units_without_edges_stay_by_themselves() -> None:
    """Two chains of ten partitions, and five isolated ones after them."""
    nodes = np.arange(25)
    joined = np.array([node for node in range(19) if node != 9])
    levels = hierarchy(undirected(25, joined, joined + 1), nodes, nodes)
    place = nodes
    for level in levels:
        place = level[place]
    assert place.max() + 1 <= ROOTS
    assert all(np.count_nonzero(place == place[node]) == 1 for node in range(20, 25))
    assert not set(place[:10]) & set(place[10:20])


def test_few_partitions_none_and_edges_without_weight(university: Edges) -> None:
    none = np.empty(0, dtype=np.int64)
    assert hierarchy(undirected(0, none, none), none, none) == []
    assert hierarchy(university, NODES % ROOTS, NODES // 400) == []
    assert hierarchy(undirected(50, none, none), np.arange(50), np.arange(50)) == []
    flat = undirected(
        NODES.size, university.source, university.target, np.zeros(university.source.size)
    )
    ones = hierarchy(university, GROUP, NODES)
    for level, expected in zip(hierarchy(flat, GROUP, NODES), ones, strict=True):
        assert np.array_equal(level, expected)


@pytest.mark.parametrize("early", [False, True], ids=["by weight", "after a level"])
def test_what_is_heavy_inside_is_not_joined_with_its_like(early: bool) -> None:
    """A ring of 40 pairs, every fourth with a strong bond: only the bonds tell where to cut."""
    nodes, pair = np.arange(80), np.arange(80) // 2
    inner, outer = nodes[::2], nodes[1::2]
    bond = np.where(np.arange(40) % 4 == 0, 1_000.0, 0.001)
    ring = undirected(
        80,
        np.append(inner, outer),
        np.append(inner + 1, (outer + 1) % 80),
        np.append(bond, np.ones(40)),
    )
    levels = hierarchy(ring, nodes, pair) if early else hierarchy(ring, pair, nodes)
    bonded_alone = [unit for first in range(0, 20, 2) for unit in (first, *[first + 1] * 3)]
    assert levels[int(early)].tolist() == bonded_alone


def test_a_partition_goes_where_most_of_its_nodes_came_from_or_else_to_the_lower_node() -> None:
    most = np.tile([0, 1, 1, 2, 2], 20)
    most[50:] = np.tile([0, 1, 2, 2, 2], 10)
    tied = np.tile([7, 3], 20)
    tied[:4] = [3, 7, 9, 9]
    for community, expected in ((most, [0] * 10 + [1] * 10), (tied, [0, 1, *[0] * 18])):
        labels, none = np.repeat(np.arange(20), community.size // 20), np.empty(0, dtype=np.int64)
        levels = hierarchy(undirected(community.size, none, none), labels, community)
        assert [level.tolist() for level in levels] == [expected]
