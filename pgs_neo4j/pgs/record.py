"""Begins or resumes a run, and closes its record in any case."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from time import perf_counter

from pgs_neo4j.calls.ledger import Ledger, Spent, Total
from pgs_neo4j.calls.queue import deadline_passed
from pgs_neo4j.calls.replies import Replies
from pgs_neo4j.config import PGSConfig
from pgs_neo4j.config import stored as stored_config
from pgs_neo4j.database.connection import Database, Row
from pgs_neo4j.database.holder import Holder
from pgs_neo4j.database.schema import ensure_schema
from pgs_neo4j.database.tasks import to_the_end
from pgs_neo4j.errors import (
    BusyError,
    DatabaseError,
    DeadlineError,
    PGSError,
    QueryError,
    StoppedError,
    UsageError,
)
from pgs_neo4j.events import RunStarted
from pgs_neo4j.partitioning.ensure import ensure_partitions
from pgs_neo4j.partitioning.order import PartitionOrder, PartitionTools
from pgs_neo4j.partitioning.result import Partitioning, read_generation
from pgs_neo4j.pgs.order import RunOrder, RunTools, check_texts
from pgs_neo4j.retrieval.space import QuestionVector
from pgs_neo4j.runs import keys, runs, session
from pgs_neo4j.runs.runs import Handle, StoredRun

ATTEMPTS = 3  # to begin on a generation before it is taken away
CLOSE_TIMEOUT_S = 10.0
LATE_CLOSE_S = 0.3  # to close the record once the time of the run is over


@dataclass(frozen=True, slots=True)
class Prepared:
    """Current partitions, and the question's vector if it exists already."""

    partitioning: Partitioning
    vector: QuestionVector | None = None


@dataclass(slots=True)
class RunRecord:
    """A run in the database; its generation stays until it ends.

    ``before`` is its spending until it stopped, ``routing`` its routing as JSON if it had one. Its
    ``ledger`` is written under its handle. Only ``finish`` and ``fail`` end the record, and only
    one of them does.
    """

    db: Database
    handle: Handle
    prepared: Prepared
    replies: Replies
    ledger: Ledger
    before: Spent = field(default_factory=Spent)
    routing: str | None = None
    ended: bool = False

    @property
    def id(self) -> str:
        """The id of the run."""
        return self.handle.id

    @property
    def partitioning(self) -> Partitioning:
        """The partitions that the run reads."""
        return self.prepared.partitioning

    async def finish(self, properties: Row, sweeps: Sequence[str]) -> None:
        """End the record with an answer.

        ``sweeps`` are the ids of the sweeps that it used. Raises RunLostError when another process
        has taken the run over.
        """
        total = runs.total_properties(self.ledger.total())
        if not await runs.finish(self.db, self.handle, {**properties, **total}, sweeps):
            raise runs.taken_away()
        self.ended = True

    async def fail(self, error: BaseException) -> None:
        """End the record with an error, unless the run has ended already."""
        if self.ended:
            return
        self.ended = True
        properties = {
            "status": _status(error),
            "error": str(error) if isinstance(error, PGSError) else type(error).__name__,
            **runs.total_properties(self.ledger.total()),
        }
        late = isinstance(error, DeadlineError)
        if not await self._close(properties, late=late):
            # A figure or a text that Neo4j refuses must not leave the run as running.
            status = {"status": properties["status"], "error": type(error).__name__}
            await self._close(status, late=late)

    async def _close(self, properties: Row, *, late: bool) -> bool:
        """Write the end of the run; return whether Neo4j takes these properties."""
        # If the database is gone, nothing can be recorded; the current error says so.
        with suppress(PGSError, TimeoutError):
            try:
                async with asyncio.timeout(LATE_CLOSE_S if late else CLOSE_TIMEOUT_S):
                    await runs.finish(self.db, self.handle, properties)
            except QueryError:
                return False
        return True


async def prepare(order: RunOrder, tools: RunTools) -> Prepared:
    """Phase 0: check the session, then get the current partitions.

    Raises NoTextError when no node has text.
    """
    began = perf_counter()
    if not order.mapping.text:
        check_texts(order, nodes=0, texts=0)
    await ensure_schema(tools.db)
    if order.mode != "full":
        await session.check_exists(tools.db, order.graph, order.session)
    partitioning = await ensure_partitions(
        PartitionOrder(
            graph=order.graph,
            mapping=order.mapping,
            config=order.config,
            when_busy="reuse",
            centroids=False,
        ),
        PartitionTools(
            db=tools.db,
            open_gds=tools.open_gds,
            space=tools.space,
            on_event=tools.log.on_event,
            known=tools.known,
        ),
    )
    tools.log.note_seconds("partition", perf_counter() - began)
    check_texts(order, partitioning.generation.node_count, partitioning.generation.texts)
    return Prepared(partitioning)


@asynccontextmanager
async def record_run(
    order: RunOrder,
    tools: RunTools,
    stored: StoredRun | None = None,
    prepared: Prepared | None = None,
) -> AsyncIterator[RunRecord]:
    """Hold the record of a run, and close it at the end.

    The record then says how the run ended and what it cost. A ``stored`` run is resumed. Raises
    DeadlineError when the time of the whole run is over, shortly after its calls are canceled.
    """
    record: RunRecord | None = None
    try:
        async with asyncio.timeout_at(tools.end) as limit:
            if stored is None:
                record = await _begin(order, tools, prepared)
            else:
                record = await _resume(order, tools, stored)
            tools.log.on_event(RunStarted(record.id, resumed=stored is not None))
            async with runs.stay_alive(tools.db, record.handle):
                yield record
    except TimeoutError:
        error = deadline_passed() if limit.expired() else None
        if record is not None:
            await to_the_end(record.fail(error or TimeoutError()))
        if error is None:
            raise
        raise error from None
    except BaseException as error:
        # Shielded: even a canceled run is closed before its caller continues.
        if record is not None:
            await to_the_end(record.fail(error))
        raise


async def _begin(order: RunOrder, tools: RunTools, prepared: Prepared | None) -> RunRecord:
    handle = Handle(keys.new_run_id(), str(Holder.unique()))
    properties = {
        "question": order.question,
        "mode": order.mode,
        "request": json.dumps(order.request, sort_keys=True),
        "config": stored_config(order.config),
        "known": order.search_answer,
        **runs.total_properties(Total(0, tools.calls.spent())),
    }
    for _ in range(ATTEMPTS):
        prepared = prepared or await prepare(order, tools)
        await session.open_session(tools.db, order.graph, order.session)
        begun = await runs.begin(
            tools.db,
            handle,
            keys.session_uid(order.graph, order.session),
            prepared.partitioning.generation.id,
            properties,
            keys.idempotency_uid(order.graph, order.session, order.idempotency_key),
        )
        if begun == handle.id:
            return _record(order, tools, handle, prepared, Spent())
        if begun is not None:
            raise BusyError(
                f"run {begun} has just begun with the same idempotency key; wait until it ends"
            )
        prepared = None
    raise DatabaseError(
        f"graph {order.graph} was repartitioned {ATTEMPTS} times while the run began; "
        "try again when no job is repartitioning it"
    )


async def _resume(order: RunOrder, tools: RunTools, stored: StoredRun) -> RunRecord:
    if stored.generation is None:
        raise UsageError(
            f"the partitions of run {stored.id} were deleted, so it cannot be resumed; its "
            "coverage still counts, so ask again in mode 'continue'"
        )
    await ensure_schema(tools.db)
    handle, before = await runs.take_over(tools.db, stored)
    partitioning = await read_generation(
        tools.db, stored.generation, centroids=False, known=tools.known
    )
    if not stored.current:
        tools.log.warn(
            f"graph {order.graph} was repartitioned since run {stored.id} began; the run "
            "continues with its old partitions"
        )
    prepared = Prepared(replace(partitioning, outdated=True))
    record = _record(order, tools, handle, prepared, before)
    record.routing = stored.properties.get("routing")
    return record


def _record(
    order: RunOrder, tools: RunTools, handle: Handle, prepared: Prepared, before: Spent
) -> RunRecord:
    """Return the record of a run; later calls are recorded before they are sent."""
    ledger = tools.calls.ledger
    ledger.begin(lambda: before + tools.calls.spent(), partial(runs.record_total, tools.db, handle))
    return RunRecord(tools.db, handle, prepared, _replies(order, tools, handle), ledger, before)


def _replies(order: RunOrder, tools: RunTools, handle: Handle) -> Replies:
    return Replies(tools.db, handle.id, shared=shares_replies(order.config))


def shares_replies(config: PGSConfig) -> bool:
    """Whether replies are cached for other runs."""
    return config.cache and config.cache_mb > 0


def _status(error: BaseException) -> str:
    if isinstance(error, asyncio.CancelledError | KeyboardInterrupt):
        return "interrupted"
    return "stopped" if isinstance(error, StoppedError) else "failed"
