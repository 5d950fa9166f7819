"""Finds the members of partitions whose stored embeddings are nearest to a question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.errors import QueryError
from pgs_neo4j.model import GraphMapping, Partition
from pgs_neo4j.retrieval.places import Place
from pgs_neo4j.retrieval.topk import CANDIDATES, covering_indexes

# Numbers of stored embeddings up to which all are compared: about 0.4 s of the server.
QUICK = 8_000_000


@dataclass(frozen=True, slots=True)
class NearMembers:
    """Places with their cosine above 0, best first, and how they were found."""

    scores: dict[Place, float]
    method: str


async def find_near_members(
    db: Database,
    mapping: GraphMapping,
    partitions: Sequence[Partition],
    vector: NDArray[np.float32],
    k: int,
) -> NearMembers | None:
    """Return the ``k`` members of ``partitions`` nearest to ``vector`` ``(d,)``.

    A vector index of the user's finds them, or, while that is quick, a comparison with every
    embedding. None if neither is possible, or if the index fails. Raises DatabaseError.
    """
    if not mapping.embedding or not partitions:
        return None
    wanted = {
        "partitions": [part.uid for part in partitions],
        "embedding": mapping.embedding,
        "vector": vector.tolist(),
        "k": k,
    }
    if sum(part.size for part in partitions) * len(vector) <= QUICK:
        rows = await db.read(queries.get("retrieval/nearest_members"), **wanted)
        method = "every stored embedding"
    else:
        indexes = await covering_indexes(db, mapping, len(vector))
        if not indexes:
            return None
        statement = queries.get("retrieval/nearest_members_by_index")
        try:
            rows = [
                row
                for index in indexes
                for row in await db.read(
                    statement, index=index, candidates=CANDIDATES * k, **wanted
                )
            ]
        except QueryError:
            return None  # the index was dropped a moment ago: words decide alone
        rows.sort(key=lambda row: (-row["score"], row["partition"], row["rank"]))
        method = f"vector index {', '.join(indexes)}"
    scores = {Place(row["partition"], row["rank"]): row["score"] for row in rows}
    return NearMembers(dict(list(scores.items())[:k]), method)
