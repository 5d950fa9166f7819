"""Keeps graphs made of documents and graphs loaded from files apart: each replaces its own."""

from __future__ import annotations

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.errors import UsageError


async def refuse_loaded(db: Database, graph: str) -> None:
    """Raise UsageError if the graph was loaded from a file of nodes."""
    if (await _kind(db, graph))["loaded"]:
        raise UsageError(
            f"graph {graph} was loaded from a file of nodes; ingest documents under another name"
        )


async def refuse_documents(db: Database, graph: str) -> None:
    """Raise UsageError if the graph is made of documents, which a load would delete."""
    if (await _kind(db, graph))["documents"]:
        raise documents_there(graph)


def documents_there(graph: str) -> UsageError:
    """Return the error of a load into a graph of documents."""
    return UsageError(
        f"graph {graph} is made of documents, which loading a file would delete; load it under "
        "another name"
    )


async def _kind(db: Database, graph: str) -> dict[str, bool]:
    rows = await db.read(queries.get("documents/read_kind"), graph=graph)
    return rows[0]
