"""Ingests files: compares them with the graph, extracts new text, and publishes it in groups."""

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
from pgs_neo4j.documents.names.renewal import hold_with_resolved_names
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
    """The results of an ingestion so far."""

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
        """Whether the graph contains the results of all paid calls."""
        failed = any(outcome.state == "failed" for outcome in self.outcomes)
        return not (failed or self.stopped or self.described.ended)


async def ingest(order: IngestOrder, tools: IngestTools) -> Ingested:
    """Make the documents of a graph equal to their files, and return the outcome of each.

    A document that cannot be read or extracted is reported, and does not affect other documents. A
    limit ends the ingestion, but all extractions so far are kept. Raises ModelError if all further
    calls would fail in the same way, for example if the API key is refused. In this case, complete
    documents are published, and no documents are deleted. Raises BusyError while another process
    writes these documents, UsageError if the graph was loaded from a file, and DatabaseError.
    """
    began, tally = perf_counter(), _Tally()
    await prepare(tools.db)
    describer = tools.describer.signature if tools.describer else ""
    resolved = hold_with_resolved_names(
        tools.db, order.graph, order.label, describer, tools.resolver
    )
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
                _report_progress(order, tools, len(compared.outcomes) + len(tally.outcomes))
        if tally.ended is not None:
            raise tally.ended
        tally.stopped = tally.stopped or compared.stopped
        _report_progress(order, tools, len(compared.outcomes) + len(tally.outcomes))
        await keep_roots(tools.db, writer, compared.rooted)
        await _delete_missing(order, tools, writer, compared, tally)
        # Merged names need only one description, so names are judged first. Vectors are made last,
        # because the text to embed for an entity includes its description.
        await _judge_close_names(tools, writer, tally)
        await _describe_entities(tools, writer, tally)
        await _embed_texts(tools, writer, tally)
        await _judge_near_names(tools, writer, tally)
        if not tools.extractor.free and tally.whole:
            await tools.keeper.forget_replies()
    return _make_result(order, tools, compared, tally, perf_counter() - began)


def _make_result(
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


async def _delete_missing(
    order: IngestOrder, tools: IngestTools, writer: Writer, compared: Compared, tally: _Tally
) -> None:
    """Delete documents whose files are gone, if the order asks for it and no limit was reached.

    An interrupted deletion is continued.
    """
    if not order.sync or tally.stopped:
        return
    if not compared.missing and not (await read_begun(tools.db, order.graph)).uids:
        return
    with _start_step("delete", len(compared.missing)):
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
    """Extract and publish groups, and yield after each group.

    The database writes one group while the next group is extracted.
    """
    ready = await _extract_next(order, tools, groups, tally)
    while ready is not None:
        following, written = await together(
            _extract_next(order, tools, groups, tally),
            _publish_group(order, tools, writer, ready),
        )
        tally.outcomes += written.outcomes
        tally.dropped.update(written.dropped)
        # Stored extractions are deleted only now, because the next group may contain the same text.
        needed = written.needed | (following.needed if following else set())
        await forget_extractions(tools.db, order.graph, written.settled - needed)
        ready = following
        yield


async def _publish_group(
    order: IngestOrder,
    tools: IngestTools,
    writer: Writer,
    ready: ExtractedGroup | LargeDocument,
) -> WrittenGroup:
    if isinstance(ready, LargeDocument):
        with _start_step("publish", 1):
            return await write_large(order, tools, writer, ready)
    with _start_step("publish", len(ready.extracted.documents)):
        return await write_group(order, tools, writer, ready)


def _start_step(step: str, documents: int | None = None) -> SpanNotes:
    """Start the span of a step; calls and statements in this step become its children."""
    return start_span(spans.step_name(step), {spans.DOCUMENTS: documents}, current=True)


async def _describe_entities(tools: IngestTools, writer: Writer, tally: _Tally) -> None:
    """Describe all entities that wait for a description, including those of earlier ingestions."""
    describer, limit = tools.describer, tools.calls.scheduler.limit.ceiling
    if describer is not None and not (tally.stopped or tally.judged.stopped):
        with _start_step("describe") as span:
            described = await describe_waiting(tools.db, writer, describer, limit, tools.on_event)
            span.note({spans.ENTITIES: described.entities})
        entities = tally.described.entities + described.entities
        tally.described = replace(described, entities=entities)


async def _judge_close_names(tools: IngestTools, writer: Writer, tally: _Tally) -> None:
    """Let the arbiter judge close names, if there is one."""
    if tools.arbiter is None or tally.stopped:
        return
    limit = tools.calls.scheduler.limit.ceiling
    with _start_step("judge"):
        judged = await judge_names(tools.db, writer, tools.arbiter, limit, tools.on_event)
    pairs, same = tally.judged.pairs + judged.pairs, tally.judged.same + judged.same
    tally.judged = replace(judged, pairs=pairs, same=same)


async def _judge_near_names(tools: IngestTools, writer: Writer, tally: _Tally) -> None:
    """Judge names that are close by their new vectors, then update descriptions and vectors."""
    joined = tally.judged.same
    if tally.embedded.made and tally.whole and not tally.judged.ended:
        await _judge_close_names(tools, writer, tally)
    if tally.judged.same > joined:
        await _describe_entities(tools, writer, tally)
        await _embed_texts(tools, writer, tally)


async def _embed_texts(tools: IngestTools, writer: Writer, tally: _Tally) -> None:
    """Embed all texts without a vector, including those of earlier ingestions."""
    stopped = tally.stopped or tally.described.stopped
    with _start_step("embed") as span:
        embedded = await embed_waiting(tools, writer, stopped=stopped)
        span.note({spans.TEXTS: embedded.made})
    former = tally.embedded
    tally.embedded = replace(
        embedded,
        texts=former.texts + embedded.texts,
        unproven=former.unproven + embedded.unproven,
        notes=(*former.notes, *embedded.notes),
    )


def _report_progress(order: IngestOrder, tools: IngestTools, done: int) -> None:
    expected = max(done, len(order.sources.listed))
    tools.on_event(Progressed("ingest", done, expected, "documents"))


async def group_documents(
    documents: AsyncIterator[WantedDocument],
) -> AsyncGenerator[list[WantedDocument]]:
    """Yield groups of documents for one transaction each; a larger document is yielded in parts."""
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
    """Extract the new text of the next group.

    Returns None after the last group, after a limit, and after a failure that would make all
    further calls fail.
    """
    if tally.stopped or tally.ended:
        return None
    while group := await _read_next(groups):
        part = group[0].part
        if part is None:
            with _start_step("extract", len(group)):
                stored = await read_former(tools.db, order.graph, group)
                extracted = await extract_group(order, tools, group, stored)
            tally.stopped = tally.stopped or extracted.stopped
            tally.ended = extracted.ended
            return ExtractedGroup(extracted, stored)
        if not part.number:  # The first part triggers the extraction of all parts.
            with _start_step("extract", 1):
                tally.stopped = await extract_large(order, tools, part.large) or tally.stopped
                tally.ended = part.large.ended
            return part.large
    return None


async def _read_next(groups: AsyncIterator[list[WantedDocument]]) -> list[WantedDocument] | None:
    with _start_step("read") as span:
        group = await anext(groups, None)
        span.note({spans.DOCUMENTS: len(group or ())})
    return group
