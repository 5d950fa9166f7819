"""The hierarchy described from its partitions."""

import numpy as np
import pytest

from pgs_neo4j.model import Partition
from pgs_neo4j.partitioning import units


def partition(number, size, words, centroid=None):
    vector = None if centroid is None else np.asarray(centroid, dtype=np.float32)
    return Partition(id=number, size=size, tokens=0, keywords=words, centroid=vector)


PARTS = [
    partition(1, 30, ("ice", "snow"), [1.0, 0.0]),
    partition(2, 10, ("fire", "snow"), [0.0, 1.0]),
    partition(3, 5, ("law",)),
]


def test_without_levels_nothing_is_above() -> None:
    assert units.build(PARTS, []) == (PARTS, [])


def test_sizes_words_and_means_are_those_beneath() -> None:
    parts, above = units.build(PARTS, [np.array([0, 0, 1]), np.array([0, 0])])
    assert [part.parent for part in parts] == [1, 1, 2]
    assert [(u.level, u.id, u.size, u.partitions, u.parent) for u in above] == [
        (1, 1, 40, 2, 1),
        (1, 2, 5, 1, 1),
        (2, 1, 45, 3, None),
    ]
    assert above[0].keywords == ("ice", "snow", "fire")
    assert above[0].centroid == pytest.approx([0.75, 0.25])
    assert above[1].centroid is None
    assert above[2].centroid == pytest.approx([0.75, 0.25])
