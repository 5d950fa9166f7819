"""The rerankers of a search: each orders the best nodes by a different measure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.graph.scores import best_first, order_diversely, scale
from pgs_neo4j.llm.protocol import RelevanceModel, Reserve, Reserving, take_lessons
from pgs_neo4j.model import GraphMapping, RerankerName
from pgs_neo4j.search.nodes import read_nodes, read_vectors

ONLY_ANSWERS = (
    "the reranker 'model' calls a language model, so it works only for an answer; add --answer"
)
MOST_NODES = 100
"""Maximum number of nodes that a reranker orders, the best ones. Other nodes are left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankOrder:
    """The scores of nodes by element id, best first, and the question that they belong to.

    ``vector`` ``(d,)`` is the question's embedding. ``model`` compares texts with the question,
    None if no model is set. ``reserve`` reserves its calls in the budget of a run, None outside of
    runs.
    """

    db: Database
    mapping: GraphMapping
    scores: Mapping[str, float]
    vector: NDArray[np.float32] | None
    question: str = ""
    model: RelevanceModel | None = None
    reserve: Reserve | None = None

    @property
    def nodes(self) -> list[str]:
        """The element ids of the nodes to order, best first."""
        return [*islice(self.scores, MOST_NODES)]


@dataclass(frozen=True, slots=True)
class Reranked:
    """New scores, best first.

    ``warning`` says why the order was kept, or what the calls revealed about the model.
    """

    scores: Mapping[str, float]
    warning: str = ""


class Reranker(Protocol):
    """Orders nodes by one measure. Raises DatabaseError and ModelError."""

    async def __call__(self, order: RerankOrder) -> Reranked:
        """Return the nodes in their new order."""
        ...


async def keep_order(order: RerankOrder) -> Reranked:
    """Return the nodes in their present order."""
    return Reranked(order.scores)


async def await_answer(order: RerankOrder) -> Reranked:
    """Return the nodes in their present order, because the model reranks only for an answer."""
    return unchanged(order, ONLY_ANSWERS)


def unchanged(order: RerankOrder, reason: str) -> Reranked:
    """Return the nodes in their present order with the reason; without nodes, give no reason."""
    return Reranked(order.scores, f"the order was kept, because {reason}" if order.scores else "")


def arrange(order: RerankOrder, nodes: Iterable[str]) -> Reranked:
    """Return ``nodes`` in this order; the first node gets the highest of their scores, and so on.

    The scores are only redistributed, because every reader expects them in descending order.
    """
    ordered = [*nodes]
    scores = sorted((order.scores[node] for node in ordered), reverse=True)
    return Reranked(dict(zip(ordered, scores, strict=True)))


CENTERS = 3
"""Best nodes from which the distances of the others are measured. These nodes stay in front."""


async def rerank_by_distance(order: RerankOrder) -> Reranked:
    """Return the nodes by their distance to the best nodes, nearest first.

    Equally near nodes keep their order. Nodes more than three relationships away come last. Raises
    DatabaseError.
    """
    nodes = order.nodes
    if not nodes:
        return Reranked(order.scores)
    rows = await order.db.read(
        queries.get("search/read_distances"),
        centers=nodes[:CENTERS],
        nodes=nodes[CENTERS:],
        types=list(order.mapping.relationship_types),
        labels=list(order.mapping.labels),
    )
    hops = dict(zip(rows[0]["ids"], rows[0]["hops"], strict=True)) | dict.fromkeys(
        nodes[:CENTERS], 0
    )
    return arrange(order, sorted(nodes, key=lambda node: hops.get(node, len(nodes))))


NO_PASSAGES = "the graph names no passages; set chunk_labels and mention_types in its mapping"


async def rerank_by_mentions(order: RerankOrder) -> Reranked:
    """Return the nodes by their number of mentions, the most first.

    Equal nodes keep their order. Passages come last, because nothing mentions them. Raises
    DatabaseError.
    """
    mapping, nodes = order.mapping, order.nodes
    if not (mapping.chunk_labels and mapping.mention_types):
        return unchanged(order, NO_PASSAGES)
    rows = await order.db.read(
        queries.get("search/count_mentions"),
        nodes=nodes,
        mention_types=list(mapping.mention_types),
        chunk_labels=list(mapping.chunk_labels),
    )
    counts = dict(zip(rows[0]["ids"], rows[0]["counts"], strict=True))
    return arrange(order, sorted(nodes, key=lambda node: -counts.get(node, 0)))


NO_ENDPOINT = "the reranker http has no endpoint; set rerank_base_url (PGS_RERANK_BASE_URL)"


async def rerank_by_relevance(order: RerankOrder) -> Reranked:
    """Return the nodes by the relevance of their titles and texts, as the model scores it.

    Nodes that the model does not score come last, in their present order. Raises DatabaseError,
    ModelError, and the errors of ``order.reserve``.
    """
    if order.model is None:
        return unchanged(order, NO_ENDPOINT)
    nodes = await read_nodes(order.db, order.mapping, order.nodes)
    texts = [f"{node.title}\n{node.text}".strip() for node in nodes]
    if order.reserve is not None and isinstance(order.model, Reserving):
        ranked = await order.model.rank_within(order.question, texts, order.reserve)
    else:
        ranked = await order.model.rank(order.question, texts)
    best = [nodes[place].element_id for place in ranked]
    learned = take_lessons(order.model)
    reranked = arrange(order, dict.fromkeys([*best, *order.nodes]))
    return replace(reranked, warning="; ".join(learned))


LEAST_SHARE = 0.9
"""Minimum share of nodes with an embedding. With fewer, the order would mostly show which nodes
have one.
"""
TOO_FEW = "too few of the nodes have an embedding"


async def rerank_by_cosine(order: RerankOrder) -> Reranked:
    """Return the nodes by their cosine to the question; nodes without an embedding have 0."""
    vectors = await _read_embeddings(order)
    if order.vector is None or vectors is None:
        return unchanged(order, TOO_FEW)
    cosines = {
        node: float(vectors[node] @ order.vector) if node in vectors else 0.0
        for node in order.nodes
    }
    return Reranked(best_first(cosines))


async def rerank_by_novelty(order: RerankOrder) -> Reranked:
    """Return relevant nodes first, each unlike the previous ones (maximal marginal relevance)."""
    vectors = await _read_embeddings(order)
    if vectors is None:
        return unchanged(order, TOO_FEW)
    nodes = order.nodes
    size = len(next(iter(vectors.values())))
    rows = np.array([vectors.get(node, np.zeros(size)) for node in nodes], np.float32)
    relevance = np.array([*scale({node: order.scores[node] for node in nodes}).values()])
    return arrange(order, (nodes[place] for place in order_diversely(relevance, rows, len(nodes))))


async def _read_embeddings(order: RerankOrder) -> Mapping[str, NDArray[np.float64]] | None:
    """Return the best nodes' embeddings by element id, None if too few nodes have one."""
    nodes, embedding = order.nodes, order.mapping.embedding
    if order.vector is None or not embedding or not nodes:
        return None
    vectors = await read_vectors(order.db, nodes, embedding, len(order.vector))
    return vectors if len(vectors) >= LEAST_SHARE * len(nodes) else None


RERANKERS: Mapping[RerankerName, Reranker] = {
    "none": keep_order,
    "cosine": rerank_by_cosine,
    "mmr": rerank_by_novelty,
    "distance": rerank_by_distance,
    "mentions": rerank_by_mentions,
    "model": await_answer,
    "http": rerank_by_relevance,
}
