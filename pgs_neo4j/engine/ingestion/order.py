"""Makes the order of an ingestion from its options, and stores the view of the ingested graph.

The order is checked against the documents of the graph. The view consists of two mappings, of the
graph and of its entities, and of indexes on its texts and vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypedDict

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.database.connection import Database
from pgs_neo4j.documents.enrich.embed import read_space
from pgs_neo4j.documents.fold.resolution import Resolver
from pgs_neo4j.documents.loading.load import check_label, graph_label, refuse_loaded
from pgs_neo4j.documents.order import Chunker, Describer, Embedding, Extractor, IngestOrder
from pgs_neo4j.documents.publish.publication import check_view_label, entity_label, mapping_of
from pgs_neo4j.documents.schemas import read_schema_file, read_schemas, schema_in_force
from pgs_neo4j.documents.sources.find import find_sources
from pgs_neo4j.documents.stored import StoredDocument, read_documents
from pgs_neo4j.engine import catalog
from pgs_neo4j.engine.core import Core
from pgs_neo4j.engine.given_parts import EMBEDDER, check_given
from pgs_neo4j.errors import UsageError
from pgs_neo4j.llm.calls.calls import Calls
from pgs_neo4j.llm.calls.embedding import priced_model
from pgs_neo4j.llm.protocol import Embedder
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.model.documents import DocumentLoader, DocumentSource, RecordColumns
from pgs_neo4j.search.indexes import (
    drop_outgrown,
    make_indexes,
    want_facts,
    want_text,
    want_vectors,
)
from pgs_neo4j.search.known_indexes import KnownIndexes
from pgs_neo4j.text.chunking import ChunkRules
from pgs_neo4j.text.extraction.schema import EntitySchema

DEFAULT_SCHEMA = "default"
Paths = str | Path | DocumentSource | Sequence[str | Path | DocumentSource]
"""Files, folders, patterns, URLs, and texts."""


class IngestOptions(TypedDict, total=False):
    """The options of an ingestion. None stands for the default.

    ``label`` is the label of the graph's nodes; the default is derived from the graph's name.
    ``schema`` is a file with the types of entities and relations, or ``default``; the default is
    the graph's own schema. ``sync`` deletes documents whose files are gone from the folders that
    are read; with ``forget``, also the text of answers that quote them. ``refresh`` extracts again
    what another model, prompt, or schema extracted. ``columns`` say what the columns of records
    mean. ``allow_private`` also fetches URLs of private addresses. ``arbiter`` asks the sweep model
    whether similar names mean one entity if their spelling does not decide it. ``embed`` makes
    vectors of chunks, entities, and facts with the embedder of the settings, or with one of your
    own.

    Five parts can be replaced. ``loader`` reads the files, ``chunker`` decides where chunks end,
    ``extractor`` finds what they say, ``resolver`` decides which names are variants of each other,
    and ``describer`` combines several descriptions into one. The default is the part that the
    settings name, or else the built-in part. A part whose signature has changed since the last
    ingestion does its work again.
    """

    label: str | None
    schema: EntitySchema | str | Path | None
    sync: bool
    forget: bool
    refresh: bool
    columns: RecordColumns | None
    allow_private: bool
    arbiter: bool
    loader: DocumentLoader | None
    chunker: Chunker | None
    extractor: Extractor | None
    resolver: Resolver | None
    describer: Describer | None
    embed: bool | Embedder


async def make_order(
    db: Database,
    paths: Paths,
    graph: str,
    options: IngestOptions,
    config: PGSConfig,
    loader: DocumentLoader,
) -> IngestOrder:
    """Return the order to ingest some files, without writing anything.

    Raises UsageError for unusable paths, names, labels, and schemas, and DatabaseError.
    """
    catalog.check_name(graph)
    catalog.check_name(graph + catalog.ENTITIES)
    if options.get("forget") and not options.get("sync"):
        raise UsageError("--forget needs --sync; add --sync or leave out --forget")
    wanted = _load_schema(options.get("schema"))
    sources = find_sources(list_paths(paths), loader.takes)
    stored = [*(await read_documents(db, graph)).values()]
    if options.get("sync") and stored and not sources.listed:
        raise UsageError(
            "there is no file, so --sync would delete all documents of these folders from graph "
            f"{graph}; check the path, or use 'pgs documents delete'"
        )
    label = await _choose_label(db, graph, stored, options.get("label"))
    await refuse_loaded(db, graph)
    await catalog.check_loadable(db, graph, *mapping_of(label).labels)
    await catalog.check_loadable(db, graph + catalog.ENTITIES, entity_label(label))
    schemas = await read_schemas(db, graph)
    return IngestOrder(
        graph=graph,
        label=label,
        sources=sources,
        rules=chunk_rules(config),
        schema=wanted or schema_in_force(graph, stored, schemas),
        schemas=schemas,
        sync=options.get("sync", False),
        forget=options.get("forget", False),
        refresh=options.get("refresh", False),
    )


def list_paths(paths: Paths) -> Sequence[str | Path | DocumentSource]:
    """Return paths as a list, even a single one."""
    return [paths] if isinstance(paths, str | Path | DocumentSource) else paths


def chunk_rules(config: PGSConfig) -> ChunkRules:
    """Return the rules in the settings for dividing documents into chunks."""
    return ChunkRules(
        strategy=config.chunk_strategy, size=config.chunk_tokens, overlap=config.chunk_overlap
    )


def _load_schema(wanted: EntitySchema | str | Path | None) -> EntitySchema | None:
    if wanted is None or isinstance(wanted, EntitySchema):
        return wanted
    return EntitySchema() if wanted == DEFAULT_SCHEMA else read_schema_file(Path(wanted))


async def _choose_label(
    db: Database, graph: str, stored: Sequence[StoredDocument], wanted: str | None
) -> str:
    """Return the label of a graph's nodes. Raises UsageError if it cannot be ``wanted``."""
    known = stored[0].label if stored else None
    if known is not None and wanted not in (None, known):
        raise UsageError(
            f"graph {graph} was ingested with the label {known}; leave out --label, or ingest "
            "under another name"
        )
    label = known or (graph_label(graph) if wanted is None else wanted)
    check_view_label(label)
    view = mapping_of(label).labels
    # An existing graph keeps its own label, so there only the labels of the view are checked.
    for own in (label, *view) if known is None else view:
        await check_label(db, graph, own)
    return label


async def store_view(core: Core, graph: str, label: str) -> None:
    """Store the mappings of a graph and of its entities, and index its texts and vectors.

    Raises UsageError if another index prevents it, and DatabaseError.
    """
    space = await read_space(core.db, graph)
    mapping = await _store_mappings(core.db, graph, label, space.model if space else None)
    await make_indexes(core.db, want_text(mapping))
    if space is not None:
        await _index_vectors(core.db, mapping, space.dimensions)
    core.indexes = KnownIndexes()


def embedding_of(
    core: Core, order: IngestOrder, options: IngestOptions, calls: Calls
) -> Embedding | None:
    """Return the embedding of a graph's texts, or None without ``embed``. Raises ConfigError."""
    wanted = options.get("embed", False)
    if not wanted:
        return None
    if wanted is not True:
        check_given("embed", wanted, EMBEDDER)
    embedder = core.ingest_embedder() if wanted is True else wanted
    model = priced_model(embedder)
    calls.budget.check({model.name: model.free})

    async def begin() -> None:
        await _store_mappings(core.db, order.graph, order.label, embedder.name)

    return Embedding(embedder, begin)


async def _store_mappings(db: Database, graph: str, label: str, model: str | None) -> GraphMapping:
    """Store the mappings of a graph and of its entities. ``model`` made its vectors, if any."""
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
    """Create a graph's vector indexes, and replace its indexes for vectors of another length.

    Each relationship type of the graph gets an index, so that all facts of the view are certain to
    be indexed. The indexes of types without facts stay empty.
    """
    types = {(name, dimensions): 1 for name in mapping.relationship_types}
    wanted = [*want_vectors(mapping, dimensions), *want_facts(mapping, types)]
    await drop_outgrown(db, wanted)
    await make_indexes(db, wanted)
