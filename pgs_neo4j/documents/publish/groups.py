"""Publishes documents in groups; if the database refuses a document, the others are still written.

Unchanged documents may have moved to another folder. Their new folders are stored last.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.documents.extract.buying import Extracted
from pgs_neo4j.documents.order import IngestOrder, IngestTools
from pgs_neo4j.documents.publish.publication import NewChunk, NewDocument, assemble, publish
from pgs_neo4j.documents.publish.writer import Writer, writing_lost_error
from pgs_neo4j.documents.stored import StoredChunk
from pgs_neo4j.documents.wanted import WantedChunk, WantedDocument
from pgs_neo4j.errors import DatabaseError, DatabaseMemoryError, QueryError, StoppedError
from pgs_neo4j.model.ingest import DocumentOutcome
from pgs_neo4j.text.extraction.additions import add_definitions
from pgs_neo4j.text.extraction.schema import prune

MOST_ROWS = 1_000
"""Number of documents per statement."""


@dataclass(frozen=True, slots=True)
class ExtractedGroup:
    """Documents with their extractions, and the chunks that the graph already has of them."""

    extracted: Extracted
    stored: Mapping[str, Sequence[StoredChunk]]

    @property
    def needed(self) -> set[str]:
        """The keys of the extractions that incomplete documents still need."""
        documents = self.extracted.documents
        return extraction_keys(one for one in documents if self.extracted.error_of(one))


@dataclass(slots=True)
class WrittenGroup:
    """The results of writing a group.

    ``settled`` has the keys of extractions that the graph now contains. ``needed`` has the keys of
    extractions that are stored only outside the graph.
    """

    outcomes: list[DocumentOutcome] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)
    settled: set[str] = field(default_factory=set)
    needed: set[str] = field(default_factory=set)
    refusals: list[DatabaseError] = field(default_factory=list)

    def fail(self, document: WantedDocument, error: Exception) -> None:
        """Record why a document is not written."""
        outcome = DocumentOutcome(id=document.id, state="failed", reason=str(error))
        self.outcomes.append(outcome)

    def refuse(self, document: WantedDocument, error: DatabaseError) -> None:
        """Record that the database refused a document."""
        self.fail(document, error)
        self.refusals.append(error)
        self.needed |= extraction_keys([document])

    def wait(self, document: WantedDocument) -> None:
        """Record that a limit ended the ingestion before a document was complete."""
        self.outcomes.append(DocumentOutcome(id=document.id, state="waiting"))


async def write_group(
    order: IngestOrder, tools: IngestTools, writer: Writer, group: ExtractedGroup
) -> WrittenGroup:
    """Publish the complete documents of a group, and return the outcome of each document.

    A document that the database refuses is reported as failed. Raises DatabaseError, also if the
    database refuses each of several documents.
    """
    written = WrittenGroup(needed=group.needed)
    whole: list[WantedDocument] = []
    for document in group.extracted.documents:
        error = group.extracted.error_of(document)
        if error is None:
            whole.append(document)
        elif isinstance(error, StoppedError):
            written.wait(document)
        else:
            written.fail(document, error)
    if whole:
        await _write_together(order, tools, writer, whole, group, written)
    if len(written.refusals) == len(whole) > 1:
        raise written.refusals[0]
    return written


async def _write_together(
    order: IngestOrder,
    tools: IngestTools,
    writer: Writer,
    whole: Sequence[WantedDocument],
    group: ExtractedGroup,
    written: WrittenGroup,
) -> None:
    """Publish documents together, or in halves if the database refuses them."""
    fresh = group.extracted.fresh
    documents = [new_document(order, tools, one, group.extracted) for one in whole]
    held = {id_: group.stored[id_] for document in whole for id_ in document.former}
    try:
        what = await assemble(tools.db, order.graph, documents, held, writer.resolution)
        await publish(tools.db, writer, what)
    except (QueryError, DatabaseMemoryError) as error:
        if len(whole) == 1:
            written.refuse(whole[0], error)
            return
        middle = len(whole) // 2
        await _write_together(order, tools, writer, whole[:middle], group, written)
        await _write_together(order, tools, writer, whole[middle:], group, written)
        return
    written.dropped.update(count_dropped(documents, fresh))
    written.outcomes += [document.outcome(fresh, group.extracted.unproven) for document in whole]
    if not tools.extractor.free:
        written.settled |= extraction_keys(whole)


def new_document(
    order: IngestOrder, tools: IngestTools, document: WantedDocument, extracted: Extracted
) -> NewDocument:
    """Return a document to publish, with extractions reduced to what the schema allows."""
    chunks = [_make_chunk(order, tools, one, extracted) for one in document.chunks]
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


def _make_chunk(
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


def extraction_keys(documents: Iterable[WantedDocument]) -> set[str]:
    """Return the keys of the extractions of some documents."""
    return {chunk.extraction_key for document in documents for chunk in document.chunks}


def count_dropped(documents: Iterable[NewDocument], fresh: Container[str]) -> Counter[str]:
    """Return how many records this ingestion dropped from extractions, by reason.

    ``fresh`` has the keys of the extractions made in this ingestion.
    """
    dropped: Counter[str] = Counter()
    for chunk in (chunk for document in documents for chunk in document.chunks):
        dropped.update(_count_chunk_dropped(chunk, fresh=chunk.extraction_key in fresh))
    return dropped


def _count_chunk_dropped(chunk: NewChunk, *, fresh: bool) -> Counter[str]:
    """Return how many records this ingestion dropped from a chunk's extraction, by reason.

    For an older extraction, only records that the schema now removes count.
    """
    dropped = Counter(chunk.extraction.dropped)
    if not fresh:
        dropped -= Counter((chunk.unpruned or chunk.extraction).dropped)
    return dropped


async def keep_roots(db: Database, writer: Writer, roots: Mapping[str, Sequence[str]]) -> None:
    """Store new folder hashes of documents that are otherwise unchanged.

    Raises LeaseLostError and DatabaseError.
    """
    query = queries.get("documents/publish/set_roots")
    rows = [{"id": id_, "roots": [*hashes]} for id_, hashes in roots.items()]
    for first in range(0, len(rows), MOST_ROWS):
        some = rows[first : first + MOST_ROWS]
        if not await db.write(query, graph=writer.graph, holder=writer.holder, rows=some):
            raise writing_lost_error(writer.graph)
