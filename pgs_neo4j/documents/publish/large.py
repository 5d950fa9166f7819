"""Divides documents that are too large for one publication, and publishes them part by part.

After each part, the graph equals the fold of its chunks. All parts are extracted before the first
part is published. The parts share a transaction, so a reader sees either the old or the new
document. If the database lacks the memory for this transaction, each part has its own transaction.
Then the document has no hash until the last part is written, so the next ingestion continues an
interrupted one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.server import BULK_MB
from pgs_neo4j.database.tasks import together
from pgs_neo4j.documents.batches import GROUP_BYTES, batches
from pgs_neo4j.documents.extract.buying import extract_group
from pgs_neo4j.documents.order import IngestOrder, IngestTools
from pgs_neo4j.documents.publish.groups import (
    ExtractedGroup,
    WrittenGroup,
    count_dropped,
    extraction_keys,
    new_document,
)
from pgs_neo4j.documents.publish.publication import NewDocument, assemble, publish
from pgs_neo4j.documents.publish.writer import Writer
from pgs_neo4j.documents.stored import StoredChunk, read_chunk_ids, read_chunks, read_some_chunks
from pgs_neo4j.documents.wanted import WantedChunk, WantedDocument
from pgs_neo4j.errors import DatabaseMemoryError, ModelError, QueryError, StoppedError
from pgs_neo4j.llm.calls.outcome import ends_calls
from pgs_neo4j.model.ingest import DocumentOutcome

PART_BYTES = GROUP_BYTES // 2
"""Bytes of text per part. Two parts are in memory at a time. Without a model, a part needs about
150 times the size of its text."""
PART_S = 300.0
"""Maximum seconds of a transaction, for each part."""
PART_MB = 64
"""Megabytes of disk to reserve for a part. In a test corpus, store and log took 46 times the size
of the text."""


@dataclass(slots=True)
class LargeDocument:
    """A document whose parts are published one after another, and the results so far.

    ``gone`` has the ids of stored chunks to delete. ``error`` says why the document cannot be
    published. ``told`` has the hashes of the schemas given to the extractor, and ``fresh`` has the
    keys of new extractions. ``unproven`` has the ids of chunks without proof that the model read
    them completely.
    """

    document: WantedDocument
    pieces: Sequence[Sequence[WantedChunk]]
    gone: list[str] = field(default_factory=list)
    error: Exception | None = None
    told: set[str] = field(default_factory=set)
    fresh: set[str] = field(default_factory=set)
    unproven: set[str] = field(default_factory=set)

    @property
    def ended(self) -> ModelError | None:
        """The failure that would make every other call fail, None without a failure."""
        error = self.error
        return error if isinstance(error, ModelError) and ends_calls(error) else None

    @property
    def needed(self) -> set[str]:
        """The keys of the document's extractions, which are stored and not kept in memory."""
        return extraction_keys([self.document])

    @property
    def parts(self) -> Iterator[WantedDocument]:
        """The parts of the document; the last part also removes the document's former version."""
        for number, chunks in enumerate(self.pieces):
            part = DocumentPart(self, number)
            former = self.document.former if part.last else self.document.former[:1]
            yield replace(self.document, chunks=chunks, former=former, part=part)


@dataclass(frozen=True, slots=True)
class DocumentPart:
    """A part of a large document; ``number`` counts from 0."""

    large: LargeDocument
    number: int

    @property
    def last(self) -> bool:
        """Whether this part is the last part of the document."""
        return self.number == len(self.large.pieces) - 1

    @property
    def after(self) -> str:
        """The id of the chunk before this part, empty for the first part."""
        return self.large.pieces[self.number - 1][-1].id if self.number else ""

    @property
    def gone(self) -> list[str]:
        """The ids of the stored chunks to delete with this part: the part's share of all of them.

        If the document only moved, these chunks have the same texts as the new chunks of the part.
        """
        sizes = [len(chunks) for chunks in self.large.pieces]
        first, last = (sum(sizes[:number]) for number in (self.number, self.number + 1))
        gone, total = self.large.gone, sum(sizes)
        return gone[len(gone) * first // total : len(gone) * last // total]


def text_size(document: WantedDocument) -> int:
    """Return the size of a document or the size of its text, whichever is larger.

    The text of a packed file is larger than the file.
    """
    return max(document.size, sum(len(chunk.chunk.text) for chunk in document.chunks))


def divide_document(document: WantedDocument) -> Iterator[WantedDocument]:
    """Yield the parts of a document, or the document itself if it is small enough."""
    if text_size(document) <= GROUP_BYTES:
        yield document
        return
    pieces = [
        *batches(document.chunks, len(document.chunks), PART_BYTES, lambda one: len(one.chunk.text))
    ]
    if len(pieces) < 2:
        yield document
    else:
        yield from LargeDocument(document, pieces).parts


async def extract_large(order: IngestOrder, tools: IngestTools, large: LargeDocument) -> str:
    """Extract all parts of a large document, unless extracting is free.

    The extractions are stored, not kept in memory. Returns the limit that was reached, or "".
    """
    if tools.extractor.free:
        return ""
    for part in large.parts:
        stored = await read_former(tools.db, order.graph, [part])
        extracted = await extract_group(order, tools, [part], stored)
        large.fresh |= extracted.fresh
        large.unproven |= extracted.unproven
        error = extracted.error_of(extracted.documents[0])
        if extracted.stopped or extracted.ended:
            large.error = extracted.ended or error
            return extracted.stopped
        large.error = large.error or error
    return ""


async def write_large(
    order: IngestOrder, tools: IngestTools, writer: Writer, large: LargeDocument
) -> WrittenGroup:
    """Publish a large document if it is complete, and return its outcome.

    If the database has too little memory for one transaction, each part has its own. A document
    that the database refuses is reported as failed. Raises DatabaseError.
    """
    document, written = large.document, WrittenGroup()
    if large.error is not None:
        written.needed = large.needed
        if isinstance(large.error, StoppedError):
            written.wait(document)
        else:
            written.fail(document, large.error)
        return written
    write = partial(_write_parts, order, tools, writer, large)
    try:
        try:
            count = len(large.pieces)
            room_mb = BULK_MB + PART_MB * count
            written.dropped = await tools.db.transact(write, PART_S * count, room_mb)
        except DatabaseMemoryError:
            written.dropped = await write(tools.db)
    except (QueryError, DatabaseMemoryError) as error:
        written.refuse(document, error)
        return written
    written.outcomes.append(document.outcome(large.fresh, large.unproven))
    if not tools.extractor.free:
        written.settled = large.needed
    return written


async def _write_parts(
    order: IngestOrder, tools: IngestTools, writer: Writer, large: LargeDocument, db: Database
) -> Counter[str]:
    """Publish the parts in order, and return the counts of dropped records by reason.

    The database writes one part while the next part is extracted.
    """
    dropped: Counter[str] = Counter()
    parts = large.parts
    ready = await _extract_part(order, tools, large, next(parts, None))
    while ready is not None:
        following, documents = await together(
            _extract_part(order, tools, large, next(parts, None)),
            _publish_part(order, tools, writer, ready, db),
        )
        dropped.update(count_dropped(documents, large.fresh))
        ready = following
    return dropped


async def _extract_part(
    order: IngestOrder, tools: IngestTools, large: LargeDocument, part: WantedDocument | None
) -> ExtractedGroup | None:
    if part is None:
        return None
    stored = await read_former(tools.db, order.graph, [part])
    extracted = await extract_group(order, tools, [part], stored)
    large.fresh |= extracted.fresh
    large.unproven |= extracted.unproven
    return ExtractedGroup(extracted, stored)


async def _publish_part(
    order: IngestOrder, tools: IngestTools, writer: Writer, group: ExtractedGroup, db: Database
) -> list[NewDocument]:
    (part,) = group.extracted.documents
    new = new_document(order, tools, part, group.extracted)
    what = await assemble(db, order.graph, [new], group.stored, writer.resolution)
    separate = db is tools.db
    await publish(db, writer, what, last=separate or part.part is None or part.part.last)
    return [new]


async def read_former(
    db: Database, graph: str, group: Sequence[WantedDocument]
) -> Mapping[str, Sequence[StoredChunk]]:
    """Return the stored chunks that a group replaces or keeps, by document.

    Raises DatabaseError.
    """
    part = group[0].part if group else None
    if part is None:
        return await read_chunks(db, graph, [id_ for one in group for id_ in one.former])
    (document,) = group
    if not part.number:
        whole = part.large.document
        coming = {chunk.id for chunk in whole.chunks}
        stored = await read_chunk_ids(db, graph, whole.former)
        part.large.gone = [id_ for id_ in stored if id_ not in coming]
    ids = [*part.gone, *(chunk.id for chunk in document.chunks)]
    empty: dict[str, list[StoredChunk]] = {id_: [] for id_ in document.former}
    return {**empty, document.id: await read_some_chunks(db, graph, ids)}


def join_outcomes(outcomes: list[DocumentOutcome], others: Sequence[DocumentOutcome]) -> None:
    """Append ``others`` to ``outcomes``, and merge consecutive outcomes of the same document."""
    for one in others:
        if outcomes and outcomes[-1].id == one.id:
            former = outcomes.pop()
            worse = former if former.state in ("failed", "waiting") else one
            chunks, extracted = former.chunks + one.chunks, former.extracted + one.extracted
            unproven = former.unproven + one.unproven
            one = replace(  # noqa: PLW2901
                worse, chunks=chunks, extracted=extracted, unproven=unproven
            )
        outcomes.append(one)
