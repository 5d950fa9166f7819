"""Lists all full-text and vector indexes of a database."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database

IndexKind = Literal["text", "vector"]
Entity = Literal["node", "relationship"]

TEXT_PREFIX, VECTOR_PREFIX, FACT_PREFIX = "pgs_text_", "pgs_vector_", "pgs_fact_"
_PREFIXES = {
    ("text", "node"): TEXT_PREFIX,
    ("vector", "node"): VECTOR_PREFIX,
    ("vector", "relationship"): FACT_PREFIX,
}
_DIGEST = re.compile("[0-9a-f]{16}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchIndex:
    """A full-text or vector index on nodes or relationships.

    ``labels`` are relationship types if the index is on relationships. ``dimensions`` is None for a
    full-text index, and for an index that accepts vectors of any length. ``population`` is the
    filled share, in percent. ``failure`` says why the index failed.
    """

    name: str
    kind: IndexKind
    entity: Entity
    labels: tuple[str, ...]
    properties: tuple[str, ...]
    dimensions: int | None = None
    similarity: str | None = None
    analyzer: str | None = None
    state: str = "ONLINE"
    population: float = 100.0
    failure: str = ""

    @property
    def own(self) -> bool:
        """Whether pgs made the index, so that ``drop_indexes`` drops it."""
        prefix = _PREFIXES.get((self.kind, self.entity), "")
        return (
            bool(prefix)
            and self.name.startswith(prefix)
            and _DIGEST.fullmatch(self.name.removeprefix(prefix)) is not None
        )

    def compares(self, dimensions: int) -> bool:
        """Return whether the index is online and compares vectors of this length by cosine."""
        return (
            self.kind == "vector"
            and self.dimensions == dimensions
            and str(self.similarity).upper() == "COSINE"
            and self.state == "ONLINE"
        )

    @property
    def label(self) -> str:
        """The first label or type of the index; a vector index has only one."""
        return self.labels[0]

    @property
    def property(self) -> str:
        """The first property of the index; a vector index has only one."""
        return self.properties[0]


async def list_search_indexes(db: Database) -> list[SearchIndex]:
    """Return all full-text and vector indexes, ordered by kind and label."""
    rows = await db.read(queries.get("database/read_search_indexes"))
    return [
        SearchIndex(
            **row
            | {
                "labels": tuple(row["labels"]),
                "properties": tuple(row["properties"]),
                "population": row["population"] or 0.0,
                "failure": row["failure"] or "",
            }
        )
        for row in rows
    ]
