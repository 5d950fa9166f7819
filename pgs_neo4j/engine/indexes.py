"""``pgs.indexes``: full-text and vector indexes, created on request only."""

from __future__ import annotations

from dataclasses import dataclass

from pgs_neo4j.database.search_indexes import SearchIndex, list_search_indexes
from pgs_neo4j.engine import survey
from pgs_neo4j.engine.catalog import StoredGraph
from pgs_neo4j.engine.core import Core
from pgs_neo4j.engine.survey.weighing import count_embedding_sizes
from pgs_neo4j.errors import MappingError
from pgs_neo4j.search.indexes import (
    WantedIndex,
    drop_indexes,
    make_indexes,
    read_fact_sizes,
    want_facts,
    want_text,
    want_vectors,
)
from pgs_neo4j.search.known_indexes import KnownIndexes
from pgs_neo4j.text.commands import EXTEND


@dataclass(frozen=True, slots=True)
class CreatedIndexes:
    """The created indexes of a graph, and the existing indexes that are used instead of new ones.

    ``dimensions`` is the length of the vectors of nodes, 0 if no index on them was requested.
    ``created`` and ``existing`` describe the indexes; ``names`` are the names of the created ones.
    ``notes`` say which indexes are not filled yet.
    """

    graph: str
    dimensions: int
    names: tuple[str, ...]
    created: tuple[SearchIndex, ...] = ()
    existing: tuple[SearchIndex, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Indexes:
    """Full-text and vector indexes; without one, searches read all texts or vectors.

    Called, it lists them: ``await pgs.indexes()``.
    """

    _core: Core

    async def __call__(self) -> list[SearchIndex]:
        """Return all full-text and vector indexes, including those that others made."""
        return await list_search_indexes(self._core.db)

    async def create(
        self,
        graph: str | None = None,
        *,
        text: bool = False,
        facts: bool = False,
        vectors: bool = False,
    ) -> CreatedIndexes:
        """Create indexes of a graph, unless existing ones serve the same purpose.

        ``text`` is one full-text index on all texts and titles. ``vectors``, the default, are
        cosine indexes on the embeddings of each label, for the most common length of the sampled
        vectors. ``facts`` are cosine indexes on the embeddings of relationships. Returns when the
        indexes are filled, but after ``query_timeout_s`` at the latest. Raises MappingError when
        the mapping lacks what an index needs, and UsageError when another index prevents the
        creation; then nothing is created.
        """
        self._core.db.require_no_scope("an index contains nodes of all scopes")
        stored = await self._core.graph(graph)
        wanted: list[WantedIndex] = []
        dimensions = 0
        if text:
            wanted += want_text(stored.mapping)
        if vectors or not (text or facts):
            dimensions = await self._read_dimensions(stored)
            wanted += want_vectors(stored.mapping, dimensions)
        if facts:
            wanted += want_facts(
                stored.mapping, await read_fact_sizes(self._core.db, stored.mapping)
            )
        try:
            outcome = await make_indexes(self._core.db, wanted)
        finally:
            self._forget_indexes()
        return CreatedIndexes(
            graph=stored.name,
            dimensions=dimensions,
            names=tuple(index.name for index in outcome.created),
            created=outcome.created,
            existing=outcome.existing,
            notes=outcome.notes,
        )

    async def drop(self) -> list[str]:
        """Drop the indexes that ``create`` made, and no others. Returns their names.

        Raises ScopeError within a scope.
        """
        self._core.db.require_no_scope("an index contains nodes of all scopes")
        try:
            return await drop_indexes(self._core.db)
        finally:
            self._forget_indexes()

    def _forget_indexes(self) -> None:
        """Let the next search list the indexes again."""
        self._core.indexes = KnownIndexes()

    async def _read_dimensions(self, stored: StoredGraph) -> int:
        """Return the most common length of sampled vectors; 0 if the mapping names no embedding.

        Raises MappingError if no sampled node has a vector.
        """
        mapping = stored.mapping
        if not mapping.embedding:
            return 0
        sample = await survey.survey(self._core.db, mapping.labels)
        sizes = count_embedding_sizes(sample, mapping.embedding)
        sizes.pop(0, None)
        if not sizes:
            raise MappingError(
                f"no sampled node of graph {stored.name} holds a vector in "
                f"{mapping.embedding!r}, so there is nothing to index; run {EXTEND} another "
                "--embedding"
            )
        return max(sizes, key=lambda size: (sizes[size], size))
