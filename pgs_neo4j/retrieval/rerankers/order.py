"""What a reranker is given, and what it returns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database.connection import Database
from pgs_neo4j.llm.protocol import RelevanceModel
from pgs_neo4j.model import GraphMapping

ONLY_ANSWERS = "the reranker model asks a model, which only an answer pays for; add --answer"
MOST_NODES = 100
"""Nodes that are ordered again, the best ones. The others are left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankOrder:
    """The scores of nodes by element id, best first, and the question they are for.

    ``vector`` ``(d,)`` is its embedding. ``model`` compares texts with it, None without one.
    """

    db: Database
    mapping: GraphMapping
    scores: Mapping[str, float]
    vector: NDArray[np.float32] | None
    question: str = ""
    model: RelevanceModel | None = None

    @property
    def nodes(self) -> list[str]:
        """The nodes that are ordered again, best first."""
        return [*islice(self.scores, MOST_NODES)]


@dataclass(frozen=True, slots=True)
class Reranked:
    """New scores, best first; ``warning`` says why they are the old ones."""

    scores: Mapping[str, float]
    warning: str = ""


class Reranker(Protocol):
    """Orders nodes by a measure of its own. Raises DatabaseError and ModelError."""

    async def __call__(self, order: RerankOrder) -> Reranked:
        """Return the nodes in their new order."""
        ...


async def keep_order(order: RerankOrder) -> Reranked:
    """Return the nodes as they are."""
    return Reranked(order.scores)


async def await_answer(order: RerankOrder) -> Reranked:
    """Return the nodes as they are: a language model orders only those of an answer."""
    return unchanged(order, ONLY_ANSWERS)


def unchanged(order: RerankOrder, reason: str) -> Reranked:
    """Return the nodes as they are, and why; nothing is said of no nodes."""
    return Reranked(order.scores, f"the order was kept, because {reason}" if order.scores else "")


def arranged(order: RerankOrder, nodes: Iterable[str]) -> Reranked:
    """Return ``nodes`` in this order, which share the scores that they had.

    So scores stay in descending order, as every reader of them expects.
    """
    ordered = [*nodes]
    scores = sorted((order.scores[node] for node in ordered), reverse=True)
    return Reranked(dict(zip(ordered, scores, strict=True)))
