"""Caches the list of a database's indexes, and selects those that cover a mapping.

Listing the indexes takes longer than querying one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic

from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.search_indexes import SearchIndex, list_search_indexes
from pgs_neo4j.model import GraphMapping

FRESH_S = 30.0
"""Seconds for which a list is reused. If an index is dropped in this time, a search reports it."""


@dataclass(slots=True)
class KnownIndexes:
    """Lists the indexes of one database, and reuses the list for ``FRESH_S`` seconds."""

    _indexes: tuple[SearchIndex, ...] = ()
    _until: float = 0.0

    async def get(self, db: Database) -> tuple[SearchIndex, ...]:
        """Return the search indexes that are online; none within a scope. Raises DatabaseError.

        An index knows no scope. The scores of a full-text index depend on the texts of all scopes,
        and most nodes that a vector index finds belong to other scopes.
        """
        if db.scope:
            return ()
        if monotonic() >= self._until:
            listed = await list_search_indexes(db)
            self._indexes = tuple(index for index in listed if index.state == "ONLINE")
            self._until = monotonic() + FRESH_S
        return self._indexes


def covering_text_indexes(
    indexes: Sequence[SearchIndex], mapping: GraphMapping
) -> tuple[SearchIndex, ...]:
    """Return the full-text indexes that together cover every mapped label, or an empty tuple.

    Searching only a part of the view would give a wrong answer. Of several indexes on a label, the
    index with the most of the label's text and title properties is chosen. A label without such
    properties needs no index.
    """
    chosen: dict[str, SearchIndex] = {}
    for label in mapping.labels:
        wanted = mapping.list_words(label)
        if not wanted:
            continue
        covering = [
            (sum(name in index.properties for name in wanted), index.name, index)
            for index in indexes
            if (index.kind, index.entity) == ("text", "node")
            and label in index.labels
            and set(wanted) & set(index.properties)
        ]
        if not covering:
            return ()
        best = max(covering, key=lambda one: one[:2])[2]
        chosen[best.name] = best
    return tuple(chosen.values())


def covering_fact_indexes(
    indexes: Sequence[SearchIndex], mapping: GraphMapping, dimensions: int
) -> tuple[SearchIndex, ...]:
    """Return a cosine index of facts for every mapped type, or an empty tuple if a type has none.

    An index serves only if it compares vectors of the given ``dimensions``.
    """
    by_type = {
        index.label: index
        for index in indexes
        if index.entity == "relationship"
        and index.property == mapping.relationship_embedding
        and index.compares(dimensions)
    }
    types = mapping.relationship_types
    covered = bool(types) and set(types) <= by_type.keys()
    return tuple(by_type[name] for name in types) if covered else ()


async def covering_indexes(db: Database, mapping: GraphMapping, dimensions: int) -> list[str]:
    """Return the names of a vector index for every mapped label, or an empty list.

    Searching only a part of the view would give a wrong answer. An index knows no scope, so within
    a scope the list is empty. Raises DatabaseError.
    """
    if db.scope:
        return []
    covering = covering_vector_indexes(await list_search_indexes(db), mapping, dimensions)
    return [index.name for index in covering]


def covering_vector_indexes(
    indexes: Sequence[SearchIndex], mapping: GraphMapping, dimensions: int
) -> tuple[SearchIndex, ...]:
    """Return a cosine index for every mapped label, or an empty tuple if a label has none.

    An index serves only if it compares vectors of the given ``dimensions``.
    """
    by_label = {
        index.label: index
        for index in indexes
        if (index.kind, index.entity) == ("vector", "node")
        and index.property == mapping.embedding
        and index.compares(dimensions)
    }
    chosen = [by_label[label] for label in mapping.labels if label in by_label]
    return tuple(chosen) if chosen and len(chosen) == len(mapping.labels) else ()
