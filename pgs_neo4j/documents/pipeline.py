"""Ingests files: compares, extracts what is new, folds, and publishes group by group."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from time import perf_counter

from pgs_neo4j.database.tasks import together
from pgs_neo4j.documents.batches import GROUP_BYTES, GROUP_DOCUMENTS
from pgs_neo4j.documents.compare import Compared, compare
from pgs_neo4j.documents.deletion.delete import delete_documents, read_begun
from pgs_neo4j.documents.enrich.describe import EntitiesDescribed, describe_waiting
from pgs_neo4j.documents.enrich.embed import TextsEmbedded, embed_waiting
from pgs_neo4j.documents.enrich.judging import NamesJudged, judge_names
from pgs_neo4j.documents.extract.buying import extract_group
from pgs_neo4j.documents.extract.kept import forget_extractions
from pgs_neo4j.documents.loading.load import refuse_loaded
from pgs_neo4j.documents.names.renewal import hold_resolved
from pgs_neo4j.documents.order import IngestOrder, IngestTools
from pgs_neo4j.documents.publish.groups import ExtractedGroup, WrittenGroup, keep_roots, write_group
from pgs_neo4j.documents.publish.large import (
    LargeDocument,
    divide_document,
    extract_large,
    read_former,
    text_size,
    write_large,
)
from pgs_neo4j.documents.publish.publication import prepare
from pgs_neo4j.documents.publish.writer import Writer
from pgs_neo4j.documents.schemas import in_use, keep_schemas
from pgs_neo4j.documents.stored import read_documents
from pgs_neo4j.documents.wanted import WantedDocument
from pgs_neo4j.errors import ModelError
from pgs_neo4j.events import Progressed
from pgs_neo4j.model.ingest import Deletion, DocumentOutcome, Ingested
from pgs_neo4j.telemetry import spans
from pgs_neo4j.telemetry.spans import SpanNotes, start_span


@dataclass(slots=True)
class _Tally:
    """What happened so far."""

    outcomes: list[DocumentOutcome] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)
    described: EntitiesDescribed = field(default_factory=EntitiesDescribed)
    judged: NamesJudged = field(default_factory=NamesJudged)
    embedded: TextsEmbedded = field(default_factory=TextsEmbedded)
    deletion: Deletion | None = None
    stopped: str = ""
    ended: ModelError | None = None

    @property
    def whole(self) -> bool:
        """Whether all that was bought is in the graph."""
        failed = any(outcome.state == "failed" for outcome in self.outcomes)
        return not (failed or self.stopped or self.described.ended)


async def ingest(order: IngestOrder, tools: IngestTools) -> Ingested:
    """Make the documents of a graph equal to their files, and return what became of each.

    A document that cannot be read or extracted is told, and leaves the others alone. A limit ends
    the ingestion; what was extracted by then is kept. Raises ModelError if its calls would all fail
    alike, as with a refused key: what is whole is published, and nothing is deleted. Raises
    BusyError while another process writes these documents, UsageError if the graph was loaded from
    a file, and DatabaseError.
    """
    began, tally = perf_counter(), _Tally()
    await prepare(tools.db)
    describer = tools.describer.signature if tools.describer else ""
    resolved = hold_resolved(tools.db, order.graph, order.label, describer, tools.resolver)
    async with resolved as writer:
        tools.keeper.holder = writer.holder
        await refuse_loaded(tools.db, order.graph)
        writer.types.reserve(order.schema.types)
        stored = await read_documents(tools.db, order.graph)
        schemas = [order.schema, order.schema.told, *in_use(stored, order.schemas)]
        await keep_schemas(tools.db, writer, schemas)
        compared, wanted = compare(order, tools.loader, stored, tools.extractor, tools.chunker)
        async with (
            aclosing(wanted),
            aclosing(group_documents(wanted)) as groups,
            aclosing(_write_groups(order, tools, writer, groups, tally)) as written,
        ):
            async for _ in written:
                _tell(order, tools, len(compared.outcomes) + len(tally.outcomes))
        if tally.ended is not None:
            raise tally.ended
        tally.stopped = tally.stopped or compared.stopped
        _tell(order, tools, len(compared.outcomes) + len(tally.outcomes))
        await keep_roots(tools.db, writer, compared.rooted)
        await _sync(order, tools, writer, compared, tally)
        await _judge(tools, writer, tally)
        await _describe(tools, writer, tally)
        await _embed(tools, writer, tally)
        await _judge_near(tools, writer, tally)
        if not tools.extractor.free and tally.whole:
            await tools.keeper.forget_replies()
    return _result(order, tools, compared, tally, perf_counter() - began)


def _result(
    order: IngestOrder, tools: IngestTools, compared: Compared, tally: _Tally, seconds: float
) -> Ingested:
    described, judged, embedded = tally.described, tally.judged, tally.embedded
    return Ingested(
        graph=order.graph,
        label=order.label,
        outcomes=compared.all_outcomes(order, tally.outcomes, stopped=bool(tally.stopped)),
        skipped=order.sources.skipped,
        dropped=dict(tally.dropped),
        described=described.entities,
        undescribed=described.waiting,
        undescribed_why=described.why,
        judged=judged.pairs,
        joined=judged.same,
        unjudged=judged.waiting,
        unjudged_why=judged.why,
        unjudged_places=judged.refused,
        embedded=embedded.texts,
        embedded_unproven=embedded.unproven,
        embedding_notes=embedded.notes,
        unembedded=embedded.waiting,
        unembedded_why=embedded.why,
        unembedded_places=embedded.places,
        uncounted=tools.calls.uncounted,
        usage=tools.calls.usage,
        cost=tools.calls.settled().cost,
        seconds=seconds,
        stopped=tally.stopped or judged.stopped or described.stopped or embedded.stopped,
        deletion=tally.deletion,
    )


async def _sync(
    order: IngestOrder, tools: IngestTools, writer: Writer, compared: Compared, tally: _Tally
) -> None:
    """Delete the documents whose files are gone, if that is wanted and known.

    A deletion that broke off is continued.
    """
    if not order.sync or tally.stopped:
        return
    if not compared.missing and not (await read_begun(tools.db, order.graph)).uids:
        return
    with _step("delete", len(compared.missing)):
        tally.deletion = await delete_documents(
            tools.db,
            writer,
            [*compared.missing.values()],
            forget_answers=order.forget,
            on_event=tools.on_event,
        )


async def _write_groups(
    order: IngestOrder,
    tools: IngestTools,
    writer: Writer,
    groups: AsyncIterator[list[WantedDocument]],
    tally: _Tally,
) -> AsyncGenerator[None]:
    """Extract and publish groups, and yield after each.

    The database writes one group while the next one is extracted.
    """
    ready = await _extract_next(order, tools, groups, tally)
    while ready is not None:
        following, written = await together(
            _extract_next(order, tools, groups, tally),
            _publish(order, tools, writer, ready),
        )
        tally.outcomes += written.outcomes
        tally.dropped.update(written.dropped)
        # Only now, so that what the next group repeats is always known to it.
        needed = written.needed | (following.needed if following else set())
        await forget_extractions(tools.db, order.graph, written.settled - needed)
        ready = following
        yield


async def _publish(
    order: IngestOrder,
    tools: IngestTools,
    writer: Writer,
    ready: ExtractedGroup | LargeDocument,
) -> WrittenGroup:
    if isinstance(ready, LargeDocument):
        with _step("publish", 1):
            return await write_large(order, tools, writer, ready)
    with _step("publish", len(ready.extracted.documents)):
        return await write_group(order, tools, writer, ready)


def _step(step: str, documents: int | None = None) -> SpanNotes:
    """Return the span of a step; the calls and statements within are its children."""
    return start_span(spans.step_name(step), {spans.DOCUMENTS: documents}, current=True)


async def _describe(tools: IngestTools, writer: Writer, tally: _Tally) -> None:
    """Describe the entities that wait for it, also those of former ingestions."""
    describer, limit = tools.describer, tools.calls.scheduler.limit.ceiling
    if describer is not None and not (tally.stopped or tally.judged.stopped):
        with _step("describe") as span:
            described = await describe_waiting(tools.db, writer, describer, limit, tools.on_event)
            span.note({spans.ENTITIES: described.entities})
        entities = tally.described.entities + described.entities
        tally.described = replace(described, entities=entities)


async def _judge(tools: IngestTools, writer: Writer, tally: _Tally) -> None:
    """Have close names judged, if that is wanted."""
    if tools.arbiter is None or tally.stopped:
        return
    limit = tools.calls.scheduler.limit.ceiling
    with _step("judge"):
        judged = await judge_names(tools.db, writer, tools.arbiter, limit, tools.on_event)
    pairs, same = tally.judged.pairs + judged.pairs, tally.judged.same + judged.same
    tally.judged = replace(judged, pairs=pairs, same=same)


async def _judge_near(tools: IngestTools, writer: Writer, tally: _Tally) -> None:
    """Have names judged that new vectors show to be near, and renew what that changes."""
    joined = tally.judged.same
    if tally.embedded.made and tally.whole and not tally.judged.ended:
        await _judge(tools, writer, tally)
    if tally.judged.same > joined:
        await _describe(tools, writer, tally)
        await _embed(tools, writer, tally)


async def _embed(tools: IngestTools, writer: Writer, tally: _Tally) -> None:
    """Embed the texts without a vector, also those of former ingestions."""
    stopped = tally.stopped or tally.described.stopped
    with _step("embed") as span:
        embedded = await embed_waiting(tools, writer, stopped=stopped)
        span.note({spans.TEXTS: embedded.made})
    former = tally.embedded
    tally.embedded = replace(
        embedded,
        texts=former.texts + embedded.texts,
        unproven=former.unproven + embedded.unproven,
        notes=(*former.notes, *embedded.notes),
    )


def _tell(order: IngestOrder, tools: IngestTools, done: int) -> None:
    expected = max(done, len(order.sources.listed))
    tools.on_event(Progressed("ingest", done, expected, "documents"))


async def group_documents(
    documents: AsyncIterator[WantedDocument],
) -> AsyncGenerator[list[WantedDocument]]:
    """Yield the documents that one transaction publishes. One that is larger comes in parts."""
    group: list[WantedDocument] = []
    size = 0
    async for document in documents:
        own = text_size(document)
        if group and (len(group) == GROUP_DOCUMENTS or size + own > GROUP_BYTES):
            yield group
            group, size = [], 0
        parts = [*divide_document(document)]
        if len(parts) > 1:
            for part in parts:
                yield [part]
        else:
            group.append(document)
            size += own
    if group:
        yield group


async def _extract_next(
    order: IngestOrder,
    tools: IngestTools,
    groups: AsyncIterator[list[WantedDocument]],
    tally: _Tally,
) -> ExtractedGroup | LargeDocument | None:
    """Extract what is new in the next group; None after the last one, a limit, or an end."""
    if tally.stopped or tally.ended:
        return None
    while group := await _read_next(groups):
        part = group[0].part
        if part is None:
            with _step("extract", len(group)):
                stored = await read_former(tools.db, order.graph, group)
                extracted = await extract_group(order, tools, group, stored)
            tally.stopped = tally.stopped or extracted.stopped
            tally.ended = extracted.ended
            return ExtractedGroup(extracted, stored)
        if not part.number:  # it stands for all parts
            with _step("extract", 1):
                tally.stopped = await extract_large(order, tools, part.large) or tally.stopped
                tally.ended = part.large.ended
            return part.large
    return None


async def _read_next(groups: AsyncIterator[list[WantedDocument]]) -> list[WantedDocument] | None:
    with _step("read") as span:
        group = await anext(groups, None)
        span.note({spans.DOCUMENTS: len(group or ())})
    return group
