"""Orders nodes by how few relationships lead to them from the best ones."""

from __future__ import annotations

from pgs_neo4j.database import queries
from pgs_neo4j.retrieval.rerankers.order import Reranked, RerankOrder, arranged

CENTERS = 3
"""Best nodes that the others are measured from. They stay in front."""


async def rerank_by_distance(order: RerankOrder) -> Reranked:
    """Return the nodes nearest to the best ones first; of equally near ones, the former order.

    Nodes more than three relationships away come last. Raises DatabaseError.
    """
    nodes = order.nodes
    if not nodes:
        return Reranked(order.scores)
    rows = await order.db.read(
        queries.get("retrieval/read_distances"),
        centers=nodes[:CENTERS],
        nodes=nodes[CENTERS:],
        types=list(order.mapping.relationship_types),
        labels=list(order.mapping.labels),
    )
    hops = dict(zip(rows[0]["ids"], rows[0]["hops"], strict=True)) | dict.fromkeys(
        nodes[:CENTERS], 0
    )
    return arranged(order, sorted(nodes, key=lambda node: hops.get(node, len(nodes))))
