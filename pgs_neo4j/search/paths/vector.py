"""Finds the nodes whose stored embeddings are nearest to a question."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.search_indexes import SearchIndex
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.search.known_indexes import covering_vector_indexes
from pgs_neo4j.search.paths.text import scores_of
from pgs_neo4j.search.paths.walk import Hits

CANDIDATES = 2
"""Nodes to request from an index per wanted node, because the index compares rounded vectors."""


async def find_by_vector(
    db: Database,
    indexes: Sequence[SearchIndex],
    mapping: GraphMapping,
    vector: NDArray[np.float32] | None,
    k: int,
) -> Hits:
    """Return the ``k`` nodes nearest to ``vector`` ``(d,)``, by cosine.

    Every embedding is compared unless vector indexes cover every label of the view. Raises
    DatabaseError.
    """
    if vector is None or not mapping.embedding:
        return Hits("no embeddings to compare")
    names = [index.name for index in covering_vector_indexes(indexes, mapping, len(vector))]
    if names:
        rows = await db.read(
            queries.get("search/paths/find_by_vector"),
            indexes=names,
            vector=vector.tolist(),
            embedding=mapping.embedding,
            labels=list(mapping.labels),
            candidates=CANDIDATES * k,
            k=k,
        )
        return Hits(f"vector index {', '.join(names)}", scores_of(rows))
    rows = await db.read(
        queries.get("search/paths/compare_vectors"),
        vector=vector.tolist(),
        embedding=mapping.embedding,
        labels=list(mapping.labels),
        k=k,
    )
    return Hits("every stored embedding", scores_of(rows))


async def stored_dimensions(
    db: Database, indexes: Sequence[SearchIndex], mapping: GraphMapping
) -> int | None:
    """Return the length of the stored embeddings, None without any.

    It is the length of the vector indexes if they cover every label, otherwise the length of the
    first embedding. Raises DatabaseError.
    """
    if not mapping.embedding:
        return None
    lengths = {index.dimensions for index in indexes if index.property == mapping.embedding}
    for length in lengths:
        if length and covering_vector_indexes(indexes, mapping, length):
            return length
    rows = await db.read(
        queries.get("search/paths/read_vector_size"),
        embedding=mapping.embedding,
        labels=list(mapping.labels),
    )
    return int(rows[0]["size"]) if rows else None
