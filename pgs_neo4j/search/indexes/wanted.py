"""The indexes that a graph's searches want, and whether those of the database serve."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from pgs_neo4j.database.search_indexes import (
    FACT_PREFIX,
    TEXT_PREFIX,
    VECTOR_PREFIX,
    Entity,
    IndexKind,
    SearchIndex,
)
from pgs_neo4j.errors import MappingError
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.text.add_command import EXTEND
from pgs_neo4j.text.shown import one_line


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedIndex:
    """An index that a search of a graph would ask; ``name`` is the one pgs gives it.

    The name is a hash, because a label may contain any character.
    """

    name: str
    kind: IndexKind
    entity: Entity
    labels: tuple[str, ...]
    properties: tuple[str, ...]
    dimensions: int | None = None


@dataclass(frozen=True, slots=True)
class IndexStanding:
    """The indexes that serve as a wanted one, or an obstacle to making it, or neither."""

    serving: tuple[SearchIndex, ...] = ()
    obstacle: str = ""


def want_text(mapping: GraphMapping) -> tuple[WantedIndex, ...]:
    """Return a full-text index on each group of labels that have the same texts, so mostly one.

    Raises MappingError if the mapping names no label, or neither text nor title.
    """
    groups: dict[tuple[str, ...], list[str]] = {}
    for label in dict.fromkeys(mapping.labels):
        if properties := mapping.list_words(label):
            groups.setdefault(properties, []).append(label)
    if not groups:
        raise MappingError(
            "a full-text index needs a mapping that names labels and properties with text; "
            f"run {EXTEND} --label LABEL --text PROPERTY"
        )
    return tuple(_want_words(labels, properties) for properties, labels in groups.items())


def _want_words(labels: Sequence[str], properties: tuple[str, ...]) -> WantedIndex:
    schema = json.dumps([sorted(labels), sorted(properties)])
    return WantedIndex(
        name=f"{TEXT_PREFIX}{_digest(schema)}",
        kind="text",
        entity="node",
        labels=tuple(labels),
        properties=properties,
    )


def want_vectors(mapping: GraphMapping, dimensions: int) -> tuple[WantedIndex, ...]:
    """Return a vector index for each label of a graph.

    Raises MappingError if the mapping names no label or no embedding.
    """
    embedding = mapping.embedding
    if not mapping.labels or not embedding:
        raise MappingError(
            "a vector index needs a mapping that names labels and an embedding property; "
            f"run {EXTEND} --label LABEL --embedding PROPERTY"
        )
    return tuple(
        WantedIndex(
            name=VECTOR_PREFIX + _digest(f"{label}\0{embedding}"),
            kind="vector",
            entity="node",
            labels=(label,),
            properties=(embedding,),
            dimensions=dimensions,
        )
        for label in dict.fromkeys(mapping.labels)
    )


def want_facts(
    mapping: GraphMapping, sizes: Mapping[tuple[str, int], int]
) -> tuple[WantedIndex, ...]:
    """Return a vector index for each type of relationship that holds embeddings.

    ``sizes`` counts relationships by type and length of their vector. The most frequent length
    counts. Raises MappingError if the mapping names no embedding, or no relationship has one.
    """
    embedding = mapping.relationship_embedding
    if not embedding:
        raise MappingError(
            "an index on facts needs a mapping that names the property with the vectors of "
            f"relationships; run {EXTEND} --relationship-embedding PROPERTY"
        )
    if not sizes:
        raise MappingError(
            f"no relationship holds a vector in {embedding!r}, so there is nothing to index; "
            f"run {EXTEND} another --relationship-embedding"
        )
    totals: dict[int, int] = {}
    for (_, size), count in sizes.items():
        totals[size] = totals.get(size, 0) + count
    dimensions = max(totals, key=lambda size: (totals[size], size))
    return tuple(
        WantedIndex(
            name=FACT_PREFIX + _digest(f"{name}\0{embedding}"),
            kind="vector",
            entity="relationship",
            labels=(name,),
            properties=(embedding,),
            dimensions=dimensions,
        )
        for name, size in sorted(sizes)
        if size == dimensions
    )


def compare(wanted: WantedIndex, indexes: Sequence[SearchIndex]) -> IndexStanding:
    """Return how the indexes of a database serve as a wanted one."""
    alike = [
        index for index in indexes if (index.kind, index.entity) == (wanted.kind, wanted.entity)
    ]
    named = [index for index in indexes if index.name == wanted.name]
    standing = (_compare_text if wanted.kind == "text" else _compare_vector)(wanted, alike)
    if named and not (standing.serving or standing.obstacle):
        what = f"the name {wanted.name} belongs to {describe(named[0])}"
        return IndexStanding(obstacle=f"{what}; drop it, then run 'pgs index create' again")
    return standing


def describe(index: SearchIndex | WantedIndex) -> str:
    """Return an index in words, in one line."""
    kind = "full-text" if index.kind == "text" else "vector"
    return (
        f"the {kind} index {one_line(index.name)} on {_listed(index.labels)} "
        f"({_listed(index.properties)})"
    )


def _compare_text(wanted: WantedIndex, indexes: Sequence[SearchIndex]) -> IndexStanding:
    """Find an index for each label that holds all of its texts."""
    needed = set(wanted.properties)
    serving: dict[str, SearchIndex] = {}
    for label in wanted.labels:
        whole = [
            index
            for index in indexes
            if label in index.labels and needed <= set(index.properties) and index.state != "FAILED"
        ]
        if not whole:
            return _find_failed(wanted, indexes)
        best = next((index for index in whole if index.name == wanted.name), whole[0])
        serving[best.name] = best
    return IndexStanding(tuple(serving.values()))


def _find_failed(wanted: WantedIndex, indexes: Sequence[SearchIndex]) -> IndexStanding:
    for index in indexes:
        if set(index.labels) == set(wanted.labels) and set(index.properties) == set(
            wanted.properties
        ):
            return IndexStanding(obstacle=describe_failure(index))
    return IndexStanding()


def _compare_vector(wanted: WantedIndex, indexes: Sequence[SearchIndex]) -> IndexStanding:
    # A server has at most one vector index on a label and property.
    for index in indexes:
        if wanted.labels[0] not in index.labels or index.property != wanted.properties[0]:
            continue
        if index.state == "FAILED":
            return IndexStanding(obstacle=describe_failure(index))
        if index.dimensions == wanted.dimensions and (index.similarity or "").upper() == "COSINE":
            return IndexStanding((index,))
        size = f"{index.dimensions} dimensions" if index.dimensions else "any length"
        return IndexStanding(
            obstacle=f"{describe(index)} compares vectors of {size} by "
            f"{(index.similarity or 'an unknown function').lower()}, and searches need "
            f"{wanted.dimensions} dimensions and cosine; {_way(index)}"
        )
    return IndexStanding()


def describe_failure(index: SearchIndex) -> str:
    """Return that an index failed, why, and what to do."""
    reason = one_line(index.failure, 200)
    return f"{describe(index)} failed{f' ({reason})' if reason else ''}; {_way(index)}"


def _way(index: SearchIndex) -> str:
    drop = "'pgs index drop' drops it" if index.own else "drop it"
    return f"{drop}, then run 'pgs index create' again"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(one_line, names))


def _digest(schema: str) -> str:
    return blake2b(schema.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
