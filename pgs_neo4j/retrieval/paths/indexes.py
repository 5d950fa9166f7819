"""The indexes of a database, as of a moment ago: listing them takes longer than asking one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.tasks import together
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.retrieval.topk import VectorIndex, list_indexes

FRESH_S = 30.0
"""Seconds for which a list is used. A search reports an index that was dropped in this time."""


@dataclass(frozen=True, slots=True)
class FullTextIndex:
    """A full-text index on nodes."""

    name: str
    labels: tuple[str, ...]
    properties: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NodeIndexes:
    """The indexes on nodes that can be asked."""

    text: tuple[FullTextIndex, ...] = ()
    vector: tuple[VectorIndex, ...] = ()


@dataclass(slots=True)
class KnownIndexes:
    """Lists the indexes of one database, and remembers them for some seconds."""

    _indexes: NodeIndexes = NodeIndexes()
    _until: float = 0.0

    async def get(self, db: Database) -> NodeIndexes:
        """Return the indexes. Raises DatabaseError."""
        if monotonic() >= self._until:
            rows, vector = await together(
                db.read(queries.get("retrieval/read_text_indexes")), list_indexes(db)
            )
            text = (
                FullTextIndex(row["name"], tuple(row["labels"]), tuple(row["properties"]))
                for row in rows
            )
            self._indexes = NodeIndexes(tuple(text), tuple(vector))
            self._until = monotonic() + FRESH_S
        return self._indexes


def covering_text_indexes(
    indexes: Sequence[FullTextIndex], mapping: GraphMapping
) -> tuple[FullTextIndex, ...]:
    """Return the indexes that together hold texts or titles of every mapped label, or none at all.

    Searching only a part of the view would give a wrong answer. For each label, the index with the
    most of its texts is taken.
    """
    wanted = [*mapping.text, *([mapping.title] if mapping.title else [])]
    chosen: dict[str, FullTextIndex] = {}
    for label in mapping.labels:
        covering = [
            (sum(name in index.properties for name in wanted), index.name, index)
            for index in indexes
            if label in index.labels and set(wanted) & set(index.properties)
        ]
        if not covering:
            return ()
        best = max(covering, key=lambda one: one[:2])[2]
        chosen[best.name] = best
    return tuple(chosen.values())
