"""Makes of wanted documents and what was extracted of them what is to be written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable
from dataclasses import replace

from pgs_neo4j.documents.extract.buying import Extracted
from pgs_neo4j.documents.order import IngestOrder, IngestTools
from pgs_neo4j.documents.publish import NewChunk, NewDocument
from pgs_neo4j.documents.wanted import WantedChunk, WantedDocument
from pgs_neo4j.text.extraction.definitions import add_definitions
from pgs_neo4j.text.extraction.schema import prune


def extraction_keys(documents: Iterable[WantedDocument]) -> set[str]:
    """Return the keys of the extractions of some documents."""
    return {chunk.extraction_key for document in documents for chunk in document.chunks}


def count_dropped(documents: Iterable[NewDocument], fresh: Container[str]) -> Counter[str]:
    """Return what was dropped of extractions in this ingestion, by reason.

    ``fresh`` are the keys of those made now.
    """
    dropped: Counter[str] = Counter()
    for chunk in (chunk for document in documents for chunk in document.chunks):
        dropped.update(_dropped(chunk, fresh=chunk.extraction_key in fresh))
    return dropped


def _dropped(chunk: NewChunk, *, fresh: bool) -> Counter[str]:
    """Return what was dropped of a chunk's extraction in this ingestion, by reason."""
    dropped = Counter(chunk.extraction.dropped)
    if not fresh:
        dropped -= Counter((chunk.unpruned or chunk.extraction).dropped)
    return dropped


def new_document(
    order: IngestOrder, tools: IngestTools, document: WantedDocument, extracted: Extracted
) -> NewDocument:
    """Return a document as the graph is to hold it: what the schema allows of each chunk."""
    chunks = [_new_chunk(order, tools, one, extracted) for one in document.chunks]
    part = document.part
    told = {wanted.bases[0].told for wanted in document.chunks} - {""}
    unproven = len(extracted.unproven & {one.id for one in document.chunks})
    if part:
        part.large.told |= told
        unproven = len(part.large.unproven)
    return NewDocument(
        id=document.id,
        properties={
            "name": document.name,
            "source": document.source,
            "roots": [*document.roots],
            "loader": type(tools.loader).__name__,
            "media_type": document.media_type,
            "hash": "" if part and not part.last else document.hash,
            "rules": document.rules,
            "signature": tools.extractor.signature,
            "chunks": len(part.large.document.chunks if part else chunks),
            "size": document.size,
            "label": order.label,
            "schema": order.schema.signature,
            "unread": [*document.unread],
            "partly_read": True if document.unread else None,
            "chunks_unproven": unproven or None,
            "told": sorted(part.large.told if part else told),
        },
        chunks=chunks,
        after=part.after if part else "",
    )


def _new_chunk(
    order: IngestOrder, tools: IngestTools, wanted: WantedChunk, extracted: Extracted
) -> NewChunk:
    unpruned = replace(extracted.found[wanted.extraction_key], definitions=())
    pruned = prune(unpruned, order.schema)
    return NewChunk(
        id=wanted.id,
        chunk=wanted.chunk,
        extraction=add_definitions(pruned, wanted.chunk.text),
        extraction_key=wanted.extraction_key,
        unpruned=None if pruned == unpruned else unpruned,
        sure=tools.extractor.sure,
    )
