"""Publishes a large document part by part, in one transaction: a reader sees it old or new."""

from __future__ import annotations

from collections import Counter
from functools import partial

from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.room import BULK_MB
from pgs_neo4j.database.tasks import together
from pgs_neo4j.documents.assemble import assemble
from pgs_neo4j.documents.extract.buying import extract_group
from pgs_neo4j.documents.order import IngestOrder, IngestTools
from pgs_neo4j.documents.publish import NewDocument, publish
from pgs_neo4j.documents.transactions.conversion import count_dropped, new_document
from pgs_neo4j.documents.transactions.groups import ExtractedGroup, WrittenGroup
from pgs_neo4j.documents.transactions.parts import LargeDocument, read_former
from pgs_neo4j.documents.wanted import WantedDocument
from pgs_neo4j.documents.writer import Writer
from pgs_neo4j.errors import DatabaseMemoryError, QueryError, StoppedError

PART_S = 300.0
"""Most seconds for a part of a transaction."""

PART_MB = 64
"""Room on disk for a part: store and log of a made-up corpus took 46 times the size of its text."""


async def extract_large(order: IngestOrder, tools: IngestTools, large: LargeDocument) -> str:
    """Extract all parts of a large document before the first one is published, unless it is free.

    They are kept, not held in memory. Returns the limit that was reached, empty without one.
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
    """Publish a large document if it is whole, and return what became of it.

    If the database has too little memory for one transaction, each part has its own. A document
    that the database refuses is told. Raises DatabaseError.
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
    """Publish the parts in order, and return what was dropped of their extractions.

    The database writes one part while the next one is extracted.
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
    apart = db is tools.db
    await publish(db, writer, what, last=apart or part.part is None or part.part.last)
    return [new]
