"""``pgs.indexes``: vector indexes, created on request only."""

from __future__ import annotations

from dataclasses import dataclass

from pgs_neo4j import survey
from pgs_neo4j.engine.core import Core
from pgs_neo4j.errors import MappingError
from pgs_neo4j.retrieval import topk
from pgs_neo4j.retrieval.topk import VectorIndex
from pgs_neo4j.survey.weighing import count_embedding_sizes


@dataclass(frozen=True, slots=True)
class CreatedIndexes:
    """The created indexes of a graph, and their vector length."""

    graph: str
    dimensions: int
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Indexes:
    """Vector indexes on stored embeddings; without one, searches read all vectors.

    Called, it lists them: ``await pgs.indexes()``.
    """

    _core: Core

    async def __call__(self) -> list[VectorIndex]:
        """Return the vector indexes on nodes, also those that others made, by label."""
        return await topk.list_indexes(self._core.db)

    async def create(self, graph: str | None = None) -> CreatedIndexes:
        """Create a cosine index on each label without one.

        The dimensions are those of most sampled vectors. Raises MappingError when the graph maps no
        label or no embedding, or when no sampled node has a vector.
        """
        db = self._core.db
        stored = await self._core.graph(graph)
        mapping = stored.mapping
        sizes: dict[int, int] = {}
        if mapping.embedding:
            sample = await survey.survey(db, mapping.labels)
            sizes = count_embedding_sizes(sample, mapping.embedding)
            sizes.pop(0, None)
            if not sizes:
                raise MappingError(
                    f"no sampled node of graph {stored.name} holds a vector in "
                    f"{mapping.embedding!r}, so there is nothing to index; correct it with "
                    "'pgs graph add'"
                )
        dimensions = max(sizes, key=lambda size: (sizes[size], size), default=0)
        names = await topk.create_indexes(db, mapping, dimensions)
        return CreatedIndexes(stored.name, dimensions, tuple(names))

    async def drop(self) -> list[str]:
        """Drop the vector indexes that ``create`` made, and no others.

        Returns their names.
        """
        return await topk.drop_indexes(self._core.db)
