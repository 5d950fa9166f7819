"""Orders the best nodes of a search once more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database.connection import Database
from pgs_neo4j.graph.scores.diversity import order_diversely
from pgs_neo4j.graph.scores.fusion import best_first, scale
from pgs_neo4j.model import GraphMapping, RerankerName
from pgs_neo4j.retrieval.stored_vectors import read_vectors

MOST_NODES = 100
"""Nodes that are ordered again, the best ones. The others are left out."""
LEAST_SHARE = 0.9
"""Share of them with an embedding; with fewer, cosines would order by what is stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankOrder:
    """The scores of nodes by element id, best first, and the question ``(d,)`` they are for."""

    db: Database
    mapping: GraphMapping
    scores: Mapping[str, float]
    vector: NDArray[np.float32] | None


@dataclass(frozen=True, slots=True)
class Reranked:
    """New scores, best first; ``warning`` says why they are the old ones."""

    scores: Mapping[str, float]
    warning: str = ""


class Reranker(Protocol):
    """Orders nodes by a measure of its own. Raises DatabaseError."""

    async def __call__(self, order: RerankOrder) -> Reranked:
        """Return the nodes in their new order."""
        ...


async def keep_order(order: RerankOrder) -> Reranked:
    """Return the nodes as they are."""
    return Reranked(order.scores)


async def rerank_by_cosine(order: RerankOrder) -> Reranked:
    """Return the nodes by their cosine to the question; those without an embedding come last."""
    vectors = await _vectors(order)
    if order.vector is None or vectors is None:
        return _unchanged(order)
    return Reranked(
        best_first(
            {
                node: float(vectors[node] @ order.vector) if node in vectors else 0.0
                for node in islice(order.scores, MOST_NODES)
            }
        )
    )


async def rerank_by_novelty(order: RerankOrder) -> Reranked:
    """Return the nodes so that each is unlike those before it (maximal marginal relevance)."""
    vectors = await _vectors(order)
    if vectors is None:
        return _unchanged(order)
    nodes = [*islice(order.scores, MOST_NODES)]
    size = len(next(iter(vectors.values())))
    rows = np.array([vectors.get(node, np.zeros(size)) for node in nodes], np.float32)
    relevance = np.array([*scale({node: order.scores[node] for node in nodes}).values()])
    places = order_diversely(relevance, rows, len(nodes))
    # The scores stay in descending order, as every reader of them expects.
    scores = sorted((order.scores[node] for node in nodes), reverse=True)
    return Reranked(dict(zip((nodes[place] for place in places), scores, strict=True)))


RERANKERS: Mapping[RerankerName, Reranker] = {
    "none": keep_order,
    "cosine": rerank_by_cosine,
    "mmr": rerank_by_novelty,
}


async def _vectors(order: RerankOrder) -> Mapping[str, NDArray[np.float64]] | None:
    """Return the embeddings of the best nodes, None if too few of them have one."""
    nodes = [*islice(order.scores, MOST_NODES)]
    if order.vector is None or not order.mapping.embedding or not nodes:
        return None
    vectors = await read_vectors(order.db, nodes, order.mapping.embedding, len(order.vector))
    return vectors if len(vectors) >= LEAST_SHARE * len(nodes) else None


def _unchanged(order: RerankOrder) -> Reranked:
    if not order.scores:
        return Reranked(order.scores)
    return Reranked(
        order.scores, "the order was kept, because too few of the nodes have an embedding"
    )
