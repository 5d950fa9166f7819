"""The rerankers of a search by name."""

from __future__ import annotations

from collections.abc import Mapping

from pgs_neo4j.model import RerankerName
from pgs_neo4j.retrieval.rerankers.distance import rerank_by_distance
from pgs_neo4j.retrieval.rerankers.mentions import rerank_by_mentions
from pgs_neo4j.retrieval.rerankers.order import Reranker, await_answer, keep_order
from pgs_neo4j.retrieval.rerankers.relevance import rerank_by_relevance
from pgs_neo4j.retrieval.rerankers.vectors import rerank_by_cosine, rerank_by_novelty

RERANKERS: Mapping[RerankerName, Reranker] = {
    "none": keep_order,
    "cosine": rerank_by_cosine,
    "mmr": rerank_by_novelty,
    "distance": rerank_by_distance,
    "mentions": rerank_by_mentions,
    "model": await_answer,
    "http": rerank_by_relevance,
}
