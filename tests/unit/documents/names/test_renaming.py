"""Which nodes become those of other entities when names move."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from pgs_neo4j.documents.fold.contribution import EntityMention, Named
from pgs_neo4j.documents.fold.folding import NameTallies
from pgs_neo4j.documents.names.neighborhood import renamed_entities

Counts = Mapping[tuple[str, str, str], int]
"""Mentions that stay, by name, former entity, and new entity."""


def entity(name: str) -> Named:
    return name, "Person"


def renamed(counts: Counts) -> dict[str, str]:
    stay = NameTallies()
    for (name, _, _), count in counts.items():
        stay.of(entity(name))
        for _ in range(count):
            stay.add(EntityMention(key=name, type="Person", name=name))
    old = {name: {"Person": entity(before)} for name, before, _ in counts}
    new = {name: {"Person": entity(after)} for name, _, after in counts}
    found = renamed_entities(stay, old, new)
    return {before: after for (before, _), (after, _) in found.items()}


@pytest.mark.parametrize(
    ("counts", "wanted"),
    [
        ({}, {}),
        ({("a", "A", "A"): 9}, {}),
        ({("a", "A", "B"): 9}, {"A": "B"}),
        ({("a", "A", "B"): 0}, {}),
        ({("a", "A", "B"): 1, ("b", "A", "A"): 2}, {}),
        ({("a", "A", "B"): 2, ("b", "A", "A"): 1}, {"A": "B"}),
        ({("a", "A", "B"): 2, ("b", "A", "A"): 2}, {}),
        ({("a", "A", "C"): 2, ("b", "B", "C"): 3}, {"B": "C"}),
        ({("a", "A", "C"): 2, ("b", "B", "C"): 2}, {"A": "C"}),
        ({("a", "A", "B"): 3, ("b", "B", "B"): 2}, {"A": "B", "B": "A"}),
        ({("a", "A", "B"): 2, ("b", "B", "A"): 2}, {"A": "B", "B": "A"}),
        ({("a", "A", "B"): 3, ("b", "B", "C"): 2}, {"A": "B", "B": "C"}),
        ({("a", "A", "B"): 3, ("b", "B", "C"): 2, ("c", "C", "C"): 9}, {"A": "B", "B": "A"}),
        ({("a", "A", "B"): 3, ("b", "B", "B"): 0}, {"A": "B", "B": "A"}),
    ],
)
def test_a_node_goes_where_most_of_its_mentions_belong(
    counts: Counts, wanted: dict[str, str]
) -> None:
    assert renamed(counts) == wanted
    assert renamed(dict(reversed([*counts.items()]))) == wanted
