"""``pgs.entities``: lists the entities of a graph of documents, and merges and splits them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from pgs_neo4j.database.schema import ensure_schema
from pgs_neo4j.documents.entities import (
    list_entities,
    merge_entities,
    read_entity,
    split_entity,
)
from pgs_neo4j.documents.fold.resolution import Resolver
from pgs_neo4j.documents.publish.writer import Writer
from pgs_neo4j.documents.stored import read_documents
from pgs_neo4j.engine.core import Core
from pgs_neo4j.engine.ingestion.parts import hold_graph
from pgs_neo4j.errors import UsageError
from pgs_neo4j.model.browsing import EntityInfo, EntityPage


@dataclass(frozen=True, slots=True)
class Entities:
    """Entities of graphs of documents. Called, it lists them: ``await pgs.entities("docs")``.

    An entity may be given by any of its names, by ``Type:Name``, or by its id.
    """

    _core: Core

    async def __call__(
        self, graph: str, *, text: str = "", kind: str = "", limit: int = 100
    ) -> list[EntityInfo]:
        """Return entities, the most mentioned first. Raises DatabaseError.

        ``text`` must occur in one of the entity's names, and ``kind`` is its type; case is ignored
        in both.
        """
        if limit < 1:
            raise UsageError(f"limit must be 1 or more; got {limit}")
        return await list_entities(self._core.db, graph, text, kind, limit)

    async def show(self, graph: str, entity: str) -> EntityPage:
        """Return an entity with its names, chunks, and relations.

        Raises UsageError if ``entity`` matches no entity, or more than one, and DatabaseError.
        """
        return await read_entity(self._core.db, graph, entity)

    async def merge(
        self, graph: str, entities: Sequence[str], into: str, *, resolver: Resolver | None = None
    ) -> str:
        """Merge ``entities`` into ``into``, and return the id of the merged entity.

        Later ingestions keep them merged. ``resolver`` must be the resolver of the ingestion, if
        that was not the default. Raises UsageError if one of the entities does not exist, BusyError
        while another process writes documents, and DatabaseError.
        """
        async with self._open_writer(graph, resolver) as writer:
            return await merge_entities(self._core.db, writer, entities, into)

    async def split(
        self,
        graph: str,
        entity: str,
        names: Sequence[str] = (),
        *,
        resolver: Resolver | None = None,
    ) -> list[str]:
        """Split names off an entity, and return the ids of the resulting entities.

        Splitting off a merged name undoes that merge. Without names, all merges into the entity are
        undone. Later ingestions keep the names apart. ``resolver`` must be the resolver of the
        ingestion, if that was not the default. Raises UsageError for an entity or a name that does
        not exist, BusyError while another process writes documents, and DatabaseError.
        """
        async with self._open_writer(graph, resolver) as writer:
            return await split_entity(self._core.db, writer, entity, names)

    @asynccontextmanager
    async def _open_writer(self, graph: str, resolver: Resolver | None) -> AsyncIterator[Writer]:
        self._core.require_unrestricted("this writes to the graph")
        db = self._core.db
        await ensure_schema(db)
        documents = await read_documents(db, graph)
        if not documents:
            raise UsageError(
                f"graph {graph} has no documents; 'pgs ingest FOLDER --graph {graph}' adds them"
            )
        label = next(iter(documents.values())).label
        async with hold_graph(self._core, graph, label, resolver) as writer:
            yield writer
