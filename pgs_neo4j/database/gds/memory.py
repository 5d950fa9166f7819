"""Checks whether the server can hold a graph, before anything is projected."""

from __future__ import annotations

from pgs_neo4j.config import Algorithm
from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.gds.client import GDS
from pgs_neo4j.errors import GDSMemoryError, QueryError
from pgs_neo4j.text.shown import counted


async def _estimate(gds: GDS, nodes: int, relationships: int, algorithm: Algorithm) -> int:
    """Return the most bytes that projection and community detection need."""

    def work() -> int:
        graph = {
            "nodeProjection": "*",
            "relationshipProjection": {"R": {"type": "*", "orientation": "UNDIRECTED"}},
            "nodeCount": nodes,
            "relationshipCount": relationships,
            "relationshipProperties": "weight",
        }
        estimators = {"leiden": gds.client.leiden, "louvain": gds.client.louvain}
        return max(
            int(endpoints.estimate(graph, concurrency=1).bytes_max)
            for name, endpoints in estimators.items()
            if name in algorithm
        )

    return await gds.run(work)


async def refuse_if_too_large(
    gds: GDS, nodes: int, relationships: int, algorithm: Algorithm
) -> None:
    """Raise GDSMemoryError with figures if the server's heap is too small."""
    needed = await _estimate(gds, nodes, relationships, algorithm)
    heap = await _max_heap(gds.db)
    if heap is not None and needed > heap:
        raise GDSMemoryError(
            f"partitioning {counted(nodes, 'node')} and "
            f"{counted(relationships, 'relationship')} needs up to "
            f"{needed / 2**20:,.0f} MiB, but the server's heap is {heap / 2**20:,.0f} MiB; "
            "raise server.memory.heap.max_size or map fewer labels"
        )


async def _max_heap(db: Database) -> int | None:
    try:
        rows = await db.read(queries.get("database/gds/read_heap"))
    except QueryError:
        return None  # not every user may ask; GDS has its own guard
    return int(rows[0]["max_bytes"]) if rows else None
