"""``pgs.entities``: the entities of a graph of documents, and what people rule on them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from pgs_neo4j.database.schema import ensure_schema
from pgs_neo4j.engine.core import Core
from pgs_neo4j.errors import UsageError
from pgs_neo4j.ingest.describe.model import describer_signature
from pgs_neo4j.ingest.entities.pages import list_entities, read_entity
from pgs_neo4j.ingest.entities.ruling import merge_entities, split_entity
from pgs_neo4j.ingest.fold.resolution import Resolver
from pgs_neo4j.ingest.names.renewal import hold_resolved
from pgs_neo4j.ingest.stored import read_documents
from pgs_neo4j.ingest.writer import Writer
from pgs_neo4j.model.entities import EntityInfo, EntityPage


@dataclass(frozen=True, slots=True)
class Entities:
    """Entities of graphs of documents. Called, it lists those of a graph.

    An entity is meant by one of its names, by ``Type:Name``, or by its id.
    """

    _core: Core

    async def __call__(
        self, graph: str, *, text: str = "", label: str = "", limit: int = 100
    ) -> list[EntityInfo]:
        """Return entities, those with the most mentions first. Raises DatabaseError.

        ``text`` is part of one of their names, and ``label`` their type; both in any case.
        """
        if limit < 1:
            raise UsageError(f"limit must be 1 or more; got {limit}")
        return await list_entities(self._core.db, graph, text, label, limit)

    async def show(self, graph: str, entity: str) -> EntityPage:
        """Return an entity with its names, passages, and relations.

        Raises UsageError if it is not there, or several are meant, and DatabaseError.
        """
        return await read_entity(self._core.db, graph, entity)

    async def merge(
        self, graph: str, entities: Sequence[str], into: str, *, resolver: Resolver | None = None
    ) -> str:
        """Make entities one, and return its id: ``entities`` belong with ``into`` from now on.

        Later ingestions keep to it. ``resolver`` is that of the ingestion, if it had one of its
        own. Raises UsageError if one of them is not there, BusyError while another process writes
        documents, and DatabaseError.
        """
        async with self._writing(graph, resolver) as writer:
            return await merge_entities(self._core.db, writer, entities, into)

    async def split(
        self,
        graph: str,
        entity: str,
        names: Sequence[str] = (),
        *,
        resolver: Resolver | None = None,
    ) -> list[str]:
        """Part names from an entity, and return the ids of the entities that it is then.

        A name that was merged goes with all that came with it. Without names, everything that was
        merged into the entity parts from it. Later ingestions keep to it. ``resolver`` is that of
        the ingestion, if it had one of its own. Raises UsageError for an entity or a name that is
        not there, BusyError while another process writes documents, and DatabaseError.
        """
        async with self._writing(graph, resolver) as writer:
            return await split_entity(self._core.db, writer, entity, names)

    @asynccontextmanager
    async def _writing(self, graph: str, resolver: Resolver | None) -> AsyncIterator[Writer]:
        core, db = self._core, self._core.db
        await ensure_schema(db)
        documents = await read_documents(db, graph)
        if not documents:
            raise UsageError(
                f"graph {graph} has no documents; 'pgs ingest FOLDER --graph {graph}' adds them"
            )
        label = next(iter(documents.values())).label
        describer = describer_signature(core.sweep_llm, core.config.sweep_effort)
        async with hold_resolved(db, graph, label, describer, resolver) as writer:
            yield writer
