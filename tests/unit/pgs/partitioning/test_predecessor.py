"""The earlier generation as the next one sees it."""

from __future__ import annotations

from pgs_neo4j.model import Drift
from pgs_neo4j.pgs.partitioning.drift import Comparison
from pgs_neo4j.pgs.partitioning.predecessor import Predecessor
from tests.unit.pgs.partitioning.conftest import generation_of_sizes, ints, partition

PARTS = (partition(1, 2), partition(2, 3, pool=True), partition(3, 1))


def test_nothing_binds_the_nodes_of_a_pool() -> None:
    comparison = Comparison(Drift(committed=True), ints(0, 1, -1, 2, 1, 0))
    previous = Predecessor(generation_of_sizes(2, 3, 1), PARTS, comparison)
    assert previous.bound.tolist() == [0, -1, -1, 2, -1, 0]


def test_without_partitions_nothing_is_bound() -> None:
    comparison = Comparison(Drift(committed=True), ints(-1, -1))
    assert Predecessor(generation_of_sizes(), (), comparison).bound.tolist() == [-1, -1]
