"""Orders nodes by their stored embeddings."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.graph.scores.diversity import order_diversely
from pgs_neo4j.graph.scores.fusion import best_first, scale
from pgs_neo4j.retrieval.rerankers.order import Reranked, RerankOrder, arranged, unchanged
from pgs_neo4j.retrieval.stored_vectors import read_vectors

LEAST_SHARE = 0.9
"""Share of nodes with an embedding; with fewer, cosines would order by what is stored."""
TOO_FEW = "too few of the nodes have an embedding"


async def rerank_by_cosine(order: RerankOrder) -> Reranked:
    """Return the nodes by their cosine to the question; those without an embedding come last."""
    vectors = await _vectors(order)
    if order.vector is None or vectors is None:
        return unchanged(order, TOO_FEW)
    cosines = {
        node: float(vectors[node] @ order.vector) if node in vectors else 0.0
        for node in order.nodes
    }
    return Reranked(best_first(cosines))


async def rerank_by_novelty(order: RerankOrder) -> Reranked:
    """Return the nodes so that each is unlike those before it (maximal marginal relevance)."""
    vectors = await _vectors(order)
    if vectors is None:
        return unchanged(order, TOO_FEW)
    nodes = order.nodes
    size = len(next(iter(vectors.values())))
    rows = np.array([vectors.get(node, np.zeros(size)) for node in nodes], np.float32)
    relevance = np.array([*scale({node: order.scores[node] for node in nodes}).values()])
    return arranged(order, (nodes[place] for place in order_diversely(relevance, rows, len(nodes))))


async def _vectors(order: RerankOrder) -> Mapping[str, NDArray[np.float64]] | None:
    """Return the embeddings of the best nodes, None if too few of them have one."""
    nodes, embedding = order.nodes, order.mapping.embedding
    if order.vector is None or not embedding or not nodes:
        return None
    vectors = await read_vectors(order.db, nodes, embedding, len(order.vector))
    return vectors if len(vectors) >= LEAST_SHARE * len(nodes) else None
