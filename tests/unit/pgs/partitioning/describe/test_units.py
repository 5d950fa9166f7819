"""The hierarchy is described from its partitions."""

from __future__ import annotations

import numpy as np
import pytest

from pgs_neo4j.model import Partition
from pgs_neo4j.pgs.partitioning.describe import units


def partition(
    number: int, size: int, words: tuple[str, ...], centroid: list[float] | None = None
) -> Partition:
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
    assert [part.parent for part in PARTS] == [None, None, None]
    assert [(u.level, u.id, u.size, u.partitions, u.parent) for u in above] == [
        (1, 1, 40, 2, 1),
        (1, 2, 5, 1, 1),
        (2, 1, 45, 3, None),
    ]
    assert above[0].keywords == ("ice", "snow", "fire")
    assert above[0].centroid == pytest.approx([0.75, 0.25])
    assert above[1].centroid is None
    assert above[2].centroid == pytest.approx([0.75, 0.25])


def test_words_rank_by_place_and_by_the_nodes_beneath() -> None:
    parts = [partition(1, 10, ("ice", "snow")), partition(2, 30, ("law", "ice"))]
    _, (unit,) = units.build(parts, [np.array([0, 0])])
    assert unit.keywords == ("law", "ice", "snow")


def test_words_of_equal_weight_come_by_name_and_are_limited() -> None:
    words = tuple(f"w{number:02}" for number in range(40))
    parts = [partition(number + 1, 5, (word,)) for number, word in enumerate(words[::-1])]
    _, (unit,) = units.build(parts, [np.zeros(40, dtype=np.int64)])
    assert unit.keywords == words[: units.KEYWORDS]


def test_a_unit_is_named_by_the_best_of_its_partitions() -> None:
    ice = Partition(id=1, size=30, tokens=0, terms=("ice", "snow"), titles=("Glacier", "Firn"))
    law = Partition(id=2, size=40, tokens=0, terms=("law", "court"), titles=("Court",))
    _, (unit,) = units.build([ice, law], [np.array([0, 0])])
    assert unit.label == "law, ice, court"
    assert unit.terms == ("law", "ice", "court", "snow")
    assert unit.titles == ("Court", "Glacier", "Firn")
