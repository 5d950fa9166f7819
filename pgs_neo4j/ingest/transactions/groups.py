"""Publishes a group of documents; one that the database refuses leaves the others alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pgs_neo4j.errors import DatabaseError, DatabaseMemoryError, QueryError, StoppedError
from pgs_neo4j.ingest.assemble import assemble
from pgs_neo4j.ingest.extract.buying import Extracted
from pgs_neo4j.ingest.order import IngestOrder, IngestTools
from pgs_neo4j.ingest.publish import NewChunk, NewDocument, publish
from pgs_neo4j.ingest.stored import StoredChunk
from pgs_neo4j.ingest.transactions.parts import DocumentPart
from pgs_neo4j.ingest.wanted import WantedChunk, WantedDocument
from pgs_neo4j.ingest.writer import Writer
from pgs_neo4j.model.ingest import DocumentOutcome
from pgs_neo4j.text.extraction.definitions import add_definitions
from pgs_neo4j.text.extraction.schema import prune


@dataclass(frozen=True, slots=True)
class ExtractedGroup:
    """Documents with their extractions, and the chunks that the graph holds of them."""

    extracted: Extracted
    stored: Mapping[str, Sequence[StoredChunk]]

    @property
    def needed(self) -> set[str]:
        """The keys of extractions that documents which are not whole still need."""
        documents = self.extracted.documents
        return _keys(one for one in documents if self.extracted.error_of(one))


@dataclass(slots=True)
class WrittenGroup:
    """What became of a group.

    ``settled`` are the keys of extractions that the graph has by now, and ``needed`` of those that
    only stored replies have.
    """

    outcomes: list[DocumentOutcome] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)
    settled: set[str] = field(default_factory=set)
    needed: set[str] = field(default_factory=set)
    refusals: list[DatabaseError] = field(default_factory=list)

    def fail(self, document: WantedDocument, error: Exception) -> None:
        """Note why a document is not written."""
        outcome = DocumentOutcome(id=document.id, state="failed", reason=str(error))
        self.outcomes.append(outcome)

    def refuse(self, document: WantedDocument, error: DatabaseError) -> None:
        """Note that the database does not take a document."""
        self.fail(document, error)
        self.refusals.append(error)
        self.needed |= _keys([document])
        if document.part:
            document.part.large.error = error


async def write_group(
    order: IngestOrder, tools: IngestTools, writer: Writer, group: ExtractedGroup
) -> WrittenGroup:
    """Publish the documents of a group that are whole, and return what became of each.

    A document that the database refuses is told. Raises DatabaseError, also if it refuses all of
    several documents.
    """
    written = WrittenGroup(needed=group.needed)
    whole: list[WantedDocument] = []
    for document in group.extracted.documents:
        error = _fault_of(document, group.extracted)
        if error is None:
            whole.append(document)
        elif isinstance(error, StoppedError):
            written.outcomes.append(DocumentOutcome(id=document.id, state="waiting"))
        else:
            written.fail(document, error)
    if whole:
        await _write(order, tools, writer, whole, group, written)
    if len(written.refusals) == len(whole) > 1:
        raise written.refusals[0]
    return written


def _fault_of(document: WantedDocument, extracted: Extracted) -> Exception | None:
    """Return why a document is not whole, also if another part of it is not."""
    error = extracted.error_of(document)
    if document.part is None:
        return error
    large = document.part.large
    large.error = large.error or error
    return large.error


async def _write(
    order: IngestOrder,
    tools: IngestTools,
    writer: Writer,
    whole: Sequence[WantedDocument],
    group: ExtractedGroup,
    written: WrittenGroup,
) -> None:
    """Publish documents together; if the database refuses that, in halves."""
    part = whole[0].part
    fresh = group.extracted.fresh | (part.large.fresh if part else set())
    documents = [_new_document(order, tools, one, group.extracted) for one in whole]
    held = {id_: group.stored[id_] for document in whole for id_ in document.former}
    try:
        what = await assemble(tools.db, order.graph, documents, held, writer.resolution)
        await publish(tools.db, writer, what)
    except (QueryError, DatabaseMemoryError) as error:
        if len(whole) == 1:
            written.refuse(whole[0], error)
            return
        middle = len(whole) // 2
        await _write(order, tools, writer, whole[:middle], group, written)
        await _write(order, tools, writer, whole[middle:], group, written)
        return
    for chunk in (chunk for document in documents for chunk in document.chunks):
        written.dropped.update(_dropped(chunk, fresh=chunk.extraction_key in fresh))
    written.outcomes += [document.outcome(fresh) for document in whole]
    if not tools.extractor.free:
        written.settled |= _settle(part, _keys(whole))


def _settle(part: DocumentPart | None, keys: set[str]) -> set[str]:
    """Return the keys that may be forgotten: of a part, none before its document is whole."""
    if part is None:
        return keys
    part.large.settled |= keys
    return part.large.settled if part.last else set()


def _keys(documents: Iterable[WantedDocument]) -> set[str]:
    return {chunk.extraction_key for document in documents for chunk in document.chunks}


def _dropped(chunk: NewChunk, *, fresh: bool) -> Counter[str]:
    """Return what was dropped of a chunk's extraction in this ingestion, by reason."""
    dropped = Counter(chunk.extraction.dropped)
    if not fresh:
        dropped -= Counter((chunk.unpruned or chunk.extraction).dropped)
    return dropped


def _new_document(
    order: IngestOrder, tools: IngestTools, document: WantedDocument, extracted: Extracted
) -> NewDocument:
    """Return a document as the graph is to hold it: what the schema allows of each chunk."""
    chunks = [_new_chunk(order, tools, one, extracted) for one in document.chunks]
    part = document.part
    told = {wanted.bases[0].told for wanted in document.chunks} - {""}
    if part:
        part.large.told |= told
    return NewDocument(
        id=document.id,
        properties={
            "name": document.name,
            "source": document.source,
            "loader": type(tools.loader).__name__,
            "media_type": document.media_type,
            "hash": "" if part and not part.last else document.hash,
            "rules": document.rules,
            "signature": tools.extractor.signature,
            "chunks": len(part.large.document.chunks if part else chunks),
            "size": document.size,
            "label": order.label,
            "schema": order.schema.signature,
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
