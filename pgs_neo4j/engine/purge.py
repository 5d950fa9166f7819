"""Removes everything that pgs wrote for itself."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import uuid4

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import COMMITS, GRAPH, Row
from pgs_neo4j.database.schema import LABELS, TYPES
from pgs_neo4j.search.indexes import drop_indexes

PURGES = 3  # rounds at most: a run in progress may record something between two steps of the first


@dataclass(frozen=True, slots=True)
class KeptGraph:
    """Nodes of a graph that was ingested or loaded; a loaded one has no documents."""

    graph: str
    nodes: int
    documents: int


@dataclass(frozen=True, slots=True)
class Purged:
    """What a purge removed, as counts, and what stays because it is the user's data.

    ``kept`` are graphs that were ingested or loaded. ``kept_indexes`` and ``kept_constraints`` are
    the names of the indexes and constraints on them.
    """

    nodes: int
    relationships: int
    constraints: int
    indexes: int
    kept: tuple[KeptGraph, ...] = ()
    kept_indexes: tuple[str, ...] = ()
    kept_constraints: tuple[str, ...] = ()


async def purge(db: Database) -> Purged:
    """Remove every node, relationship, constraint, and index that pgs wrote.

    The user's nodes and relationships are not touched. The purge may be repeated. Raises ScopeError
    within a scope.
    """
    db.require_no_scope("a purge removes what pgs wrote for all scopes")
    before = await _count_ours(db)
    # With new tokens, runs in progress end with an error and write nothing more.
    for counter in (COMMITS, GRAPH):
        await db.write(queries.get("engine/purge/renew_tokens"), counter=counter, token=uuid4().hex)
    for _ in range(PURGES):
        await db.batch(queries.get("engine/purge/purge_relationships"), types=list(TYPES))
        await db.batch(queries.get("engine/purge/purge_nodes"), labels=list(LABELS))
        left = await _count_ours(db)
        if not (left["nodes"] or left["relationships"]):
            break
    constraints = await db.read(queries.get("engine/purge/read_constraints"))
    for row in constraints:
        await db.write(queries.get("engine/purge/drop_constraint"), name=row["name"])
    indexes = await db.read(queries.get("engine/purge/read_name_indexes"))
    for row in indexes:
        await db.write(queries.get("engine/purge/drop_index"), name=row["name"])
    dropped = len(indexes) + len(await drop_indexes(db))
    kept = await db.read(queries.get("engine/purge/count_kept"))
    names = await db.read(queries.get("engine/purge/read_kept_indexes"))
    return Purged(
        before["nodes"],
        before["relationships"],
        len(constraints),
        dropped,
        tuple(KeptGraph(**row) for row in kept),
        tuple(row["name"] for row in names if not row["constraint"]),
        tuple(row["name"] for row in names if row["constraint"]),
    )


async def _count_ours(db: Database) -> Row:
    query = queries.get("engine/purge/count_ours")
    return (await db.read(query, labels=list(LABELS), types=list(TYPES)))[0]
