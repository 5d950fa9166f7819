"""Finds the passages that mention the best nodes, in graphs that keep passages apart."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Row
from pgs_neo4j.graph.scores.fusion import best_first, scale
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.search.paths.hits import Hits

# FalkorDB GraphRAG SDK, published defaults.
NEAR_NODES, NEAR_EACH = 15, 3
"""Best nodes whose own mentions count, and the passages that each of them gives."""
FAR_NODES, FAR_EACH = 10, 1
"""Best nodes whose neighbors' mentions count, and the passages that each of them gives."""
FAR_SHARE = 0.5
"""Score of a passage that mentions a neighbor: the neighbor is one more doubt."""
UNKNOWN_COSINE = 0.5
"""Weight of a passage without an embedding."""


async def find_passages(
    db: Database,
    mapping: GraphMapping,
    scores: Mapping[str, float],
    vector: NDArray[np.float32] | None,
) -> Hits:
    """Return the passages that mention the best nodes or their neighbors, best first.

    ``scores`` are by element id, best first; ``vector`` ``(d,)`` is the question. A passage has the
    scaled score of the node that gives it most, times its cosine. Raises DatabaseError.
    """
    nodes = scale(dict(islice(scores.items(), NEAR_NODES)))
    if not mapping.chunk_labels or not mapping.mention_types or not nodes:
        return Hits("every node with text is a passage")
    rows = await db.read(
        queries.get("search/find_passages"),
        nodes=list(nodes),
        far=FAR_NODES,
        types=list(mapping.relationship_types),
        mention_types=list(mapping.mention_types),
        chunk_labels=list(mapping.chunk_labels),
        embedding=mapping.embedding or "",
        vector=[] if vector is None else vector.tolist(),
        near_each=NEAR_EACH,
        far_each=FAR_EACH,
    )
    found: dict[str, float] = {}
    for row in rows[0]["passages"]:
        found[row["passage"]] = max(found.get(row["passage"], 0.0), _score(row, nodes))
    return Hits(f"mentions of the {len(nodes)} best nodes", best_first(found))


def _score(row: Row, nodes: Mapping[str, float]) -> float:
    cosine = UNKNOWN_COSINE if row["score"] is None else max(float(row["score"]), 0.0)
    share = 1.0 if row["direct"] else FAR_SHARE
    return nodes[row["node"]] * share * cosine
