"""Stores of which folders documents are that otherwise stay as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.documents.writer import Writer, lost_right

MOST_ROWS = 1_000
"""Documents of one statement."""


async def keep_roots(db: Database, writer: Writer, roots: Mapping[str, Sequence[str]]) -> None:
    """Store the hashes of the folders of some documents.

    Raises LeaseLostError and DatabaseError.
    """
    query = queries.get("documents/set_roots")
    rows = [{"id": id_, "roots": [*hashes]} for id_, hashes in roots.items()]
    for first in range(0, len(rows), MOST_ROWS):
        some = rows[first : first + MOST_ROWS]
        if not await db.write(query, graph=writer.graph, holder=writer.holder, rows=some):
            raise lost_right(writer.graph)
