"""Orders nodes by similarity, to divide pools of unconnected nodes."""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database, Row
from pgs_neo4j.database.portions import in_order, portions
from pgs_neo4j.graph.pool import similarity_order
from pgs_neo4j.graph.vectors import unit
from pgs_neo4j.llm.embedders.hashing import HashingEmbedder
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.partitioning.rows import FeaturesRow
from pgs_neo4j.partitioning.scan.view import View
from pgs_neo4j.text.node_text import joined_text

# Random projections keep angles well enough for an order (Johnson and Lindenstrauss 1984), and
# a million nodes then take 256 MB instead of gigabytes.
WIDTH = 64
MOST_NODES = 1000


async def pool_order(
    db: Database, mapping: GraphMapping, view: View, pooled: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Return ranks ``(n,)`` of all scanned nodes, for dividing pools.

    ``pooled`` ``(n,)`` marks the nodes in pools. They are ordered by stored embedding or, without
    one, by their words. The other nodes come last, in their original order.
    """
    chosen = np.flatnonzero(pooled)
    features = np.zeros((len(chosen), WIDTH), dtype=np.float32)
    ids = view.ids[chosen]
    dimensions = view.embedding_dimensions or 0

    async def use(rows: list[Row]) -> None:
        row = cast("FeaturesRow", rows[0])
        place = np.searchsorted(ids, np.asarray(row["ids"], dtype=np.int64))
        features[place] = await compute_features(row, dimensions)

    query = queries.get("partitioning/read_features")
    await in_order(
        (
            db.read(
                query,
                ids=ids[part].tolist(),
                text=list(mapping.text),
                embedding=mapping.embedding or "",
                dimensions=dimensions,
            )
            for part in portions(view.sizes[chosen] + dimensions, MOST_NODES)
        ),
        use,
    )
    rank = len(chosen) + np.arange(len(pooled))
    rank[chosen] = similarity_order(features)
    return rank


async def compute_features(row: FeaturesRow, dimensions: int) -> NDArray[np.float32]:
    """Return short vectors ``(k, WIDTH)`` float32 of nodes, in row order.

    A node with neither vector nor words gets zeros. Vectors and words cannot be compared. So if a
    graph has vectors, each kind fills one half of the columns.
    """
    texts = [
        "" if vector else joined_text(text)
        for vector, text in zip(row["vectors"], row["texts"], strict=True)
    ]
    if not dimensions:
        return _projected(await _hashed(texts), WIDTH)
    vectors = [vector or [0.0] * dimensions for vector in row["vectors"]]
    stored = np.asarray(vectors, dtype=np.float32)
    half = WIDTH // 2
    return np.hstack((_projected(stored, half), _projected(await _hashed(texts), half)))


async def _hashed(texts: list[str]) -> NDArray[np.float32]:
    if not any(texts):
        return np.zeros((len(texts), 0), dtype=np.float32)
    return np.asarray(await HashingEmbedder().embed(texts), dtype=np.float32)


def _projected(rows: NDArray[np.float32], width: int) -> NDArray[np.float32]:
    """Return the rows ``(k, d)`` at unit length, projected to ``(k, width)``."""
    plane = np.random.default_rng(0).standard_normal((rows.shape[1], width), dtype=np.float32)
    return np.asarray(unit(rows) @ plane, dtype=np.float32)
