"""Finds the k nodes nearest to a question, as standard retrieval would.

It uses a Neo4j vector index if one covers the view. Otherwise it uses one matrix product over the
stored vectors, or shared words if the graph stores no vectors. Only ``create_indexes`` creates an
index, on request.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database, Row
from pgs_neo4j.errors import MappingError
from pgs_neo4j.graph.vectors import unit
from pgs_neo4j.model import GraphMapping, Node
from pgs_neo4j.retrieval.space import lexical_matches
from pgs_neo4j.text import node_text

CANDIDATES = 4  # of an index for each node wanted: it compares rounded vectors
INDEX_PREFIX = "pgs_vector_"
BATCH = 4096


@dataclass(frozen=True, slots=True)
class VectorIndex:
    """A vector index on nodes; ``own``: pgs made it, and ``drop_indexes`` drops it.

    ``dimensions`` is None for an index that takes vectors of any length.
    """

    name: str
    label: str
    property: str
    dimensions: int | None
    similarity: str
    state: str
    own: bool


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
        best = list(await lexical_matches(db, mapping, question, k))
        method = "shared words"
    return Nearest(await read_nodes(db, mapping, best), method)


async def read_nodes(
    db: Database, mapping: GraphMapping, element_ids: Sequence[str]
) -> tuple[Node, ...]:
    """Return nodes with their texts, in order; a node that is gone by now is left out."""
    rows = await db.read(
        queries.get("retrieval/read_nodes"), nodes=list(element_ids), **_shown(mapping)
    )
    return _nodes(rows)


async def create_indexes(db: Database, mapping: GraphMapping, dimensions: int) -> list[str]:
    """Create a cosine vector index on each mapped label; returns their names.

    Raises MappingError when the mapping names no label or no embedding: an index needs both.
    """
    if not mapping.labels or not mapping.embedding:
        raise MappingError(
            "a vector index needs a mapping that names labels and an embedding property; "
            "add them with 'pgs graph add'"
        )
    existing = {(row["label"], row["property"], row["dimensions"]) for row in await _indexes(db)}
    names = []
    for label in mapping.labels:
        if (label, mapping.embedding, dimensions) in existing:
            continue
        name = index_name(label, mapping.embedding)
        await db.write(
            queries.get("retrieval/create_vector_indexes"),
            name=name,
            label=label,
            property=mapping.embedding,
            dimensions=dimensions,
        )
        names.append(name)
    return names


async def list_indexes(db: Database) -> list[VectorIndex]:
    """Return the vector indexes on nodes, by label and property."""
    rows = sorted(await _indexes(db), key=lambda row: (row["label"], row["property"], row["name"]))
    return [VectorIndex(**row, own=row["name"].startswith(INDEX_PREFIX)) for row in rows]


async def drop_indexes(db: Database) -> list[str]:
    """Drop the vector indexes that pgs created; returns their names."""
    names = [row["name"] for row in await _indexes(db) if row["name"].startswith(INDEX_PREFIX)]
    for name in names:
        await db.write(queries.get("retrieval/drop_vector_indexes"), name=name)
    return names


def index_name(label: str, embedding: str) -> str:
    """Return the name of the pgs index on a label's property.

    It is a hash, because a label may contain any character.
    """
    digest = blake2b(f"{label}\0{embedding}".encode(), digest_size=8).hexdigest()
    return f"{INDEX_PREFIX}{digest}"


async def _indexes(db: Database) -> list[Row]:
    return await db.read(queries.get("retrieval/read_vector_indexes"))


async def covering_indexes(db: Database, mapping: GraphMapping, dimensions: int) -> list[str]:
    """Return one index per mapped label, or none at all.

    Searching only a part of the view would give a wrong answer.
    """
    covering = covering_vector_indexes(await list_indexes(db), mapping, dimensions)
    return [index.name for index in covering]


def covering_vector_indexes(
    indexes: Sequence[VectorIndex], mapping: GraphMapping, dimensions: int
) -> tuple[VectorIndex, ...]:
    """Return one cosine index of the embeddings' length per mapped label, or none at all."""
    by_label = {
        index.label: index
        for index in indexes
        if index.property == mapping.embedding
        and index.dimensions == dimensions
        and str(index.similarity).upper() == "COSINE"
        and index.state == "ONLINE"
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
