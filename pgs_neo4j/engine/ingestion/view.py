"""Stores the view of a graph of documents, indexes it, and says what makes its vectors."""

from __future__ import annotations

from dataclasses import replace

from pgs_neo4j.database.connection import Database
from pgs_neo4j.documents.embed.texts import read_space
from pgs_neo4j.documents.order import Embedding, IngestOrder
from pgs_neo4j.documents.publish import entity_label, mapping_of
from pgs_neo4j.engine import catalog
from pgs_neo4j.engine.core import Core
from pgs_neo4j.engine.given_parts import EMBEDDER, check_given
from pgs_neo4j.engine.ingestion.order import IngestOptions
from pgs_neo4j.llm.calls.calls import Calls
from pgs_neo4j.llm.calls.embedding import priced_model
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.search.indexes.making import drop_outgrown, make_indexes
from pgs_neo4j.search.indexes.wanted import want_facts, want_text, want_vectors
from pgs_neo4j.search.paths.indexes import KnownIndexes


async def store_view(core: Core, graph: str, label: str) -> None:
    """Store the mappings of a graph and of its entities, and index its texts and vectors.

    Raises UsageError if an index stands in the way, and DatabaseError.
    """
    space = await read_space(core.db, graph)
    mapping = await _map(core.db, graph, label, space.model if space else None)
    await make_indexes(core.db, want_text(mapping))
    if space is not None:
        await _index_vectors(core.db, mapping, space.dimensions)
    core.indexes = KnownIndexes()


def embedding_of(
    core: Core, order: IngestOrder, options: IngestOptions, calls: Calls
) -> Embedding | None:
    """Return what embeds the texts of a graph, if that is wanted. Raises ConfigError."""
    wanted = options.get("embed", False)
    if not wanted:
        return None
    if wanted is not True:
        check_given("embed", wanted, EMBEDDER)
    embedder = core.ingest_embedder() if wanted is True else wanted
    model = priced_model(embedder)
    calls.budget.check({model.name: model.free})

    async def begin() -> None:
        await _map(core.db, order.graph, order.label, embedder.name)

    return Embedding(embedder, begin)


async def _map(db: Database, graph: str, label: str, model: str | None) -> GraphMapping:
    """Store the mappings of a graph and of its entities; ``model`` made its vectors."""
    mapping = mapping_of(label, model)
    entities = replace(
        mapping,
        labels=(entity_label(label),),
        relationship_types=("RELATES",),
        chunk_labels=(),
        mention_types=(),
    )
    await catalog.add(db, graph, mapping, replace=True)
    await catalog.add(db, graph + catalog.ENTITIES, entities, replace=True)
    return mapping


async def _index_vectors(db: Database, mapping: GraphMapping, dimensions: int) -> None:
    """Create the vector indexes of a graph, instead of its own ones for another length.

    All types of its relationships have one, so that the facts of the view are known to be in them;
    those of types without facts stay empty.
    """
    types = {(name, dimensions): 1 for name in mapping.relationship_types}
    wanted = [*want_vectors(mapping, dimensions), *want_facts(mapping, types)]
    await drop_outgrown(db, wanted)
    await make_indexes(db, wanted)
