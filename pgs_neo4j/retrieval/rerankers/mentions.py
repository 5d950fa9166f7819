"""Orders nodes by the number of passages that mention them."""

from __future__ import annotations

from pgs_neo4j.database import queries
from pgs_neo4j.retrieval.rerankers.order import Reranked, RerankOrder, arranged, unchanged

NO_PASSAGES = "the graph names no passages; set chunk_labels and mention_types in its mapping"


async def rerank_by_mentions(order: RerankOrder) -> Reranked:
    """Return the nodes with most mentions first; of equal ones, the former order.

    Passages mention, and are not mentioned. So they come last. Raises DatabaseError.
    """
    mapping, nodes = order.mapping, order.nodes
    if not (mapping.chunk_labels and mapping.mention_types):
        return unchanged(order, NO_PASSAGES)
    rows = await order.db.read(
        queries.get("retrieval/count_mentions"),
        nodes=nodes,
        mention_types=list(mapping.mention_types),
        chunk_labels=list(mapping.chunk_labels),
    )
    counts = dict(zip(rows[0]["ids"], rows[0]["counts"], strict=True))
    return arranged(order, sorted(nodes, key=lambda node: -counts.get(node, 0)))
