"""Finds the k nodes nearest to a question, as standard retrieval would.

It uses a Neo4j vector index if one covers the view. Otherwise it uses one matrix product over the
stored vectors, or shared words if the graph stores no vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database, Row
from pgs_neo4j.graph.vectors import unit
from pgs_neo4j.model import GraphMapping, Node
from pgs_neo4j.retrieval.indexes.search_index import SearchIndex, list_search_indexes
from pgs_neo4j.retrieval.shared_words import find_by_shared_words
from pgs_neo4j.text import node_text

CANDIDATES = 4  # of an index for each node wanted: it compares rounded vectors
BATCH = 4096


@dataclass(frozen=True, slots=True)
class Nearest:
    """The nearest nodes, best first, ranked from 0, and the search method."""

    nodes: tuple[Node, ...]
    method: str


async def nearest(
    db: Database,
    mapping: GraphMapping,
    question: str,
    vector: NDArray[np.float32] | None,
    k: int,
) -> Nearest:
    """Return the ``k`` nodes nearest to the question.

    ``vector`` ``(d,)`` is the embedded question at unit length, None without an embedder.
    """
    if vector is not None and mapping.embedding:
        indexes = await covering_indexes(db, mapping, len(vector))
        if indexes:
            rows = await _by_index(db, mapping, indexes, vector, k)
            return Nearest(_nodes(rows), f"vector index {', '.join(indexes)}")
        best = await _by_product(db, mapping, vector, k)
        method = "cosine over the stored embeddings"
    else:
        best = list(await find_by_shared_words(db, mapping, question, k))
        method = "shared words"
    return Nearest(await read_nodes(db, mapping, best), method)


async def read_nodes(
    db: Database, mapping: GraphMapping, element_ids: Sequence[str]
) -> tuple[Node, ...]:
    """Return nodes with their texts, in order; a node that is gone by now is left out."""
    rows = await db.read(
        queries.get("retrieval/read_nodes"), nodes=list(element_ids), **_shown(mapping)
    )
    return _nodes(rows[0]["nodes"])


async def covering_indexes(db: Database, mapping: GraphMapping, dimensions: int) -> list[str]:
    """Return one index per mapped label, or none at all.

    Searching only a part of the view would give a wrong answer.
    """
    covering = covering_vector_indexes(await list_search_indexes(db), mapping, dimensions)
    return [index.name for index in covering]


def covering_vector_indexes(
    indexes: Sequence[SearchIndex], mapping: GraphMapping, dimensions: int
) -> tuple[SearchIndex, ...]:
    """Return one cosine index of the embeddings' length per mapped label, or none at all."""
    by_label = {
        index.label: index
        for index in indexes
        if (index.kind, index.entity) == ("vector", "node")
        and index.property == mapping.embedding
        and index.compares(dimensions)
    }
    chosen = [by_label[label] for label in mapping.labels if label in by_label]
    return tuple(chosen) if chosen and len(chosen) == len(mapping.labels) else ()


async def _by_index(
    db: Database, mapping: GraphMapping, indexes: Sequence[str], vector: NDArray[np.float32], k: int
) -> list[Row]:
    best: dict[str, Row] = {}
    for index in indexes:
        rows = await db.read(
            queries.get("retrieval/nearest_by_index"),
            index=index,
            candidates=CANDIDATES * k,
            k=k,
            vector=vector.tolist(),
            embedding=mapping.embedding or "",
            labels=list(mapping.labels),
            **_shown(mapping),
        )
        best |= {row["element_id"]: row for row in rows}
    return sorted(best.values(), key=lambda row: (-row["score"], row["element_id"]))[:k]


async def _by_product(
    db: Database, mapping: GraphMapping, vector: NDArray[np.float32], k: int
) -> list[str]:
    best: list[tuple[float, str]] = []
    names: list[str] = []
    vectors: list[list[float]] = []

    def fold() -> list[tuple[float, str]]:
        matrix = np.asarray(vectors, dtype=np.float32)
        lengths = np.linalg.norm(matrix, axis=1)
        cosine = np.nan_to_num(
            (matrix @ unit(vector)) / np.where(lengths > 0, lengths, 1.0), nan=-1
        )
        scored = [*best, *zip((-cosine).astype(float).tolist(), names, strict=True)]
        return sorted(scored)[:k]

    async for row in db.stream(
        queries.get("retrieval/read_all_vectors"),
        labels=list(mapping.labels),
        embedding=mapping.embedding,
        dimensions=len(vector),
    ):
        names.append(row["element_id"])
        vectors.append(row["vector"])
        if len(names) == BATCH:
            best = fold()
            names, vectors = [], []
    if names:
        best = fold()
    return [name for _, name in best]


def _shown(mapping: GraphMapping) -> Row:
    return {"text": list(mapping.text), "title": mapping.title or "", "key": mapping.key or ""}


def _nodes(rows: Sequence[Row]) -> tuple[Node, ...]:
    names = ("element_id", "labels", "text", "title", "key")
    return tuple(
        node_text.node(rank=rank, **{name: row[name] for name in names})
        for rank, row in enumerate(rows)
    )
