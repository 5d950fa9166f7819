"""Types that are labels: never those of graphs, and not without end."""

from __future__ import annotations

from pgs_neo4j.documents.entities.type_labels import TypeLabels
from pgs_neo4j.text.extraction.schema import MOST_TYPES


def test_the_label_of_a_graph_is_none_of_a_type() -> None:
    types = TypeLabels(frozenset({"Law", "DocsChunk"}))
    types.reserve(["Law"])
    assert [types.labels_of(one) for one in ("Law", "DocsChunk", "Person")] == [[], [], ["Person"]]


def test_only_the_first_types_become_labels_besides_those_of_the_schema() -> None:
    types = TypeLabels(used={"Former"})
    types.reserve(["Person", "Event"])
    labels = [types.labels_of(f"Invented{number}") for number in range(100)]
    assert [one for one in labels if one] == [[f"Invented{n}"] for n in range(MOST_TYPES - 3)]
    assert len(types.used) == MOST_TYPES
    assert types.labels_of("Invented99") == []
    assert types.labels_of("Invented0") == ["Invented0"]
    assert types.labels_of("Event") == ["Event"]
