"""Orders nodes by their relevance, as a model of an endpoint scores it."""

from __future__ import annotations

from pgs_neo4j.retrieval.nodes import read_nodes
from pgs_neo4j.retrieval.rerankers.order import Reranked, RerankOrder, arranged, unchanged

NO_ENDPOINT = "the reranker http has no endpoint; set rerank_base_url (PGS_RERANK_BASE_URL)"


async def rerank_by_relevance(order: RerankOrder) -> Reranked:
    """Return the nodes by the relevance of their titles and texts.

    Those that the model does not score come last, in their order. Raises DatabaseError and
    ModelError.
    """
    if order.model is None:
        return unchanged(order, NO_ENDPOINT)
    nodes = await read_nodes(order.db, order.mapping, order.nodes)
    texts = [f"{node.title}\n{node.text}".strip() for node in nodes]
    ranked = await order.model.rank(order.question, texts)
    best = [nodes[place].element_id for place in ranked]
    return arranged(order, dict.fromkeys([*best, *order.nodes]))
