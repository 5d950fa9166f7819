"""Keeps the schema of a database for the questions that follow each other."""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic

from pgs_neo4j.database.connection import Database
from pgs_neo4j.pgs.querying.schema.index import SchemaIndex, index_schema
from pgs_neo4j.pgs.querying.schema.read_schema import read_schema

FRESH_S = 60.0
"""Seconds for which a schema is reused. Statements with newer names are only written later."""


@dataclass(slots=True)
class KnownSchema:
    """Reads the schema of one database, and reuses it for ``FRESH_S`` seconds."""

    _index: SchemaIndex | None = None
    _until: float = 0.0

    async def get(self, db: Database) -> SchemaIndex:
        """Return the schema with an index of its words. Raises DatabaseError."""
        if self._index is None or monotonic() >= self._until:
            self._index = index_schema(await read_schema(db))
            self._until = monotonic() + FRESH_S
        return self._index
