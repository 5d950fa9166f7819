"""Reads the stored embeddings of some nodes."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.graph.vectors import unit


async def read_vectors(
    db: Database, nodes: Iterable[str], embedding: str, dimensions: int
) -> dict[str, NDArray[np.float64]]:
    """Return the embeddings ``(d,)`` of some nodes at unit length, by element id.

    Nodes without an embedding of that length are left out. Raises DatabaseError.
    """
    rows = await db.read(
        queries.get("search/read_vectors"),
        nodes=list(nodes),
        embedding=embedding,
        dimensions=dimensions,
    )
    return {row["element_id"]: unit(np.asarray(row["vector"], np.float64)) for row in rows}
