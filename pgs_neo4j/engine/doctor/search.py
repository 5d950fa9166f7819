"""A check of what searches of a graph can compare, and by which indexes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pgs_neo4j.database.search_indexes import SearchIndex
from pgs_neo4j.engine.catalog import StoredGraph
from pgs_neo4j.engine.doctor.check import Check
from pgs_neo4j.engine.survey.wording import quote_name
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.search.paths.indexes import covering_text_indexes

MOST_LISTED = 8


def check_search(graph: StoredGraph, indexes: Sequence[SearchIndex]) -> Check:
    """Return what is covered, and the command that creates what is not.

    No index is required, so the check always passes, and the command is no fix.
    """
    mapping = graph.mapping
    usable = [index for index in indexes if index.state == "ONLINE"]
    parts, options = [_describe_words(graph, usable)], []
    if mapping.words and _incomplete_labels(mapping, usable):
        options.append("--text")
    if mapping.embedding:
        parts.append(_describe_vectors(mapping, usable))
        if _labels_without_vectors(mapping, usable):
            options.append("--vectors")
    if mapping.relationship_embedding:
        facts = _fact_indexes(mapping, usable)
        parts.append(f"facts by {_names(facts)}" if facts else "facts without an index")
        options += [] if facts else ["--facts"]
    if options:
        command = f"pgs index create --graph {graph.name} {' '.join(options)}"
        parts.append(f"optional: {command}")
    return Check(f"search of {graph.name}", "ok", "; ".join(parts))


def _describe_words(graph: StoredGraph, indexes: Sequence[SearchIndex]) -> str:
    mapping = graph.mapping
    if not mapping.words:
        return "no words, because the mapping names neither text nor title"
    own = graph.generation is not None and not graph.redefined
    instead = "by the text index of the partitions" if own else "by reading every text"
    if not mapping.labels:
        return f"words {instead}, because the mapping names no label for a full-text index"
    covering = covering_text_indexes(indexes, mapping)
    if not covering:
        uncovered = [
            label
            for label in mapping.labels
            if mapping.list_words(label)
            and not covering_text_indexes(indexes, replace(mapping, labels=(label,)))
        ]
        return f"words {instead}, because no full-text index holds texts of {_listed(uncovered)}"
    rest = _incomplete_labels(mapping, indexes)
    lacking = f", which lacks some texts of {_listed(rest)}" if rest else ""
    return f"words by {_names(covering)}{lacking}"


def _incomplete_labels(mapping: GraphMapping, indexes: Sequence[SearchIndex]) -> list[str]:
    """Return the labels that have no full-text index on all of their texts."""
    return [
        label
        for label in mapping.labels
        if mapping.list_words(label)
        and not any(
            _is_text(index)
            and label in index.labels
            and {*mapping.list_words(label)} <= {*index.properties}
            for index in indexes
        )
    ]


def _describe_vectors(mapping: GraphMapping, indexes: Sequence[SearchIndex]) -> str:
    if not mapping.labels:
        return "embeddings without an index, because the mapping names no label"
    uncovered = _labels_without_vectors(mapping, indexes)
    if not uncovered:
        return f"embeddings by {_names(_vector_indexes(mapping, indexes))}"
    return f"embeddings without an index on {_listed(uncovered)}"


def _vector_indexes(mapping: GraphMapping, indexes: Sequence[SearchIndex]) -> list[SearchIndex]:
    return [
        index
        for index in indexes
        if _compares(index, "node", mapping.embedding) and index.label in mapping.labels
    ]


def _labels_without_vectors(mapping: GraphMapping, indexes: Sequence[SearchIndex]) -> list[str]:
    covered = {index.label for index in _vector_indexes(mapping, indexes)}
    return [label for label in mapping.labels if label not in covered]


def _fact_indexes(mapping: GraphMapping, indexes: Sequence[SearchIndex]) -> list[SearchIndex]:
    return [
        index
        for index in indexes
        if _compares(index, "relationship", mapping.relationship_embedding)
        and (not mapping.relationship_types or index.label in mapping.relationship_types)
    ]


def _is_text(index: SearchIndex) -> bool:
    return (index.kind, index.entity) == ("text", "node")


def _compares(index: SearchIndex, entity: str, embedding: str | None) -> bool:
    """Whether it is a cosine index on the embeddings of nodes or relationships."""
    return (
        (index.kind, index.entity, index.property) == ("vector", entity, embedding)
        and bool(index.dimensions)
        and (index.similarity or "").upper() == "COSINE"
    )


def _names(indexes: Sequence[SearchIndex]) -> str:
    return f"index {_listed([index.name for index in indexes])}"


def _listed(names: Sequence[str]) -> str:
    listed = ", ".join(map(quote_name, names[:MOST_LISTED]))
    more = len(names) - MOST_LISTED
    return f"{listed}, and {more} more" if more > 0 else listed
