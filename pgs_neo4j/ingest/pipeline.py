"""Ingests files: compares, extracts what is new, folds, and publishes group by group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter

from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.tasks import together
from pgs_neo4j.errors import ModelError, StoppedError
from pgs_neo4j.events import Progressed
from pgs_neo4j.ingest.assemble import assemble
from pgs_neo4j.ingest.documents import WantedChunk, WantedDocument, compare, title_of
from pgs_neo4j.ingest.kept import forget_extractions, keep_extraction, read_kept
from pgs_neo4j.ingest.order import IngestOrder, IngestTools
from pgs_neo4j.ingest.publish import NewChunk, NewDocument, prepare, publish
from pgs_neo4j.ingest.stored import EXTRACTION, StoredChunk, read_chunks, read_documents
from pgs_neo4j.ingest.writer import Writer, hold_documents
from pgs_neo4j.model.documents import GroundedExtraction
from pgs_neo4j.model.ingest import DocumentOutcome, DocumentState, Ingested
from pgs_neo4j.text.extraction.ground import ground
from pgs_neo4j.text.extraction.schema import prune

GROUP_DOCUMENTS = 50
GROUP_BYTES = 2_000_000
"""Text of the documents that one transaction publishes; with all rows, some ten times as much."""


@dataclass(slots=True)
class _Tally:
    """What happened so far."""

    outcomes: list[DocumentOutcome] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)
    stopped: str = ""


async def ingest(order: IngestOrder, tools: IngestTools) -> Ingested:
    """Make the documents of a graph equal to their files, and return what became of each.

    A document that cannot be read or extracted is told, and leaves the others alone. A limit ends
    the ingestion; what was extracted by then is kept. Raises BusyError while another process writes
    these documents, and DatabaseError.
    """
    began, tally = perf_counter(), _Tally()
    await prepare(tools.db)
    async with hold_documents(tools.db, order.graph, order.label) as writer:
        stored = await read_documents(tools.db, order.graph)
        compared, wanted = compare(order, stored, tools.extractor.signature)
        for group in group_documents(wanted):
            await _write(order, tools, writer, group, tally)
            told = [*compared.outcomes, *tally.outcomes]
            tools.on_event(Progressed("ingest", len(told), len(order.sources.files), "documents"))
            if tally.stopped:
                break
        if order.sync and not tally.stopped:
            await delete_documents(tools.db, writer, [*compared.missing])
    gone: DocumentState = "deleted" if order.sync and not tally.stopped else "missing"
    left = [DocumentOutcome(id=id_, state=gone) for id_ in compared.missing]
    outcomes = [*compared.outcomes, *tally.outcomes, *left]
    return Ingested(
        graph=order.graph,
        label=order.label,
        outcomes=tuple(sorted(outcomes, key=lambda one: one.id)),
        skipped=order.sources.skipped,
        dropped=dict(tally.dropped),
        usage=tools.calls.usage,
        cost=tools.calls.settled().cost,
        seconds=perf_counter() - began,
        stopped=tally.stopped,
    )


async def delete_documents(db: Database, writer: Writer, ids: Sequence[str]) -> None:
    """Delete documents with all that stood only in them. Raises DatabaseError."""
    for first in range(0, len(ids), GROUP_DOCUMENTS):
        stored = await read_chunks(db, writer.graph, ids[first : first + GROUP_DOCUMENTS])
        await publish(db, writer, await assemble(db, writer.graph, [], stored))


def group_documents(documents: Iterable[WantedDocument]) -> Iterator[list[WantedDocument]]:
    """Yield the documents that one transaction publishes. One that is larger has its own."""
    group: list[WantedDocument] = []
    size = 0
    for document in documents:
        if group and (len(group) == GROUP_DOCUMENTS or size + document.size > GROUP_BYTES):
            yield group
            group, size = [], 0
        group.append(document)
        size += document.size
    if group:
        yield group


async def _write(
    order: IngestOrder,
    tools: IngestTools,
    writer: Writer,
    group: Sequence[WantedDocument],
    tally: _Tally,
) -> None:
    """Extract what is new in some documents, and publish those that are whole."""
    former = [id_ for document in group for id_ in document.former]
    stored = await read_chunks(tools.db, order.graph, former)
    known = _known(stored)
    keys = {chunk.extraction_key for document in group for chunk in document.chunks}
    known |= await read_kept(tools.db, order.graph, keys - known.keys())
    extracted = await together(
        *(_extract(order, tools, document, known, tally) for document in group)
    )
    whole = [document for document in extracted if document is not None]
    done = {document.id for document in whole}
    left = [id_ for one in group if one.id in done for id_ in one.former]
    held = {id_: chunks for id_, chunks in stored.items() if id_ in left}
    await publish(tools.db, writer, await assemble(tools.db, order.graph, whole, held))
    await forget_extractions(
        tools.db, order.graph, [new.extraction_key for one in whole for new in one.chunks]
    )
    for document in group:
        if document.id in done:
            fresh = sum(chunk.extraction_key not in known for chunk in document.chunks)
            tally.outcomes.append(
                DocumentOutcome(
                    id=document.id,
                    state=document.state,
                    chunks=len(document.chunks),
                    extracted=fresh,
                )
            )


def _known(stored: Mapping[str, Sequence[StoredChunk]]) -> dict[str, GroundedExtraction]:
    """Return the extractions that the graph holds, by key."""
    return {
        chunk.extraction_key: EXTRACTION.validate_json(chunk.extraction)
        for chunks in stored.values()
        for chunk in chunks
    }


async def _extract(
    order: IngestOrder,
    tools: IngestTools,
    document: WantedDocument,
    known: Mapping[str, GroundedExtraction],
    tally: _Tally,
) -> NewDocument | None:
    """Return a document with all its extractions; None if one of them failed."""
    try:
        chunks = await together(
            *(_extract_chunk(order, tools, wanted, known, tally) for wanted in document.chunks)
        )
    except StoppedError as error:
        tally.stopped = tally.stopped or str(error)
        return None
    except ModelError as error:
        failed = DocumentOutcome(id=document.id, state="failed", reason=str(error))
        tally.outcomes.append(failed)
        return None
    return NewDocument(
        id=document.id,
        properties={
            "name": title_of(document.id),
            "hash": document.hash,
            "rules": order.rules.signature,
            "signature": tools.extractor.signature,
            "chunks": len(chunks),
            "size": document.size,
            "label": order.label,
        },
        chunks=chunks,
    )


async def _extract_chunk(
    order: IngestOrder,
    tools: IngestTools,
    wanted: WantedChunk,
    known: Mapping[str, GroundedExtraction],
    tally: _Tally,
) -> NewChunk:
    """Return a chunk with what it says, which is kept before anything else is bought."""
    found = known.get(wanted.extraction_key)
    if found is None:
        found = ground(await tools.extractor.extract(wanted.chunk), wanted.chunk)
        tally.dropped.update(found.dropped)
        await keep_extraction(tools, order.graph, wanted.extraction_key, found)
    pruned = prune(found, order.schema)
    return NewChunk(
        id=wanted.id,
        chunk=wanted.chunk,
        extraction=pruned,
        extraction_key=wanted.extraction_key,
        sure=tools.extractor.sure,
    )
