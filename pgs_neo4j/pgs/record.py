"""Begins or resumes a run, and holds its record."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.config import stored as stored_config
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.driver_errors import TRIED_ENOUGH
from pgs_neo4j.database.holder import Holder
from pgs_neo4j.database.schema import ensure_schema
from pgs_neo4j.errors import (
    BusyError,
    DatabaseError,
    StoredDataError,
    UsageError,
)
from pgs_neo4j.events import RunStarted
from pgs_neo4j.llm.calls.calls import Calls
from pgs_neo4j.llm.calls.ledger import Spent
from pgs_neo4j.llm.calls.replies import Replies
from pgs_neo4j.model import Drift
from pgs_neo4j.pgs.order import RunOrder, RunTools, check_texts
from pgs_neo4j.pgs.partitioning.drift import check_drift
from pgs_neo4j.pgs.partitioning.ensure import ensure_partitions
from pgs_neo4j.pgs.partitioning.kept_settings import describe_ignored
from pgs_neo4j.pgs.partitioning.order import PartitionOrder, PartitionTools
from pgs_neo4j.pgs.partitioning.result import Partitioning, read_current, read_generation
from pgs_neo4j.pgs.refusals import check_unread_left
from pgs_neo4j.pgs.runs import keys, runs, session
from pgs_neo4j.pgs.runs.recording import Recording, hold_record
from pgs_neo4j.pgs.runs.runs import Handle, StoredRun
from pgs_neo4j.search.space import QuestionVector
from pgs_neo4j.telemetry import spans
from pgs_neo4j.telemetry.spans import Attributes, SpanNotes, start_span
from pgs_neo4j.text.shown import counted

ATTEMPTS = 3  # attempts to begin a run on a generation before a repartitioning replaces it


@dataclass(frozen=True, slots=True)
class Prepared:
    """Current partitions, and the question's vector if it exists already."""

    partitioning: Partitioning
    vector: QuestionVector | None = None


@dataclass(slots=True)
class RunRecord:
    """A run in the database; its generation is not deleted before the run ends.

    ``routing`` is the routing of a resumed run as JSON, None if the run had no routing when it
    stopped.
    """

    recording: Recording
    prepared: Prepared
    replies: Replies
    routing: str | None = None

    @property
    def db(self) -> Database:
        """The database that stores the record."""
        return self.recording.db

    @property
    def handle(self) -> Handle:
        """The run's id, and the holder that may write its record."""
        return self.recording.handle

    @property
    def id(self) -> str:
        """The id of the run."""
        return self.handle.id

    @property
    def before(self) -> Spent:
        """The amount that a resumed run had spent before it was resumed."""
        return self.recording.before

    @property
    def partitioning(self) -> Partitioning:
        """The partitions that the run reads."""
        return self.prepared.partitioning


async def prepare(order: RunOrder, tools: RunTools) -> Prepared:
    """Phase 0: check the session, then return up-to-date partitions.

    Raises NoTextError when no node has text.
    """
    began = perf_counter()
    await _check_session(order, tools)
    partitioning = await ensure_partitions(*_make_partition_order(order, tools))
    tools.log.note_seconds("partition", perf_counter() - began)
    check_texts(order, partitioning.generation.node_count, partitioning.generation.texts)
    return Prepared(partitioning)


async def prepare_plan(order: RunOrder, tools: RunTools) -> tuple[Partitioning, str]:
    """Return the partitions that a plan describes, and a note about them, which may be empty.

    A plan never replaces partitions. It makes them only if the graph has none of its present
    definition. Raises the errors of ``prepare``.
    """
    await _check_session(order, tools)
    reading = partial(read_current, tools.db, order.graph, centroids=False, known=tools.known)
    try:
        current = await reading()
    except (StoredDataError, *TRIED_ENOUGH):
        raise
    except DatabaseError:  # another generation became current between two reads
        current = await reading()
    if current is None or order.redefined:
        made = (await prepare(order, tools)).partitioning
        why = "has a new definition" if current else "had no partitions"
        return made, f"the graph {why}, so {counted(len(made.partitions), 'partition')} were made"
    drift = await check_drift(*_make_partition_order(order, tools))
    check_texts(order, current.generation.node_count, current.generation.texts)
    ignored = describe_ignored(order.chosen, current.generation)
    outdated = "" if drift is None else _describe_drift(drift)
    # If the graph has changed, the stored text index does not show what matches the question now.
    current = replace(current, outdated=drift is not None and drift.changed)
    return current, "; ".join(filter(None, [outdated, ignored]))


def _describe_drift(drift: Drift) -> str:
    """Return a note on partitions that a question would replace first; empty if none would be."""
    if drift.settings_changed:
        return (
            "these are the present partitions; with the settings given here, a question makes "
            "others first, which changes the figures"
        )
    if drift.changed:
        return (
            "the graph has changed since its partitions were made; a question updates them first, "
            "which changes the figures"
        )
    return ""


async def _check_session(order: RunOrder, tools: RunTools) -> None:
    if not order.mapping.has_text:
        check_texts(order, nodes=0, texts=0)
    await ensure_schema(tools.db)
    if order.request.mode != "full":
        await session.check_exists(tools.db, order.graph, order.request.session)


def _make_partition_order(
    order: RunOrder, tools: RunTools
) -> tuple[PartitionOrder, PartitionTools]:
    wanted = PartitionOrder(
        graph=order.graph,
        mapping=order.mapping,
        config=order.config,
        when_busy="reuse",
        centroids=False,
        chosen=order.chosen,
    )
    return wanted, PartitionTools(
        db=tools.db,
        open_gds=tools.open_gds,
        space=tools.space,
        on_event=tools.log.on_event,
        known=tools.known,
    )


@asynccontextmanager
async def record_run(
    order: RunOrder,
    tools: RunTools,
    stored: StoredRun | None = None,
    prepared: Prepared | None = None,
) -> AsyncIterator[RunRecord]:
    """Open the record of a run, and close it at the end.

    The closed record says how the run ended and what it cost. With ``stored``, that run is resumed.
    Raises DeadlineError when the run's time is over, shortly after its calls are canceled.
    """

    async def begin() -> RunRecord:
        if stored is None:
            return await _begin_run(order, tools, prepared)
        return await _resume_run(order, tools, stored)

    def report_start(run: str) -> None:
        tools.log.on_event(RunStarted(run, resumed=stored is not None))

    with start_run_span(order, tools.calls, resumed=stored is not None) as span:
        async with hold_record(begin, tools.end, report_start) as record:
            span.note({spans.RUN_ID: record.id})
            yield record


def start_run_span(order: RunOrder, calls: Calls, *, resumed: bool) -> SpanNotes:
    """Start the span of a run; it has the question only if spans may contain text."""
    about: Attributes = {
        spans.GRAPH: order.graph,
        spans.MODE: order.request.mode,
        spans.RESUMED: resumed,
        spans.QUESTION: order.request.question if calls.traced_text else None,
    }
    return start_span(spans.RUN, about, current=True)


async def _begin_run(order: RunOrder, tools: RunTools, prepared: Prepared | None) -> RunRecord:
    handle = Handle(order.request.run_id or keys.new_run_id(), str(Holder.unique()))
    properties = {
        "question": order.request.question,
        "mode": order.request.mode,
        "request": json.dumps(order.identity, sort_keys=True),
        "config": stored_config(order.config),
        "known": order.search_answer,
    }
    for _ in range(ATTEMPTS):
        prepared = prepared or await prepare(order, tools)
        await check_unread_left(order, tools, prepared.partitioning)
        await session.open_session(tools.db, order.graph, order.request.session)
        begun = await runs.begin(
            tools.db,
            handle,
            keys.session_uid(tools.db.scope, order.graph, order.request.session),
            prepared.partitioning.generation.id,
            properties,
            keys.idempotency_uid(
                tools.db.scope, order.graph, order.request.session, order.request.idempotency_key
            ),
            total=tools.calls.spent_before(),
        )
        if begun == handle.id:
            return _make_record(order, tools, handle, prepared)
        if begun is not None:
            raise BusyError(
                f"run {begun} has just begun with the same idempotency key; wait until it ends"
            )
        prepared = None
    raise DatabaseError(
        f"graph {order.graph} was repartitioned {ATTEMPTS} times while the run began; "
        "try again when no job is repartitioning it"
    )


async def _resume_run(order: RunOrder, tools: RunTools, stored: StoredRun) -> RunRecord:
    if stored.generation is None:
        raise UsageError(
            f"the partitions of run {stored.id} were deleted, so it cannot be resumed; its "
            "coverage still counts, so ask again in mode 'continue'"
        )
    await ensure_schema(tools.db)
    handle, before, today = await runs.take_over(tools.db, stored)
    partitioning = await read_generation(
        tools.db, stored.generation, centroids=False, known=tools.known
    )
    if not stored.current:
        tools.log.warn(
            f"graph {order.graph} was repartitioned since run {stored.id} began; the run "
            "continues with its old partitions"
        )
    prepared = Prepared(replace(partitioning, outdated=True))
    record = _make_record(order, tools, handle, prepared, before, today)
    record.routing = stored.properties.get("routing")
    return record


def _make_record(
    order: RunOrder,
    tools: RunTools,
    handle: Handle,
    prepared: Prepared,
    before: Spent | None = None,
    today: Mapping[str, Spent] | None = None,
) -> RunRecord:
    recording = Recording.of(tools.db, handle, tools.calls, before or Spent(), today or {})
    replies = Replies(tools.db, handle.id, shared=shares_replies(order.config))
    return RunRecord(recording, prepared, replies)


def shares_replies(config: PGSConfig) -> bool:
    """Return whether replies are cached for other runs."""
    return config.cache and config.cache_mb > 0
