"""Says which documents of a graph were read only in part, before an answer rests on them."""

from __future__ import annotations

from collections.abc import Sequence

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.text.shown import counted, one_line

MOST_NAMED = 3
"""Documents that a warning names."""
MOST_PARTS = 50
"""Parts of a document that are kept by name."""
LONGEST_PART = 200
"""Characters of one of them."""
LONGEST_NAME = 80


def bound_unread(unread: Sequence[str]) -> tuple[str, ...]:
    """Return what is unread of a document as the graph keeps it, of any length at first."""
    kept = [one_line(part, LONGEST_PART) for part in unread[:MOST_PARTS]]
    more = len(unread) - len(kept)
    return (*kept, *([f"and {more:,} more"] if more else []))


async def warn_of_unread(db: Database, graph: str | None, mapping: GraphMapping) -> str:
    """Return a sentence about what no answer from a graph can rest on, empty if there is nothing.

    Only a graph of documents is looked at. Raises DatabaseError.
    """
    if not graph or not mapping.chunk_labels:
        return ""
    query = queries.get("documents/read_unread_documents")
    rows = await db.read(query, graph=graph, most=MOST_NAMED)
    if not rows or not rows[0]["total"]:
        return ""
    total, documents = rows[0]["total"], rows[0]["documents"]
    named = [
        f"{one_line(name, LONGEST_NAME)} ({one_line('; '.join(unread), LONGEST_PART)})"
        for name, unread in ((one["name"], one["unread"]) for one in documents)
    ]
    if total > len(documents):
        named.append(f"and {total - len(documents):,} more")
    are = "was" if total == 1 else "were"
    return (
        f"{counted(total, 'document')} of this graph {are} read only in part, and no answer rests "
        f"on the rest: {', '.join(named)}"
    )
