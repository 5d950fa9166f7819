"""Reads one document of a graph with its chunks, and explains why this document is stale."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.documents.compare import covers_schema, hash_rules
from pgs_neo4j.documents.fold.contribution import contribution_of
from pgs_neo4j.documents.order import Chunker, Extractor
from pgs_neo4j.documents.schemas import Schemas
from pgs_neo4j.documents.stored import EXTRACTION, StoredDocument
from pgs_neo4j.errors import UnknownDocumentError, UsageError
from pgs_neo4j.model.documents import DocumentLoader, GroundedExtraction
from pgs_neo4j.model.ingest import DocumentChunk, DocumentDetails
from pgs_neo4j.text.chunking import ChunkRules
from pgs_neo4j.text.extraction.schema import EntitySchema


def find_document(documents: Mapping[str, StoredDocument], graph: str, name: str) -> StoredDocument:
    """Return the document whose id is ``name``, or the only document with that name.

    Raises UnknownDocumentError, and UsageError if several documents have the name.
    """
    if name in documents:
        return documents[name]
    named = [one for one in documents.values() if one.name == name]
    if not named:
        raise UnknownDocumentError(
            f"graph {graph} has no document {name[:80]}; "
            f"'pgs documents list --graph {graph}' lists them"
        )
    if len(named) > 1:
        ids = ", ".join(one.id for one in named[:3])
        raise UsageError(
            f"{len(named)} documents of graph {graph} are called {name[:80]}; name one by its id, "
            f"such as {ids}"
        )
    return named[0]


async def read_details(
    db: Database, graph: str, stored: StoredDocument, schemas: Schemas, stale: tuple[str, ...]
) -> DocumentDetails:
    """Return a document with its chunks. Raises DatabaseError and UnknownDocumentError."""
    query = queries.get("documents/read_document")
    rows = await db.read(query, graph=graph, id=stored.id)
    if not rows:
        raise UnknownDocumentError(
            f"document {stored.id} of graph {graph} was deleted just now; "
            f"'pgs documents list --graph {graph}' lists the others"
        )
    own, chunks = rows[0]["document"], rows[0]["chunks"]
    extractions = [EXTRACTION.validate_json(chunk["extraction"]) for chunk in chunks]
    schema = schemas.get(stored.schema)
    return DocumentDetails(
        graph=graph,
        id=stored.id,
        name=stored.name,
        size=stored.size,
        hash=stored.hash,
        **own,
        schema=stored.schema,
        types=tuple(schema.types) if schema else (),
        stale=stale,
        unread=stored.unread,
        entities=rows[0]["entities"],
        relations=len({place for one in extractions for place in _list_relations(one)}),
        chunks=tuple(map(_make_chunk, chunks, extractions)),
    )


def stale_reasons(
    stored: StoredDocument,
    schema: EntitySchema,
    schemas: Schemas,
    extractor: Extractor,
    rules: ChunkRules,
    loader: DocumentLoader,
    chunker: Chunker | None = None,
) -> Iterator[str]:
    """Yield the reasons why an ingestion with these settings would change a document."""
    if not stored.hash:
        yield "an ingestion ended before all of it was written"
    if stored.signature != extractor.signature:
        yield "another model or prompt extracted it"
    elif not all(covers_schema(schema, schema_hash, schemas) for schema_hash in stored.told):
        yield "it was extracted under another schema"
    if stored.rules != hash_rules(rules, loader, chunker):
        yield "its loader or chunk settings have changed since"


def _list_relations(extraction: GroundedExtraction) -> Iterator[object]:
    for one in contribution_of("", extraction, sure=True).statements:
        yield (one.source, one.type, one.target)


def _make_chunk(row: Mapping[str, Any], extraction: GroundedExtraction) -> DocumentChunk:
    return DocumentChunk(
        id=row["id"],
        index=row["index"],
        characters=row["end"] - row["start"],
        page=row["page"],
        path=tuple(row["path"] or ()),
        entities=len(extraction.entities),
        relations=len(extraction.relations),
        dropped=dict(extraction.dropped),
        proven=extraction.proven,
    )
