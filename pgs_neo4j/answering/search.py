"""Searches a graph: paths at once, one score, one walk along relationships, and the texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from time import perf_counter
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.errors import ModelError, UsageError
from pgs_neo4j.graph.scores.fusion import add_weighted, spread
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.model.found import Found, FoundItem, SearchMode
from pgs_neo4j.retrieval.paths.hops import find_neighbors
from pgs_neo4j.retrieval.paths.indexes import KnownIndexes, NodeIndexes
from pgs_neo4j.retrieval.paths.text import find_by_text
from pgs_neo4j.retrieval.paths.vector import find_by_vector, stored_dimensions
from pgs_neo4j.retrieval.paths.walk import Walked, walk
from pgs_neo4j.retrieval.space import QuestionVector, Space, embed_question
from pgs_neo4j.text import node_text

PATH_HITS = 100
"""Nodes that each path returns."""
WEIGHTS: Mapping[str, float] = {"text": 0.7, "vector": 0.3}
"""Weights of the paths. Chosen on CACM; 0.3 to 0.5 for vectors is flat elsewhere."""
MOST_ITEMS = 200
NO_EMBEDDINGS = "the graph stores no embeddings, so words decide alone"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOrder:
    """A question to a view of the database, and how many items to return."""

    question: str
    mapping: GraphMapping
    mode: SearchMode = "hybrid"
    top_k: int = 10


@dataclass(frozen=True, slots=True)
class SearchTools:
    """The connections of a search."""

    db: Database
    space: Space
    known: KnownIndexes = field(default_factory=KnownIndexes)


async def search(order: SearchOrder, tools: SearchTools) -> Found:
    """Return what matches a question; nothing is written, and no language model is called.

    A path that fails is told, and the others count. Raises UsageError for an unknown mode or a
    ``top_k`` out of range, and DatabaseError when the database cannot be read.
    """
    if order.mode not in get_args(SearchMode):
        raise UsageError(
            f"there is no search mode {order.mode!r}; the modes are "
            f"{', '.join(get_args(SearchMode))}"
        )
    if not 1 <= order.top_k <= MOST_ITEMS:
        raise UsageError(f"top_k is {order.top_k}; choose a number from 1 to {MOST_ITEMS}")
    began = perf_counter()
    indexes = await tools.known.get(tools.db)
    question, warnings = await _embed(order, tools, indexes)
    walked = await _walk_first(order, tools, indexes, question.vector)
    own = {name: path.hits.scores for name, path in walked.items()}
    scores = add_weighted([(own[name], WEIGHTS[name]) for name in own])
    if order.mode == "hybrid":
        walked |= await walk({"hops": find_neighbors(tools.db, order.mapping, scores, PATH_HITS)})
        own["hops"] = walked["hops"].hits.scores
        scores = spread(scores, own["hops"])
    best = dict(islice(scores.items(), order.top_k))
    return Found(
        question=order.question,
        mode=order.mode,
        items=await _read_items(order, tools, best, own),
        paths=tuple(path.report for path in walked.values()),
        seconds=perf_counter() - began,
        warnings=tuple(warnings),
    )


async def _embed(
    order: SearchOrder, tools: SearchTools, indexes: NodeIndexes
) -> tuple[QuestionVector, list[str]]:
    """Return the question's vector, and what to say about it."""
    dimensions = await stored_dimensions(tools.db, indexes, order.mapping)
    if dimensions is None:
        return QuestionVector(None), [NO_EMBEDDINGS] if order.mode == "naive" else []
    try:
        found = await embed_question(
            tools.db, tools.space, order.mapping, order.question, dimensions
        )
    except ModelError as error:
        return QuestionVector(None), [f"words decide alone, because the embedder failed: {error}"]
    return found, [found.note] if found.note else []


async def _walk_first(
    order: SearchOrder,
    tools: SearchTools,
    indexes: NodeIndexes,
    vector: NDArray[np.float32] | None,
) -> dict[str, Walked]:
    """Return the hits of the paths that need nothing but the question."""
    db, mapping = tools.db, order.mapping
    paths = {"vector": find_by_vector(db, indexes, mapping, vector, PATH_HITS)}
    if vector is None or order.mode == "hybrid":
        # Without vectors, words are all that a naive search can compare.
        paths["text"] = find_by_text(db, indexes, mapping, order.question, PATH_HITS)
    return await walk(paths)


async def _read_items(
    order: SearchOrder,
    tools: SearchTools,
    best: Mapping[str, float],
    own: Mapping[str, Mapping[str, float]],
) -> tuple[FoundItem, ...]:
    """Return the best nodes with their texts; a node that is gone by now is left out."""
    mapping = order.mapping
    rows = await tools.db.read(
        queries.get("answering/read_items"),
        nodes=list(best),
        text=list(mapping.text),
        title=mapping.title or "",
        key=mapping.key or "",
    )
    names = ("element_id", "labels", "text", "title", "key")
    nodes = [
        node_text.node(rank=rank, **{name: row[name] for name in names})
        for rank, row in enumerate(rows)
    ]
    return tuple(
        FoundItem(
            id=node.element_id,
            key=node.key,
            title=node.title,
            text=node.text,
            labels=node.labels,
            score=best[node.element_id],
            scores={
                path: scores[node.element_id]
                for path, scores in own.items()
                if node.element_id in scores
            },
        )
        for node in sorted(nodes, key=lambda node: -best[node.element_id])
    )
