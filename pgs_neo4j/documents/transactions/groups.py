"""Publishes a group of documents; one that the database refuses leaves the others alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pgs_neo4j.documents.assemble import assemble
from pgs_neo4j.documents.extract.buying import Extracted
from pgs_neo4j.documents.order import IngestOrder, IngestTools
from pgs_neo4j.documents.publish import publish
from pgs_neo4j.documents.stored import StoredChunk
from pgs_neo4j.documents.transactions.conversion import count_dropped, extraction_keys, new_document
from pgs_neo4j.documents.wanted import WantedDocument
from pgs_neo4j.documents.writer import Writer
from pgs_neo4j.errors import DatabaseError, DatabaseMemoryError, QueryError, StoppedError
from pgs_neo4j.model.ingest import DocumentOutcome


@dataclass(frozen=True, slots=True)
class ExtractedGroup:
    """Documents with their extractions, and the chunks that the graph holds of them."""

    extracted: Extracted
    stored: Mapping[str, Sequence[StoredChunk]]

    @property
    def needed(self) -> set[str]:
        """The keys of extractions that documents which are not whole still need."""
        documents = self.extracted.documents
        return extraction_keys(one for one in documents if self.extracted.error_of(one))


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
        self.needed |= extraction_keys([document])

    def wait(self, document: WantedDocument) -> None:
        """Note that a limit ended the ingestion before a document was whole."""
        self.outcomes.append(DocumentOutcome(id=document.id, state="waiting"))


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
        error = group.extracted.error_of(document)
        if error is None:
            whole.append(document)
        elif isinstance(error, StoppedError):
            written.wait(document)
        else:
            written.fail(document, error)
    if whole:
        await _write(order, tools, writer, whole, group, written)
    if len(written.refusals) == len(whole) > 1:
        raise written.refusals[0]
    return written


async def _write(
    order: IngestOrder,
    tools: IngestTools,
    writer: Writer,
    whole: Sequence[WantedDocument],
    group: ExtractedGroup,
    written: WrittenGroup,
) -> None:
    """Publish documents together; if the database refuses that, in halves."""
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
        await _write(order, tools, writer, whole[:middle], group, written)
        await _write(order, tools, writer, whole[middle:], group, written)
        return
    written.dropped.update(count_dropped(documents, fresh))
    written.outcomes += [document.outcome(fresh, group.extracted.unproven) for document in whole]
    if not tools.extractor.free:
        written.settled |= extraction_keys(whole)
