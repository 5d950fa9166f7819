"""Finds the members of partitions whose stored embeddings are nearest to a question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Row
from pgs_neo4j.errors import QueryError
from pgs_neo4j.model import GraphMapping, Partition
from pgs_neo4j.search.paths.indexes import covering_indexes
from pgs_neo4j.search.places import Place

CANDIDATES = 4
"""Nodes that an index returns for each one wanted: others may be of no partition asked for."""
# Numbers of stored embeddings up to which all are compared: about 0.4 s of the server.
QUICK = 8_000_000


@dataclass(frozen=True, slots=True)
class NearMembers:
    """Places with their cosine above 0, best first, and how they were found.

    ``advice`` says how more could be found; then ``method`` is empty.
    """

    scores: dict[Place, float]
    method: str
    advice: str = ""


TOO_MANY = (
    "there are too many embeddings to compare without a vector index, so only words count; "
    "'pgs index create' makes one"
)


async def find_near_members(
    db: Database,
    mapping: GraphMapping,
    partitions: Sequence[Partition],
    vector: NDArray[np.float32],
    k: int,
) -> NearMembers | None:
    """Return the ``k`` members of ``partitions`` nearest to ``vector`` ``(d,)``.

    While that is quick, every embedding is compared. Otherwise a vector index of the user's finds
    them. None if there are no embeddings, or if they cannot be compared. Raises DatabaseError.
    """
    if not mapping.embedding or not partitions:
        return None
    wanted: Row = {
        "partitions": [part.uid for part in partitions],
        "embedding": mapping.embedding,
        "vector": vector.tolist(),
        "k": k,
    }
    indexes: list[str] = []
    if not is_quick(sum(part.size for part in partitions), len(vector)):
        indexes = await covering_indexes(db, mapping, len(vector))
        if not indexes:
            return NearMembers({}, "", TOO_MANY)
    try:
        rows = await _find(db, indexes, k, wanted)
    except QueryError:
        # The index was dropped a moment ago, or an embedding is not finite: words decide alone.
        return None
    method = f"vector index {', '.join(indexes)}" if indexes else "every stored embedding"
    scores = {Place(row["partition"], row["rank"]): row["score"] for row in rows}
    return NearMembers(dict(list(scores.items())[:k]), method)


async def _find(db: Database, indexes: Sequence[str], k: int, wanted: Row) -> list[Row]:
    """Return the nearest members by each index, or without one; best first."""
    if not indexes:
        return await db.read(queries.get("search/nearest_members"), **wanted)
    statement = queries.get("search/nearest_members_by_index")
    rows = [
        row
        for index in indexes
        for row in await db.read(statement, index=index, candidates=CANDIDATES * k, **wanted)
    ]
    return sorted(rows, key=lambda row: (-row["score"], row["partition"], row["rank"]))


def is_quick(count: int, dimensions: int) -> bool:
    """Return whether ``count`` embeddings can be compared with a question in a moment."""
    return count * dimensions <= QUICK
